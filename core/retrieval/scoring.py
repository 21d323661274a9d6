"""Puts the raw evidence for a chunk on the one scale that thresholds are written in."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from core.index.base import SparseVector
from core.index.terms import TermStatistics
from core.models import Chunk, EvidenceSignals
from core.retrieval.ranking import Found, Order, Ranked

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
