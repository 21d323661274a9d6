"""Chooses the passages that answer best: whole sentences around the likeliest ones.

That the sentences around the best two answer more than the best three by themselves was measured
on textbooks; docs/measuring.md has the figures.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from core.generation.excerpts import Excerpt
from core.generation.inquiry import says_again
from core.generation.ranking import Scored
from core.models import AnswerLength

MOST_WORDS: Mapping[AnswerLength, int] = MappingProxyType(
    {AnswerLength.SHORT: 80, AnswerLength.NORMAL: 190, AnswerLength.LONG: 320}
)
BEFORE = 1
AFTER = 4
"""Excerpts that a passage has before and after the one that it is chosen for."""
WORTHWHILE = 0.5
"""Share of the best score that the centre of a further passage must reach."""
WORDS_A_PASSAGE = 80
"""For so many words of an answer there may be one passage."""


def choose(excerpts: Sequence[Excerpt], ranked: Sequence[Scored], most_words: int) -> list[Excerpt]:
    """Return the excerpts of the few best passages, the best passage first.

    None when nothing can be quoted. The likeliest answer is always whole; what stands around it
    is added for as long as there are no more words than `most_words`. Within a passage they are
    in reading order, and passages that meet are one.
    """
    positions = {excerpt: position for position, excerpt in enumerate(excerpts)}
    known = {positions[scored.excerpt]: scored.terms for scored in ranked}
    best_first = sorted(ranked, key=lambda scored: -scored.score)
    chosen = set[int]()
    centres: list[int] = []
    for scored in best_first:
        if (
            len(centres) == max(most_words // WORDS_A_PASSAGE, 1)
            or scored.score < WORTHWHILE * best_first[0].score
        ):
            break
        centre = positions[scored.excerpt]
        start = _first_needed(excerpts, centre)
        if centre in chosen or start is None:
            continue
        needed = range(start, centre + 1)
        said = [known[position] for position in chosen if position in known]
        if chosen and says_again(scored.terms, said):
            continue
        if chosen and not _fits(excerpts, chosen, needed, most_words):
            continue
        chosen |= {*needed}
        _grow(excerpts, chosen, start, centre, most_words)
        centres.append(centre)
    return [excerpts[position] for position in _best_first(excerpts, chosen, centres)]


def _best_first(excerpts: Sequence[Excerpt], chosen: set[int], centres: Sequence[int]) -> list[int]:
    """Return the positions chosen, those of the passage around the first centre first."""
    runs: list[list[int]] = []
    for position in sorted(chosen):
        if runs and runs[-1][-1] == position - 1 and excerpts[position].follows:
            runs[-1].append(position)
        else:
            runs.append([position])
    runs.sort(key=lambda run: min(centres.index(one) for one in run if one in centres))
    return [position for run in runs for position in run]


def beginning(excerpts: Sequence[Excerpt], most_words: int) -> list[Excerpt]:
    """Return the first excerpts that can be quoted, one at least where there is any."""
    citable = [excerpt for excerpt in excerpts if excerpt.citable]
    words = 0
    for count, excerpt in enumerate(citable):
        words += _words(excerpt)
        if count and words > most_words:
            return citable[:count]
    return citable


def _fits(excerpts: Sequence[Excerpt], chosen: set[int], needed: range, most_words: int) -> bool:
    """Return whether a further passage has room."""
    return sum(_words(excerpts[position]) for position in chosen | {*needed}) <= most_words


def _grow(
    excerpts: Sequence[Excerpt], chosen: set[int], start: int, centre: int, most_words: int
) -> None:
    """Add what follows a passage's centre in its section, then what stands before it."""
    words = sum(_words(excerpts[position]) for position in chosen)
    around = [*range(centre + 1, min(centre + 1 + AFTER, len(excerpts)))]
    for position in around:
        if not excerpts[position].follows or not excerpts[position].citable:
            break
        words += _words(excerpts[position]) * (position not in chosen)
        if words > most_words:
            return
        chosen.add(position)
    for position in range(start - 1, start - 1 - BEFORE, -1):
        before = excerpts[position]
        if not excerpts[position + 1].follows or not before.citable or before.leans:
            return
        words += _words(before) * (position not in chosen)
        if words > most_words:
            return
        chosen.add(position)


def _first_needed(excerpts: Sequence[Excerpt], centre: int) -> int | None:
    """Return where the text begins that the centre needs; none if it cannot be shown.

    Of what leans, only what is bound is never shown alone: a book answers more with the rest.
    """
    first = centre
    while excerpts[first].leans and centre - first <= BEFORE:
        if not excerpts[first].follows or not excerpts[first - 1].citable:
            is_known = excerpts[first].follows and excerpts[first - 1].given
            return first if is_known or not excerpts[first].bound else None
        first -= 1
    return first


def _words(excerpt: Excerpt) -> int:
    return len(excerpt.quote.split())
