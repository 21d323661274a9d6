"""Orders what a query found: the documents most likely to answer come first."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from core.models import Chunk

DENSE_SHARE = 0.5
"""Weight of the cosine in the mix of standardised cosine and BM25."""
SHARPNESS = 2.5
"""How much a document's best chunk outweighs the sum of its middling ones."""
CHAPTER_WEIGHT = 0.5
"""Points (standard deviations) for a document whose chapter holds all of the evidence."""
NEARNESS_WEIGHT = 0.3
"""Points for a document that is as a whole a standard deviation nearer than the others."""
_EPSILON = 1e-9
_SMALLEST = 1e-30

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.intp]
_NONE: Numbers = np.empty(0, np.intp)


@dataclass(frozen=True, slots=True)
class Found:
    """What a query found, in arrays of one entry a chunk."""

    cosines: Floats
    bm25: Floats
    units: Numbers
    """What counts as one document, by number."""
    chapters: Numbers
    positions: Numbers
    """The chunk's place in its file."""
    nearness: Callable[[Numbers], Floats]
    """Gives for documents, by number, the cosine of the question and of their mean vector; NaN
    where a document is a single chunk, or where this is not known."""

    def taken(self, places: Numbers) -> Self:
        """Return the entries at these places."""
        return type(self)(
            self.cosines[places],
            self.bm25[places],
            self.units[places],
            self.chapters[places],
            self.positions[places],
            self.nearness,
        )


class Ranked(NamedTuple):
    """A found chunk with its place."""

    entry: int
    """Its place in the arrays of what was found."""
    score: float
    """Mean 0 and spread about 1 over the chunks of one question; comparable there alone."""
    document_rank: int
    """Place of its document, from 0."""
    document_share: float
    """The document's part of all evidence: over all documents these sum to 1."""


@dataclass(frozen=True, slots=True)
class Order:
    """All that was found, best first, in arrays of one entry a chunk; the columns of `Ranked`."""

    entries: Numbers
    scores: Floats
    document_ranks: Numbers
    document_shares: Floats
    documents: int
    """How many documents there are; the best chunk of each comes first."""

    def __len__(self) -> int:
        """Return how many chunks were found."""
        return len(self.entries)

    def at(self, places: Numbers) -> list[Ranked]:
        """Return the chunks at these places."""
        columns = (self.entries, self.scores, self.document_ranks, self.document_shares)
        return [*map(Ranked, *(column[places].tolist() for column in columns))]

    @property
    def leaders(self) -> Numbers:
        """The entry of the best chunk of each document, best document first."""
        return self.entries[: self.documents]


@dataclass(frozen=True, slots=True)
class RankedChunk:
    """A chunk that was read, with its place."""

    chunk: Chunk
    score: float
    """As in `Ranked`."""
    document_rank: int
    document_share: float


def rank(found: Found) -> Order:
    """Return every chunk once, best first; the order of the input makes no difference.

    The best chunk of each document comes first, in the order of the documents, then all
    others by their own score: the first `k` show `k` documents where so many were found.

    A chunk's score is the mean of its standardised cosine and BM25 (Fox & Shaw 1994, CombSUM
    with z-scores after Renda & Straccia 2003). A document's score is the log of the sum of
    its chunks' exponentials, plus a little where its chapter holds much of the evidence. Where its
    mean vector is near the question, it comes before others, but holds no more of the evidence.
    """
    if not len(found.cosines):
        return Order(_NONE, found.cosines, _NONE, found.cosines, 0)
    canonical = np.lexsort((found.positions, found.units))
    found = found.taken(canonical)
    scores = _chunk_scores(found)
    unit, documents = _numbered(found.units)
    by_unit = np.lexsort((-scores, unit))
    leader = by_unit[np.searchsorted(unit, np.arange(documents))]
    totals = _document_scores(found, scores, unit, leader)
    near = NEARNESS_WEIGHT * _nearness(found.nearness(found.units[leader]))
    best = np.argsort(-(totals + near), kind="stable")
    ranks = np.empty(documents, np.intp)
    ranks[best] = np.arange(documents)
    parts = np.exp(SHARPNESS * (totals - totals.max()))
    shares = parts / parts.sum()
    is_rest = np.ones(len(scores), np.bool_)
    is_rest[leader] = False
    by_place = np.lexsort((found.positions, ranks[unit], -scores))
    order = np.concatenate([leader[best], by_place[is_rest[by_place]]])
    of = unit[order]
    return Order(canonical[order], scores[order], ranks[of], shares[of], documents)


def _numbered(ascending: Numbers) -> tuple[Numbers, int]:
    """Return the same with the distinct values numbered from 0, and how many there are."""
    numbers = np.zeros(len(ascending), np.intp)
    np.cumsum(ascending[1:] != ascending[:-1], out=numbers[1:])
    return numbers, int(numbers[-1]) + 1


def _chunk_scores(found: Found) -> Floats:
    dense, sparse = _standardised(found.cosines), _standardised(found.bm25)
    return DENSE_SHARE * dense + (1 - DENSE_SHARE) * sparse


def _standardised(values: Floats) -> Floats:
    """Shift to mean 0 and scale to deviation 1; all zeros when there is no spread."""
    shifted = values - values.sum() / len(values)
    spread = math.sqrt((shifted * shifted).sum() / len(values))
    return shifted / spread if spread > _EPSILON else np.zeros_like(values)


def _document_scores(found: Found, scores: Floats, unit: Numbers, leader: Numbers) -> Floats:
    """Return the score of each document, by its number in `unit`; `leader` is its best chunk."""
    top = float(scores.max())
    mass = np.exp(SHARPNESS * (scores - top))
    sums = np.maximum(np.bincount(unit, mass), _SMALLEST)
    chapter = found.chapters[leader]
    held = np.bincount(chapter, sums)
    totals = top + np.log(sums) / SHARPNESS + CHAPTER_WEIGHT * held[chapter] / sums.sum()
    return np.asarray(totals, np.float64)


def _nearness(cosines: Floats) -> Floats:
    """Return how near each document as a whole is, standardised; 0 where it tells nothing.

    So it is where most documents are single chunks: the few others would only be shuffled.
    """
    known = ~np.isnan(cosines)
    near = np.zeros_like(cosines)
    if 2 * np.count_nonzero(known) > len(known):
        near[known] = _standardised(cosines[known])
    return near


def as_chunks(ranking: Sequence[Ranked], read: Mapping[int, Chunk]) -> list[RankedChunk]:
    """Return the ranked chunks that were read, given by their place in the arrays."""
    return [
        RankedChunk(chunk, one.score, one.document_rank, one.document_share)
        for one in ranking
        if (chunk := read.get(one.entry)) is not None
    ]
