"""Compares which way things go in a claim with which way they go in its quotes."""

from collections import Counter
from collections.abc import Mapping, Sequence, Set

from core.grounding.antonyms import GENERAL, Side, are_opposed
from core.grounding.bindings import Binding, bind, is_mirrored, likeness
from core.grounding.numbers import is_of_quantity
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
    if _has_opposed_prefix(claim, quotes):
        return True
    surplus = _counts(ours) - _counts(theirs)
    return any(
        _is_reversed(binding, theirs, sides, is_known=not surplus[_form(binding)])
        for binding in ours
    )


def _has_opposed_prefix(claim: Reading, quotes: Reading) -> bool:
    """Return whether only the claim has a word such as `hyperglycemia`, and they its opposite."""
    ours = {word.lower for word in claim.content} - quotes.lowers
    theirs = {word.lower for word in quotes.content} - claim.lowers
    return any(are_opposed(one, other) for one in ours for other in theirs)


def _directions(words: Sequence[Word], sides: Mapping[str, frozenset[Side]]) -> list[Binding]:
    return [
        bind(words, place, sides)
        for place, word in enumerate(words)
        if base_form(word.lower) in sides and not _is_bound(words, place)
    ]


def _is_bound(words: Sequence[Word], place: int) -> bool:
    """Return whether the word bounds a number: `at least 5`, `5 or more`, `more than 5`."""
    lower, before = words[place].lower, words[place - 1].lower if place else ""
    after = [word.lower for word in words[place + 1 : place + 3]]
    if lower in {"more", "less", "fewer"} and before == "or":
        return place < 2 or words[place - 2].lower != "one"
    number = after[:1] if lower in {"least", "most"} and before == "at" else after[1:]
    is_bound = before == "at" or after[:1] == ["than"]
    return is_bound and number not in ([], ["one"]) and is_of_quantity(number[0])


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
    if not is_known and any(_is_replaced(ours, theirs, sides, side) for side in own):
        return True
    opposite = {(axis, not side) for axis, side in own}
    if not is_known and _turns_object(ours, theirs, sides, opposite):
        return True
    same = [likeness(ours, other) for other in theirs if own & sides[_form(other)]]
    turned = _turned(ours, theirs, sides, opposite)
    if not same:
        return turned >= _ALONE
    return turned > max(same) + (_MARGIN_OF_KNOWN if is_known else _MARGIN)


def _is_replaced(
    ours: Binding, theirs: Sequence[Binding], sides: Mapping[str, frozenset[Side]], side: Side
) -> bool:
    """Return whether the quotes have nothing on this side of an axis, and its other side."""
    axis, is_positive = side
    if axis == GENERAL or any(side in sides[_form(other)] for other in theirs):
        return False
    return _turned(ours, theirs, sides, {(axis, not is_positive)}) >= _ALONE


def _turns_object(
    ours: Binding,
    theirs: Sequence[Binding],
    sides: Mapping[str, frozenset[Side]],
    opposite: Set[Side],
) -> bool:
    """Return whether what the word does something to has only its opposite in the quotes."""
    same = [other for other in theirs if (thing := _object(other)) and thing == _object(ours)]
    own = sides[_form(ours)]
    return not any(own & sides[_form(other)] for other in same) and any(
        opposite & sides[_form(other)]
        and other.is_denied == ours.is_denied
        and not is_mirrored(ours, other)
        for other in same
    )


def _object(binding: Binding) -> str | None:
    """Return the content word right behind the word, in its clause."""
    behind = (root for root, near, is_front in binding.around if not is_front and near == 1.0)
    return next(behind, None)


def _turned(
    ours: Binding,
    theirs: Sequence[Binding],
    sides: Mapping[str, frozenset[Side]],
    opposite: Set[Side],
) -> float:
    """Return how like the surroundings of the likest opposite word are; 0: there is none."""
    return max(
        (
            likeness(ours, other)
            for other in theirs
            if opposite & sides[_form(other)]
            and other.is_denied == ours.is_denied
            and not is_mirrored(ours, other)
        ),
        default=0.0,
    )
