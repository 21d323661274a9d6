"""The SQL side of the books: courses, their live edition, and remembered vectors."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import numpy as np
from sqlalchemy import (
    JSON,
    ColumnElement,
    Connection,
    ForeignKey,
    LargeBinary,
    Select,
    Text,
    UniqueConstraint,
    column,
    delete,
    insert,
    select,
    table,
    tuple_,
    update,
)
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from core.domain import Course, now
from core.domain.errors import StoreError
from core.index.base import FORMAT
from core.storage.database import Base, UtcDateTime, insert_into, reading, write, writing


@dataclass(frozen=True, slots=True)
class Segment:
    """A collection that an edition is read from."""

    collection: str
    format: int
    """See `core.index.base.FORMAT`."""
    chunks: int
    """How many it holds, hidden ones included."""
    hidden: frozenset[UUID] = frozenset()
    """Its documents that a later edition replaced or removed."""

    def to_json(self) -> dict[str, Any]:
        """Return it as a value of a JSON column."""
        return {
            "collection": self.collection,
            "format": self.format,
            "chunks": self.chunks,
            "hidden": sorted(map(str, self.hidden)),
        }

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> "Segment":
        """Return what `to_json` gave."""
        return cls(**{**fields, "hidden": frozenset(map(UUID, fields["hidden"]))})


@dataclass(frozen=True, slots=True)
class Edition:
    """One state of a course's text, and the collections that hold its vectors."""

    generation: UUID
    course_id: str
    segments: tuple[Segment, ...]
    """At least one; each document is visible in one of them alone."""
    embedding_model: str
    dimensions: int
    created_at: datetime
    chunks: int
    documents: int

    @property
    def collections(self) -> frozenset[str]:
        """The names of all collections that it is read from."""
        return frozenset(segment.collection for segment in self.segments)

    @property
    def is_of_another_format(self) -> bool:
        """Whether this version cannot read it, so that the course has to be ingested again."""
        return any(segment.format != FORMAT for segment in self.segments)


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document of an edition, as far as a later ingestion must know it."""

    document_id: UUID
    source_file: str
    origin: str
    """The source it came from, as it was named on the command line."""
    content_hash: str
    """SHA-256 of the text, in hexadecimal."""
    fingerprint: str
    """Its reader, and what the source says of the file's state: equal means that it need not be
    read again."""
    title: str
    url: str | None
    module: str | None
    chunk_count: int
    left_out: Mapping[str, Sequence[int]] | None = None
    """How many elements of a kind its text does not have, and how many words they held; None
    where an earlier version read it."""


@dataclass(frozen=True, slots=True)
class SectionRecord:
    """A module, page or heading that a question can be limited to."""

    section_id: str
    title: str
    path: tuple[str, ...]
    """The headings from the top of the document down to this one."""
    module: str | None
    url: str | None
    source_file: str
    ordinal: int
    """Its place in reading order."""


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """Where a document is: the collection, and its number there."""

    collection: str
    number: int


@dataclass(frozen=True, slots=True)
class NewSegment:
    """What is noted of a collection that a new edition begins with."""

    collection: str
    documents: Sequence[DocumentRecord]
    """In the order of their numbers."""
    sections: Sequence[Sequence[SectionRecord]]
    """Those of each document."""
    outline: bytes
    """See `core.index.terms`."""


class CourseRow(Base):
    """A course, whether or not it has a text yet."""

    __tablename__ = "courses"

    course_id: Mapped[str] = mapped_column(Text, primary_key=True)
    title: Mapped[str] = mapped_column(Text)
    base_url: Mapped[str | None] = mapped_column(Text)
    language: Mapped[str] = mapped_column(Text)
    tenant: Mapped[str | None] = mapped_column(Text)


class EditionRow(Base):
    """A course's live edition; another one replaces the row."""

    __tablename__ = "editions"

    generation: Mapped[UUID] = mapped_column(primary_key=True)
    course_id: Mapped[str] = mapped_column(
        ForeignKey("courses.course_id", ondelete="CASCADE"), unique=True
    )
    segments: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    embedding_model: Mapped[str] = mapped_column(Text)
    dimensions: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    chunks: Mapped[int]
    documents: Mapped[int]
    reading: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)
    terms: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)
    words: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)


