"""Reads the claims of an answer in JSON while it arrives."""

import json
import re
from collections.abc import Iterator
from typing import Any

import json_repair

from core.generation.base import ClaimKind
from core.generation.claims.schema import Missing, WrittenClaim
from core.text.characters import visible

_LONGEST = 5_000
"""Characters from the end of one claim to that of the next; where there are more, it is lost."""
_MOST_BEGUN = 12
"""Objects begun since the last claim that may be the one which ends: the latest of them."""
_PIECE = re.compile(r"[^}]*\}|[^}]+")
_OBJECT = re.compile(r"\{\s*[\"']")
"""How an object begins; in a string a quotation mark has a backslash before it."""
_TEXTS = ("text", "claim", "content", "statement")
"""What models call a claim's text, as asked first."""
_HAS_TEXT = re.compile(rf"[\"'](?:{'|'.join(_TEXTS)})[\"']\s*:")
_NUMBERS = re.compile(r"\d+(?:\.0)?(?![\w.])")
_SWALLOWED = re.compile(
    r"(?<!\\)\\(?:(?![\"\\/bfnrtu])|(?=[bf][a-z]{2}|t(?:heta|au|imes|an|ext|o)\b"
    r"|n(?:abla|eq?|u|ot)\b|r(?:ho|ight)\b))"
)
"""The backslash of a command of TeX, which JSON does not know, or takes for that of `\\f`."""
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
        if _HAS_TEXT.search(self._text) is None:
            return
        begun = [found.start() for found in _OBJECT.finditer(self._text)]
        for start in begun[-_MOST_BEGUN:]:
            value = self._object(start)
            found = (value.get(name) for name in _TEXTS) if value is not None else ()
            text = next((one for one in found if isinstance(one, str)), None)
            if value is not None and text is not None:
                self._text = ""
                numbers = _integers(value.get("sentences", []))
                yield WrittenClaim(visible(text), numbers, _kind(value.get("kind")))
                return

    def _object(self, start: int) -> dict[str, Any] | None:
        """Return the object from `start` to the end, mended where it is near one; None: it is none.

        What stands in it is a whole claim only where its brackets are even.
        """
        text = _SWALLOWED.sub(r"\\\\", self._text[start:])
        try:
            value, end = _DECODER.raw_decode(text)
        except RecursionError:
            return None
        except ValueError:
            if text.count("{") != text.count("}"):
                return None
            value, end = json_repair.loads(text), len(text)
            if not isinstance(value, dict) or "sentences" not in value:
                return None  # the bracket may stand inside of a text that goes on
        return value if end == len(text) and isinstance(value, dict) else None


def _kind(value: object) -> ClaimKind | None:
    """Return the kind of a name, in any case; None: there is no such kind."""
    try:
        return ClaimKind(str(value).strip().casefold())
    except ValueError:
        return None


def _integers(value: object) -> tuple[int, ...] | None:
    """Return the numbers, also of `3`, `"[3]"` and `{"id": 3}`; None: there is something else."""
    if isinstance(value, dict):
        value = list(value.values())
    found: list[int] = []
    for one in value if isinstance(value, list) else [value]:
        numbers = _integers(one) if isinstance(one, dict) else _read_numbers(str(one))
        if numbers is None:
            return None
        found += numbers
    return tuple(dict.fromkeys(found))


def _read_numbers(written: str) -> tuple[int, ...] | None:
    """Return the numbers of `1, 2` or `[1][2]`; None: there is something else."""
    rest = _NUMBERS.sub("", written).strip("[](),; s")
    return None if rest else tuple(int(float(one)) for one in _NUMBERS.findall(written))
