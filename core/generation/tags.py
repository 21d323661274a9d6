"""Tells the tags of a model's output from its text while both are still arriving."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

_LONGEST_TAG = 120
"""Characters; longer is text."""
_TELLING = 3
"""From so many characters on, a beginning that the stream breaks off in is a tag's."""
_TAG = re.compile(
    rf"<(?P<closes>/?)(?:(?P<cite>cite)(?P<attributes>(?:[ \t\n/][^<>]{{0,{_LONGEST_TAG - 8}}})?)"
    r"|not[-_ ]?covered[ \t\n/]{0,9})>",
    re.IGNORECASE | re.ASCII,
)
_BEGINNINGS = tuple(
    f"<{slash}{name}"
    for slash in ("", "/")
    for name in ("cite", "not-covered", "not_covered", "not covered", "notcovered")
)
_NUMBERS = re.compile(
    r"passages?\s*+=\s*+[\"']?\s*+(?:passages?|no\.|\#|\[)?\s*+"
    r"(?P<numbers>\d{1,6}\b(?:[\s,;&]+\d{1,6}\b)*)",
    re.IGNORECASE,
)
_UNNUMBERED = -1


class TagKind(StrEnum):
    """What a tag does."""

    OPENS = "opens"
    CLOSES = "closes"
    EMPTY = "empty"
    """A citation that quotes nothing."""
    NOT_COVERED = "not covered"


@dataclass(frozen=True, slots=True)
class Tag:
    """One of our tags."""

    kind: TagKind
    written: str
    """As the model wrote it."""
    chunk_numbers: tuple[int, ...] = ()
    """What a citation names, from 0; -1 when its number is missing or unreadable."""

    @property
    def is_bare(self) -> bool:
        """Whether it may as well be the `<cite>` of a page's HTML: it names no passage."""
        return self.kind is TagKind.CLOSES or self.chunk_numbers == (_UNNUMBERED,)


class TagReader:
    """Splits a stream into text and tags; holds back only what may yet become a tag."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> Iterator[str | Tag]:
        """Yield what is decided by now, in order."""
        text = self._held + piece
        self._held, position = "", 0
        while (start := text.find("<", position)) >= 0:
            if start > position:
                yield text[position:start]
            if match := _TAG.match(text, start):
                yield _tag(match)
                position = match.end()
                continue
            if _may_become_tag(text[start : start + _LONGEST_TAG + 1]):
                self._held = text[start:]
                return
            yield "<"
            position = start + 1
        if position < len(text):
            yield text[position:]

    def close(self) -> str:
        """Return what was held back in vain; the beginning of a tag is no text."""
        held, self._held = self._held, ""
        return held if len(held) < _TELLING else ""


def _may_become_tag(text: str) -> bool:
    """Return whether `text`, which begins with `<`, is an unfinished tag."""
    if len(text) > _LONGEST_TAG or ">" in text or "<" in text[1:]:
        return False
    lowered = text.lower()
    return any(
        name.startswith(lowered) or (lowered.startswith(name) and lowered[len(name)] in "/ \t\n")
        for name in _BEGINNINGS
    )


def _tag(match: re.Match[str]) -> Tag:
    written = match.group()
    if match["cite"] is None:
        return Tag(TagKind.NOT_COVERED, written)
    if match["closes"]:
        return Tag(TagKind.CLOSES, written)
    attributes = match["attributes"]
    kind = TagKind.EMPTY if attributes.endswith("/") else TagKind.OPENS
    return Tag(kind, written, _chunk_numbers(attributes))


def _chunk_numbers(attributes: str) -> tuple[int, ...]:
    named = _NUMBERS.search(attributes)
    if named is None:
        return (_UNNUMBERED,)
    numbers = (int(number) for number in re.findall(r"\d+", named["numbers"]))
    return tuple(dict.fromkeys(number - 1 for number in numbers))
