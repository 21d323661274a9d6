"""Tells whether a question stands alone, by linear heads over the built-in model's embedding.

`python -m tests.bench.talks fit` fits them and says how they do.
"""

import math
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from core.embeddings.base import Embedder, Vectors
from core.errors import EmbeddingError
from core.models import EvidenceSignals
from core.retrieval.scoring import BUILT_IN
from core.text.logistic import probability, shipped

HEADS = Path(__file__).with_name("standing.npy")
"""(2, dimensions + 1) float16: of each head a weight for each dimension, then the bias."""
WEIGHTS = Path(__file__).with_name("following.json")
"""What of a follow-up's words and of what it finds says that it leans."""
_SURE = 0.4


class Standing(NamedTuple):
    """How a question stands, by its words alone."""

    leans: float
    """Log odds that it goes on from something said before."""
    is_missing: float
    """Probability that it says "it" or the like of what nothing in it names."""
    likeness: float = 0.0
    """Cosine with the question before it."""


async def standing_of(question: str, embedder: Embedder, before: str = "") -> Standing | None:
    """Return how a question stands; None: the heads' own model is not at hand.

    Args:
        before: The question before it; empty: there is none.
    """
    if embedder.name != BUILT_IN:
        return None
    try:
        vectors = await embedder.embed_queries([question, before] if before else [question])
    except EmbeddingError:
        return None
    leans, missing = log_odds(vectors[0], heads())
    likeness = float(vectors[0] @ vectors[1]) if before else 0.0
    return Standing(leans, probability(missing), likeness)


def log_odds(vector: Vectors, weights: Vectors) -> tuple[float, float]:
    """Return the log odds that a question leans, and that what it speaks of is missing.

    Args:
        vector: (dimensions,) by the built-in model.
        weights: (2, dimensions + 1), the bias last.
    """
    leans, missing = weights[:, :-1] @ vector + weights[:, -1]
    return float(leans), float(missing)


def figures_of(
    standing: Standing,
    alone: EvidenceSignals,
    together: EvidenceSignals,
    *,
    refers: bool,
    is_cited: bool,
) -> dict[str, float]:
    """Return what tells a question that leans on the one before it.

    Args:
        alone: What it finds by itself.
        together: What it finds with the question before it.
        refers: Whether it has a word such as "it", or the place of an item in a list.
        is_cited: Whether the answer before cited the file that leads what it finds by itself.
    """
    return {
        "head": standing.leans,
        "refers": float(refers),
        "score": alone.best_score,
        "coverage": alone.coverage,
        "words": math.log1p(alone.question_words),
        "gain": together.best_score - alone.best_score,
        "likeness": standing.likeness,
        "cited": float(is_cited),
    }


def leans(figures: dict[str, float]) -> bool:
    """Return whether a question is to be understood by what was said before it."""
    return probability(shipped(WEIGHTS).log_odds(figures)) >= _SURE


@cache
def heads() -> Vectors:
    """Return the weights that the package ships; read at their first use."""
    stored: Vectors = np.load(HEADS).astype(np.float32)
    return stored
