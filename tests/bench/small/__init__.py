"""Six small documents of our own wording, as courses of their own, with questions about them."""
