"""Tells whether numbers and names stand beside the same things in a claim and its quotes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise

from core.grounding.numbers import Quantity, quantities
from core.grounding.words import Reading, Word

_KINDS = ("numbers", "years", "shares", "names")


@dataclass(frozen=True, slots=True)
class _Clause:
    stems: frozenset[str]
    numbers: frozenset[str]
    years: frozenset[str]
    shares: frozenset[str]
    """Numbers of percent."""
    names: frozenset[str]
    words: frozenset[str]
    """The stems of all words: a name that opens a sentence is told by nothing."""


def is_mispaired(claim: Reading, quotes: Reading) -> bool:
    """Return whether a number or a name of the claim belongs to something else in the quotes.

    A clause of the claim is compared with that clause of the quotes which it resembles most: if
    that one has another number (or name) in the place of the claim's, whose own stands only in
    clauses that resemble less, the two were exchanged.
    """
    theirs = list(_clauses(quotes))
    return any(
        _is_exchanged(mark, ours, theirs, kind)
        for ours in _clauses(claim)
        for kind in _KINDS
        for mark in getattr(ours, kind)
    )


def _is_exchanged(mark: str, ours: _Clause, theirs: list[_Clause], kind: str) -> bool:
    about = ours.stems - {mark}
    where = "words" if kind == "names" else kind
    with_it = [len(about & c.stems) for c in theirs if mark in getattr(c, where)]
    rivals = [
        len(about & c.stems)
        for c in theirs
        if mark not in getattr(c, where) and getattr(c, kind) - getattr(ours, where)
    ]
    return bool(with_it and rivals) and max(rivals) > max(with_it) + (kind == "names")


def _clauses(text: Reading) -> Iterator[_Clause]:
    groups = [list(words) for _, words in groupby(text.words, key=lambda word: word.clause)]
    borders = [*(words[0].start for words in groups), len(text.prose)]
    for words, (start, end) in zip(groups, pairwise(borders), strict=True):
        found = quantities(text.prose[start:end])
        yield _Clause(
            stems=frozenset(w.stem for w in words if w.is_content and not w.lower[0].isdigit()),
            numbers=_marks(q for q in found if not q.is_year and not _is_share(q)),
            years=_marks(q for q in found if q.is_year and q.unit is None),
            shares=_marks(q for q in found if _is_share(q)),
            names=frozenset(word.stem for word in words if _is_name(word)),
            words=frozenset(word.stem for word in words),
        )


def _is_share(quantity: Quantity) -> bool:
    return quantity.unit is not None and quantity.unit.base == "percent"


def _marks(found: Iterable[Quantity]) -> frozenset[str]:
    return frozenset(str(min(q.amounts)) for q in found)


def _is_name(word: Word) -> bool:
    return word.written[0].isupper() and word.is_content and not word.opens
