"""Vectors of a passage's sentences: how they are pooled, and the form they are kept in."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from core.embeddings.base import Vectors
from core.models import Chunk
from core.text.sentences import Span

_STEPS = 127


def pooled(tokens: Vectors, places: npt.NDArray[np.int32], spans: Sequence[Span]) -> Vectors:
    """Return one unit vector a span: the mean over the tokens that lie in it.

    A span without a token, as one that was cut off, gets the mean of all tokens.

    Args:
        tokens: (n_tokens or more, dimensions), as the model reads them in the whole text.
        places: (n_tokens, 2) where each token begins and ends in the text.
        spans: Parts of the text.
    """
    real = tokens[: len(places)]
    inside = np.zeros((len(spans), len(places)), np.float32)
    for row, (start, end) in zip(inside, spans, strict=True):
        row[(places[:, 0] >= start) & (places[:, 1] <= end) & (places[:, 1] > places[:, 0])] = 1
    inside[~inside.any(axis=1)] = 1
    return _unit(inside @ real)


def to_bytes(vectors: Vectors) -> bytes:
    """Return the vectors with a byte a number: 1 % of a cosine is lost at most."""
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=1e-12)
    return bytes(np.round(vectors / largest * _STEPS).astype(np.int8))


def from_bytes(data: bytes, number: int) -> Vectors:
    """Return the `number` unit vectors that `to_bytes` wrote."""
    return _unit(np.frombuffer(data, np.int8).reshape(number, -1).astype(np.float32))


def vectors_of(chunk: Chunk) -> Vectors | None:
    """Return a unit vector for each of the chunk's `sentences`, at no run of the model.

    None for a passage that is no stored chunk.
    """
    if not chunk.sentence_vectors:
        return None
    return from_bytes(chunk.sentence_vectors, len(chunk.sentences))


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), np.float32)
