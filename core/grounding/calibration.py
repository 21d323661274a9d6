"""Fits the mark of a judging model on the sentences of a book, as they stand and altered."""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.grounding.judge import JudgedClaim
from core.models import Chunk
from core.text.sentences import sentences

_FEWEST_WORDS, _MOST_WORDS = 8, 40
_FEWEST_SENTENCES = 4
_WORD = re.compile(r"[^\W\d_]+")
_TELLING = 7
"""Letters of a word whose change changes what is said: by Zipf's law of abbreviation, rare words
are long."""


@dataclass(frozen=True, slots=True)
class MadeClaim:
    """A claim made of a book's sentences, and whether these say it."""

    statement: JudgedClaim
    is_true: bool


@dataclass(frozen=True, slots=True)
class FittedMark:
    """A mark, and what it does to the claims that it was fitted on."""

    mark: float
    dropped: float
    """Share of the true claims below it."""
    passed: float
    """Share of the false claims that reach it."""


def made_claims(chunks: Sequence[Chunk], number: int) -> list[MadeClaim]:
    """Return claims, drawn evenly from the book and the same in each run, by threes.

    One is a sentence that stands among those it cites, one the same with a telling word of another
    place in its place, and one the sentence without the sentences that say it.
    """
    chance = random.Random(0)
    drawn = [chunk for chunk in chunks if len(_fit(chunk)) >= _FEWEST_SENTENCES]
    chance.shuffle(drawn)
    made: list[MadeClaim] = []
    for chunk, other in zip(drawn, [*drawn[1:], *drawn[:1]], strict=True):
        if len(made) >= number:
            break
        made += _of_chunk(chunk, other, chance)
    return made[:number]


def fitted_mark(likely: Sequence[float], truths: Sequence[bool], usual: float) -> FittedMark:
    """Return the mark with the fewest mistakes; of several the one nearest to the usual mark.

    Args:
        likely: The judge's probabilities, 0 to 1.
        truths: For each whether the claim is true; some are and some are not.
        usual: The mark of a judge that nothing is known of.
    """
    places = sorted({*likely})
    between = [(one + other) / 2 for one, other in pairwise(places)]
    trials = [_tried(mark, likely, truths) for mark in (usual, *between)]
    return min(trials, key=lambda one: (round(one.dropped + one.passed, 9), abs(one.mark - usual)))


def _tried(mark: float, likely: Sequence[float], truths: Sequence[bool]) -> FittedMark:
    pairs = list(zip(likely, truths, strict=True))
    true = [p for p, is_true in pairs if is_true]
    false = [p for p, is_true in pairs if not is_true]
    dropped = sum(p < mark for p in true) / len(true)
    return FittedMark(mark, dropped, sum(p >= mark for p in false) / len(false))


def _of_chunk(chunk: Chunk, other: Chunk, chance: random.Random) -> Iterator[MadeClaim]:
    own = sentences(chunk.content_text)
    said = chance.choice(_fit(chunk))
    place = own.index(said)
    around = tuple(own[max(place - 1, 0) : place + 2])
    yield MadeClaim(JudgedClaim(said, around, chunk.headings), is_true=True)
    if altered := _altered(said, around, other, chance):
        yield MadeClaim(JudgedClaim(altered, around, chunk.headings), is_true=False)
    rest = tuple(one for one in own if one != said)[:3]
    yield MadeClaim(JudgedClaim(said, rest, chunk.headings), is_true=False)


def _altered(said: str, around: Sequence[str], other: Chunk, chance: random.Random) -> str | None:
    """Return a sentence with a telling word of another place for one of its own."""
    known = {word.casefold() for one in around for word in _WORD.findall(one)}
    mine = [m.span() for m in _WORD.finditer(said) if len(m.group()) >= _TELLING]
    others = [
        word
        for word in _WORD.findall(other.content_text)
        if len(word) >= _TELLING and word.casefold() not in known
    ]
    if not mine or not others:
        return None
    (start, end), new = chance.choice(mine), chance.choice(others)
    new = new.capitalize() if said[start].isupper() else new.casefold()
    return f"{said[:start]}{new}{said[end:]}"


def _fit(chunk: Chunk) -> list[str]:
    return [
        one
        for one in sentences(chunk.content_text)
        if _FEWEST_WORDS <= len(one.split()) <= _MOST_WORDS and one[-1].isalnum() is False
    ]
