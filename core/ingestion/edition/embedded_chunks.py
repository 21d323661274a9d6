"""Makes points of chunks: their vectors, those of their sentences, and their words."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from core.embeddings.base import Embedder, SentenceEmbedder, Vectors
from core.index.base import IndexedPoint, SparseVector
from core.ingestion.edition.embedding import embed_cached, embed_sentences_cached, embedding_text
from core.ingestion.report import IngestReport, Progress
from core.models import Chunk
from core.storage.catalogue import Catalogue
from core.text.sentences import Span, sentence_spans

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
