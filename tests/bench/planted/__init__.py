"""Fits the head that finds planted text, and measures it on text that it was not fitted on."""
