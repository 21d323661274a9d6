"""Orders what a query found: the documents most likely to answer come first."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from core.domain import Chunk, EvidenceSignals
from core.index.base import SparseVector
from core.index.terms import TermStatistics

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


BUILT_IN = "all-MiniLM-L6-v2"
"""The embedding model whose cosines the fitted weights are for; it reads English alone."""
USABLE = 0.3
"""The mark that 98 % of relevant retrieved chunks reach: below it, a chunk is not used."""
ANSWERABLE = 0.5
"""The mark that the best chunk of 95 % of answerable questions reaches."""
_LEADING = 12
"""Chunks whose score is worked out: so many by place, and so many by their own merit."""
_LARGEST_TERM_WEIGHT = 2.2
"""What BM25 gives a term at most, k1 + 1, before its rarity."""

Terms = Callable[[str], Sequence[int]]
"""The term ids of a text."""


class RawEvidence(NamedTuple):
    """What speaks for one chunk."""

    cosine: float
    """Cosine of question and chunk, -1 to 1."""
    bm25: float
    """BM25 weight over the highest that any chunk could have, 0 to 1."""
    coverage: float
    """Share, by rarity, of the question's words in the chunk or its headings, 0 to 1."""


@dataclass(frozen=True, slots=True)
class ScoreScale:
    """How raw evidence of one embedding model becomes a `similarity_score`.

    The raw evidence is a weighted sum of cosine, normalised BM25 and coverage; the scale runs
    straight between its two marks and flattens towards 0 and 1 beyond them.
    """

    cosine: float
    bm25: float
    coverage: float
    usable_at: float
    """Raw evidence at the mark 0.3."""
    answerable_at: float
    """Raw evidence at the mark 0.5."""

    def score(self, evidence: RawEvidence) -> float:
        """Return the similarity score, 0 to 1; no part of the evidence ever lowers it.

        A chunk with all of the question's words reaches the mark 0.3: of a bare term that the book
        has, as "INR", the cosine says little.
        """
        scaled = self._scaled(self.raw(evidence))
        return max(scaled, USABLE) if evidence.coverage >= 1.0 else scaled

    def _scaled(self, raw: float) -> float:
        slope = (ANSWERABLE - USABLE) / (self.answerable_at - self.usable_at)
        if raw < self.usable_at:
            return USABLE * math.exp(slope / USABLE * (raw - self.usable_at))
        if raw > self.answerable_at:
            rest = 1 - ANSWERABLE
            return 1 - rest * math.exp(slope / rest * (self.answerable_at - raw))
        return USABLE + slope * (raw - self.usable_at)

    def raw(self, evidence: RawEvidence) -> float:
        """Return the weighted sum that the marks are set on."""
        return (
            self.cosine * evidence.cosine
            + self.bm25 * evidence.bm25
            + self.coverage * evidence.coverage
        )


# Many weights refuse equally well: these lean least on rarities, which small books count badly.
_SCALES = {BUILT_IN: ScoreScale(0.75, 0.1, 0.15, usable_at=0.29, answerable_at=0.36)}
BY_WORDS = ScoreScale(0.0, 0.5, 0.5, usable_at=0.18, answerable_at=0.27)
"""Leaves out the cosine, whose usual range differs from model to model."""


def scale_for(embedding_model: str) -> ScoreScale:
    """Return the scale fitted for a model, or the one that holds for any."""
    return _SCALES.get(embedding_model, BY_WORDS)


def term_weights(words: SparseVector) -> dict[int, float]:
    """Return how much each word of the question counts, as `weighted` gives them."""
    return dict(zip(words.indices, words.values, strict=True))


def weighted(statistics: TermStatistics, question: SparseVector) -> SparseVector:
    """Return the question's words weighed by their rarity in the course."""
    values = statistics.rarity(question.indices) * np.asarray(question.values)
    return SparseVector(question.indices, tuple(values.tolist()))


def raw_evidence(
    cosine: float, bm25: float, terms: Iterable[int], weights: Mapping[int, float], total: float
) -> RawEvidence:
    """Return what speaks for a chunk with these terms, given how much each of the question counts.

    Args:
        bm25: As the index gives it, unbounded.
        total: The sum of the weights.
    """
    if not total:
        return RawEvidence(cosine, 0.0, 0.0)
    known = weights.keys() & terms
    held = sum(map(weights.__getitem__, known))
    share = bm25 / (total * _LARGEST_TERM_WEIGHT)
    coverage = 1.0 if len(known) == len(weights) else min(1.0, held / total)
    return RawEvidence(cosine, min(1.0, share), coverage)


def terms_in(chunk: Chunk, terms: Terms) -> Sequence[int]:
    """Return the terms of a chunk and its headings, also where the index does not have them."""
    return chunk.terms or terms("\n".join((chunk.page_title, *chunk.headings, chunk.content_text)))


class ScoredChunk(NamedTuple):
    """A ranked chunk with its raw evidence and what that comes to."""

    ranked: Ranked
    evidence: RawEvidence
    score: float
    """The `similarity_score`."""


def leading(order: Order) -> list[Ranked]:
    """Return the chunks that matter, in the ranking's order.

    The head of a ranking shows one chunk a document; the chunks that are best by their own
    merit are taken as well, so that a leading document can give a second one.
    """
    by_merit = np.argsort(-order.scores, kind="stable")[:_LEADING]
    places = {*range(min(_LEADING, len(order))), *by_merit.tolist()}
    return order.at(np.array(sorted(places), np.intp))


def score_all(
    ranking: Sequence[Ranked],
    found: Found,
    terms: Sequence[Sequence[int]],
    scale: ScoreScale,
    weights: Mapping[int, float],
) -> list[ScoredChunk]:
    """Return the chunks with their scores, in the same order.

    Args:
        terms: Of each chunk in the ranking.
    """
    total = sum(weights.values())
    entries = [one.entry for one in ranking]
    columns = (found.cosines[entries].tolist(), found.bm25[entries].tolist(), terms)
    evidence = [raw_evidence(*own, weights, total) for own in zip(*columns, strict=True)]
    return [
        ScoredChunk(ranked, own, scale.score(own))
        for ranked, own in zip(ranking, evidence, strict=True)
    ]


def signals_of(scored: Sequence[ScoredChunk], question_words: int) -> EvidenceSignals:
    """Return how well the best of what was found fits."""
    if not scored:
        return EvidenceSignals(question_words=question_words)
    return EvidenceSignals(
        best_score=max(s.score for s in scored),
        cosine=max(-1.0, min(1.0, max(s.evidence.cosine for s in scored))),
        bm25=max(s.evidence.bm25 for s in scored),
        coverage=scored[0].evidence.coverage,
        document_share=scored[0].ranked.document_share,
        question_words=question_words,
    )
