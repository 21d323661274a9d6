"""Builds the next edition of a course next to the live one, and publishes it."""

from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar
from uuid import UUID

from sqlalchemy import Connection

from core.domain import Chunk, Course, now
from core.index.base import FORMAT, IndexedPoint, VectorIndex, collection_of
from core.index.terms import (
    OutlineWriter,
    TermStatistics,
    changed,
    count_words,
    words_from_bytes,
    words_to_bytes,
)
from core.ingestion.changes import SectionTexts
from core.ingestion.coverage import Progress
from core.ingestion.embedding import CheckRoom, ChunkEmbedder, footprint
from core.ingestion.plan import Plan
from core.storage.catalogue import (
    Catalogue,
    DocumentRecord,
    Edition,
    NewSegment,
    SectionRecord,
    Segment,
    StoredDocument,
)

GROWTH = 4
"""A collection more than so many times larger than all after it is left alone."""
MOST_HIDDEN = 0.25
"""The part of a collection that may be hidden until it is written again."""


def run_to_merge(segments: Sequence[Segment], visible: Sequence[int]) -> Sequence[Segment]:
    """Return the latest segments that are to become one; none: all is well.

    Args:
        segments: Oldest first.
        visible: How many chunks of each segment are not hidden.
    """
    start = len(segments) - 1
    for place in range(len(segments) - 1):
        if visible[place] < GROWTH * sum(visible[place + 1 :]) or _is_hollow(
            segments, visible, place
        ):
            start = place
            break
    is_due = start < len(segments) - 1 or _is_hollow(segments, visible, start)
    return segments[start:] if is_due else ()


def _is_hollow(segments: Sequence[Segment], visible: Sequence[int], place: int) -> bool:
    hidden = segments[place].chunks - visible[place]
    return hidden > MOST_HIDDEN * segments[place].chunks


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


_EMBED_BATCH = 4_096
"""Chunks that are embedded, and held, at a time."""
_DOCUMENTS_A_COPY = 50

T = TypeVar("T")
SettleEdition = Callable[[str, Collection[str], Mapping[str, Sequence[Chunk]], Connection], object]
"""Writes what follows from a course's new text, in the transaction that publishes it: from the
course's id, the source files that stay as they are, and the chunks of those that were read."""


def settles_nothing(*_: object) -> None:
    """Write nothing."""


@dataclass(frozen=True, slots=True)
class WordStatistics:
    """How rare the terms of some chunks are, and what words they have."""

    terms: TermStatistics
    counts: dict[str, int]

    @classmethod
    def of(cls, points: Sequence[IndexedPoint]) -> "WordStatistics":
        """Return the words of points."""
        terms = TermStatistics.count([point.sparse.indices for point in points])
        return cls(terms, count_words(point.chunk.content_text for point in points))

    def changed(self, added: "WordStatistics", removed: "WordStatistics") -> "WordStatistics":
        """Return the words after some points were added and others went."""
        return WordStatistics(
            self.terms.changed(added.terms, removed.terms),
            changed(self.counts, added.counts, removed.counts),
        )


@dataclass(frozen=True, slots=True)
class Live:
    """The live edition of a course, and where its documents are."""

    edition: Edition
    placed: dict[str, tuple[StoredDocument, DocumentRecord]]
    """In reading order, by source file."""

    def run_to_merge(self) -> Sequence[Segment]:
        """Return the segments that are to become one; none: all is well."""
        visible = dict.fromkeys((segment.collection for segment in self.edition.segments), 0)
        for place, record in self.placed.values():
            visible[place.collection] += record.chunk_count
        return run_to_merge(self.edition.segments, list(visible.values()))

    def is_of(self, embedding_model: str) -> bool:
        """Return whether what it holds can go on in an edition of today's format and a model."""
        edition = self.edition
        return not edition.is_of_another_format and edition.embedding_model == embedding_model


