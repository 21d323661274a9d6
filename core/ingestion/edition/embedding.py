"""Vectors for passages, from the cache where their text was embedded before."""

import hashlib
from collections.abc import Awaitable, Callable, Sequence

import numpy as np

from core.embeddings.base import Embedder, SentenceEmbedder, Vectors
from core.embeddings.sentences import to_bytes
from core.errors import EmbeddingError
from core.storage.catalogue import Catalogue
from core.text.sentences import Span

_BATCH = 256
"""Texts that a service is sent at a time."""
_SENTENCES_BATCH = 32
"""Texts that are embedded here at a time: how far that is is told after each."""
_FLOAT = 4

Report = Callable[[int, int], None]
"""Takes how many of how many are done, counting only what is computed."""
Spans = Sequence[Sequence[Span]]
"""For each text the spans of its sentences."""


def embedding_text(page_title: str, headings: Sequence[str], text: str) -> str:
    """Return what is embedded for a passage: its heading path, then its text."""
    path = [page_title, *(heading for heading in headings if heading != page_title)]
    return f"{' > '.join(part for part in path if part)}\n{text}"


async def embed_cached(
    embedder: Embedder, catalogue: Catalogue, texts: Sequence[str], progress: Report
) -> tuple[Vectors, int]:
    """Return one vector a text, and how many of them the model had to compute."""

    async def compute(places: Sequence[int]) -> list[bytes]:
        vectors = await embedder.embed_passages([texts[place] for place in places])
        _check(vectors, len(places), embedder)
        return [row.astype("<f4").tobytes() for row in vectors]

    keys = [hashlib.sha256(text.encode()).digest() for text in texts]
    known, computed = await _cached(
        catalogue, embedder.name, keys, texts, compute, progress, size=_BATCH
    )
    return _matrix(known, embedder.dimensions), computed


async def embed_sentences_cached(
    embedder: SentenceEmbedder,
    catalogue: Catalogue,
    texts: Sequence[str],
    spans: Spans,
    progress: Report,
) -> tuple[Vectors, list[bytes], int]:
    """Return one vector a text, those of its sentences in their small form, and how many ran."""

    async def compute(places: Sequence[int]) -> list[bytes]:
        vectors, sentences = await embedder.embed_with_sentences(
            [texts[place] for place in places], [spans[place] for place in places]
        )
        _check(vectors, len(places), embedder)
        pairs = zip(vectors, sentences, strict=True)
        return [whole.astype("<f4").tobytes() + to_bytes(own) for whole, own in pairs]

    named = (f"{text}\0{own}" for text, own in zip(texts, map(_plain, spans), strict=True))
    keys = [hashlib.sha256(name.encode()).digest() for name in named]
    model = f"{embedder.name}+sentences"
    known, computed = await _cached(
        catalogue, model, keys, texts, compute, progress, size=_SENTENCES_BATCH
    )
    size = embedder.dimensions * _FLOAT
    return _matrix(known, embedder.dimensions), [data[size:] for data in known], computed


async def _cached(
    catalogue: Catalogue,
    model: str,
    keys: Sequence[bytes],
    texts: Sequence[str],
    compute: Callable[[Sequence[int]], Awaitable[list[bytes]]],
    progress: Report,
    *,
    size: int,
) -> tuple[list[bytes], int]:
    """Return what is remembered or computed for each key, and how many were computed.

    What is computed is remembered batch by batch, so a killed run loses one batch.
    """
    known = await catalogue.vectors(model, list(dict.fromkeys(keys)))
    missing = {key: place for place, key in enumerate(keys) if key not in known}
    # Texts of like length go into one batch: little is spent on padding.
    pending = sorted(missing.items(), key=lambda item: len(texts[item[1]]))
    for start in range(0, len(pending), size):
        batch = pending[start : start + size]
        values = await compute([place for _, place in batch])
        computed = {key: value for (key, _), value in zip(batch, values, strict=True)}
        await catalogue.remember_vectors(model, computed)
        known.update(computed)
        progress(start + len(batch), len(pending))
    return [known[key] for key in keys], len(pending)


def _check(vectors: Vectors, expected: int, embedder: Embedder) -> None:
    if vectors.shape != (expected, embedder.dimensions):
        raise EmbeddingError(f"expected {expected} vectors, got shape {vectors.shape}")


def _matrix(known: Sequence[bytes], dimensions: int) -> Vectors:
    rows = [np.frombuffer(data, "<f4", dimensions) for data in known]
    return np.stack(rows).astype(np.float32) if rows else np.empty((0, dimensions), np.float32)


def _plain(spans: Sequence[Span]) -> list[tuple[int, int]]:
    return [(start, end) for start, end in spans]
