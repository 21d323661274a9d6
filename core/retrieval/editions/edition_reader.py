"""Reads the chunks of an edition, which may lie in several collections."""

import logging
from collections.abc import AsyncIterator
from uuid import UUID

from core.index.base import VectorIndex
from core.index.points import generation_of
from core.models import Chunk
from core.storage.catalogue import Edition

logger = logging.getLogger(__name__)


class EditionReader:
    """Gives the chunks that an edition shows; checked once more that they are its own."""

    def __init__(self, index: VectorIndex) -> None:
        self._index = index

    async def document(self, edition: Edition, document_id: UUID) -> list[Chunk]:
        """Return a document's chunks in order; none where the edition does not show it.

        Raises:
            VectorIndexError: when the index fails, or the edition was replaced.
        """
        return [chunk async for chunk in self.scroll(edition, document_id)]

    async def scroll(
        self, edition: Edition, document_id: UUID | None = None
    ) -> AsyncIterator[Chunk]:
        """Yield the edition's chunks (of one document), each document's in order.

        Raises:
            VectorIndexError: as `document`.
        """
        for segment in edition.segments:
            if document_id in segment.hidden:
                continue
            chunks = self._index.scroll(segment.collection, document_id=document_id)
            async for chunk in chunks:
                if chunk.document_id in segment.hidden:
                    continue
                if is_of(edition, chunk):
                    yield chunk.model_copy(update={"generation": edition.generation})


def is_of(edition: Edition, chunk: Chunk) -> bool:
    """Return whether a chunk is of an edition's course, and came with one of its collections."""
    if chunk.course_id == edition.course_id and any(
        chunk.generation == generation_of(segment.collection) for segment in edition.segments
    ):
        return True
    logger.error("the index gave a chunk of %s for %s", chunk.course_id, edition.course_id)
    return False
