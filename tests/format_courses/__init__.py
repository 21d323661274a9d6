"""One small course in each format, with what goes wrong in real ones; written for the tests."""
