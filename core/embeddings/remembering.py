"""An embedder with a memory, for passages that come up again."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence

import numpy as np

from core.embeddings.base import Embedder, Vectors

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
