"""The tables of the catalogue, and what their rows are outside of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import JSON, ForeignKey, LargeBinary, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from core.index.base import FORMAT
from core.storage.database import Base, UtcDateTime


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
    """See `core.index.outline`."""


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
