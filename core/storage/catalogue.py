"""The SQL side of the books: courses, their live edition, and remembered vectors."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

import numpy as np
from sqlalchemy import ColumnElement, Connection, Select, delete, insert, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession

from core.errors import StoreError
from core.models import Course, now
from core.storage.catalogue_rows import (
    CachedVectorRow,
    CourseRow,
    DocumentRecord,
    DocumentRow,
    Edition,
    EditionRow,
    NewSegment,
    SectionRecord,
    SectionRow,
    Segment,
    SegmentRow,
    StoredDocument,
)
from core.storage.database import Base, insert_into, reading, writing
from core.storage.origins import AS_THEY_ARE, Origins

__all__ = ["Catalogue", "DocumentRecord", "Edition", "NewSegment", "SectionRecord", "Segment"]

_BATCH = 500
"""Keys or rows a statement; far below what either database allows."""
_USE_IS_NOTED = timedelta(days=1)
"""How exactly a vector's last use is known: reading it again within a day writes nothing."""

_CHECKED_EVERY = 1.0
"""Seconds for which `lately_live` takes no notice of an edition of another process."""

T = TypeVar("T")


class Catalogue:
    """Courses and their editions, safe for any number of processes at once.

    Every method raises StoreError when the database fails.
    """

    def __init__(self, engine: AsyncEngine, origins: Origins = AS_THEY_ARE) -> None:
        self._engine = engine
        self._origins = origins
        self._lately: dict[str, tuple[float, Edition]] = {}

    async def save_course(self, course: Course) -> None:
        """Add the course, or change what is known about it; a known one keeps its owner."""
        async with writing(self._engine) as db:
            await self._save(db, course)

    async def set_owner(self, course_id: str, tenant: str | None) -> bool:
        """Give a course to a tenant, or to the operator; return whether there is the course."""
        row = CourseRow
        changed = update(row).where(row.course_id == course_id).values(tenant=tenant)
        async with writing(self._engine) as db:
            return await db.scalar(changed.returning(row.course_id)) is not None

    async def course(self, course_id: str) -> Course | None:
        """Return the course, or None for an unknown id."""
        async with reading(self._engine) as db:
            row = await db.get(CourseRow, course_id)
            return _course(row) if row is not None else None

    async def courses(self) -> list[tuple[Course, Edition | None]]:
        """Return all courses by id, each with its live edition if it has one."""
        query = select(CourseRow, EditionRow).outerjoin(
            EditionRow, EditionRow.course_id == CourseRow.course_id
        )
        async with reading(self._engine) as db:
            rows = (await db.execute(query)).all()
            pairs = [(_course(row), _edition(edition)) for row, edition in rows]
        return sorted(pairs, key=lambda pair: pair[0].course_id)

    async def remove_course(self, course_id: str) -> Edition | None:
        """Delete the course with its edition, and return the edition if it had one."""
        self._lately.pop(course_id, None)
        async with writing(self._engine) as db:
            edition = await _live(db, course_id)
            await db.execute(delete(CourseRow).where(CourseRow.course_id == course_id))
            return edition

    async def live(self, course_id: str) -> Edition | None:
        """Return the edition that the course is answered from; one indexed read."""
        async with reading(self._engine) as db:
            return await _live(db, course_id)

    async def lately_live(self, course_id: str) -> Edition | None:
        """Return the edition that the course is, or within the last second was, answered from."""
        checked, edition = self._lately.get(course_id, (0.0, None))
        if edition is None or time.monotonic() - checked > _CHECKED_EVERY:
            checked, edition = time.monotonic(), await self.live(course_id)
            if edition is None:
                self._lately.pop(course_id, None)
            else:
                self._lately[course_id] = checked, edition
        return edition

    async def documents(self, generation: UUID) -> list[DocumentRecord]:
        """Return an edition's documents in reading order; none once it is replaced."""
        return [record for _, record in await self.placed(generation)]

    async def placed(self, generation: UUID) -> list[tuple[StoredDocument, DocumentRecord]]:
        """Return an edition's documents in reading order, each with where it is."""
        async with reading(self._engine) as db:
            order = await _reading_order(db, generation)
            names = {place.collection for place in order}
            row = DocumentRow
            columns = [getattr(row, field.name) for field in fields(DocumentRecord)]
            query = select(row.collection, row.number, *columns).where(row.collection.in_(names))
            known = {
                StoredDocument(collection, number): self._known(DocumentRecord(*values))
                for collection, number, *values in await db.execute(query)
            }
        return [(place, known[place]) for place in order]

    async def set_origins(
        self, generation: UUID, origins: Mapping[str, str], retired: Collection[str] = ()
    ) -> None:
        """Note other sources for documents of an edition, by source file.

        Args:
            retired: Sources that the edition has no document of any more. What is kept of their
                replaced documents until the next compaction does not say where it came from.
        """
        if not origins and not retired:
            return
        placed, row, stored = await self.placed(generation), DocumentRow, self._origins.stored
        async with writing(self._engine) as db:
            for place, record in placed:
                if origin := origins.get(record.source_file):
                    here = (row.collection == place.collection, row.number == place.number)
                    await db.execute(update(row).where(*here).values(origin=stored(origin)))
            there = row.collection.in_({place.collection for place, _ in placed})
            of_retired = row.origin.in_(list(map(stored, retired)))
            await db.execute(update(row).where(there, of_retired).values(origin=""))

    async def heal_origins(self) -> None:
        """Store the places of all sources as this version does; next to nothing where it did."""
        await self._origins.heal(self._engine)

    def _known(self, record: DocumentRecord) -> DocumentRecord:
        return replace(record, origin=self._origins.known(record.origin))

    async def sections(self, generation: UUID) -> list[SectionRecord]:
        """Return an edition's sections in reading order, each once; none once it is replaced."""
        first: dict[str, SectionRecord] = {}
        for section in await self.all_sections(generation):
            first.setdefault(section.section_id, section)
        return [replace(section, ordinal=n) for n, section in enumerate(first.values())]

    async def all_sections(self, generation: UUID) -> list[SectionRecord]:
        """Return the sections of each document in reading order; shared ones come repeatedly."""
        row = SectionRow
        columns = [getattr(row, field.name) for field in fields(SectionRecord)]
        async with reading(self._engine) as db:
            order = {place: n for n, place in enumerate(await _reading_order(db, generation))}
            names = {place.collection for place in order}
            query = select(row.collection, row.number, *columns)
            found = (await db.execute(query.where(row.collection.in_(names)))).all()
        placed = [
            (order[StoredDocument(collection, number)], SectionRecord(*values))
            for collection, number, *values in found
            if StoredDocument(collection, number) in order
        ]
        placed.sort(key=lambda entry: (entry[0], entry[1].ordinal))
        return [replace(section, path=tuple(section.path)) for _, section in placed]

    async def term_statistics(self, generation: UUID) -> bytes | None:
        """Return what `publish` was given as `terms`; None once the edition is replaced."""
        return await self._of_edition(EditionRow.terms, generation)

    async def vocabulary(self, generation: UUID) -> bytes | None:
        """Return what `publish` was given as `words`; None once the edition is replaced."""
        return await self._of_edition(EditionRow.words, generation)

    async def _of_edition(self, column: Any, generation: UUID) -> bytes | None:
        async with reading(self._engine) as db:
            found: bytes | None = await db.scalar(
                select(column).where(EditionRow.generation == generation)
            )
            return found

    async def outlines(self, edition: Edition) -> list[bytes] | None:
        """Return the outline of each segment of an edition; None once one is gone."""
        names = [segment.collection for segment in edition.segments]
        row = SegmentRow
        query = select(row.collection, row.outline).where(row.collection.in_(names))
        async with reading(self._engine) as db:
            found = {row[0]: row[1] for row in await db.execute(query)}
        return [found[name] for name in names] if len(found) == len(names) else None

    async def publish(
        self,
        edition: Edition,
        new: Sequence[NewSegment],
        order: Sequence[StoredDocument],
        terms: bytes = b"",
        words: bytes = b"",
        *,
        course: Course | None = None,
        settle: Callable[[Connection], object] | None = None,
    ) -> Edition | None:
        """Make the edition its course's live one, and return the one it replaces.

        One transaction: readers see the old edition or the new, never a part of either. What is
        written grows with what is new. The collections that no edition names any more are the
        caller's to drop. `course` is saved in the same step: links and language go with the text.

        Args:
            new: The segments of it that the replaced edition does not have.
            order: Its documents in reading order.
            settle: Writes, in the same transaction, what follows from the change of the text.

        Raises:
            StoreError: also when the course was not saved before, nor is now.
        """
        names = [segment.collection for segment in edition.segments]
        values = {
            field.name: getattr(edition, field.name)
            for field in fields(Edition)
            if field.name != "segments"
        }
        values["segments"] = [segment.to_json() for segment in edition.segments]
        values |= {"reading": _packed(names, order), "terms": terms, "words": words}
        async with writing(self._engine) as db:
            if course is not None:
                await self._save(db, course)
            course_id = edition.course_id
            if await db.get(CourseRow, course_id, with_for_update=True) is None:
                raise StoreError(f"course {course_id} is not in the catalogue")
            replaced = await _live(db, course_id)
            await db.execute(delete(EditionRow).where(EditionRow.course_id == course_id))
            row = SegmentRow
            gone = delete(row).where(row.course_id == course_id, row.collection.not_in(names))
            await db.execute(gone)
            for segment in new:
                await _insert_segment(db, course_id, segment, self._origins)
            await db.execute(insert(EditionRow), [values])
            if settle is not None:
                await (await db.connection()).run_sync(settle)
        self._lately.pop(course_id, None)
        return replaced

    async def _save(self, db: AsyncSession, course: Course) -> None:
        known = course.model_dump()
        statement = insert_into(self._engine, CourseRow).values(known)
        described = {name: value for name, value in known.items() if name != "tenant"}
        await db.execute(
            statement.on_conflict_do_update(index_elements=["course_id"], set_=described)
        )

    async def collections(self) -> frozenset[str]:
        """Return the names of the collections that live editions are read from."""
        async with reading(self._engine) as db:
            return frozenset(await db.scalars(select(SegmentRow.collection)))

    async def vectors(self, model: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the remembered vectors of a model, float32 bytes by key; others are left out."""
        moment, found = now(), dict[bytes, bytes]()
        for batch in _batches(keys):
            row = CachedVectorRow
            wanted = (row.model == model, row.key.in_(batch))
            async with reading(self._engine) as db:
                query = select(row.key, row.vector, row.used_at).where(*wanted)
                rows = (await db.execute(query)).all()
            found |= {key: vector for key, vector, _ in rows}
            if any(used_at < moment - _USE_IS_NOTED for _, _, used_at in rows):
                used = _free(select(row.model, row.key).where(*wanted))
                async with writing(self._engine) as db:
                    await db.execute(update(row).where(used).values(used_at=moment))
        return found

    async def remember_vectors(self, model: str, vectors: Mapping[bytes, bytes]) -> None:
        """Keep float32 bytes by key for `vectors`; what is known already stays as it is."""
        moment = now()
        statement = insert_into(self._engine, CachedVectorRow).on_conflict_do_nothing()
        # In one order, so that no two writers of the same texts wait for each other.
        for batch in _batches(sorted(vectors)):
            rows = [
                {"model": model, "key": key, "vector": vectors[key], "used_at": moment}
                for key in batch
            ]
            async with writing(self._engine) as db:
                await db.execute(statement, rows)

    async def prune_vectors(self, unused_since: datetime) -> int:
        """Delete the vectors no one asked for since that time, and return how many.

        Always safe: a deleted vector is computed again when it is needed.
        """
        row = CachedVectorRow
        unused = delete(row).where(
            _free(select(row.model, row.key).where(row.used_at < unused_since))
        )
        async with writing(self._engine) as db:
            connection = await db.connection()
            return (await connection.execute(unused)).rowcount


def _free(wanted: Select[str, bytes]) -> ColumnElement[bool]:
    """Match the vectors of a query that no one else holds: no one waits, so no deadlock."""
    held = wanted.with_for_update(skip_locked=True)
    return tuple_(CachedVectorRow.model, CachedVectorRow.key).in_(held)


async def _live(db: AsyncSession, course_id: str) -> Edition | None:
    return _edition(await db.scalar(select(EditionRow).where(EditionRow.course_id == course_id)))


async def _insert_segment(
    db: AsyncSession, course_id: str, segment: NewSegment, origins: Origins
) -> None:
    name = {"collection": segment.collection}
    row = {**name, "course_id": course_id, "outline": segment.outline}
    await db.execute(insert(SegmentRow), [row])
    documents = [
        {**asdict(document), **name, "number": number, "origin": origins.stored(document.origin)}
        for number, document in enumerate(segment.documents)
    ]
    await _insert_all(db, DocumentRow, documents)
    sections = [
        {**asdict(section), **name, "number": number, "ordinal": ordinal}
        for number, own in enumerate(segment.sections)
        for ordinal, section in enumerate(own)
    ]
    await _insert_all(db, SectionRow, sections)


def _packed(names: Sequence[str], order: Sequence[StoredDocument]) -> bytes:
    """Return places as little-endian 32-bit pairs: the segment, and the number in it."""
    numbers = {name: number for number, name in enumerate(names)}
    pairs = [(numbers[place.collection], place.number) for place in order]
    return np.array(pairs, "<u4").tobytes()


async def _reading_order(db: AsyncSession, generation: UUID) -> list[StoredDocument]:
    row = EditionRow
    query = select(row.segments, row.reading).where(row.generation == generation)
    found = (await db.execute(query)).one_or_none()
    if found is None:
        return []
    names = [segment["collection"] for segment in found[0]]
    pairs = np.frombuffer(found[1], "<u4").reshape(-1, 2).tolist()
    return [StoredDocument(names[segment], number) for segment, number in pairs]


async def _insert_all(db: AsyncSession, row: type[Base], values: Sequence[dict[str, Any]]) -> None:
    for batch in _batches(values):
        await db.execute(insert(row), batch)


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + _BATCH] for start in range(0, len(items), _BATCH))


def _course(row: CourseRow) -> Course:
    return Course(
        course_id=row.course_id,
        title=row.title,
        base_url=row.base_url,
        language=row.language,
        tenant=row.tenant,
    )


def _edition(row: EditionRow | None) -> Edition | None:
    if row is None:
        return None
    plain = (field.name for field in fields(Edition) if field.name != "segments")
    values = {name: getattr(row, name) for name in plain}
    return Edition(**values, segments=tuple(map(Segment.from_json, row.segments)))
