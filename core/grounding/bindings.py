"""Tells which words a word of a text belongs to, and compares that between texts."""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from core.grounding.words import Word, base_form

_REACH = 5
_OTHER_CLAUSE = 0.35
_OTHER_SIDE = 0.7
_DENIALS = frozenset({"not", "no", "never"})
_TIED = 0.8
"""Closeness of a direction word nearby, in whatever clause: `rise when worse`."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A word and the content words around it, with how near they are and on which side."""

    word: Word
    around: tuple[tuple[str, float, bool], ...]
    """Stem, closeness from 0 to 1, and whether it stands in front."""
    is_denied: bool = False
    """Whether a `not` stands just in front of it."""


def bind(words: Sequence[Word], place: int, tied: Container[str] = ()) -> Binding:
    """Return the word at `place` with up to five content words on each side.

    The first word of each side whose base form is in `tied` counts as near.
    """
    word = words[place]
    front = _side(word, words[:place][::-1], tied, is_front=True)
    behind = _side(word, words[place + 1 :], tied, is_front=False)
    is_denied = any(other.lower in _DENIALS for other in words[max(0, place - 2) : place])
    return Binding(word, (*front, *behind), is_denied)


def _side(
    word: Word, others: Sequence[Word], tied: Container[str], *, is_front: bool
) -> Iterator[tuple[str, float, bool]]:
    content = [other for other in others[: 4 * _REACH] if other.is_content][:_REACH]
    for distance, other in enumerate(content, 1):
        near = (1.0 if other.clause == word.clause else _OTHER_CLAUSE) / distance
        if base_form(other.lower) in tied:
            near, tied = max(near, _TIED), ()
        yield other.stem, near, is_front


def likeness(one: Binding, other: Binding) -> float:
    """Return how alike the surroundings of two words are, 0 to 1."""
    shared = 0.0
    for root, near, is_front in one.around:
        shared += max(
            (
                min(near, near_there) * (1.0 if is_front == front_there else _OTHER_SIDE)
                for root_there, near_there, front_there in other.around
                if root_there == root
            ),
            default=0.0,
        )
    most = sum(near for _, near, _ in one.around)
    return shared / most if most else 0.0


def is_mirrored(one: Binding, other: Binding) -> bool:
    """Return whether what stands in front of one stands behind the other, and the reverse.

    Then `A is harder than B` and `B is softer than A` say the same.
    """
    sides = {(root, is_front) for root, _, is_front in one.around}
    there = {(root, is_front) for root, _, is_front in other.around}
    flipped = {is_front for root, is_front in sides if (root, not is_front) in there}
    return flipped == {True, False} and not sides & there
