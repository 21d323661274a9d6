"""Compares which way things go in a claim with which way they go in its quotes."""

from collections import Counter
from collections.abc import Mapping, Sequence

from core.grounding.antonyms import Side
from core.grounding.bindings import Binding, bind, likeness
from core.grounding.words import Reading, Word, base_form

_MARGIN = 0.15
_MARGIN_OF_KNOWN = 0.4
"""For a word that the quotes have as often: it may stand elsewhere for the sake of style."""
_ALONE = 0.25
"""Least likeness of surroundings when the quotes have the opposite word only."""


def direction_differs(
    claim: Reading, quotes: Reading, sides: Mapping[str, frozenset[Side]]
) -> bool:
    """Return whether a direction word of the claim is the opposite of the quotes' one.

    Words are compared where they belong to the same other words, so `prices rise and
    quantities fall` differs from `prices fall and quantities rise`.
    """
    ours = _directions(claim.words, sides)
    theirs = _directions(quotes.words, sides)
    surplus = _counts(ours) - _counts(theirs)
    return any(
        _is_reversed(binding, theirs, sides, is_known=not surplus[_form(binding)])
        for binding in ours
    )


def _directions(words: Sequence[Word], sides: Mapping[str, frozenset[Side]]) -> list[Binding]:
    return [
        bind(words, place, sides)
        for place, word in enumerate(words)
        if base_form(word.lower) in sides
    ]


def _form(binding: Binding) -> str:
    return base_form(binding.word.lower)


def _counts(bindings: Sequence[Binding]) -> "Counter[str]":
    return Counter(map(_form, bindings))


def _is_reversed(
    ours: Binding,
    theirs: Sequence[Binding],
    sides: Mapping[str, frozenset[Side]],
    *,
    is_known: bool,
) -> bool:
    own = sides[_form(ours)]
    opposite = {(axis, not side) for axis, side in own}
    same = [likeness(ours, other) for other in theirs if own & sides[_form(other)]]
    turned = max(
        (
            likeness(ours, other)
            for other in theirs
            if opposite & sides[_form(other)] and other.is_denied == ours.is_denied
        ),
        default=0.0,
    )
    if not same:
        return turned >= _ALONE
    return turned > max(same) + (_MARGIN_OF_KNOWN if is_known else _MARGIN)
