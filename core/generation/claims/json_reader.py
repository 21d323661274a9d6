"""Reads the claims of an answer in JSON while it arrives."""

import json
import re
from collections.abc import Iterator

from core.generation.claims.schema import Missing, WrittenClaim
from core.text.characters import visible

_LONGEST = 5_000
"""Characters that are kept of an object which has not ended; what is longer is lost."""
_OBJECT = re.compile(r'\{(?=\s*")(?:[^{}"]|"(?:[^"\\]|\\.)*+")*+\}', re.DOTALL)
"""A whole object without another one in it; in a string its beginning has a backslash."""
_MISSING = re.compile(rf'"missing"\s*:\s*"({Missing.PART}|{Missing.ALL})"')


class JsonReader:
    """Gives each claim with the bracket that ends it; no text is an error.

    An object with a `text` is a claim, whatever stands around it. What is broken is left out.
    """

    def __init__(self) -> None:
        self._text = ""
        """What came since the last claim."""

    def feed(self, text: str) -> Iterator[WrittenClaim | Missing]:
        """Yield what `text` ends: first what is missing, then the claims in order."""
        self._text += text
        if '"missing"' in self._text and (missing := _MISSING.search(self._text)) is not None:
            yield Missing(missing[1])
        place = done = 0
        while "}" in text and (found := _OBJECT.search(self._text, place)) is not None:
            place = found.start() + 1
            if (claim := _claim_in(found.group())) is not None:
                place = done = found.end()
                yield claim
        self._text = self._text[done:][-_LONGEST:]


def _claim_in(written: str) -> WrittenClaim | None:
    """Return the claim that an object is; None: it is none, or it is broken."""
    try:
        value = json.loads(written, strict=False)
    except (ValueError, RecursionError):
        return None
    if len(written) > _LONGEST or not isinstance(text := value.get("text"), str):
        return None
    numbers = _integers(value.get("sentences", []))
    return WrittenClaim(visible(text), numbers, example=value.get("example") is True)


def _integers(value: object) -> tuple[int, ...] | None:
    """Return the numbers of a list, also `3.0` and `"[3]"`; None: there is something else in it."""
    if not isinstance(value, list):
        return None
    written = (str(one).strip("[] ").removesuffix(".0") for one in value)
    try:
        return tuple(dict.fromkeys(map(int, written)))
    except ValueError:
        return None
