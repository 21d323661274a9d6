"""Parts the text of a claim from its layout: a bullet, a paragraph break, stray markers."""

import re
from collections.abc import Iterator
from itertools import pairwise

from core.generation.base import Claim, ClaimKind, QuotedWords
from core.markdown.code import code_in, masked, outside_code
from core.markdown.fences import is_block
from core.markdown.locating import CodeKind
from core.markdown.writing import lasting

_ITEM = re.compile(r"(?P<indent> *)(?:[-*•+]|(?P<number>\d{1,3})[.)])(?:[ \t]+|$)")
_HEADING = re.compile(r"^ {0,3}(?:#{1,6}(?:[ \t].*)?|([-*_])(?:[ \t]*\1){2,}[ \t]*)$", re.MULTILINE)
"""A heading or a rule."""
_NEXT_ITEM = re.compile(r"\n(?= *(?:[-*•+]|\d{1,3}[.)])[ \t])")
_MARKERS = re.compile(
    r"(?:^|(?<![ \t])[ \t]+|(?<=[.!?…,;:”’\"')]))\[\d{1,3}\](?:[ \t]?\[\d{1,3}\])*"
)


class ClaimLayout:
    """Gives each claim of an answer the layout in front of it, in reading order."""

    def __init__(self) -> None:
        self._is_first = True
        self._after_layout = False

    def claims(
        self, text: str, kind: ClaimKind, quotes: tuple[QuotedWords, ...]
    ) -> Iterator[Claim]:
        """Yield the claims of `text`: one, or one for each item of a list.

        Headings and markers of citations are left out.
        """
        body = text.lstrip("\n")
        feeds = len(text) - len(body)
        indent = body[: len(body) - len(body.lstrip(" "))] if _ITEM.match(body) else ""
        body = indent + _without_headings(lasting(body[len(indent) :]))
        if kind is ClaimKind.EXAMPLE:
            body = " ".join(body.split()) if not code_in(body) else body
        for place, piece in enumerate(_items(body, kind)):
            yield from self._claim(piece, feeds if place == 0 else 1, kind, quotes)

    def _claim(
        self, text: str, feeds: int, kind: ClaimKind, quotes: tuple[QuotedWords, ...]
    ) -> Iterator[Claim]:
        item = None if kind is ClaimKind.EXAMPLE or _nests_code(text) else _ITEM.match(text)
        lead, block = None, is_block(text) or _nests_code(text)
        if item:
            mark = f"{item['number']}." if item["number"] else "-"
            lead = "\n" * max(min(feeds, 2), 1) + f"{item['indent']}{mark} "
            text = text[item.end() :]
        elif (
            block
            or kind is ClaimKind.EXAMPLE
            or (not self._is_first and (feeds > 1 or self._after_layout))
        ):
            lead = "\n\n"
        text = outside_code(text, lambda prose: _MARKERS.sub("", prose)).strip()
        if any(map(str.isalnum, text)):
            self._is_first = False
            self._after_layout = bool(item) or block or kind is ClaimKind.EXAMPLE
            yield Claim(text, quotes, kind, lead)


def _items(text: str, kind: ClaimKind) -> list[str]:
    """Return the items of a list, each with its mark; a text that is none as it is."""
    if kind is ClaimKind.EXAMPLE or _nests_code(text):
        return [text]
    places = [0, *(found.end() for found in _NEXT_ITEM.finditer(masked(text, "x"))), len(text)]
    return [text[start:end].rstrip("\n") for start, end in pairwise(places)]


def _without_headings(text: str) -> str:
    """Return a text without its headings; one that has code, or stands alone, loses its mark."""
    for found in reversed(list(_HEADING.finditer(masked(text, "x")))):
        heading = text[found.start() : found.end()].lstrip("# ")
        is_alone = not (text[: found.start()] + text[found.end() :]).strip()
        kept = heading if code_in(heading) or (is_alone and heading.strip("-*_ ")) else ""
        text = text[: found.start()] + kept + text[found.end() :]
    return text.strip("\n")


def _nests_code(text: str) -> bool:
    """Return whether there is code in a list or a quote, which would not outlive a cut."""
    return any(code.kind is not CodeKind.SPAN and not code.top for code in code_in(text))
