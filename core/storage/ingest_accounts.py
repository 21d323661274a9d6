"""Keeps, for each source of a course, what its last ingestion read and left out."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Text, delete, insert, select
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.storage.catalogue import AS_THEY_ARE, CourseRow, Origins
from core.storage.database import Base, UtcDateTime, reading, writing

_BATCH = 500
"""Sources a statement; far below what either database allows."""


@dataclass(frozen=True, slots=True)
class LeftOutGroup:
    """Files that were left out, or could not be read, for one reason."""

    reason: str
    folder: str
    """Empty for the source's own; the host of web pages; `*` for several."""
    suffix: str
    """In lower case with its dot; empty where there is none; `*` for several."""
    files: int
    missed: int
    """How many of them may hold text of the course."""
    example: str


@dataclass(frozen=True, slots=True)
class AccountRecord:
    """What the last ingestion of one source did with its files."""

    source: str
    ingested_at: datetime
    is_refused: bool
    """Whether so little was read that nothing was changed."""
    read: int
    failed: int
    left_out: int
    missed: int
    """How many of the last two may hold text of the course."""
    groups: tuple[LeftOutGroup, ...]
    """Of the files that failed and those that were left out; the largest ones."""


class IngestAccountRow(Base):
    """The account of one source of a course; the next ingestion of it replaces the row."""

    __tablename__ = "ingest_accounts"

    course_id: Mapped[str] = mapped_column(
        ForeignKey("courses.course_id", ondelete="CASCADE"), primary_key=True
    )
    source: Mapped[str] = mapped_column(Text, primary_key=True)
    ingested_at: Mapped[datetime] = mapped_column(UtcDateTime)
    is_refused: Mapped[bool]
    read: Mapped[int]
    failed: Mapped[int]
    left_out: Mapped[int]
    missed: Mapped[int]
    groups: Mapped[list[dict[str, Any]]] = mapped_column(JSON)


class IngestAccounts:
    """The accounts of all courses. Every method raises StoreError when the database fails."""

    def __init__(self, engine: AsyncEngine, origins: Origins = AS_THEY_ARE) -> None:
        self._engine = engine
        self._origins = origins

    async def save(
        self, course_id: str, accounts: Sequence[AccountRecord], *, keep: Collection[str] | None
    ) -> None:
        """Replace the accounts of these sources; do nothing for a course that is not saved.

        Args:
            keep: the other sources whose accounts stay; None: all.
        """
        stored = self._origins.stored
        named = {stored(account.source): account for account in accounts}
        keep = None if keep is None else set(map(stored, keep))
        row = IngestAccountRow
        async with writing(self._engine) as db:
            if await db.get(CourseRow, course_id, with_for_update=True) is None:
                return
            known = await db.scalars(select(row.source).where(row.course_id == course_id))
            gone = [
                name for name in known if name in named or (keep is not None and name not in keep)
            ]
            for batch in _batches(gone):
                await db.execute(
                    delete(row).where(row.course_id == course_id, row.source.in_(batch))
                )
            for fresh in _batches(list(named.items())):
                values = [
                    {**asdict(account), "course_id": course_id, "source": source}
                    for source, account in fresh
                ]
                await db.execute(insert(row), values)

    async def all(self) -> Mapping[str, list[AccountRecord]]:
        """Return the accounts of each course that has any, by source."""
        row = IngestAccountRow
        async with reading(self._engine) as db:
            rows = (await db.scalars(select(row).order_by(row.course_id, row.source))).all()
            found: dict[str, list[AccountRecord]] = {}
            for each in rows:
                found.setdefault(each.course_id, []).append(self._record(each))
            return found

    def _record(self, row: IngestAccountRow) -> AccountRecord:
        return AccountRecord(
            self._origins.known(row.source),
            row.ingested_at,
            row.is_refused,
            row.read,
            row.failed,
            row.left_out,
            row.missed,
            tuple(LeftOutGroup(**group) for group in row.groups),
        )


def _batches(items: Sequence[Any]) -> list[Sequence[Any]]:
    return [items[start : start + _BATCH] for start in range(0, len(items), _BATCH)]
