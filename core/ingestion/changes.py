"""The SQL side of what changed: which sections each ingestion of a course added and removed."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import (
    JSON,
    ColumnElement,
    Connection,
    ForeignKey,
    Text,
    and_,
    delete,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.domain import Chunk, now
from core.storage.catalogue import AS_THEY_ARE, CourseRow, Origins
from core.storage.database import Base, UtcDateTime, insert_into, reading, write, writing

Heading = tuple[str, ...]
"""A section as a reader finds it: the page's title, then the headings down to it."""


@dataclass(frozen=True, slots=True)
class SectionChanges:
    """What became of the sections of a course, in reading order."""

    added: tuple[Heading, ...] = ()
    changed: tuple[Heading, ...] = ()
    removed: tuple[Heading, ...] = ()

    def __bool__(self) -> bool:
        """Return whether there is any."""
        return bool(self.added or self.changed or self.removed)


@dataclass(slots=True)
class SectionTexts:
    """The texts of the sections of some documents, as digests."""

    _texts: dict[tuple[str, Heading], "blake2b"] = field(default_factory=dict)

    def add(self, chunks: Iterable[Chunk]) -> None:
        """Take in chunks, those of one document in order."""
        for chunk in chunks:
            key = (chunk.source_file, _heading(chunk))
            digest = self._texts.setdefault(key, blake2b(digest_size=16))
            digest.update(chunk.content_text.encode() + b"\0")

    def changes_to(self, after: "SectionTexts") -> SectionChanges:
        """Return what differs `after`; a section that only moved to another file does not."""
        old, new = self._digests(), after._digests()
        unmoved = {key for key in old if new.get(key) == old[key]}
        gone = {key: text for key, text in old.items() if key not in unmoved}
        come = {key: text for key, text in new.items() if key not in unmoved}
        _cancel(gone, come, by_text=True)
        changed = [heading for file, heading in come if (file, heading) in gone]
        both = gone.keys() & come.keys()
        for key in both:
            del gone[key], come[key]
        changed += _cancel(gone, come, by_text=False)
        added = tuple(heading for _, heading in come)
        return SectionChanges(added, tuple(changed), tuple(heading for _, heading in gone))

    def _digests(self) -> dict[tuple[str, Heading], bytes]:
        return {key: digest.digest() for key, digest in self._texts.items()}


def _heading(chunk: Chunk) -> Heading:
    title, headings = chunk.page_title or chunk.source_file, tuple(chunk.headings)
    return headings if headings[:1] == (title,) else (title, *headings)


def _cancel(
    gone: dict[tuple[str, Heading], bytes],
    come: dict[tuple[str, Heading], bytes],
    *,
    by_text: bool,
) -> list[Heading]:
    """Take out of both what is there under another file's name, and return its headings."""
    left = Counter((heading, text if by_text else b"") for (_, heading), text in gone.items())
    moved = list[tuple[Heading, bytes]]()
    for key, text in [*come.items()]:
        mark = (key[1], text if by_text else b"")
        if left[mark]:
            left[mark] -= 1
            moved.append(mark)
            del come[key]
    waiting = Counter(moved)
    for key, text in [*gone.items()]:
        mark = (key[1], text if by_text else b"")
        if waiting[mark]:
            waiting[mark] -= 1
            del gone[key]
    return [heading for heading, _ in moved]


_KEPT = timedelta(days=180)
_HEADINGS_KEPT = 200
"""Of each kind, for one ingestion; the counts are of all."""


class CourseChangeRow(Base):
    """What one ingestion changed in the sections of a course."""

    __tablename__ = "course_changes"

    change_id: Mapped[UUID] = mapped_column(primary_key=True)
    course_id: Mapped[str] = mapped_column(
        ForeignKey("courses.course_id", ondelete="CASCADE"), index=True
    )
    changed_at: Mapped[datetime] = mapped_column(UtcDateTime)
    sources: Mapped[list[str]] = mapped_column(JSON)
    added: Mapped[int]
    changed: Mapped[int]
    removed: Mapped[int]
    headings: Mapped[dict[str, Any]] = mapped_column(JSON)


@dataclass(frozen=True, slots=True)
class CourseChange:
    """What one ingestion changed in the sections of a course."""

    course_id: str
    changed_at: datetime
    sources: tuple[str, ...]
    """Those that were ingested."""
    added: int
    changed: int
    removed: int
    headings: SectionChanges
    """The first ones of each kind."""


