"""Fits the head: a logistic regression over n-grams and vectors, by gradient descent."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.embeddings.sentences import from_bytes
from core.grounding.planted import BITS, DIMENSIONS, Head, company_of, is_telling
from core.models import Chunk
from core.text.ngrams import hashed

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

STEPS = 250
RATE = 0.05
RIDGE_NGRAMS = 3e-6
RIDGE_MEANING = 2e-5
_DECAYS = (0.9, 0.99)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage, and whether it commands a machine."""

    text: str
    meaning: Floats
    """Its vector; zeros where it is not known."""
    company: float
    """The cosine with the others of its passage; 0 where there are none."""
    alone: float
    known: float
    commands: bool
    weight: float = 1.0


def sentences_of(chunk: Chunk, commanding: str | None, weight: float = 1.0) -> list[Sentence]:
    """Return the sentences of a chunk with vectors; those inside of `commanding` command.

    What is not judged by itself is left out.
    """
    vectors = from_bytes(chunk.sentence_vectors, len(chunk.sentences)).astype(np.float64)
    near = company_of(vectors)
    texts = [chunk.content_text[start:end] for start, end in chunk.sentences]
    begin = chunk.content_text.index(commanding) if commanding else -1
    end = begin + len(commanding or "")
    return [
        Sentence(
            text,
            vector,
            0.0 if near is None else float(near[number]),
            float(near is None),
            1.0,
            commanding is not None and span[0] < end and begin < span[1],
            weight,
        )
        for number, (text, span, vector) in enumerate(
            zip(texts, chunk.sentences, vectors, strict=True)
        )
        if is_telling(text)
    ]


def by_words_alone(sentences: Iterable[Sentence], weight: float = 1.0) -> list[Sentence]:
    """Return the sentences as they are seen where their vectors are not known."""
    nothing = np.zeros(DIMENSIONS)
    return [
        Sentence(s.text, nothing, 0.0, 0.0, 0.0, s.commands, s.weight * weight) for s in sentences
    ]


class Design:
    """The features of many sentences, ready to be weighted."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        texts = list(dict.fromkeys(s.text for s in sentences))
        places = {text: place for place, text in enumerate(texts)}
        self._texts = np.array([places[s.text] for s in sentences])
        self._count = len(texts)
        parts = list(hashed(texts, BITS))
        counts = [np.bincount(own, minlength=self._count) for _, own in parts]
        shares = [1 / np.sqrt(np.maximum(count, 1)) for count in counts]
        self._ids = np.concatenate([ids + n * (1 << BITS) for n, (ids, _) in enumerate(parts)])
        self._owners = np.concatenate([owners for _, owners in parts])
        self._values = np.concatenate(
            [share[own] for share, (_, own) in zip(shares, parts, strict=True)]
        )
        others = [(s.company, s.alone, s.known, 1.0) for s in sentences]
        self._plain = np.column_stack([np.array([s.meaning for s in sentences]), others])

    def log_odds(self, ngrams: Floats, plain: Floats) -> Floats:
        """Return the log odds of each sentence."""
        sums = np.bincount(self._owners, ngrams[self._ids] * self._values, self._count)
        return np.asarray(sums[self._texts] + self._plain @ plain)

    def slopes(self, errors: Floats) -> tuple[Floats, Floats]:
        """Return the slope of the loss by each weight, given that by each sentence's log odds."""
        by_text = np.bincount(self._texts, errors, self._count)
        ngrams = np.bincount(self._ids, by_text[self._owners] * self._values, 2 << BITS)
        return ngrams, errors @ self._plain


def fit(sentences: Sequence[Sentence], bar: float = 0.0, steps: int = STEPS) -> Head:
    """Return the head with the least logistic loss and small weights; the same on every run.

    Both kinds of sentences weigh as much. Source: Adam, Kingma and Ba 2015, on the whole set.
    """
    design = Design(sentences)
    right = np.array([s.commands for s in sentences], np.float64)
    mass = np.array([s.weight for s in sentences])
    mass = np.where(right == 1, mass / mass[right == 1].sum(), mass / mass[right == 0].sum()) / 2
    weights = [np.zeros(2 << BITS), np.zeros(DIMENSIONS + 4)]
    ridges = [np.full(2 << BITS, RIDGE_NGRAMS), np.full(DIMENSIONS + 4, RIDGE_MEANING)]
    ridges[1][-4:] = 0.0
    moments = [(np.zeros_like(one), np.zeros_like(one)) for one in weights]
    for step in range(1, steps + 1):
        errors = mass * (1 / (1 + np.exp(-design.log_odds(*weights))) - right)
        rate = RATE * min(1.0, 2 * (1 - step / (steps + 1)))
        for own, slope, ridge, (first, second) in zip(
            weights, design.slopes(errors), ridges, moments, strict=True
        ):
            slope = slope + ridge * own
            first += (1 - _DECAYS[0]) * (slope - first)
            second += (1 - _DECAYS[1]) * (slope**2 - second)
            mean = first / (1 - _DECAYS[0] ** step)
            spread = np.sqrt(second / (1 - _DECAYS[1] ** step))
            own -= rate * mean / (spread + 1e-9)
    ngrams, plain = weights
    letters, words = np.split(ngrams.astype(np.float32), 2)
    meaning = plain[:DIMENSIONS].astype(np.float32)
    return Head(letters, words, meaning, *map(float, plain[DIMENSIONS:]), bar=bar)


def shuffled(chunks: Iterable[Chunk], count: int, seed: int) -> list[Chunk]:
    """Return a fixed sample of the chunks."""
    every = list(chunks)
    return random.Random(seed).sample(every, min(count, len(every)))
