"""The Protocol every embedding model speaks."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

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
