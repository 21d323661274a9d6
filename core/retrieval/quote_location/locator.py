"""Locates quoted passages in the live text of a course."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.embeddings.base import Vectors
from core.errors import EmbeddingError
from core.index.base import VectorIndex
from core.models import Chunk, QuoteLocation, QuoteStatus, RetrievedChunk
from core.retrieval.editions.open_edition import OpenEdition
from core.retrieval.quote_location.windows import ChunkWindow, documents_of, windows
from core.retrieval.retrieval import retrieved

if TYPE_CHECKING:
    from core.retrieval.quote_location.matching import QuoteMatch

_NEIGHBOURS = 1
"""Chunks before and after a quote that are read with it."""


@dataclass(frozen=True, slots=True)
class LocatedQuote:
    """Where a quote stands, and the text there."""

    location: QuoteLocation | None = None
    chunks: tuple[RetrievedChunk, ...] = ()
    """Those that it touches."""
    around: tuple[RetrievedChunk, ...] = ()
    """These, with their neighbours in the same section."""


class QuoteLocator:
    """Finds quotes in editions, by the index's own words: no text stays in memory."""

    def __init__(self, index: VectorIndex) -> None:
        self._index = index

    async def locate(self, opened: OpenEdition, quote: str | None) -> LocatedQuote:
        """Return where a quote stands, and the chunks there.

        Raises:
            VectorIndexError: when the index fails, or the edition was replaced.
        """
        if quote is None:
            return LocatedQuote()
        match, found = await self._match(opened, quote)
        if match.document_id is None:
            return LocatedQuote(QuoteLocation(status=match.status, score=match.score))
        window = found[int(match.document_id)]
        start, end = window.start + match.char_start, window.start + match.char_end
        touched = [c for c in window.chunks if c.char_start < end and start < c.char_end]
        if not touched:  # it stands in a heading
            return LocatedQuote(QuoteLocation(status=QuoteStatus.NOT_FOUND, score=match.score))
        location = QuoteLocation(
            status=match.status,
            chunk_ids=tuple(chunk.chunk_id for chunk in touched),
            document_id=touched[0].document_id,
            char_start=start,
            char_end=end,
            score=match.score,
        )
        chunks, around = (
            tuple(retrieved(chunk, match.score, opened.edition.generation) for chunk in some)
            for some in (touched, _around(window, touched))
        )
        return LocatedQuote(location, chunks, around)

    async def _match(
        self, opened: OpenEdition, quote: str
    ) -> "tuple[QuoteMatch, list[ChunkWindow]]":
        """Return the match, and the windows of which one is named in it.

        What damage has left no word whole of is looked for by its meaning.
        """
        from core.retrieval.quote_location.matching import BookText

        found = await windows(self._index, opened, quote, None)
        match = await asyncio.to_thread(lambda: BookText(documents_of(found)).locate(quote))
        if match.document_id is None and (near := await _direction(opened, quote)) is not None:
            found = await windows(self._index, opened, quote, near)
            match = await asyncio.to_thread(lambda: BookText(documents_of(found)).locate(quote))
        return match, found


async def _direction(opened: OpenEdition, quote: str) -> Vectors | None:
    try:
        [direction] = await opened.embedder.embed_queries([quote])
    except EmbeddingError:
        return None
    return np.asarray(direction, np.float32)


def _around(window: ChunkWindow, touched: Sequence[Chunk]) -> list[Chunk]:
    first, last = touched[0], touched[-1]
    places = range(first.chunk_index - _NEIGHBOURS, last.chunk_index + _NEIGHBOURS + 1)
    return [
        chunk
        for chunk in window.chunks
        if chunk.chunk_index in places and chunk.headings in {first.headings, last.headings}
    ]
