"""How much of an answer students get."""

from enum import StrEnum


class PolicyMode(StrEnum):
    """What is answered to a question, from the most to the least."""

    FULL = "full"
    HINTS = "hints"
    """Where to read; then the rule; then a worked case of the book."""
    SECTIONS = "sections"
    """Where to read alone."""
    CLOSED = "closed"
    """Nothing."""
