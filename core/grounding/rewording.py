"""Names the words by which a quote differs from the book."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product

from rapidfuzz.distance import Levenshtein, Prefix

from core.grounding.antonyms import are_opposed, sides_by_form
from core.grounding.misquoting import WORD, is_damaged, letters_of, with_edges
from core.grounding.quoting import QuotedPassage
from core.grounding.words import base_form

_LEAST_STEM = 4
_LONGEST_ENDING = 3
_ARTICLES = frozenset("a an the der die das den dem des ein eine einen einem einer".split())
_SIDES = sides_by_form()
_SYMBOL = re.compile(r"\\[a-zA-Z]+")
"""A command of TeX, which a page shows as a sign."""


@dataclass(frozen=True, slots=True)
class Reworded:
    """Words of a quote, and the book's in their place; either may be missing."""

    quoted: str
    written: str


def reworded(quote: str, passages: Sequence[QuotedPassage]) -> list[Reworded]:
    """Return the words that differ, in order, without what only letters or endings do.

    What is cut off at the edges of the quote is of no account, and neither are articles, nor
    numbers, which are compared as quantities.

    Args:
        quote: What the reader believes to be the book's words.
        passages: Where it was found: its stretch of each chunk that it touches.
    """
    ours = _words(quote)
    theirs = list(chain.from_iterable(_words(with_edges(p).text) for p in passages))
    return list(_different(ours, theirs))


def changes_sense(words: Sequence[Reworded]) -> bool:
    """Return whether a word stands in the place of its opposite, or two have changed places."""
    pairs = {(one.quoted.casefold(), one.written.casefold()) for one in words}
    return any((written, quoted) in pairs or _oppose(quoted, written) for quoted, written in pairs)


def _oppose(quoted: str, written: str) -> bool:
    both = product(quoted.split(), written.split())
    return any(are_opposed(own, other) or _on_other_side(own, other) for own, other in both)


def _on_other_side(own: str, other: str) -> bool:
    ours, theirs = (_SIDES.get(base_form(word), frozenset()) for word in (own, other))
    return not ours & theirs and any((axis, not side) in theirs for axis, side in ours)


def _words(text: str) -> list[str]:
    return [
        word for word in WORD.findall(_SYMBOL.sub(" ", text)) if word.casefold() not in _ARTICLES
    ]


def _different(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[Reworded]:
    for (first, last), (begin, end) in _unequal(ours, theirs):
        quoted, written = ours[first:last], theirs[begin:end]
        if letters_of("".join(quoted)) == letters_of("".join(written)):
            continue  # `light house`
        if 0 in (first, begin):  # the book goes on before the quote
            quoted, written = _last(quoted, len(written)), _last(written, len(quoted))
        elif last == len(ours) or end == len(theirs):
            quoted, written = quoted[: len(written)], written[: len(quoted)]
        if len(quoted) == len(written):
            pairs = zip(quoted, written, strict=True)
            yield from (Reworded(own, other) for own, other in pairs if _differ(own, other))
        else:
            yield Reworded(" ".join(quoted), " ".join(written))


def _last(words: Sequence[str], count: int) -> Sequence[str]:
    return words[len(words) - min(count, len(words)) :]


def _unequal(
    ours: Sequence[str], theirs: Sequence[str]
) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield the stretches of both between words that are the same, in order."""
    folded = [word.casefold() for word in ours], [word.casefold() for word in theirs]
    source, target = 0, 0
    for same in Levenshtein.editops(*folded).as_matching_blocks():
        if (source, target) != (same.a, same.b):
            yield (source, same.a), (target, same.b)
        source, target = same.a + same.size, same.b + same.size


def _differ(own: str, other: str) -> bool:
    own, other = own.casefold(), other.casefold()
    return own != other and not (is_damaged(own, other) or _is_inflected(own, other))


def _is_inflected(own: str, other: str) -> bool:
    """Return whether two words differ by their endings alone."""
    same = Prefix.similarity(own, other)
    return same >= _LEAST_STEM and max(len(own), len(other)) - same <= _LONGEST_ENDING
