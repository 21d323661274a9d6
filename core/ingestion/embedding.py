"""Vectors for passages, from the cache where their text was embedded before."""

import hashlib
from collections.abc import Callable, Sequence

import numpy as np

from core.catalogue import Catalogue
from core.embeddings.base import Embedder, Vectors
from core.errors import EmbeddingError

_BATCH = 256


def embedding_text(page_title: str, headings: Sequence[str], text: str) -> str:
    """Return what is embedded for a passage: its heading path, then its text."""
    path = [page_title, *(heading for heading in headings if heading != page_title)]
    return f"{' > '.join(part for part in path if part)}\n{text}"


async def embed_cached(
    embedder: Embedder,
    catalogue: Catalogue,
    texts: Sequence[str],
    progress: Callable[[int, int], None],
) -> tuple[Vectors, int]:
    """Return one vector a text, and how many of them the model had to compute.

    What is computed is remembered batch by batch, so a killed run loses one batch.
    `progress` is told how many of how many are done, counting only what is computed.
    """
    keys = [hashlib.sha256(text.encode()).digest() for text in texts]
    known = await catalogue.vectors(embedder.name, list(dict.fromkeys(keys)))
    missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    # Texts of like length go into one batch: little is spent on padding.
    pending = sorted(missing.items(), key=lambda item: len(item[1]))
    for start in range(0, len(pending), _BATCH):
        batch = dict(pending[start : start + _BATCH])
        vectors = await embedder.embed_passages(list(batch.values()))
        if vectors.shape != (len(batch), embedder.dimensions):
            raise EmbeddingError(f"expected {len(batch)} vectors, got shape {vectors.shape}")
        computed = {
            key: row.astype("<f4").tobytes() for key, row in zip(batch, vectors, strict=True)
        }
        await catalogue.remember_vectors(embedder.name, computed)
        known.update(computed)
        progress(min(start + _BATCH, len(pending)), len(pending))
    rows = [np.frombuffer(known[key], "<f4") for key in keys]
    matrix = np.stack(rows) if rows else np.empty((0, embedder.dimensions), np.float32)
    return matrix.astype(np.float32), len(pending)
