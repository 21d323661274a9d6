"""Fits the head: a logistic regression over n-grams and vectors, by gradient descent."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.embeddings.sentences import from_bytes
from core.grounding.planted import BITS, DIMENSIONS, Head, company_of
from core.models import Chunk
from core.text.ngrams import hashed

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

STEPS = 400
RATE = 0.03
RIDGE_NGRAMS = 3e-5
RIDGE_MEANING = 3e-4
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
    """Return the sentences of a chunk with vectors; those inside of `commanding` command."""
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
        self.size = len(sentences)
        parts = list(hashed([s.text for s in sentences], BITS))
        counts = [np.bincount(own, minlength=self.size) for _, own in parts]
        shares = [1 / np.sqrt(np.maximum(count, 1)) for count in counts]
        self.ids = np.concatenate([ids + n * (1 << BITS) for n, (ids, _) in enumerate(parts)])
        self.owners = np.concatenate([owners for _, owners in parts])
        self.values = np.concatenate(
            [share[own] for share, (_, own) in zip(shares, parts, strict=True)]
        )
        self.plain = np.column_stack(
            [
                np.array([s.meaning for s in sentences]),
                [s.company for s in sentences],
                [s.alone for s in sentences],
                [s.known for s in sentences],
                np.ones(self.size),
            ]
        )

    def log_odds(self, ngrams: Floats, plain: Floats) -> Floats:
        """Return the log odds of each sentence."""
        sums = np.bincount(self.owners, ngrams[self.ids] * self.values, minlength=self.size)
        return np.asarray(sums + self.plain @ plain)

    def slopes(self, errors: Floats) -> tuple[Floats, Floats]:
        """Return the slope of the loss by each weight, given that by each sentence's log odds."""
        ngrams = np.bincount(self.ids, errors[self.owners] * self.values, minlength=2 << BITS)
        return ngrams, errors @ self.plain


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
