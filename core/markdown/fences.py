"""Which lines open and close a fence, for text that is read line by line while it arrives.

A text that is there as a whole is read by the parser: `core.markdown.code.fences_in`.
"""

import re
from typing import NamedTuple

_OPENING = re.compile(
    r"(?P<before>(?:[ \t]*(?:>|[-*+•](?=[ \t])|\d{1,9}[.)](?=[ \t])))*[ \t]*)"
    r"(?P<marks>`{3,}(?=[^`\n]*$)|~{3,})(?P<info>[^\n]*)$"
)
_CLOSING = re.compile(r"(?P<before>[ \t>]*)(?P<marks>`{3,}|~{3,})[ \t]*$")
_NO_CONTAINER = re.compile(r"[^>\s]")
_DEEPER = 3
"""Columns that a closing line may stand further to the right than what the fence stands in."""


class Fence(NamedTuple):
    """The line that opens a fence."""

    indent: str
    """What stands before the marks of a line that closes it: blanks, and the marks of quotes."""
    marks: str
    info: str


def fence_opened_by(line: str) -> Fence | None:
    """Return the fence that a line opens, also in a list or a quote; None: it opens none."""
    found = _OPENING.match(line.rstrip("\r\n"))
    if found is None:
        return None
    return Fence(_NO_CONTAINER.sub(" ", found["before"]), found["marks"], found["info"].strip())


def is_block(text: str) -> bool:
    """Return whether a text is a fence, a table or a formula that stands on its own lines."""
    text = text.lstrip()
    return text.startswith(("|", "$$")) or fence_opened_by(text.partition("\n")[0]) is not None


def is_closing(line: str, fence: Fence) -> bool:
    """Return whether a line closes a fence.

    One line does not say how far its list is indented: it is taken to be as far as the fence.
    """
    found = _CLOSING.match(line.rstrip("\r\n"))
    return (
        found is not None
        and found["marks"].startswith(fence.marks)
        and found["before"].count(">") <= fence.indent.count(">")
        and _width(found["before"]) <= _width(fence.indent) + _DEEPER
    )


def _width(indent: str) -> int:
    return len(indent.expandtabs(4))
