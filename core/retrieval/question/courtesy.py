"""Knows greetings, thanks and what else no book answers, by linear heads over the embedding.

`python -m tests.bench.courtesy` fits the heads of courtesy, `python -m tests.bench.talks fit` those
of the other acts.
"""

import re
from enum import StrEnum
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
ACTS = Path(__file__).with_name("acts.npy")
"""(4, dimensions + 1) float16: of each `Act`, in its order, the weights and then the bias."""
SURE = 0.5
SURE_OF_ACT = 0.35
_SURE_OF_WORD = 0.8
"""Of a word alone, which may be a term that the model does not know, such as `MCV`."""
_PARTS = re.compile(r"(?<=[.!?,:;…])\s+|\s+[-–—]+\s+|\s*\n\s*")
_MOST_WORDS = 8
"""A longer part has something to say."""


class Act(StrEnum):
    """What people say to a bot that no book answers."""

    WISH = "wish"
    """That it does something, such as to ask them questions."""
    OBJECTION = "objection"
    """That it is wrong, or that they do not understand."""
    IDENTITY = "identity"
    """Who it is, and what it can do."""
    LOST = "lost"
    """Something that means nothing unless something was said before."""


async def act_of(message: str, embedder: Embedder) -> Act | None:
    """Return what a message does that no book answers; None: it asks something.

    So it is where the heads' own model is not at hand.
    """
    if embedder.name != BUILT_IN or not 0 < len(message.split()) <= _MOST_WORDS:
        return None
    try:
        [vector] = await embedder.embed_queries([message])
    except (EmbeddingError, ConfigurationError):
        return None
    chances = [chance for head in act_weights() for chance in courtesy(vector[None], head)]
    best = int(np.argmax(chances))
    sure = SURE_OF_ACT if len(message.split()) > 1 else _SURE_OF_WORD
    return [*Act][best] if chances[best] >= sure else None


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


@cache
def act_weights() -> Vectors:
    """Return the weights of the acts, as the package ships them; read at their first use."""
    stored: Vectors = np.load(ACTS).astype(np.float32)
    return stored
