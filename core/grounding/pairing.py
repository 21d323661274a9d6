"""Tells whether numbers, names and directions belong to the same things as in the quotes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from core.grounding.antonyms import GENERAL, Side
from core.grounding.numbers import Quantity, quantities
from core.grounding.words import Reading, Word, base_form

_KINDS = ("numbers", "years", "shares", "names")
_JOINS = frozenset({"and", "but", "or", "nor"})
_BEGINS_SUBJECT = frozenset(
    "a an the this that these those its their his her our your my some any each every no".split()
)
_STANDS_FOR_SUBJECT = frozenset({"it", "they", "he", "she"})
_STANDS_FOR_THING = frozenset({"one", "ones"})
_MARGIN = 1
"""Shared words by which a rival has to win that stands beside its own word by right, too."""


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
    forms: Mapping[str, str]
    """The base form of each of its words, with its stem."""


class Clauses:
    """The clauses of a claim and of its quotes."""

    def __init__(self, claim: Reading, quotes: Reading) -> None:
        self.ours = tuple(_clauses(claim))
        self.theirs = tuple(_clauses(quotes, shared=True))


def is_mispaired(clauses: Clauses) -> bool:
    """Return whether a number or a name of the claim belongs to something else in the quotes.

    A clause of the claim is compared with that clause of the quotes which it resembles most: if
    that one has another number (or name) in the place of the claim's, whose own stands only in
    clauses that resemble less, the two were exchanged.
    """
    return any(
        _is_exchanged(mark, ours, clauses.theirs, kind)
        for ours in clauses.ours
        for kind in _KINDS
        for mark in getattr(ours, kind)
    )


def is_turned(clauses: Clauses, sides: Mapping[str, frozenset[Side]]) -> bool:
    """Return whether a direction word of the claim belongs to something else in the quotes.

    Told like a number or name, with a word of the opposite direction as its rival.
    """
    return any(
        _has_turned(form, ours, clauses.theirs, sides)
        for ours in clauses.ours
        for form in ours.forms
        if form in sides
    )


def _has_turned(
    form: str, ours: _Clause, theirs: Sequence[_Clause], sides: Mapping[str, frozenset[Side]]
) -> bool:
    own = {side for side in sides[form] if side[0] != GENERAL}
    opposite = {(axis, not is_positive) for axis, is_positive in own}
    about = ours.stems - {ours.forms[form]}
    with_it, rivals = [], []
    for clause in theirs:
        there = {side for other in clause.forms for side in sides.get(other, ())}
        if own & there:
            with_it.append(len(about & clause.stems))
        elif opposite & there:
            rivals.append(len(about & clause.stems))
    return bool(with_it and rivals) and max(rivals) > max(with_it) + _MARGIN


def _is_exchanged(mark: str, ours: _Clause, theirs: Sequence[_Clause], kind: str) -> bool:
    about = ours.stems - {mark}
    where = "words" if kind == "names" else kind
    with_it = [len(about & c.stems) for c in theirs if mark in getattr(c, where)]
    rivals = [
        len(about & c.stems)
        for c in theirs
        if mark not in getattr(c, where) and getattr(c, kind) - getattr(ours, where)
    ]
    return bool(with_it and rivals) and max(rivals) > max(with_it) + _MARGIN * (kind == "names")


def _clauses(text: Reading, *, shared: bool = False) -> Iterator[_Clause]:
    """Yield the clauses; `shared`: each with what was said once, in front, for it as well."""
    groups = _groups(text)
    borders = [*(words[0].start for words in groups), len(text.prose)]
    before: list[str] = []
    for words, (start, end) in zip(groups, pairwise(borders), strict=True):
        found = quantities(text.prose[start:end])
        own = [w.stem for w in words if w.is_content and not w.lower[0].isdigit()]
        leans = shared and _leans_on_previous(words)
        # What the clause has in its place stands at the end of the one before.
        before = [*before[: max(len(before) - len(own), 0)], *own] if leans else own
        yield _Clause(
            stems=frozenset(before),
            numbers=_marks(q for q in found if not q.is_year and not _is_share(q)),
            years=_marks(q for q in found if q.is_year and q.unit is None),
            shares=_marks(q for q in found if _is_share(q)),
            names=frozenset(word.stem for word in words if _is_name(word)),
            words=frozenset(word.stem for word in words),
            forms={base_form(word.lower): word.stem for word in words},
        )


def _groups(text: Reading) -> list[list[Word]]:
    """Return the words of each clause; `and` between two numbers begins none."""
    groups: list[list[Word]] = []
    for _, group in groupby(text.words, key=lambda word: word.clause):
        words = list(group)
        is_list = words[0].lower in _JOINS and len(words) > 1 and words[1].lower.isdecimal()
        if groups and is_list and groups[-1][-1].lower.isdecimal():
            groups[-1] += words
        else:
            groups.append(words)
    return groups


def _leans_on_previous(words: Sequence[Word]) -> bool:
    """Return whether a clause leaves out what it is about, as in `and to Peru in 1990`."""
    if any(word.lower in _STANDS_FOR_SUBJECT for word in words):
        return True
    if any(after.lower in _STANDS_FOR_THING and word.is_content for word, after in pairwise(words)):
        return True  # `a closed one`
    return words[0].lower in _JOINS and all(w.lower not in _BEGINS_SUBJECT for w in words[1:2])


def _is_share(quantity: Quantity) -> bool:
    return quantity.unit is not None and quantity.unit.base == "percent"


def _marks(found: Iterable[Quantity]) -> frozenset[str]:
    return frozenset(str(min(q.amounts)) for q in found)


def _is_name(word: Word) -> bool:
    return word.written[0].isupper() and word.is_content and not word.opens
