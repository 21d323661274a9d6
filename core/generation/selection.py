"""Chooses the few excerpts that together answer best, and puts them in reading order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.generation.excerpts import Excerpt
from core.generation.inquiry import Inquiry, says_again
from core.generation.ranking import BLOCKS, Scored

REPEATED = 0.2
"""Taken off for question terms that the chosen excerpts already cover."""
NEIGHBOUR = 0.06
"""Added for an excerpt right beside a chosen one: the answer reads as one text."""
COMPANION = 0.01
"""Taken off for an excerpt that needs the one before it, which costs a place."""
WORTHWHILE = 0.62
"""Share of the best score that a further excerpt must reach."""


@dataclass(frozen=True, slots=True)
class Option:
    """An excerpt with the ones before it that it cannot be understood without."""

    positions: tuple[int, ...]
    """Positions among all excerpts, ascending; the scored one is last."""
    scored: Scored


def select(
    excerpts: Sequence[Excerpt], ranked: Sequence[Scored], inquiry: Inquiry, limit: int
) -> list[Excerpt]:
    """Return at most `limit` excerpts in reading order; none when none can be quoted.

    Greedy: each step takes what adds most to what is chosen already.
    """
    options = list(_options(excerpts, ranked, limit))
    chosen: dict[int, Scored | None] = {}
    best = 0.0
    while len(chosen) < limit:
        fitting = [o for o in options if _fits(o, chosen, limit)]
        if not fitting:
            break
        gains = [_gain(option, chosen, inquiry) for option in fitting]
        gain = max(gains)
        if chosen and gain < WORTHWHILE * best:
            break
        option = fitting[gains.index(gain)]
        best = max(best, gain)
        for position in option.positions:
            chosen.setdefault(position, None)
        chosen[option.positions[-1]] = option.scored
    return [excerpts[position] for position in sorted(chosen)]


def _options(excerpts: Sequence[Excerpt], ranked: Sequence[Scored], limit: int) -> Iterator[Option]:
    """Yield what may be chosen; what leans on a sentence that cannot be shown is left out."""
    places = {excerpt: position for position, excerpt in enumerate(excerpts)}
    for scored in ranked:
        last = places[scored.excerpt]
        first = _first_needed(excerpts, last, limit)
        if first is not None:
            yield Option(tuple(range(first, last + 1)), scored)


def _first_needed(excerpts: Sequence[Excerpt], last: int, limit: int) -> int | None:
    """Return where the text begins that the excerpt at `last` needs; none if it cannot be shown.

    Of what leans, only what is bound is never shown alone: a book answers more with the rest.
    """
    first = last
    while excerpts[first].leans and last - first < limit - 1:
        if not excerpts[first].follows or not excerpts[first - 1].citable:
            is_known = excerpts[first].follows and excerpts[first - 1].given
            return first if is_known or not excerpts[first].bound else None
        first -= 1
    return first


def _fits(option: Option, chosen: dict[int, Scored | None], limit: int) -> bool:
    kind = option.scored.excerpt.kind
    taken = {s.excerpt.kind for s in chosen.values() if s}
    if option.positions[-1] in chosen or (kind in BLOCKS and taken & BLOCKS):
        return False
    added = sum(position not in chosen for position in option.positions)
    said = [scored.terms for scored in chosen.values() if scored]
    return len(chosen) + added <= limit and not says_again(option.scored.terms, said)


def _gain(option: Option, chosen: dict[int, Scored | None], inquiry: Inquiry) -> float:
    scored = option.scored
    covered = frozenset[int]().union(*(s.terms for s in chosen.values() if s))
    gain = scored.score - REPEATED * inquiry.coverage(scored.terms & covered)
    gain -= COMPANION * sum(position not in chosen for position in option.positions[:-1])
    beside = {option.positions[0] - 1, option.positions[-1] + 1}
    return gain + NEIGHBOUR * bool(beside & chosen.keys())
