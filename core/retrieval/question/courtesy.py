"""Leaves out the greetings and thanks around a question, by a linear head over the embedding.

`python -m tests.bench.courtesy` fits the head.
"""

import re
from functools import cache
from pathlib import Path

import numpy as np

from core.embeddings.base import Embedder, Vectors
from core.errors import EmbeddingError
from core.retrieval.scoring import BUILT_IN

WEIGHTS = Path(__file__).with_name("courtesy.npy")
"""(dimensions + 1,) float16: a weight for each dimension of the embedding, then the bias."""
SURE = 0.5
_PARTS = re.compile(r"(?<=[.!?,:;…])\s+|\s+[-–—]+\s+|\s*\n\s*")
_MOST_WORDS = 8
"""A longer part has something to say."""


async def without_courtesy(question: str, embedder: Embedder) -> str:
    """Return the question without courtesy at its edges; all of it where nothing else is left.

    Only whole parts between marks are left out, and only where the head's own model is at hand.
    """
    parts = [part for part in _PARTS.split(question) if part.strip()]
    if len(parts) < 2 or embedder.name != BUILT_IN:
        return question
    try:
        vectors = await embedder.embed_queries(parts)
    except EmbeddingError:
        return question
    polite = [
        len(part.split()) <= _MOST_WORDS and chance >= SURE
        for part, chance in zip(parts, courtesy(vectors, weights()), strict=True)
    ]
    if all(polite):
        return question
    first = polite.index(False)
    last = len(polite) - polite[::-1].index(False)
    if (first, last) == (0, len(parts)):
        return question
    start = question.index(parts[first])
    end = question.rindex(parts[last - 1]) + len(parts[last - 1])
    return question[start:end]


def courtesy(vectors: Vectors, head: Vectors) -> list[float]:
    """Return the probability that each text is mere courtesy.

    Args:
        vectors: (n_texts, dimensions) by the built-in model.
        head: (dimensions + 1,) the weights, the bias last.
    """
    odds = vectors @ head[:-1] + head[-1]
    return [float(value) for value in 1 / (1 + np.exp(-odds))]


@cache
def weights() -> Vectors:
    """Return the weights that the package ships; read at their first use."""
    stored: Vectors = np.load(WEIGHTS).astype(np.float32)
    return stored
