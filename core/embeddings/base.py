"""The Protocol every embedding model speaks."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from core.text.sentences import Span

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
