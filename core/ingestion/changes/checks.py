"""The SQL side of ingesting by itself: when each source was looked at, and who is at it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Text, and_, or_, select, update
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.models import now
from core.storage.database import Base, UtcDateTime, insert_into, reading, write
from core.storage.origins import AS_THEY_ARE, Origins

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
