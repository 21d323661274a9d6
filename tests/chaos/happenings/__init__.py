"""What happens in a run beside conversations, each kind in a file of its own."""
