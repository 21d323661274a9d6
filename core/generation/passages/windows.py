"""Chooses the passages that answer best: whole sentences around the likeliest ones.

That the sentences around the best two answer more than the best three by themselves was measured
on textbooks; docs/measuring.md has the figures.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from core.generation.passages.pieces import Piece
from core.generation.passages.scoring import Scored, says_again
from core.models import AnswerLength

MOST_WORDS: Mapping[AnswerLength, int] = MappingProxyType(
    {AnswerLength.SHORT: 80, AnswerLength.NORMAL: 200, AnswerLength.LONG: 320}
)
BEFORE = 1
AFTER = 3
"""Pieces that a passage has before and after the one that it is chosen for."""
FURTHEST = 2
"""Pieces that it may begin before that one where what it would begin with leans."""
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
    found: list[tuple[range, set[int]]] = []
    said: list[frozenset[int]] = []
    best_first = sorted(ranked, key=lambda scored: -scored.score)
    most = max(most_words // WORDS_A_PASSAGE, 1)
    for scored in best_first:
        if len(said) == most or scored.score < WORTHWHILE * best_first[0].score:
            break
        centre = positions[scored.piece]
        taken = {position for window, _ in found for position in window}
        room = most_words - sum(pieces[position].words for position in taken)
        if centre in taken or says_again(scored.terms, said):
            continue
        if found and max(scored.piece.words, ROOM) > room:
            continue
        said.append(scored.terms)
        found = _joined(pieces, found, _around(pieces, centre, taken, room), centre)
    return [_window(pieces, window, centres) for window, centres in found]


def beginning(pieces: Sequence[Piece], most_words: int) -> list[Window]:
    """Return the first pieces that can be shown, one at least where there is any."""
    found: list[range] = []
    words = 0
    for position, piece in enumerate(pieces):
        if not piece.shown or not (piece.citable or found):
            continue
        words += piece.words
        if found and words > most_words:
            break
        if found and found[-1].stop == position and piece.follows:
            found[-1] = range(found[-1].start, position + 1)
        else:
            found.append(range(position, position + 1))
    return [_window(pieces, window, set()) for window in found]


def _around(pieces: Sequence[Piece], centre: int, taken: set[int], room: int) -> range:
    """Return the passage around a piece, within `room` words but for what it cannot do without.

    That is the piece itself and, where it leans on it, the one before.
    """
    room -= pieces[centre].words
    start = end = centre
    while centre - start < FURTHEST and (centre - start < BEFORE or pieces[start].leans):
        before = pieces[start - 1] if pieces[start].follows else None
        is_needed = start == centre and pieces[centre].leans
        if before is None or not before.shown or (before.words > room and not is_needed):
            break
        start -= 1
        room -= before.words * (start not in taken)
    while end - centre < AFTER and end + 1 < len(pieces) and pieces[end + 1].follows:
        after = pieces[end + 1]
        if not after.shown or (after.words > room and end + 1 not in taken):
            break
        end += 1
        room -= after.words * (end not in taken)
    while start < centre and not pieces[start].citable:
        start += 1
    while end > centre and not pieces[end].citable:
        end -= 1
    return range(start, end + 1)


def _joined(
    pieces: Sequence[Piece], found: list[tuple[range, set[int]]], window: range, centre: int
) -> list[tuple[range, set[int]]]:
    """Return the passages with one more; those that it meets become one with it."""
    centres = {centre}
    apart: list[tuple[range, set[int]]] = []
    place = len(found)
    for number, (known, own) in enumerate(found):
        if _meet(pieces, known, window):
            window = range(min(known.start, window.start), max(known.stop, window.stop))
            centres |= own
            place = min(place, number)
        else:
            apart.append((known, own))
    return [*apart[:place], (window, centres), *apart[place:]]


def _meet(pieces: Sequence[Piece], one: range, other: range) -> bool:
    """Return whether two passages overlap, or one follows right after the other."""
    first, second = sorted((one, other), key=lambda window: window.start)
    touching = first.stop == second.start and pieces[second.start].follows
    return second.start < first.stop or touching


def _window(pieces: Sequence[Piece], window: range, centres: set[int]) -> Window:
    shown = tuple(pieces[position] for position in window)
    return Window(shown, frozenset(pieces[position] for position in centres))
