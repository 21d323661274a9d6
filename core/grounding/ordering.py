"""Compares which numbers go together, and in what order: 45 of 60, from 5 to 10, 7 in 1990."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from core.grounding.numbers import Quantity, quantities

_PAIRS = re.compile(
    r"\bfrom\b(?P<start>[^;:!?]{0,40}?\d[^;:!?]{0,40}?)\bto\b(?P<end>[^;:!?]{1,40})"
    r"|(?P<part>\d[\w.,]*%?)(?: percent)? (?:out )?of (?:the )?(?P<whole>[$€£]?\d[\w.,]*)"
    r"|(?P<value>[$€£]?\d[\w.,]*%?(?: [a-z]+)?) in (?P<year>\d{4})\b"
)

_Pair = tuple[str, frozenset[Decimal], frozenset[Decimal]]


def order_differs(claim: str, quotes: str) -> bool:
    """Return whether two numbers of the claim stand in each other's place in the quotes.

    >>> order_differs("It fell from 5 to 3.", "It fell from 3 to 5.")
    True
    >>> order_differs("It cost $4 in 2010.", "It rose from $2 in 2010 to $4 in 2015.")
    True
    """
    ours, theirs = list(_pairs(claim.lower())), list(_pairs(quotes.lower()))
    return any(
        _is_exchanged(pair, theirs) and not any(_is_same(pair, other) for other in theirs)
        for pair in ours
    )


def _is_exchanged(pair: _Pair, theirs: list[_Pair]) -> bool:
    kind, one, other = pair
    same_kind = [(first, second) for known, first, second in theirs if known == kind]
    if kind == "year":
        values = any(first & one for first, _ in same_kind)
        return values and any(second & other for _, second in same_kind)
    return any(first & other and second & one for first, second in same_kind)


def _is_same(one: _Pair, other: _Pair) -> bool:
    return one[0] == other[0] and bool(one[1] & other[1]) and bool(one[2] & other[2])


def _pairs(text: str) -> Iterator[_Pair]:
    for match in _PAIRS.finditer(text):
        for first, second in (("start", "end"), ("part", "whole"), ("value", "year")):
            if match[first] is not None:
                yield from _pair(second, quantities(match[first]), quantities(match[second]))
        if match["end"] is not None:  # both ends of a range may have a year
            yield from _pairs(match["start"])
            yield from _pairs(match["end"])


def _pair(kind: str, firsts: Sequence[Quantity], seconds: Sequence[Quantity]) -> Iterator[_Pair]:
    if firsts and seconds:
        yield kind, firsts[0].amounts, seconds[0].amounts
