"""The Protocol every embedding model speaks."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from core.domain import Chunk
from core.domain.sentences import Span

Vectors = npt.NDArray[np.float32]
"""(n_texts, dimensions) float32, each row of unit length."""


class Embedder(Protocol):
    """Turns texts into vectors whose dot product is their cosine similarity."""

    @property
    def name(self) -> str:
        """The model's name; vectors of different names are never compared."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        ...

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one vector a question, in order.

        Raises:
            EmbeddingError: when the model gives no usable vectors.
        """
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one vector a passage, in order.

        Raises:
            EmbeddingError: when the model gives no usable vectors.
        """
        ...


class SentenceEmbedder(Embedder, Protocol):
    """An embedder that gives the vectors of a passage's sentences with the passage's own."""

    async def embed_with_sentences(
        self, texts: Sequence[str], spans: Sequence[Sequence[Span]]
    ) -> tuple[Vectors, list[Vectors]]:
        """Return one vector a passage, and for each passage one a span of it, in order.

        A sentence's vector is of the sentence as it stands in its passage.

        Raises:
            EmbeddingError: when the model gives no usable vectors.
        """
        ...


class OfflineEmbedder(SentenceEmbedder, Protocol):
    """An embedding model of this machine, loaded at first use."""

    async def warm_up(self) -> None:
        """Load it now.

        Raises:
            ConfigurationError: when it is not installed as it has to be.
            EmbeddingError: when it cannot be run.
        """
        ...

    def close(self) -> None:
        """Let go of what it holds."""
        ...


_KEPT = 4_096
"""Texts whose vectors stay in memory: 6 MiB at 384 dimensions."""


class RememberingEmbedder:
    """Asks another embedder for what it has not asked for lately, each text once a call."""

    def __init__(self, embedder: Embedder, kept: int = _KEPT) -> None:
        """Keep the vectors of the `kept` passages that were asked for last."""
        self._embedder = embedder
        self._kept = kept
        self._vectors: OrderedDict[str, Vectors] = OrderedDict()

    @property
    def name(self) -> str:
        """The model's name."""
        return self._embedder.name

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return self._embedder.dimensions

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one vector a question, in order; these are not remembered.

        Raises:
            EmbeddingError: when the model gives no usable vectors.
        """
        return await self._embedder.embed_queries(texts)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one vector a passage, in order.

        Raises:
            EmbeddingError: when the model gives no usable vectors.
        """
        known = {text: self._vectors[text] for text in texts if text in self._vectors}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            vectors = await self._embedder.embed_passages(new)
            known.update((text, row.copy()) for text, row in zip(new, vectors, strict=True))
        self._remember(known)
        rows = [known[text] for text in texts]
        return np.stack(rows) if rows else np.empty((0, self.dimensions), np.float32)

    def _remember(self, vectors: Mapping[str, Vectors]) -> None:
        for text, vector in vectors.items():
            self._vectors[text] = vector
            self._vectors.move_to_end(text)
        while len(self._vectors) > self._kept:
            self._vectors.popitem(last=False)


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
