"""Recognises a wish to have a task done, such as to be given the answer to an exercise.

A linear head over the built-in model's embedding decides;
`python -m tests.bench.hints.fit_solving` fits it.
"""

from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from core.embeddings.base import Embedder
from core.errors import EmbeddingError
from core.retrieval.scoring import BUILT_IN

WEIGHTS = Path(__file__).with_name("solving.npy")
"""(dimensions + 1,) float16: the weights, and then the bias."""
SURE = 0.4

_Vector = npt.NDArray[np.float32] | npt.NDArray[np.float64]


async def wants_it_done(question: str, embedder: Embedder) -> bool:
    """Return whether a question asks for a task's result, rather than how it is found.

    It does not wherever the head's own model is not at hand.
    """
    if embedder.name != BUILT_IN:
        return False
    try:
        [vector] = await embedder.embed_queries([question])
    except EmbeddingError:
        return False
    return probability(vector, weights()) >= SURE


def probability(vector: _Vector, head: _Vector) -> float:
    """Return the probability, 0 to 1, that a text with this vector wants a task done."""
    return float(1 / (1 + np.exp(-(vector @ head[:-1] + head[-1]))))


@cache
def weights() -> npt.NDArray[np.float32]:
    """Return the weights that the package ships; read at their first use."""
    stored: npt.NDArray[np.float32] = np.load(WEIGHTS).astype(np.float32)
    return stored
