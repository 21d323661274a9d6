"""A real embedder without a model, for tests: texts with like words have like vectors."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from core.domain.sentences import Span
from core.providers.embeddings.base import Vectors

_WORD = re.compile(r"\w+")


class HashingEmbedder:
    """Adds up one fixed pseudo-random unit vector a word: the same in every process."""

    name = "hashing"

    def __init__(self, dimensions: int = 64) -> None:
        self.dimensions = dimensions
        self.embedded = 0
        """How many passages were embedded so far."""

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.embedded += len(texts)
        return self._embed(texts)

    async def embed_with_sentences(
        self, texts: Sequence[str], spans: Sequence[Sequence[Span]]
    ) -> tuple[Vectors, list[Vectors]]:
        self.embedded += len(texts)
        pairs = zip(texts, spans, strict=True)
        parts = [self._embed([text[start:end] for start, end in own]) for text, own in pairs]
        return self._embed(texts), parts

    def _embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in _WORD.findall(text.casefold()):
                row += self._word(word)
            if not row.any():
                row += self._word("")
            row /= np.linalg.norm(row)
        return rows

    def _word(self, word: str) -> Vectors:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "little")
        vector = np.random.default_rng(seed).standard_normal(self.dimensions)
        return (vector / np.linalg.norm(vector)).astype(np.float32)
