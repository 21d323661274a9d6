"""Text that can neither steer a terminal nor pass for a line of the program's own."""

import re

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

_NOT_IN_A_LINE = re.compile(rf"{_CONTROL.pattern}|[\t\n\u2028\u2029]")


def printable(text: str) -> str:
    """Return the text without control characters that could steer a terminal."""
    return _CONTROL.sub("", text)


def on_one_line(text: str) -> str:
    """Return the text as one printable line, with its breaks and control characters written out.

    A file's name may hold any of them, and would pass for a line of the program's own.
    """
    return _NOT_IN_A_LINE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
