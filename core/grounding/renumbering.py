"""Tells whether a quote has another number or unit where the book has its own."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from core.grounding.numbers import Quantity, quantities
from core.grounding.units import UNITS, spelled_out
from core.grounding.words import base_form

_TOKEN = re.compile(r"\b\d+(?:[.,]\d+)*\b|[^\W_]+(?:['’][^\W_]+)*|°\w?|[%$€£¥]")
_MIXED = re.compile(r"\d.*[^\W\d]|[^\W\d].*\d")
"""Of digits and letters: a name such as `K1`, or a word that a scanner has misread."""
_ONE = frozenset("one ein eine einen einem einer eines".split())
"""Numbers only where another number stands in their place."""
_UNITS_IN_GERMAN = {
    "sekunde": "second", "sekunden": "second", "minuten": "minute", "stunde": "hour",
    "stunden": "hour", "tag": "day", "tage": "day", "tagen": "day", "woche": "week",
    "wochen": "week", "monat": "month", "monate": "month", "monaten": "month",
    "jahr": "year", "jahre": "year", "jahren": "year",
}  # fmt: skip
_FEWEST_MOVED = 2
"""Numbers that stand together in both texts, and so were moved with what they belong to."""


def has_other_number(quote: str, book: str) -> bool:
    """Return whether a number of the quote stands where the book has another one.

    Unlike a comparison of all numbers, this tells two that were exchanged. A number that was
    moved together with the words around it is the same.

    Args:
        quote: What is compared, with the number words of languages other than English in digits.
        book: The passage that it was found in, likewise.
    """
    return any(_Alignment(_tokens(quote), _tokens(book)).misplaced())


def agree(one: Quantity, other: Quantity) -> bool:
    """Return whether both may be one number, of which a unit may have been cut off."""
    if one.unit is None or other.unit is None:
        return bool(one.values & other.values)
    return bool(one.amounts & other.amounts) and one.unit.base == other.unit.base


@dataclass(frozen=True, slots=True)
class _Alignment:
    """Two texts as lines of words and numbers, of which one is an edition of the other."""

    ours: Sequence[str]
    theirs: Sequence[str]

    def misplaced(self) -> Iterator[int]:
        """Yield where a number or unit is not the one that stands there in the other text."""
        pairs = list(self._pairs())
        same = {own: other for own, other in pairs if self.ours[own] == self.theirs[other]}
        left = _Left(
            sorted({*range(len(self.ours))} - {*same}),
            sorted({*range(len(self.theirs))} - {*same.values()}),
        )
        for own, other in pairs:
            mine, its = _quantity(self.ours, own), _quantity(self.theirs, other)
            if mine is None or its is None or agree(mine, its):
                continue
            changed = own + (own in same)  # of equal numbers the units differ
            if not self._was_moved(changed, left):
                yield changed

    def _pairs(self) -> Iterator[tuple[int, int]]:
        """Yield the places of the words that stand for one another."""
        for step in Levenshtein.opcodes(self.ours, self.theirs):
            if step.tag in {"equal", "replace"}:
                yield from zip(
                    range(step.src_start, step.src_end),
                    range(step.dest_start, step.dest_end),
                    strict=True,
                )

    def _was_moved(self, place: int, left: "_Left") -> bool:
        """Return whether what is left has the word, with what it belongs to, elsewhere."""
        ours = [self.ours[at] for at in left.ours]
        theirs = [self.theirs[at] for at in left.theirs]
        if place not in left.ours:
            return False
        at = left.ours.index(place)
        return any(
            _is_moved(_common_run(ours, at, theirs, other))
            for other, token in enumerate(theirs)
            if token == ours[at]
        )


@dataclass(frozen=True, slots=True)
class _Left:
    """The places of the words of each text that the other has not in their place."""

    ours: Sequence[int]
    theirs: Sequence[int]


def _tokens(text: str) -> list[str]:
    """Return the words and numbers, without the plurals that a number brings with it."""
    found = _TOKEN.findall(spelled_out(text).casefold())
    named = (_UNITS_IN_GERMAN.get(token, token) for token in found)
    return [token if _measures(token) else base_form(token) for token in named]


def _measures(token: str) -> bool:
    return token in _ONE or token in UNITS or bool(quantities(token))


def _quantity(tokens: Sequence[str], place: int) -> Quantity | None:
    """Return the number at a place, with the unit behind it."""
    token = "1" if tokens[place] in _ONE else tokens[place]
    if token in UNITS or _MIXED.search(token):
        return None
    unit = tokens[place + 1] if tokens[place + 1 : place + 2] and tokens[place + 1] in UNITS else ""
    return next(iter(quantities(f"{token} {unit}")), None)


def _common_run(ours: Sequence[str], at: int, theirs: Sequence[str], other: int) -> Sequence[str]:
    """Return the longest run of words around a common one that is the same in both texts."""
    start = 0
    while start < min(at, other) and ours[at - start - 1] == theirs[other - start - 1]:
        start += 1
    end = 1
    while ours[at + end : at + end + 1] == theirs[other + end : other + end + 1] != []:
        end += 1
    return ours[at - start : at + end]


def _is_moved(run: Sequence[str]) -> bool:
    numbers = [token for token in run if _measures(token) and token not in UNITS]
    has_things = not all(map(_measures, run))
    return has_things or len(numbers) >= _FEWEST_MOVED