class EditionBuilder:
    """Builds editions: of all that a course has, of a change alone, or of fewer collections."""

    def __init__(
        self,
        catalogue: Catalogue,
        index: VectorIndex,
        embedder: ChunkEmbedder,
        check_room: CheckRoom,
        settle: SettleEdition = settles_nothing,
    ) -> None:
        """Build with the collaborators given."""
        self._settle = settle
        self._catalogue = catalogue
        self._index = index
        self._embedder = embedder
        self._check_room = check_room

    async def build(
        self, course: Course, plan: Plan, live: Live | None, generation: UUID, progress: Progress
    ) -> Edition:
        """Store what is new aside, make it readable, and publish the edition that it is part of.

        Where the live edition's collections can go on, they do: only what was read is stored.
        """
        goes_on = live if live is not None and live.is_of(self._embedder.model) else None
        copied = plan.kept if live is not None and goes_on is None else {}
        fresh = [chunk for doc in plan.parsed.values() for chunk in doc.chunks]
        kept = sum(record.chunk_count for record in copied.values())
        self._check_room(course.course_id, footprint(fresh, kept, self._embedder.dimensions))
        added = WordStatistics.of(())
        written: list[tuple[Segment, NewSegment]] = []
        order = {} if goes_on is None else {n: goes_on.placed[n][0] for n in plan.kept}
        if copied or plan.parsed:
            writer = self._writer(course.course_id, generation)
            await writer.begin()
            names = [*copied, *plan.parsed]
            sections = await self._sections_of(live) if copied else {}
            for name, record in copied.items():
                writer.note(record, sections.get(name, ()))
            for document in plan.parsed.values():
                writer.note(document.record, document.sections)
            async for points in self._points(course, plan, live, list(copied), progress):
                await writer.add(points, generation)
                added = added.changed(WordStatistics.of(points), WordStatistics.of(()))
                progress("storing", writer.stored, kept + len(fresh))
            written.append(await writer.finish())
            order |= {name: StoredDocument(writer.collection, n) for n, name in enumerate(names)}
        words = added
        if live is not None:
            gone = await self._gone_from(live, plan)
            if goes_on is not None:
                words = await self._words_after(goes_on, added, gone)
        read = {name: document.chunks for name, document in plan.parsed.items()}
        settle = partial(self._settle, course.course_id, frozenset(plan.kept), read)
        placed = [order[name] for name in plan.order]
        return await self._publish(course, generation, goes_on, written, placed, words, settle)

    async def compact(self, run: Sequence[Segment], live: Live, generation: UUID) -> Edition:
        """Publish an edition of the same text in which one collection stands for several."""
        course_id = live.edition.course_id
        names = {segment.collection for segment in run}
        held = [entry for entry in live.placed.values() if entry[0].collection in names]
        count = sum(record.chunk_count for _, record in held)
        self._check_room(course_id, footprint([], count, live.edition.dimensions))
        collection = collection_of(course_id, generation)
        writer = SegmentWriter(self._index, collection, live.edition.dimensions)
        await writer.begin()
        sections = await self._sections_of(live)
        for _, record in held:
            writer.note(record, sections.get(record.source_file, ()))
        async for points in self._stored(held):
            await writer.add(points, generation)
        segment, new = await writer.finish()
        moved = {place: StoredDocument(collection, n) for n, (place, _) in enumerate(held)}
        order = [moved.get(place, place) for place, _ in live.placed.values()]
        first = next(n for n, one in enumerate(live.edition.segments) if one.collection in names)
        others = [one for one in live.edition.segments if one.collection not in names]
        edition = replace(
            live.edition,
            generation=generation,
            segments=(*others[:first], segment, *others[first:]),
            created_at=now(),
        )
        terms = await self._catalogue.term_statistics(live.edition.generation)
        words = await self._catalogue.vocabulary(live.edition.generation)
        await self._catalogue.publish(edition, [new], order, terms or b"", words or b"")
        return edition

    def _writer(self, course_id: str, generation: UUID) -> SegmentWriter:
        collection = collection_of(course_id, generation)
        return SegmentWriter(self._index, collection, self._embedder.dimensions)

    async def _points(
        self,
        course: Course,
        plan: Plan,
        live: Live | None,
        copied: Sequence[str],
        progress: Progress,
    ) -> AsyncIterator[list[IndexedPoint]]:
        """Yield the points of copied documents, then those of the documents that were read."""
        if live is not None:
            async for points in self._stored([live.placed[name] for name in copied]):
                yield await self._embedder.again(points, plan.report, progress)
        pairs = [
            (chunk, section_ids)
            for document in plan.parsed.values()
            for chunk, section_ids in zip(document.chunks, document.chunk_sections, strict=True)
        ]
        for batch in batches(pairs, _EMBED_BATCH):
            yield await self._embedder.points(course.language, batch, plan.report, progress)

    async def _stored(
        self, held: Sequence[tuple[StoredDocument, DocumentRecord]]
    ) -> AsyncIterator[list[IndexedPoint]]:
        """Yield the stored points of documents, one document after the other in reading order."""
        for batch in batches(held, _DOCUMENTS_A_COPY):
            order = {record.document_id: n for n, (_, record) in enumerate(batch)}
            by_collection: dict[str, list[UUID]] = {}
            for place, record in batch:
                by_collection.setdefault(place.collection, []).append(record.document_id)
            points = [
                point
                for collection, ids in by_collection.items()
                for point in await self._index.points(collection, ids)
            ]
            places = (
                (order[p.chunk.document_id], p.chunk.chunk_index, n) for n, p in enumerate(points)
            )
            yield [points[n] for _, _, n in sorted(places)]

    async def _gone_from(self, live: Live, plan: Plan) -> WordStatistics:
        """Return the words of what is replaced or removed; the report gets what that changes."""
        gone = [entry for name, entry in live.placed.items() if name not in plan.kept]
        removed, before, after = WordStatistics.of(()), SectionTexts(), SectionTexts()
        async for points in self._stored(gone):
            removed = removed.changed(WordStatistics.of(points), WordStatistics.of(()))
            before.add(point.chunk for point in points)
        for document in plan.parsed.values():
            after.add(document.chunks)
        plan.report.sections = before.changes_to(after)
        return removed

    async def _words_after(
        self, live: Live, added: WordStatistics, removed: WordStatistics
    ) -> WordStatistics:
        """Return the words of a course after its change."""
        generation = live.edition.generation
        terms = await self._catalogue.term_statistics(generation)
        counts = await self._catalogue.vocabulary(generation)
        before = WordStatistics(
            TermStatistics.from_bytes(terms or b""), words_from_bytes(counts or b"")
        )
        return before.changed(added, removed)

    async def _publish(
        self,
        course: Course,
        generation: UUID,
        live: Live | None,
        written: Sequence[tuple[Segment, NewSegment]],
        order: Sequence[StoredDocument],
        words: WordStatistics,
        settle: Callable[[Connection], object],
    ) -> Edition:
        segments = [] if live is None else list(_still_read(live, order))
        edition = Edition(
            generation=generation,
            course_id=course.course_id,
            segments=(*segments, *(segment for segment, _ in written)),
            embedding_model=self._embedder.model,
            dimensions=self._embedder.dimensions,
            created_at=now(),
            chunks=words.terms.chunks,
            documents=len(order),
        )
        await self._catalogue.publish(
            edition,
            [new for _, new in written],
            order,
            words.terms.to_bytes(),
            words_to_bytes(words.counts),
            course=course,
            settle=settle,
        )
        return edition

    async def _sections_of(self, live: Live | None) -> dict[str, list[SectionRecord]]:
        """Return the sections of the live edition by source file."""
        by_file: dict[str, list[SectionRecord]] = {}
        generation = live.edition.generation if live else None
        for section in await self._catalogue.all_sections(generation) if generation else ():
            by_file.setdefault(section.source_file, []).append(section)
        return by_file


def _still_read(live: Live, order: Sequence[StoredDocument]) -> Iterator[Segment]:
    """Yield the live edition's segments that the next one reads, with what it hides of them."""
    visible = set(order)
    for segment in live.edition.segments:
        gone = {
            record.document_id
            for place, record in live.placed.values()
            if place.collection == segment.collection and place not in visible
        }
        if any(place.collection == segment.collection for place in visible):
            yield replace(segment, hidden=segment.hidden | gone)


def _place(order: Mapping[UUID, int], point: IndexedPoint) -> tuple[int, int]:
    return order[point.chunk.document_id], point.chunk.chunk_index


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the items in order, at most `size` at a time."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
