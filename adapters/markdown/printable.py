"""Makes text safe to print on a terminal."""

import re

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """Return the text without control characters that could steer a terminal."""
    return _CONTROL.sub("", text)
