"""Finds words of a claim that belong to something else in its quotes."""

from collections.abc import Container

from core.grounding.places import Alignment, Alignments, Line, likeness_of_places

_SAME_PLACE = 1.5
"""One neighbour is the same, and the other one, too, or both words begin or end their lines."""
_FEWEST = 2
_MOST_OF = 0.5
"""Part of a claim's clause that the clause which it exchanges a word of has to share."""


def is_exchanged(texts: Alignments, directions: Container[str] = ()) -> bool:
    """Return whether a word has come into the place of another one, from another clause.

    `Brass is an alloy of copper and tin` turns round `Bronze is an alloy of copper and tin, and
    brass is one of copper and zinc`: the clause about bronze is the likest one, and has another
    word in the place of `brass`, which only clauses have that are less like the claim's.

    Args:
        texts: The claim and its quotes.
        directions: Base forms of words that are compared otherwise.
    """
    return any(
        _is_borrowed(place, line, alignment)
        for alignment in (texts.by_clause, texts.by_sentence)
        for line in alignment.ours
        for place, term in enumerate(line)
        if term.form not in directions and not term.word.lower[0].isdigit()
    )


def _is_borrowed(place: int, line: Line, alignment: Alignment) -> bool:
    term = line[place]
    about = {other.root for other in line} - {term.root}
    at_home, rivals = [], []
    for other in alignment.theirs:
        shared = len(about & {theirs.root for theirs in other})
        if any(theirs.form == term.form for theirs in other):
            at_home.append(shared)
        else:
            rivals.append((shared, other))
    if not at_home:
        return False
    needed = max(max(at_home) + 1, _FEWEST, _MOST_OF * len(about))
    return any(
        shared >= needed and _has_another_word(place, line, other) for shared, other in rivals
    )


def _has_another_word(place: int, line: Line, other: Line) -> bool:
    """Return whether a line has a word in this place that ours does not have at all."""
    own = {term.root for term in line}
    return any(
        theirs.root not in own and likeness_of_places(line, place, other, there) >= _SAME_PLACE
        for there, theirs in enumerate(other)
    )
