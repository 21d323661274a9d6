"""Locates quoted passages in the live text of a course."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from core.catalogue import Edition
from core.index.base import VectorIndex
from core.models import Chunk, QuoteLocation, QuoteStatus, RetrievedChunk
from core.retrieval.recent import Recent
from core.retrieval.retrieval import retrieved

if TYPE_CHECKING:
    from core.retrieval.quotes import BookText

logger = logging.getLogger(__name__)

_BOOKS_IN_MEMORY = 8
_NEIGHBOURS = 1
"""Chunks before and behind a quote that are read with it."""


class QuoteLocator:
    """Finds quotes in editions; keeps the text of the editions asked for last."""

    def __init__(self, index: VectorIndex) -> None:
        self._index = index
        self._books: Recent[BookText] = Recent(_BOOKS_IN_MEMORY)

    async def locate(
        self, edition: Edition, quote: str | None
    ) -> tuple[QuoteLocation | None, list[RetrievedChunk]]:
        """Return where a quote stands, and the chunks that it touches."""
        if quote is None:
            return None, []
        book = await self._book(edition)
        match = await asyncio.to_thread(book.locate, quote)
        if match.document_id is None:
            return QuoteLocation(status=match.status, score=match.score), []
        document_id = UUID(match.document_id)
        touched = [
            chunk
            async for chunk in self._scroll(edition, document_id)
            if chunk.char_start < match.char_end and match.char_start < chunk.char_end
        ]
        if not touched:  # it stands in a heading
            return QuoteLocation(status=QuoteStatus.NOT_FOUND, score=match.score), []
        location = QuoteLocation(
            status=match.status,
            chunk_ids=tuple(chunk.chunk_id for chunk in touched),
            document_id=document_id,
            char_start=match.char_start,
            char_end=match.char_end,
            score=match.score,
        )
        return location, [retrieved(chunk, match.score) for chunk in touched]

    async def _book(self, edition: Edition) -> "BookText":
        """Return the edition's whole text, ready for quotes to be found in it."""
        if (known := self._books.get(edition.generation)) is not None:
            return known
        from core.retrieval.quotes import BookText

        texts: dict[UUID, list[str]] = {}
        ends: dict[UUID, int] = {}
        async for chunk in self._scroll(edition):
            pieces = texts.setdefault(chunk.document_id, [])
            gap = chunk.char_start - ends.get(chunk.document_id, 0)
            pieces += [" " * gap, chunk.content_text]
            ends[chunk.document_id] = chunk.char_end
        documents = [(str(name), "".join(pieces)) for name, pieces in texts.items()]
        return self._books.add(edition.generation, await asyncio.to_thread(BookText, documents))

    async def around(
        self, edition: Edition, quoted: Sequence[RetrievedChunk]
    ) -> list[RetrievedChunk]:
        """Return the quoted chunks with their neighbours in the same section."""
        if not quoted:
            return []
        first, last = quoted[0], quoted[-1]
        places = range(first.chunk_index - _NEIGHBOURS, last.chunk_index + _NEIGHBOURS + 1)
        return [
            retrieved(chunk, first.similarity_score)
            async for chunk in self._scroll(edition, first.document_id)
            if chunk.chunk_index in places and chunk.headings in {first.headings, last.headings}
        ]

    async def _scroll(
        self, edition: Edition, document_id: UUID | None = None
    ) -> AsyncIterator[Chunk]:
        """Yield an edition's chunks; checked once more, after the index, that they are its own."""
        async for chunk in self._index.scroll(edition.collection, document_id=document_id):
            if (chunk.course_id, chunk.generation) == (edition.course_id, edition.generation):
                yield chunk
            else:
                logger.error(
                    "the index returned a chunk of %s for %s", chunk.course_id, edition.course_id
                )
