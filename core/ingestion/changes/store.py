"""The SQL side of what changed: which sections each ingestion of a course added and removed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import JSON, ForeignKey, delete, insert, select
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.ingestion.changes.sections import Heading, SectionChanges
from core.models import now
from core.storage.catalogue_rows import CourseRow
from core.storage.database import Base, UtcDateTime, reading, writing
from core.storage.origins import AS_THEY_ARE, Origins

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
