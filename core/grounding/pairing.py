"""Tells whether numbers and names stand beside the same things in a claim and its quotes."""

import re
from dataclasses import dataclass

from core.grounding.words import Reading

_BORDER = re.compile(
    r"[.;:!?|()\n](?!\d)|,(?!\d)|\b(?:and|but|or|while|whereas|than|versus|instead of)\b", re.I
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*(?:\s?%|\s(?=percent\b|per cent\b))?")
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
_KINDS = ("numbers", "years", "shares", "names")
_NAME = re.compile(r"(?<![\w.])[A-Z][\w'’-]+")


@dataclass(frozen=True, slots=True)
class _Clause:
    stems: frozenset[str]
    numbers: frozenset[str]
    years: frozenset[str]
    shares: frozenset[str]
    """Numbers of percent."""
    names: frozenset[str]


def is_mispaired(claim: str, quotes: str) -> bool:
    """Return whether a number or a name of the claim belongs to something else in the quotes.

    A clause of the claim is compared with that clause of the quotes which it resembles most: if
    that one has another number (or name) in the place of the claim's, whose own stands only in
    clauses that resemble less, the two were exchanged.
    """
    theirs = _clauses(quotes)
    return any(
        _is_exchanged(mark, ours, theirs, kind)
        for ours in _clauses(claim)
        for kind in _KINDS
        for mark in getattr(ours, kind)
    )


def _is_exchanged(mark: str, ours: _Clause, theirs: list[_Clause], kind: str) -> bool:
    about = ours.stems - {mark.casefold()}
    with_it = [len(about & c.stems) for c in theirs if mark in getattr(c, kind)]
    rivals = [
        len(about & c.stems)
        for c in theirs
        if mark not in getattr(c, kind) and getattr(c, kind) - getattr(ours, kind)
    ]
    return bool(with_it and rivals) and max(rivals) > max(with_it) + (kind == "names")


def _clauses(text: str) -> list[_Clause]:
    clauses = []
    for piece in _BORDER.split(text):
        if not piece.strip():
            continue
        names = frozenset(name.casefold() for name in _NAME.findall(piece))
        found = _NUMBER.findall(piece)
        shares = frozenset(n.strip(" %") for n in found if n.endswith(("%", " ")))
        numbers = frozenset(n for n in found if not n.endswith(("%", " ")))
        years = frozenset(n for n in numbers if _YEAR.fullmatch(n))
        stems = Reading(piece).content_stems
        clauses.append(_Clause(stems, numbers - years, years, shares, names))
    return clauses
