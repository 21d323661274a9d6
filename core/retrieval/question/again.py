"""Recognises a wish to see an answer again: shorter, longer, or only where it stands.

A linear head over the built-in model's embedding decides; `python -m tests.bench.again` fits it.
"""

from functools import cache
from pathlib import Path

import numpy as np

from core.embeddings.base import Embedder, Vectors
from core.errors import EmbeddingError
from core.models import Again
from core.retrieval.scoring import BUILT_IN

WEIGHTS = Path(__file__).with_name("again.npy")
"""(3, dimensions + 1) float16: of each `Again`, in its order, the weights and then the bias."""
SURE = 0.4
MOST_WORDS = 8
"""A longer text asks something else."""


async def wanted_again(question: str, embedder: Embedder) -> Again | None:
    """Return what of the answer before a question asks for; None: it is about something else.

    So it is wherever the head's own model is not at hand.
    """
    if embedder.name != BUILT_IN or not 0 < len(question.split()) <= MOST_WORDS:
        return None
    try:
        [vector] = await embedder.embed_queries([question])
    except EmbeddingError:
        return None
    chances = probabilities(vector[None], weights())[0]
    best = int(np.argmax(chances))
    return [*Again][best] if chances[best] >= SURE else None


def probabilities(vectors: Vectors, heads: Vectors) -> Vectors:
    """Return (n_texts, 3) the probability of each wish, by itself.

    Args:
        vectors: (n_texts, dimensions) by the built-in model.
        heads: (3, dimensions + 1) the weights, the bias last.
    """
    odds = vectors @ heads[:, :-1].T + heads[:, -1]
    return np.asarray(1 / (1 + np.exp(-odds)), np.float32)


@cache
def weights() -> Vectors:
    """Return the weights that the package ships; read at their first use."""
    stored: Vectors = np.load(WEIGHTS).astype(np.float32)
    return stored
