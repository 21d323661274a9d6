"""Recognises a question that only points ("can you answer that?") and names no subject.

A linear head over the built-in embedding model; `python -m tests.bench.pointing` fits it.
"""

from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from core.embeddings.base import Embedder
from core.retrieval.question.courtesy import is_courtesy_alone

WEIGHTS = Path(__file__).with_name("pointing.npy")
"""(dimensions + 1,) float16: a weight for each dimension of the embedding, then the bias."""
_MARK = 0.5
_MOST_CHARACTERS = 160
"""A longer question names something, whatever it points at."""

Vector = npt.NDArray[np.float32]


class PointingHead:
    """A logistic regression over the vector of a question."""

    def __init__(self, weights: Vector) -> None:
        """Take the weights: (dimensions + 1,), the bias last."""
        self._weights, self._bias = weights[:-1], float(weights[-1])

    def fits(self, embedder: Embedder) -> bool:
        """Return whether the head can read the vectors of a model."""
        return embedder.dimensions == len(self._weights)

    def probability(self, vector: Vector) -> float:
        """Return the probability that a question only points.

        Args:
            vector: (dimensions,) float32 of unit length, by the built-in model.
        """
        return float(1 / (1 + np.exp(-(float(vector @ self._weights) + self._bias))))


class Pointing:
    """Reads questions with the built-in embedding model, whatever model a course uses."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def only_points(self, question: str) -> bool:
        """Return whether a question cannot be searched for without what it points at.

        A question with a link points at what the link leads to, and thanks point at nothing.
        Without the model that the head was fitted on, as with the stand-ins of tests, no question
        is taken to only point.

        Raises:
            EmbeddingError: when the model cannot be run.
        """
        if len(question) > _MOST_CHARACTERS or "://" in question:
            return False
        head = _head()
        if not head.fits(self._embedder):
            return False
        if await is_courtesy_alone(question, self._embedder):
            return False
        [vector] = await self._embedder.embed_queries([question])
        return head.probability(vector) >= _MARK


def save_weights(weights: Vector) -> None:
    """Write the weights that the package ships."""
    np.save(WEIGHTS, weights.astype(np.float16))


@cache
def _head() -> PointingHead:
    return PointingHead(np.load(WEIGHTS).astype(np.float32))
