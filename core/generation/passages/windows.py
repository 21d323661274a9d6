"""Chooses the passages that answer best: whole sentences around the likeliest ones.

That the sentences around the best two answer more than the best three by themselves was measured
on textbooks; docs/measuring.md has the figures.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, dropwhile
from types import MappingProxyType

from core.generation.passages.pieces import ENTRY, Piece
from core.generation.passages.scoring import Scored, says_again
from core.models import AnswerLength

MOST_WORDS: Mapping[AnswerLength, int] = MappingProxyType(
    {AnswerLength.SHORT: 80, AnswerLength.NORMAL: 200, AnswerLength.LONG: 320}
)
AFTER = 3
"""Pieces that a passage has after the one that it is chosen for."""
FURTHEST = 2
"""Pieces that it has before that one: a second where what it would begin with leans."""
OPENING = 5
"""Pieces before a passage that are shown, too, where what was read of its section begins with them
and they have room: what a section is about stands there."""
WORTHWHILE = 0.7
"""Share of the best score that the centre of a further passage must reach."""
ROOM = 30
"""Words that a further passage must have room for, so that it is more than a sentence."""
WORDS_A_PASSAGE = 60
"""For so many words of an answer there may be one passage."""


@dataclass(frozen=True, slots=True)
class Window:
    """A passage: neighbouring pieces of one section."""

    pieces: tuple[Piece, ...]
    centres: frozenset[Piece]
    """Those of them that answer."""


def choose(pieces: Sequence[Piece], ranked: Sequence[Scored], most_words: int) -> list[Window]:
    """Return the few best passages, the best first; none when nothing can be shown.

    The likeliest answer is always whole; what stands around it is added for as long as all
    passages have no more words than `most_words` together. Passages that meet become one.
    """
    positions = {piece: position for position, piece in enumerate(pieces)}
    taken: set[int] = set()
    centres: list[int] = []
    said: list[frozenset[int]] = []
    best_first = sorted(ranked, key=lambda scored: -scored.score)
    most = max(most_words // WORDS_A_PASSAGE, 1)
    passages = 0
    for scored in best_first:
        if passages == most or scored.score < WORTHWHILE * best_first[0].score:
            break
        centre = positions[scored.piece]
        room = most_words - sum(pieces[position].words for position in taken)
        too_long = taken and max(scored.piece.words, ROOM) > room
        if centre in taken or too_long or says_again(scored.terms, said):
            continue
        said.append(scored.terms)
        centres.append(centre)
        around = range(centre, centre + 1)
        if not scored.alone:
            around = _around(pieces, centre, taken, room)
        passages += scored.piece.kind != ENTRY or not _adjoins(pieces, around, taken)
        taken.update(around)
    return _windows(pieces, _with_openings(pieces, taken, most_words), centres)


def _adjoins(pieces: Sequence[Piece], around: range, taken: set[int]) -> bool:
    """Return whether a passage meets what is taken of its section."""
    before = pieces[around.start].follows and around.start - 1 in taken
    is_after = around.stop < len(pieces) and pieces[around.stop].follows
    return before or (is_after and around.stop in taken) or not taken.isdisjoint(around)


def beginning(pieces: Sequence[Piece], most_words: int) -> list[Window]:
    """Return the first pieces that can be shown, one at least where there is any."""
    shown = (position for position, piece in enumerate(pieces) if piece.shown)
    found = list(dropwhile(lambda position: not pieces[position].citable, shown))
    words = accumulate(pieces[position].words for position in found)
    fit = max(1, sum(total <= most_words for total in words))
    return _windows(pieces, found[:fit], [])


def _around(pieces: Sequence[Piece], centre: int, taken: set[int], room: int) -> range:
    """Return the passage around a piece, within `room` words but for what it cannot do without.

    That is the piece itself and, where it leans on it, the one before. What the answer before
    showed is left out, unless the piece leans on it or was shown itself.
    """
    room -= pieces[centre].words
    known = pieces[centre].known
    start = end = centre
    while pieces[start].follows and centre - start < FURTHEST:
        before, leans = pieces[start - 1], pieces[start].leans
        is_needed = leans and start == centre
        fits = before.words <= room and (known or not before.known)
        if not before.shown or not (is_needed or (fits and (leans or start == centre))):
            break
        start -= 1
        room -= before.words * (start not in taken)
    while end - centre < AFTER and end + 1 < len(pieces) and pieces[end + 1].follows:
        after = pieces[end + 1]
        if not after.shown or (after.words > room and end + 1 not in taken):
            break
        if after.known and not known:
            break
        end += 1
        room -= after.words * (end not in taken)
    fit = [n for n in range(start, end + 1) if n == centre or pieces[n].citable]
    return range(fit[0], fit[-1] + 1)


def _with_openings(pieces: Sequence[Piece], taken: set[int], most_words: int) -> set[int]:
    """Return the positions of pieces with those of what their sections begin with, if near."""
    whole = set(taken)
    room = most_words - sum(pieces[position].words for position in taken)
    for position in sorted(taken):
        first = position
        while pieces[first].follows and position - first < OPENING and first - 1 not in whole:
            first -= 1
        opening = pieces[first:position]
        words = sum(piece.words for piece in opening)
        known = pieces[position].known
        begins = opening and opening[0].citable and not (opening[0].leans or opening[0].follows)
        is_fit = all(p.shown and p.kind != ENTRY and (known or not p.known) for p in opening)
        if begins and is_fit and words <= room:
            whole.update(range(first, position))
            room -= words
    return whole


def _windows(
    pieces: Sequence[Piece], taken: Collection[int], centres: Sequence[int]
) -> list[Window]:
    """Return the runs of neighbours among the pieces at some positions, by their first centre."""
    runs: list[list[int]] = []
    for position in sorted(taken):
        if runs and runs[-1][-1] + 1 == position and pieces[position].follows:
            runs[-1].append(position)
        else:
            runs.append([position])
    runs.sort(key=lambda run: min((n for n, c in enumerate(centres) if c in run), default=0))
    return [
        Window(
            tuple(pieces[position] for position in run),
            frozenset(pieces[position] for position in run if position in centres),
        )
        for run in runs
    ]