class CourseChanges:
    """The changes of all courses; every method raises StoreError when the database fails."""

    def __init__(self, engine: AsyncEngine, origins: Origins = AS_THEY_ARE) -> None:
        self._engine = engine
        self._origins = origins

    async def save(self, course_id: str, sources: Sequence[str], changes: SectionChanges) -> None:
        """Keep what changed in a course now, and forget what is half a year old.

        Nothing is kept of a course that is not saved.
        """
        row, moment = CourseChangeRow, now()
        values = {
            "change_id": uuid4(),
            "course_id": course_id,
            "changed_at": moment,
            "sources": list(map(self._origins.stored, sources)),
            "added": len(changes.added),
            "changed": len(changes.changed),
            "removed": len(changes.removed),
            "headings": {
                "added": _kept(changes.added),
                "changed": _kept(changes.changed),
                "removed": _kept(changes.removed),
            },
        }
        async with writing(self._engine) as db:
            if await db.get(CourseRow, course_id) is None:
                return
            old = delete(row).where(row.course_id == course_id, row.changed_at < moment - _KEPT)
            await db.execute(old)
            await db.execute(insert(row), [values])

    async def since(
        self, moment: datetime, course_id: str | None = None
    ) -> Mapping[str, list[CourseChange]]:
        """Return what changed from a moment on, by course, the latest first."""
        row = CourseChangeRow
        query = select(row).where(row.changed_at >= moment).order_by(row.changed_at.desc())
        if course_id is not None:
            query = query.where(row.course_id == course_id)
        found: dict[str, list[CourseChange]] = {}
        async with reading(self._engine) as db:
            for each in await db.scalars(query):
                found.setdefault(each.course_id, []).append(self._change(each))
        return found

    def _change(self, row: CourseChangeRow) -> CourseChange:
        headings = {
            kind: tuple(tuple(heading) for heading in row.headings[kind])
            for kind in ("added", "changed", "removed")
        }
        return CourseChange(
            row.course_id,
            row.changed_at,
            tuple(map(self._origins.known, row.sources)),
            row.added,
            row.changed,
            row.removed,
            SectionChanges(**headings),
        )


def _kept(headings: Sequence[Heading]) -> list[list[str]]:
    return [list(heading) for heading in headings[:_HEADINGS_KEPT]]


CLAIMED_FOR = timedelta(minutes=1)
"""How long a process that does not renew its claim keeps others away."""


class SourceCheckRow(Base):
    """A source that is ingested again by itself."""

    __tablename__ = "source_checks"

    course_id: Mapped[str] = mapped_column(Text, primary_key=True)
    source: Mapped[str] = mapped_column(Text, primary_key=True)
    checked_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    claimed_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    problem: Mapped[str | None] = mapped_column(Text)
    """Why the last try did not go in; None: it did."""
    seen: Mapped[str | None] = mapped_column(Text)
    """The state of a watched folder that was ingested."""


@dataclass(frozen=True, slots=True)
class SourceCheck:
    """When a source was last looked at, and what came of it."""

    checked_at: datetime | None = None
    problem: str | None = None
    seen: str | None = None


class SourceChecks:
    """The looks at all sources; every method raises StoreError when the database fails."""

    def __init__(self, engine: AsyncEngine, origins: Origins = AS_THEY_ARE) -> None:
        self._engine = engine
        self._origins = origins

    async def all(self) -> Mapping[tuple[str, str], SourceCheck]:
        """Return the last look at each source, by course and source."""
        row = SourceCheckRow
        async with reading(self._engine) as db:
            return {
                (each.course_id, self._origins.known(each.source)): SourceCheck(
                    each.checked_at, each.problem, each.seen
                )
                for each in await db.scalars(select(row))
            }

    async def claim(self, course_id: str, source: str, before: SourceCheck) -> bool:
        """Take a source for a while unless another process has, or has looked since `before`."""
        row, moment, source = SourceCheckRow, now(), self._origins.stored(source)
        new = insert_into(self._engine, row).values(course_id=course_id, source=source)
        once = new.on_conflict_do_nothing(index_elements=["course_id", "source"])
        free = or_(row.claimed_until.is_(None), row.claimed_until <= moment)
        same: ColumnElement[bool] = row.checked_at == before.checked_at
        if before.checked_at is None:
            same = row.checked_at.is_(None)
        claim = update(row).where(_of(course_id, source), free, same)
        claimed = claim.values(claimed_until=moment + CLAIMED_FOR).returning(row.source)

        def take(db: Connection) -> bool:
            db.execute(once)
            return db.scalar(claimed) is not None

        return await write(self._engine, take)

    async def renew(self, course_id: str, source: str) -> None:
        """Keep a source that was taken for as long again."""
        await self._set(course_id, source, claimed_until=now() + CLAIMED_FOR)

    async def done(
        self, course_id: str, source: str, *, problem: str | None, seen: str | None
    ) -> None:
        """Note what came of a look, and let others have the source."""
        await self._set(
            course_id, source, checked_at=now(), claimed_until=None, problem=problem, seen=seen
        )

    async def _set(self, course_id: str, source: str, **values: Any) -> None:
        row, source = SourceCheckRow, self._origins.stored(source)
        change = update(row).where(_of(course_id, source)).values(**values)
        await write(self._engine, lambda db: db.execute(change).rowcount)


def _of(course_id: str, source: str) -> ColumnElement[bool]:
    return and_(SourceCheckRow.course_id == course_id, SourceCheckRow.source == source)
