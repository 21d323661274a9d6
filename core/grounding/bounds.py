"""Compares the bounds of numbers: at least, at most, exactly."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from core.grounding.numbers import quantities

_BOUNDS = {
    "from": "at least|no less than|no fewer than|not less than|(?:a )?minimum of|more than|above"
    "|over|exceed(?:s|ed|ing)?|greater than|higher than|older than|larger than|in excess of"
    "|mindestens|wenigstens|nicht weniger als|mehr als",
    "to": "at most|no more than|not more than|no greater than|up to|(?:a )?maximum of|less than"
    "|fewer than|under|below|lower than|younger than|smaller than|as (?:much|many|high) as"
    "|höchstens|maximal|nicht mehr als|weniger als|bis zu",
    "exactly": "exactly|precisely",
}
_BEHIND = {
    "from": r"(?<=\d)\+|\b(?:or|and) (?:more|older|higher|above|greater|over|up)\b",
    "to": r"\bor (?:less|fewer|younger|lower|below|under)\b",
}
_NUMBER = (
    r"(?=[$€£]?\d|(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty"
    r"|forty|fifty|half|one|twice|thrice|a (?:hundred|thousand|million|billion|third|quarter))\b)"
)
_IN_FRONT = re.compile(
    rf"\b(?:{'|'.join(f'(?P<{side}>{words})' for side, words in _BOUNDS.items())})"
    rf"\s+(?:about |roughly |around |the )?{_NUMBER}"
)
_AFTER = re.compile("|".join(f"(?P<{side}>{words})" for side, words in _BEHIND.items()))
_PERHAPS = "perhaps"
"""`over 5 years` is more than that, or during that time."""
_TIMES = frozenset({"second", "minute", "hour", "day", "week", "month", "year", "decade",
                    "century"})  # fmt: skip
_NEAR = 30
"""Characters that a number and its unit take at most."""

_Bound = tuple[frozenset[Decimal], str]


def bounds_oppose(one: str, other: str) -> bool:
    """Return whether a number is the least in one of the texts and the most in the other."""
    ours, theirs = list(_bounds(one.lower())), list(_bounds(other.lower()))
    return any(
        side in _BEHIND
        and not _is_known(amounts, side, theirs)
        and any(amounts & value and opposite in _BEHIND for value, opposite in theirs)
        for amounts, side in ours
    )


def _is_known(amounts: frozenset[Decimal], side: str, theirs: Sequence[_Bound]) -> bool:
    sides = {other for value, other in theirs if value & amounts}
    return side == _PERHAPS or side in sides or _PERHAPS in sides


def _bounds(text: str) -> Iterator[_Bound]:
    for match in _IN_FRONT.finditer(text):
        if found := quantities(text[match.end() : match.end() + _NEAR]):
            unit = found[0].unit
            lasts = match.group().startswith("over") and unit is not None and unit.base in _TIMES
            yield found[0].amounts, _PERHAPS if lasts else match.lastgroup or ""
    for after in _AFTER.finditer(text):
        if found := quantities(text[max(0, after.start() - _NEAR) : after.start()]):
            yield found[-1].amounts, after.lastgroup or ""
