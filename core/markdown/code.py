"""Where the code of a Markdown text stands, so that what is done to prose is not done to it."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise

from core.markdown.locating import Code, CodeKind, located_code

_STAND_INS = tuple(map(chr, range(0xF0000, 0xF0040)))
"""Characters of the private use, one of which no text has."""


@lru_cache(maxsize=512)
def code_in(text: str) -> tuple[Code, ...]:
    """Return the code of a text in order: spans, fences and indented blocks.

    A fence that is never closed and has no line of code is none: it is a line of prose.
    """
    if not _may_have_code(text):
        return ()
    return tuple(located_code(text))


def fences_in(text: str) -> tuple[Code, ...]:
    """Return the fences of a text in order, also those in lists and quotes."""
    if "```" not in text and "~~~" not in text:
        return ()
    return tuple(code for code in code_in(text) if code.kind is CodeKind.FENCE)


def outside_code(
    text: str, change: Callable[[str], str], *, code: Callable[[Code, str], str] | None = None
) -> str:
    """Return the text with its prose changed, and its code as it is.

    Args:
        text: Markdown.
        change: Sees all of the prose at once, with one character for each piece of code.
        code: Returns what is written for a piece of code, from it and how it was written.
    """
    found = code_in(text)
    if not found:
        return change(text)
    pieces = [text[one.start : one.end] for one in found]
    if code is not None:
        pieces = [code(one, piece) for one, piece in zip(found, pieces, strict=True)]
    stand_in = next((one for one in _STAND_INS if one not in text), None)
    if stand_in is not None:
        parts = change(stand_in.join(_between(text, found))).split(stand_in)
        if len(parts) == len(found) + 1:
            return _joined(parts, pieces)
    return _joined([change(part) for part in _between(text, found)], pieces)


def without_code(text: str, stand_in: str = " ") -> str:
    """Return the text with one stand-in for each piece of code."""
    return stand_in.join(_between(text, code_in(text)))


def masked(text: str, mask: str = "`") -> str:
    """Return a text of equal length with each character of code replaced."""
    for code in code_in(text):
        text = text[: code.start] + mask * (code.end - code.start) + text[code.end :]
    return text


def _between(text: str, found: Sequence[Code]) -> list[str]:
    ends = [0, *(edge for code in found for edge in (code.start, code.end)), len(text)]
    return [text[start:end] for start, end in list(pairwise(ends))[::2]]


def _joined(prose: Sequence[str], code: Sequence[str]) -> str:
    return "".join(piece for pair in zip(prose, [*code, ""], strict=True) for piece in pair)


def _may_have_code(text: str) -> bool:
    return any(sign in text for sign in ("`", "~~~", "    ", "\t"))
