"""Whether a sentence denies what a text says, or says its opposite, compared by words.

Nothing here is shared with the check that lets a sentence into an answer: a measure that used
the same code would find every answer good. The word lists are English.
"""

import re
from collections.abc import Callable, Sequence
from itertools import chain, pairwise

EncodeTerms = Callable[[str], Sequence[int]]
"""Gives the ids of the words of a text that carry meaning, stemmed."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_CLAUSE_END = re.compile(r"[.,;:!?()—\n]+")

_REACH = 3
"""So many words that carry meaning are negated by a "not" before them."""
_NEGATION = re.compile(
    r"not|no|never|none|neither|nor|without|cannot|nobody|nothing|hardly|rarely|seldom"
    r"|\w+n['’]t",
    re.I,
)
_NO_NEGATION = re.compile(r"\bnot (?:only|just|merely|simply)\b", re.I)

_ENDING = re.compile(r"(?:ies|ied|ing|ed|es|s|e)$")
_OPPOSITES = (
    (
        "increase rise rose risen raise grow grew grown expand higher more greater larger upward",
        "decrease fall fell fallen reduce lower decline drop dropped shrink shrank less fewer "
        "smaller downward",
    ),
    ("supply supplies supplier", "demand"),
    ("buy bought buyer purchase", "sell sold seller"),
    ("export", "import"),
    ("surplus", "shortage deficit"),
    ("inflation", "deflation"),
    ("maximum maximize", "minimum minimize"),
    ("high large strong strongest highest largest most", "low small weak weakest lowest least"),
    ("stronger", "weaker"),
    ("cost loss losses", "benefit gain"),
    ("producer", "consumer"),
    ("expansion expansionary", "contraction contractionary"),
    ("appreciate", "depreciate"),
    ("positive", "negative"),
    ("above", "below"),
    ("left", "right"),
)
_SIDES = {
    _ENDING.sub("", word): (pair, side)
    for pair, opposites in enumerate(_OPPOSITES)
    for side, words in zip((1, -1), opposites, strict=True)
    for word in words.split()
}
"""Which side of which pair a word is on, by its stem."""


def negations_agree(sentence: str, text: str, encode_terms: EncodeTerms) -> bool:
    """Return whether what the sentence negates is negated in the text, and nothing else is."""
    negated, plain = _polarity(sentence, encode_terms)
    negated_there, plain_there = _polarity(text, encode_terms)
    if negated and not negated_there:
        return False
    added = (negated - plain) & (plain_there - negated_there)
    lost = (plain - negated) & (negated_there - plain_there)
    return not added and not lost


def _polarity(text: str, encode_terms: EncodeTerms) -> tuple[set[int], set[int]]:
    """Return the terms in reach of a negation, and those out of reach."""
    negated: set[int] = set()
    plain: set[int] = set()
    for clause in _CLAUSE_END.split(_NO_NEGATION.sub(" ", text)):
        reach = 0
        for word in _WORD.findall(clause):
            if _NEGATION.fullmatch(word):
                reach = _REACH
            elif terms := encode_terms(word):
                (negated if reach else plain).update(terms)
                reach = max(reach - 1, 0)
    return negated, plain


def directions_agree(sentence: str, text: str, encode_terms: EncodeTerms) -> bool:
    """Return whether the text does not say the opposite of the sentence.

    It does where a word stands next to one side of a pair such as "rise" and "fall" in the
    sentence, and only next to the other in the text.
    """
    said, there = _directions(sentence, encode_terms), _directions(text, encode_terms)
    return not any(
        len(sides) == 1 and there.get(place) == {-side for side in sides}
        for place, sides in said.items()
    )


def _directions(text: str, encode_terms: EncodeTerms) -> dict[tuple[int, int], set[int]]:
    """Return on which sides (1 or -1) of which pair each term stands, as (pair, term)."""
    found: dict[tuple[int, int], set[int]] = {}
    for clause in _CLAUSE_END.split(text):
        words = [
            (_SIDES.get(_ENDING.sub("", word.casefold())), encode_terms(word))
            for word in _WORD.findall(clause)
        ]
        telling = [(direction, terms) for direction, terms in words if direction or terms]
        for (direction, _), (beside, terms) in chain(pairwise(telling), pairwise(telling[::-1])):
            if direction and (beside is None or beside[0] != direction[0]):
                for term in terms:
                    found.setdefault((direction[0], term), set()).add(direction[1])
    return found
