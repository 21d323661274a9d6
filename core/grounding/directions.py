"""Compares which way things go in a claim with which way they go in its quotes."""

from collections.abc import Mapping, Sequence

from core.grounding.antonyms import Side
from core.grounding.bindings import Binding, bind, likeness
from core.grounding.words import Reading, Word

_MARGIN = 0.08
_ALONE = 0.12
"""Least likeness of surroundings when the quotes have the opposite word only."""


def direction_differs(
    claim: Reading, quotes: Reading, sides: Mapping[str, frozenset[Side]]
) -> bool:
    """Return whether a direction word of the claim is the opposite of the quotes' one.

    Words are compared where they belong to the same other words, so `prices rise and
    quantities fall` differs from `prices fall and quantities rise`.
    """
    theirs = _directions(quotes.words, sides)
    return any(_is_reversed(ours, theirs, sides) for ours in _directions(claim.words, sides))


def _directions(words: Sequence[Word], sides: Mapping[str, frozenset[Side]]) -> list[Binding]:
    return [bind(words, place) for place, word in enumerate(words) if word.stem in sides]


def _is_reversed(
    ours: Binding, theirs: Sequence[Binding], sides: Mapping[str, frozenset[Side]]
) -> bool:
    own = sides[ours.word.stem]
    opposite = {(axis, not side) for axis, side in own}
    same, other = 0.0, 0.0
    has_same = False
    for binding in theirs:
        there = sides[binding.word.stem]
        if binding.word.stem == ours.word.stem or own & there:
            has_same = True
            same = max(same, likeness(ours, binding))
        elif opposite & there:
            other = max(other, likeness(ours, binding))
    if not has_same:
        return other >= _ALONE
    return other > same + _MARGIN
