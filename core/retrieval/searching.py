"""Searches for a question, and for what it leans on as far as it does."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.embeddings.base import Embedder, Vectors
from core.errors import EmbeddingError
from core.index.base import SearchQuery, SparseVector, VectorIndex
from core.models import EvidenceSignals
from core.retrieval.editions.open_edition import OpenEdition
from core.retrieval.finding import Judging, Ranking, find
from core.retrieval.question.followups import UNKNOWN, LeaningQuestion, leaning, leaning_figures
from core.retrieval.scoring import (
    BUILT_IN,
    BY_WORDS,
    signals_of,
    term_weights,
    weighted,
)

logger = logging.getLogger(__name__)

CANDIDATES = 100
_LEANS = 0.5
_FEW_TERMS = 1
"""Words of its own that a question has at most which cannot be understood by itself."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked of a search, next to its question."""

    threshold: float
    """The score from which a chunk is usable."""
    top_k: int
    section_ids: tuple[str, ...] = ()
    """The sections that are searched; empty: all."""

    @property
    def most_documents(self) -> int:
        """Of how many documents a writer reads."""
        return 2 * self.top_k


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search found, best first."""

    dense: Vectors
    """(dimensions,) what was looked for."""
    weights: dict[int, float]
    """How much each of its words counts."""
    found: Ranking
    signals: EvidenceSignals
    leans: bool = False
    """Whether what the question leans on was looked for, too."""

    @property
    def by_words(self) -> bool:
        """Whether only words were compared."""
        return not self.dense.any()


async def search(
    index: VectorIndex, opened: OpenEdition, asked: LeaningQuestion, wanted: Wanted
) -> Searched:
    """Return what an edition holds about a question.

    A question with a context is looked for by itself, after its context, and then by the mean of
    both, weighed by how much it leans on it. Where no weights say how much, only a question of
    hardly any words of its own leans, and a section's heading adds nothing.

    Raises:
        VectorIndexError: when the index fails, or the edition was replaced.
    """
    if asked.context is None:
        dense = await _vectors(opened.embedder, [asked.question])
        words = opened.encoder.query(asked.question)
        return await _one(index, opened, dense[0], words, wanted)
    texts = [asked.question, asked.context]
    dense = await _vectors(opened.embedder, [*texts, asked.previous])
    sparse = [opened.encoder.query(text) for text in texts]
    leans = UNKNOWN
    if not asked.always:
        alone = await _one(index, opened, dense[0], sparse[0], wanted)
        if opened.embedder.name == BUILT_IN and dense.any():
            together = await _one(index, opened, dense[1], sparse[1], wanted)
            if alone.found.scored and together.found.scored:
                figures = leaning_figures(
                    alone.found.scored,
                    together.found.scored,
                    dense[[0, 2]],
                    len(alone.weights),
                )
                leans = leaning(figures)
        elif asked.of_section or len(alone.weights) > _FEW_TERMS:
            return alone
    shares = np.array([1 - leans, leans], np.float32)
    both = _unit(shares @ dense[:2])
    searched = await _one(index, opened, both, _mean(sparse, shares.tolist()), wanted)
    return replace(searched, leans=leans >= _LEANS)


async def _one(
    index: VectorIndex,
    opened: OpenEdition,
    dense: Vectors,
    sparse: SparseVector,
    wanted: Wanted,
) -> Searched:
    words = weighted(opened.terms, sparse)
    query = SearchQuery(dense, words, wanted.section_ids, limit=CANDIDATES)
    weights = term_weights(words)
    scale = opened.scale if dense.any() else BY_WORDS
    judging = Judging(scale, weights, wanted.threshold, wanted.top_k, wanted.most_documents)
    found = await find(index, opened, query, judging)
    return Searched(dense, weights, found, signals_of(found.scored, len(weights)))


async def _vectors(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Return what each text means; zeros when the model does not answer.

    Every cosine with zeros is 0: the words alone decide then.
    """
    try:
        return await embedder.embed_queries(texts)
    except EmbeddingError as error:
        logger.warning("%s does not answer, searching by words: %s", embedder.name, error)
        return np.zeros((len(texts), embedder.dimensions), np.float32)


def _unit(vector: Vectors) -> Vectors:
    return np.asarray(vector / np.float32(max(float(np.linalg.norm(vector)), 1e-12)), np.float32)


def _mean(vectors: Sequence[SparseVector], shares: Sequence[float]) -> SparseVector:
    """Return the index-wise mean of sparse vectors, by their shares."""
    total: dict[int, float] = {}
    for vector, share in zip(vectors, shares, strict=True):
        for index, value in zip(vector.indices, vector.values, strict=True):
            total[index] = total.get(index, 0.0) + value * share
    indices = tuple(sorted(total))
    return SparseVector(indices, tuple(total[index] for index in indices))
