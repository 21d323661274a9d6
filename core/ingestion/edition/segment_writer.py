"""Writes one collection of an edition, and notes what its readers need of it."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from core.index.base import FORMAT, IndexedPoint, VectorIndex
from core.index.outline import OutlineWriter
from core.storage.catalogue import DocumentRecord, NewSegment, SectionRecord, Segment


class SegmentWriter:
    """Fills a collection document by document; it is readable once it is finished."""

    def __init__(self, index: VectorIndex, collection: str, dimensions: int) -> None:
        self.collection = collection
        self.stored = 0
        """How many chunks there are so far."""
        self._index = index
        self._dimensions = dimensions
        self._outline = OutlineWriter(dimensions)
        self._documents: list[DocumentRecord] = []
        self._sections: list[Sequence[SectionRecord]] = []

    async def begin(self) -> None:
        """Begin with an empty collection."""
        await self._index.create(self.collection, self._dimensions)

    def note(self, document: DocumentRecord, sections: Sequence[SectionRecord]) -> None:
        """Note a document whose points come after those of the one before it."""
        self._documents.append(document)
        self._sections.append(sections)

    async def add(self, points: Sequence[IndexedPoint], generation: UUID) -> None:
        """Store further points, in reading order."""
        numbered = [
            replace(
                point,
                number=number,
                chunk=point.chunk.model_copy(update={"generation": generation}),
            )
            for number, point in enumerate(points, self.stored)
        ]
        await self._index.upsert(self.collection, numbered)
        self._outline.add(numbered)
        self.stored += len(numbered)

    async def finish(self) -> tuple[Segment, NewSegment]:
        """Make the collection readable, and return what is published of it."""
        expected = sum(document.chunk_count for document in self._documents)
        await self._index.seal(self.collection, expected)
        outline = self._outline.finish().to_bytes()
        return (
            Segment(self.collection, FORMAT, expected),
            NewSegment(self.collection, self._documents, self._sections, outline),
        )
