"""Reads the claims of an answer in JSON while it arrives."""

import json
import re
from collections.abc import Iterator
from typing import Any

from core.generation.claims.schema import Missing, WrittenClaim
from core.text.characters import visible

_LONGEST = 5_000
"""Characters from the end of one claim to that of the next; where there are more, it is lost."""
_MOST_BEGUN = 12
"""Objects begun since the last claim that may be the one which ends: the latest of them."""
_PIECE = re.compile(r"[^}]*\}|[^}]+")
_OBJECT = re.compile(r'\{\s*"')
"""How an object begins; in a string a quotation mark has a backslash before it."""
_MISSING = re.compile(rf'"missing"\s*:\s*"({Missing.PART}|{Missing.ALL})"')
_DECODER = json.JSONDecoder(strict=False)


class JsonReader:
    """Gives each claim with the bracket that ends it; no text is an error.

    An object with a `text` is a claim, whatever stands around it. What is broken is left out.
    """

    def __init__(self) -> None:
        self._text = ""
        """What came since the last claim."""

    def feed(self, text: str) -> Iterator[WrittenClaim | Missing]:
        """Yield what `text` ends, in order."""
        for piece in _PIECE.findall(text):
            self._text = (self._text + piece)[-_LONGEST:]
            if piece.endswith("}"):
                yield from self._ended()

    def _ended(self) -> Iterator[WrittenClaim | Missing]:
        """Yield what the last bracket has ended."""
        if '"missing"' in self._text and (missing := _MISSING.search(self._text)) is not None:
            yield Missing(missing[1])
        if '"text"' not in self._text:
            return
        begun = [found.start() for found in _OBJECT.finditer(self._text)]
        for start in begun[-_MOST_BEGUN:]:
            value = self._object(start)
            if value is not None and isinstance(text := value.get("text"), str):
                self._text = ""
                example = value.get("example") is True
                yield WrittenClaim(visible(text), _integers(value.get("sentences", [])), example)
                return

    def _object(self, start: int) -> dict[str, Any] | None:
        """Return the object from `start` to the end; None: there is none."""
        try:
            value, end = _DECODER.raw_decode(self._text, start)
        except (ValueError, RecursionError):
            return None
        return value if end == len(self._text) else None


def _integers(value: object) -> tuple[int, ...] | None:
    """Return the numbers of a list, also `3.0` and `"[3]"`; None: there is something else in it."""
    if not isinstance(value, list):
        return None
    written = (str(one).strip("[] ").removesuffix(".0") for one in value)
    try:
        return tuple(dict.fromkeys(map(int, written)))
    except ValueError:
        return None
