"""Makes points of chunks: their vectors, those of their sentences, and their words."""

import hashlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import numpy as np

from core.domain import Chunk
from core.domain.errors import EmbeddingError, NoRoom, StoreUnwritable, VectorIndexError
from core.domain.sentences import Span, sentence_spans
from core.index.base import IndexedPoint, SparseVector, VectorIndex
from core.ingestion.coverage import IngestReport, Progress
from core.providers.embeddings.base import Embedder, SentenceEmbedder, Vectors, to_bytes
from core.storage.catalogue import Catalogue

logger = logging.getLogger(__name__)


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


EncodeSparse = Callable[[str, Sequence[str]], list[SparseVector]]
"""Gives the words of texts in a course's language."""


class ChunkEmbedder:
    """Embeds chunks, from the cache where their text was embedded before."""

    def __init__(
        self,
        catalogue: Catalogue,
        embedder: Embedder,
        sentence_embedder: SentenceEmbedder,
        encode_sparse: EncodeSparse,
    ) -> None:
        """`sentence_embedder` is the model that answers are chosen by, in any course."""
        self._catalogue = catalogue
        self._embedder = embedder
        self._sentence_embedder = sentence_embedder
        self._encode_sparse = encode_sparse

    @property
    def model(self) -> str:
        """The name of the model that chunks are searched by."""
        return self._embedder.name

    @property
    def dimensions(self) -> int:
        """The length of a chunk's vector."""
        return self._embedder.dimensions

    async def points(
        self,
        language: str,
        chunks: Sequence[tuple[Chunk, tuple[str, ...]]],
        report: IngestReport,
        progress: Progress,
    ) -> list[IndexedPoint]:
        """Return the points of new chunks, each given with its sections."""
        embedded, vectors = await self._embed([chunk for chunk, _ in chunks], report, progress)
        words = self._encode_sparse(language, [_text_of(chunk) for chunk in embedded])
        parts = zip(embedded, chunks, vectors, words, strict=True)
        return [IndexedPoint(chunk, own[1], vector, terms) for chunk, own, vector, terms in parts]

    async def again(
        self, points: Sequence[IndexedPoint], report: IngestReport, progress: Progress
    ) -> list[IndexedPoint]:
        """Return stored points with vectors of the model that is meant now."""
        chunks, vectors = await self._embed([p.chunk for p in points], report, progress)
        return [
            replace(point, chunk=chunk, dense=vector)
            for point, chunk, vector in zip(points, chunks, vectors, strict=True)
        ]

    async def _embed(
        self, chunks: Sequence[Chunk], report: IngestReport, progress: Progress
    ) -> tuple[list[Chunk], Vectors]:
        """Return the chunks with the vectors of their sentences, and their own."""

        def tell(done: int, total: int) -> None:
            progress("embedding", done, total)

        texts = [_text_of(chunk) for chunk in chunks]
        spans = [sentence_spans(chunk.content_text) for chunk in chunks]
        shifted = [
            _shifted(own, len(text) - len(chunk.content_text))
            for own, text, chunk in zip(spans, texts, chunks, strict=True)
        ]
        vectors, sentences, computed = await embed_sentences_cached(
            self._sentence_embedder, self._catalogue, texts, shifted, tell
        )
        if self._embedder.name != self._sentence_embedder.name:
            vectors, computed = await embed_cached(self._embedder, self._catalogue, texts, tell)
        report.embedded += computed
        parts = zip(chunks, spans, sentences, strict=True)
        return [
            chunk.model_copy(update={"sentences": tuple(own), "sentence_vectors": data})
            for chunk, own, data in parts
        ], vectors


def _text_of(chunk: Chunk) -> str:
    return embedding_text(chunk.page_title, chunk.headings, chunk.content_text)


def _shifted(spans: Sequence[Span], by: int) -> list[Span]:
    """Return where a chunk's spans are in the text that is embedded for it."""
    return [Span(start + by, end + by) for start, end in spans]


_STORED_TEXT = 1_500
"""Bytes that a chunk's text is taken for where it is not at hand."""
_POINT = 2_500
"""Bytes of a stored chunk but its vector and text: its fields, its terms, its place in indexes."""
_ROW = 250
"""Bytes of a remembered vector but itself."""
_DATABASE = 2_000_000
"""Bytes that a database's log of writes grows to, and what the edition's sections take."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """The bytes that an edition takes."""

    chunks: int
    index: int
    database: int


CheckRoom = Callable[[str, Footprint], None]
"""Raises NoRoom when there is no room for an edition of the course."""


def footprint(fresh: Collection[Chunk], kept: int, dimensions: int) -> Footprint:
    """Return what an edition of `fresh` chunks and `kept` older ones takes."""
    vector = dimensions * _FLOAT
    text = sum(len(chunk.content_text.encode()) for chunk in fresh) + kept * _STORED_TEXT
    count = len(fresh) + kept
    return Footprint(
        chunks=count,
        index=text + count * (vector + _POINT),
        database=_DATABASE + len(fresh) * (vector + _ROW),
    )


@asynccontextmanager
async def given_back(index: VectorIndex, collection: str) -> AsyncIterator[None]:
    """Drop a collection again when the room gives out in the block: it is not published then."""
    try:
        yield
    except (NoRoom, StoreUnwritable):
        await dropped(index, collection)
        raise


async def dropped(index: VectorIndex, collection: str) -> None:
    """Drop a collection; one that is held open elsewhere is left to the next run."""
    try:
        await index.drop(collection)
    except VectorIndexError:
        logger.warning("the collection %s could not be dropped", collection)
