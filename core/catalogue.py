"""The SQL side of the books: courses, their live edition, and remembered vectors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import (
    JSON,
    ColumnElement,
    ForeignKey,
    LargeBinary,
    Select,
    Text,
    delete,
    insert,
    select,
    tuple_,
    update,
)
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from core.database import Base, UtcDateTime, insert_into, reading, writing
from core.errors import StoreError
from core.models import Course, now

_BATCH = 500
"""Keys or rows a statement; far below what either database allows."""
_USE_IS_NOTED = timedelta(days=1)
"""How exactly a vector's last use is known: reading it again within a day writes nothing."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Edition:
    """One immutable state of a course's text, and the collection that holds its vectors."""

    generation: UUID
    course_id: str
    collection: str
    embedding_model: str
    dimensions: int
    created_at: datetime
    chunks: int
    documents: int


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
    """What the source says of the file's state; equal means it need not be read again."""
    title: str
    url: str | None
    module: str | None
    chunk_count: int


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
    collection: Mapped[str] = mapped_column(Text, unique=True)
    embedding_model: Mapped[str] = mapped_column(Text)
    dimensions: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    chunks: Mapped[int]
    documents: Mapped[int]
    terms: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)


class DocumentRow(Base):
    """A document of an edition."""

    __tablename__ = "documents"

    generation: Mapped[UUID] = mapped_column(
        ForeignKey("editions.generation", ondelete="CASCADE"), primary_key=True
    )
    document_id: Mapped[UUID] = mapped_column(primary_key=True)
    ordinal: Mapped[int]
    source_file: Mapped[str] = mapped_column(Text)
    origin: Mapped[str] = mapped_column(Text)
    content_hash: Mapped[str] = mapped_column(Text)
    fingerprint: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text)
    url: Mapped[str | None] = mapped_column(Text)
    module: Mapped[str | None] = mapped_column(Text)
    chunk_count: Mapped[int]


class SectionRow(Base):
    """A section of an edition."""

    __tablename__ = "sections"

    generation: Mapped[UUID] = mapped_column(
        ForeignKey("editions.generation", ondelete="CASCADE"), primary_key=True
    )
    section_id: Mapped[str] = mapped_column(Text, primary_key=True)
    ordinal: Mapped[int]
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


class Catalogue:
    """Courses and their editions, safe for any number of processes at once.

    Every method raises StoreError when the database fails.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

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
        async with writing(self._engine) as db:
            edition = await _live(db, course_id)
            await db.execute(delete(CourseRow).where(CourseRow.course_id == course_id))
            return edition

    async def live(self, course_id: str) -> Edition | None:
        """Return the edition that the course is answered from; one indexed read."""
        async with reading(self._engine) as db:
            return await _live(db, course_id)

    async def documents(self, generation: UUID) -> list[DocumentRecord]:
        """Return an edition's documents as they were published; none once it is replaced."""
        query = select(DocumentRow).where(DocumentRow.generation == generation)
        async with reading(self._engine) as db:
            rows = await db.scalars(query.order_by(DocumentRow.ordinal))
            return [DocumentRecord(**_values(DocumentRecord, row)) for row in rows]

    async def sections(self, generation: UUID) -> list[SectionRecord]:
        """Return an edition's sections in reading order; none once it is replaced."""
        query = select(SectionRow).where(SectionRow.generation == generation)
        async with reading(self._engine) as db:
            rows = await db.scalars(query.order_by(SectionRow.ordinal, SectionRow.section_id))
            return [
                SectionRecord(**{**_values(SectionRecord, row), "path": tuple(row.path)})
                for row in rows
            ]

    async def term_statistics(self, generation: UUID) -> bytes | None:
        """Return what `publish` was given as `terms`; None once the edition is replaced."""
        query = select(EditionRow.terms).where(EditionRow.generation == generation)
        async with reading(self._engine) as db:
            return await db.scalar(query)

    async def publish(
        self,
        edition: Edition,
        documents: Sequence[DocumentRecord],
        sections: Sequence[SectionRecord],
        terms: bytes = b"",
        *,
        course: Course | None = None,
    ) -> Edition | None:
        """Make the edition its course's live one, and return the one it replaces.

        One transaction: readers see the old edition or the new, never a part of either.
        Nothing of the replaced edition stays here; its collection is the caller's to drop.
        `course` is saved in the same step: links and language go with the text.

        Raises:
            StoreError: also when the course was not saved before, nor is now.
        """
        async with writing(self._engine) as db:
            if course is not None:
                await self._save(db, course)
            if await db.get(CourseRow, edition.course_id, with_for_update=True) is None:
                raise StoreError(f"course {edition.course_id} is not in the catalogue")
            replaced = await _live(db, edition.course_id)
            await db.execute(delete(EditionRow).where(EditionRow.course_id == edition.course_id))
            await db.execute(insert(EditionRow), [{**asdict(edition), "terms": terms}])
            generation = {"generation": edition.generation}
            await _insert_all(
                db,
                DocumentRow,
                [{**asdict(d), **generation, "ordinal": n} for n, d in enumerate(documents)],
            )
            await _insert_all(db, SectionRow, [{**asdict(s), **generation} for s in sections])
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
            return frozenset(await db.scalars(select(EditionRow.collection)))

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
        """Delete the vectors nobody asked for since that time, and return how many.

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
    """Match the vectors of a query that nobody else holds: nobody waits, so no deadlock."""
    held = wanted.with_for_update(skip_locked=True)
    return tuple_(CachedVectorRow.model, CachedVectorRow.key).in_(held)


async def _live(db: AsyncSession, course_id: str) -> Edition | None:
    return _edition(await db.scalar(select(EditionRow).where(EditionRow.course_id == course_id)))


async def _insert_all(db: AsyncSession, row: type[Base], values: Sequence[dict[str, Any]]) -> None:
    for batch in _batches(values):
        await db.execute(insert(row), batch)


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + _BATCH] for start in range(0, len(items), _BATCH))


def _values(record: type[Any], row: Base) -> dict[str, Any]:
    return {field.name: getattr(row, field.name) for field in fields(record)}


def _course(row: CourseRow) -> Course:
    return Course(
        course_id=row.course_id,
        title=row.title,
        base_url=row.base_url,
        language=row.language,
        tenant=row.tenant,
    )


def _edition(row: EditionRow | None) -> Edition | None:
    return Edition(**_values(Edition, row)) if row is not None else None
