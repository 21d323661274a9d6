"""Searches for a question, and for what it leans on as far as it does."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.embeddings.base import Embedder, Vectors
from core.errors import EmbeddingError
from core.index.base import SearchQuery, SparseVector, VectorIndex
from core.models import EvidenceSignals
from core.retrieval.finding import Ranking, find
from core.retrieval.followups import FITTED_ON, UNKNOWN, Asked, leaning, leaning_figures
from core.retrieval.gate import answerable, gate_figures
from core.retrieval.ranking import RankedChunk
from core.retrieval.scoring import (
    BY_WORDS,
    ScoredChunk,
    score_all,
    signals_of,
    term_weights,
    weighted,
)
from core.retrieval.shelf import Shelf

logger = logging.getLogger(__name__)

CANDIDATES = 100
_LEANS = 0.5


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search found, best first."""

    dense: Vectors
    """(dimensions,) what was looked for."""
    weights: dict[int, float]
    """How much each of its words counts."""
    found: Ranking
    scored: list[ScoredChunk]
    signals: EvidenceSignals
    leans: bool = False
    """Whether what the question leans on was looked for, too."""

    @property
    def ranking(self) -> list[RankedChunk]:
        """The chunks that may be used."""
        return self.found.leading

    @property
    def by_words(self) -> bool:
        """Whether only words were compared."""
        return not self.dense.any()


async def search(
    index: VectorIndex,
    shelf: Shelf,
    asked: Asked,
    section_ids: tuple[str, ...] = (),
    cited: frozenset[str] = frozenset(),
) -> Searched:
    """Return what an edition holds about a question.

    A question with a context is looked for by itself, after its context, and then by the mean of
    both, weighed by how much it leans on it.

    Raises:
        VectorIndexError: when the index fails, or the edition was replaced.
    """
    if asked.context is None:
        dense = await _vectors(shelf.embedder, [asked.question])
        words = shelf.encoder.query(asked.question)
        return await _one(index, shelf, dense[0], words, section_ids)
    texts = [asked.question, asked.context]
    dense = await _vectors(shelf.embedder, [*texts, asked.previous])
    sparse = [shelf.encoder.query(text) for text in texts]
    leans = UNKNOWN
    if not asked.always and shelf.embedder.name == FITTED_ON and dense.any():
        alone, together = [
            await _one(index, shelf, dense[n], sparse[n], section_ids) for n in (0, 1)
        ]
        if alone.scored and together.scored:
            leans = leaning(
                leaning_figures(
                    alone.scored, together.scored, dense[[0, 2]], len(alone.weights), cited
                )
            )
    shares = np.array([1 - leans, leans], np.float32)
    both = await _one(
        index, shelf, _unit(shares @ dense[:2]), _mean(sparse, shares.tolist()), section_ids
    )
    return Searched(
        both.dense, both.weights, both.found, both.scored, both.signals, leans >= _LEANS
    )


async def _one(
    index: VectorIndex,
    shelf: Shelf,
    dense: Vectors,
    sparse: SparseVector,
    section_ids: tuple[str, ...],
) -> Searched:
    words = weighted(shelf.terms, sparse)
    query = SearchQuery(dense, sparse, words, section_ids, limit=CANDIDATES)
    found = await find(index, shelf, query)
    weights = term_weights(words)
    scale = shelf.scale if dense.any() else BY_WORDS
    scored = score_all(found.leading, scale, weights, shelf.terms_of)
    return Searched(dense, weights, found, scored, _signals(shelf, scored, weights, dense))


def _signals(
    shelf: Shelf, scored: Sequence[ScoredChunk], weights: dict[int, float], dense: Vectors
) -> EvidenceSignals:
    signals = signals_of(scored, len(weights))
    if not scored:
        return signals
    figures = gate_figures(scored, weights, shelf.terms_of, shelf.terms.chunks)
    model = shelf.edition.embedding_model if dense.any() else ""
    level = answerable(signals.best_score, figures, model)
    return signals.model_copy(update={"answerable": level})


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
