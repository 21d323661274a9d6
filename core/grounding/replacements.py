"""Finds words of a claim that stand in the place of other words of its quotes."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from core.grounding.places import Alignments, Line, Term, likeness_of_places
from core.grounding.words import Reading, Word

_SAME_NEIGHBOUR = 1.0
_BOTH_SIDES = 1.5
_BOTH_NEIGHBOURS = 2.0
_SHORTEST_ROOT = 5
"""Letters; what is denied by a prefix is compared otherwise."""
_FARTHEST = 0.17
_FARTHEST_IN_DOUBT = 0.24
"""Distances of meaning, 1 less the cosine, times the root of the number of content words: one
word weighs less in a longer sentence."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """A word that only the claim has, where the quotes have others in its place."""

    restored: tuple[str, ...]
    """The claim with each of those words instead."""
    least_cosine: float
    """What the likest of them and the claim have at least where the words are synonyms."""


def replacements(claim: Reading, texts: Alignments) -> Iterator[Replacement]:
    """Yield the words of the claim that may be others than the quotes' in the same place.

    Whether they say the same is for their meaning to tell.
    """
    alignment = texts.by_sentence
    ours, theirs = _roots(alignment.ours), _roots(alignment.theirs)
    for line in alignment.ours:
        for place, term in enumerate(line):
            if not term.word.lower.isalpha() or _is_known(term, theirs):
                continue
            if rivals := dict(_rivals(place, line, alignment.theirs, ours)):
                is_certain = max(rivals.values()) >= _BOTH_SIDES
                farthest = _FARTHEST if is_certain else _FARTHEST_IN_DOUBT
                restored = tuple(_with(claim, term.word, written) for written in rivals)
                yield Replacement(restored, 1 - farthest / math.sqrt(len(claim.content)))


def _roots(lines: Sequence[Line]) -> frozenset[str]:
    return frozenset(term.root for line in lines for term in line)


def _is_known(term: Term, theirs: Collection[str]) -> bool:
    """Return whether the quotes have a word, or one of its roots: `profitable`, `unprofitable`."""
    root = term.root
    return root in theirs or any(
        min(len(root), len(other)) >= _SHORTEST_ROOT
        and (root.endswith(other) or other.endswith(root))
        for other in theirs
    )


def _rivals(
    place: int, line: Line, theirs: Sequence[Line], ours: Collection[str]
) -> Iterator[tuple[str, float]]:
    """Yield the words of the quotes in this place that the claim does not have anywhere."""
    for other in theirs:
        for there, term in enumerate(other):
            likeness = likeness_of_places(line, place, other, there)
            is_behind_same = likeness == _BOTH_NEIGHBOURS or term.before == line[place].before
            if likeness >= _SAME_NEIGHBOUR and is_behind_same and term.root not in ours:
                yield term.word.written, likeness


def _with(claim: Reading, word: Word, written: str) -> str:
    """Return the claim with something else written in the place of a word."""
    end = word.start + len(word.written)
    return f"{claim.prose[: word.start]}{written}{claim.prose[end:]}"
