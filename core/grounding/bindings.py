"""Tells which words a word of a text belongs to, and compares that between texts."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.grounding.words import Word

_REACH = 5
_OTHER_CLAUSE = 0.35
_OTHER_SIDE = 0.7


@dataclass(frozen=True, slots=True)
class Binding:
    """A word and the content words around it, with how near they are and on which side."""

    word: Word
    around: tuple[tuple[str, float, bool], ...]
    """Stem, closeness from 0 to 1, and whether it stands in front."""


def bind(words: Sequence[Word], place: int) -> Binding:
    """Return the word at `place` with up to five content words on each side."""
    word = words[place]
    around: list[tuple[str, float, bool]] = []
    for is_front, side in ((True, reversed(words[:place])), (False, iter(words[place + 1 :]))):
        distance = 0
        for other in side:
            if distance == _REACH:
                break
            if other.is_content:
                distance += 1
                near = 1.0 if other.clause == word.clause else _OTHER_CLAUSE
                around.append((other.stem, near / distance, is_front))
    return Binding(word, tuple(around))


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