class SegmentRow(Base):
    """A collection of a live edition."""

    __tablename__ = "segments"

    collection: Mapped[str] = mapped_column(Text, primary_key=True)
    course_id: Mapped[str] = mapped_column(ForeignKey("courses.course_id", ondelete="CASCADE"))
    outline: Mapped[bytes] = mapped_column(LargeBinary)


class DocumentRow(Base):
    """A document of a collection."""

    __tablename__ = "documents"
    __table_args__ = (UniqueConstraint("collection", "document_id"),)

    collection: Mapped[str] = mapped_column(
        ForeignKey("segments.collection", ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = mapped_column(primary_key=True)
    document_id: Mapped[UUID]
    source_file: Mapped[str] = mapped_column(Text)
    origin: Mapped[str] = mapped_column(Text)
    content_hash: Mapped[str] = mapped_column(Text)
    fingerprint: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text)
    url: Mapped[str | None] = mapped_column(Text)
    module: Mapped[str | None] = mapped_column(Text)
    chunk_count: Mapped[int]
    left_out: Mapped[dict[str, list[int]] | None] = mapped_column(JSON)


class SectionRow(Base):
    """A section of a document; what several documents share has a row for each."""

    __tablename__ = "sections"

    collection: Mapped[str] = mapped_column(
        ForeignKey("segments.collection", ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = mapped_column(primary_key=True)
    ordinal: Mapped[int] = mapped_column(primary_key=True)
    section_id: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text)
    path: Mapped[list[str]] = mapped_column(JSON)
    module: Mapped[str | None] = mapped_column(Text)
    url: Mapped[str | None] = mapped_column(Text)
    source_file: Mapped[str] = mapped_column(Text)


class CachedVectorRow(Base):
    """The vector that a model made of a text, by the text's hash."""

    __tablename__ = "cached_vectors"

    model: Mapped[str] = mapped_column(Text, primary_key=True)
    key: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    vector: Mapped[bytes] = mapped_column(LargeBinary)
    used_at: Mapped[datetime] = mapped_column(UtcDateTime)


_HERE = "./"
_KEYED = ("ingest_accounts", "source_checks")
"""Tables whose key is a course and a source of it."""


class Origins:
    """Translates the names of sources: absolute for who works with them, portable in the tables.

    A source next to the data folder is stored as `./book`, whatever the folder around both is
    called: a folder that is copied or moved with its data keeps its sources. All other places are
    stored as they are.
    """

    def __init__(self, beside: Path | None = None) -> None:
        """Prepare to translate.

        Args:
            beside: The folder that the data folder lies in; None: every name is stored as it is.
        """
        self._beside = beside

    @classmethod
    def of(cls, data_dir: Path) -> "Origins":
        """Return those of an installation's data folder."""
        return cls(data_dir.absolute().parent.resolve())

    def stored(self, name: str) -> str:
        """Return what the tables hold of a source."""
        if self._beside is None or "://" in name or not Path(name).is_relative_to(self._beside):
            return name
        return f"{_HERE}{Path(name).relative_to(self._beside).as_posix()}"

    def known(self, stored: str) -> str:
        """Return the source that the tables hold as that."""
        if self._beside is None or not stored.startswith(_HERE):
            return stored
        return str(self._beside / stored)

    async def heal(self, engine: AsyncEngine) -> None:
        """Store the sources as `stored` does that an earlier version stored as absolute paths.

        Raises:
            StoreError: when the database fails.
        """
        if self._beside is None:
            return
        documents = table("documents", column("origin", Text))
        keyed = [table(name, column("course_id", Text), column("source", Text)) for name in _KEYED]
        async with reading(engine) as db:
            origins = (await db.scalars(select(documents.c.origin).distinct())).all()
            rows = [(one, (await db.execute(select(one))).all()) for one in keyed]

        def rewrite(db: Connection) -> None:
            for origin in origins:
                if (stored := self.stored(origin)) != origin:
                    of_it = update(documents).where(documents.c.origin == origin)
                    db.execute(of_it.values(origin=stored))
            for one, keys in rows:
                for course_id, source in keys:
                    if (stored := self.stored(source)) != source:
                        here = (one.c.course_id == course_id, one.c.source == source)
                        if (course_id, stored) in keys:
                            db.execute(delete(one).where(*here))
                        else:
                            db.execute(update(one).where(*here).values(source=stored))

        found = {*origins, *(source for _, keys in rows for _, source in keys)}
        if any(self.stored(one) != one for one in found):
            await write(engine, rewrite)


AS_THEY_ARE = Origins()


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
