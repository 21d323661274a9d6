"""Knows greetings and thanks, around a question or alone, by linear heads over the embedding.

`python -m tests.bench.courtesy` fits the heads.
"""

import re
from functools import cache
from pathlib import Path

import numpy as np

from core.embeddings.base import Embedder, Vectors
from core.errors import ConfigurationError, EmbeddingError
from core.retrieval.scoring import BUILT_IN

WEIGHTS = Path(__file__).with_name("courtesy.npy")
"""(2, dimensions + 1) float16: of each head a weight for each dimension, then the bias."""
AROUND, ALONE = 0, 1
"""The head of what may stand around a question, and that of what asks nothing by itself."""
SURE = 0.5
_PARTS = re.compile(r"(?<=[.!?,:;…])\s+|\s+[-–—]+\s+|\s*\n\s*")
_MOST_WORDS = 8
"""A longer part has something to say."""


async def without_courtesy(question: str, embedder: Embedder) -> str:
    """Return the question without courtesy at its edges; all of it where nothing else is left.

    Only whole parts between marks are left out, and only where the head's own model is at hand.
    """
    parts = _parts(question)
    if len(parts) < 2:
        return question
    polite = await _are_polite(parts, embedder, AROUND)
    if all(polite):
        return question
    first = polite.index(False)
    last = len(polite) - polite[::-1].index(False)
    if (first, last) == (0, len(parts)):
        return question
    start = question.index(parts[first])
    end = question.rindex(parts[last - 1]) + len(parts[last - 1])
    return question[start:end]


async def is_courtesy_alone(message: str, embedder: Embedder) -> bool:
    """Return whether a message greets, thanks or takes leave, and asks nothing.

    It never is where the head's own model is not at hand.
    """
    parts = _parts(message)
    return bool(parts) and all(await _are_polite(parts, embedder, ALONE))


def _parts(text: str) -> list[str]:
    return [part for part in _PARTS.split(text) if part.strip()]


async def _are_polite(parts: list[str], embedder: Embedder, head: int) -> list[bool]:
    """Return of each part whether it is courtesy; of none, where that cannot be known."""
    if embedder.name != BUILT_IN or all(len(part.split()) > _MOST_WORDS for part in parts):
        return [False] * len(parts)
    try:
        vectors = await embedder.embed_queries(parts)
    except (EmbeddingError, ConfigurationError):
        return [False] * len(parts)
    return [
        len(part.split()) <= _MOST_WORDS and chance >= SURE
        for part, chance in zip(parts, courtesy(vectors, weights()[head]), strict=True)
    ]


def courtesy(vectors: Vectors, head: Vectors) -> list[float]:
    """Return the probability that each text is mere courtesy.

    Args:
        vectors: (n_texts, dimensions) by the built-in model.
        head: (dimensions + 1,) the weights of one, the bias last.
    """
    odds = vectors @ head[:-1] + head[-1]
    return [float(value) for value in 1 / (1 + np.exp(-odds))]


@cache
def weights() -> Vectors:
    """Return the weights of both heads, as the package ships them; read at their first use."""
    stored: Vectors = np.load(WEIGHTS).astype(np.float32)
    return stored
