"""What readers say about answers: one vote a person and answer, changeable."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, Text, Uuid, column, delete, exists, func, select, table
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.models import now, well_formed
from core.storage.database import (
    Base,
    OfTenant,
    UtcDateTime,
    insert_into,
    of_tenants,
    reading,
    write,
)

_EVENTS = table(
    "inbox", column("request_id", Uuid()), column("platform", Text), column("workspace", Text)
)
"""Whose each answer is, as the inbox keeps it."""
LONGEST_REASON = 1_000
"""Characters of a reason that are kept."""


class VoteRow(Base):
    """What one person thinks of one answer."""

    __tablename__ = "votes"

    request_id: Mapped[UUID] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(Text, primary_key=True, index=True)
    course_id: Mapped[str] = mapped_column(Text)
    helpful: Mapped[bool]
    reason: Mapped[str | None] = mapped_column(Text)
    voted_at: Mapped[datetime] = mapped_column(UtcDateTime)


@dataclass(frozen=True, slots=True)
class Vote:
    """What one person thinks of one answer."""

    request_id: UUID
    user_id: str
    course_id: str
    helpful: bool
    reason: str | None = None
    """Why not, in the voter's words."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many found a course's answers helpful, and how many did not."""

    helpful: int
    not_helpful: int


class Feedback:
    """Votes on answers; every method raises StoreError when the database fails."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def vote(
        self, vote: Vote, tenants: Sequence[OfTenant], cast_at: datetime | None = None
    ) -> None:
        """Keep a vote in place of the voter's earlier one on the same answer.

        A vote of the same kind without a reason keeps the reason that is there. One on an answer
        that was given in another tenant is not kept.

        Args:
            tenants: Those of the voter's place.
            cast_at: When it was cast; one that was cast later is not replaced, so that a click
                which is delivered again changes nothing. None: now.
        """
        row, moment = VoteRow, cast_at or now()
        given = {
            "course_id": vote.course_id,
            "helpful": vote.helpful,
            "reason": well_formed(vote.reason[:LONGEST_REASON]) if vote.reason else None,
            "voted_at": moment,
        }
        insert = insert_into(self._engine, row).values(
            request_id=vote.request_id, user_id=vote.user_id, **given
        )
        same = (row.request_id == vote.request_id, row.user_id == vote.user_id)
        earlier = select(row.helpful, row.voted_at).where(*same).with_for_update()

        theirs = (_EVENTS.c.request_id == vote.request_id, of_tenants(_EVENTS.c, tenants))
        is_theirs = select(exists().where(*theirs))

        def replace(db: Connection) -> None:
            if not db.scalar(is_theirs):
                return
            before = db.execute(earlier).one_or_none()
            if before is not None and before.voted_at > moment:
                return
            if before is not None and before.helpful == vote.helpful and not vote.reason:
                return
            key = ["request_id", "user_id"]
            db.execute(insert.on_conflict_do_update(index_elements=key, set_=given))

        await write(self._engine, replace, urgent=True)

    async def of(self, request_id: UUID, user_id: str) -> Vote | None:
        """Return what a person said of an answer, or None."""
        async with reading(self._engine) as db:
            row = await db.get(VoteRow, (request_id, user_id))
        if row is None:
            return None
        return Vote(row.request_id, row.user_id, row.course_id, row.helpful, row.reason)

    async def tally(self, course_id: str) -> Tally:
        """Return how many votes of each kind a course's answers have."""
        count = select(VoteRow.helpful, func.count()).where(VoteRow.course_id == course_id)
        async with reading(self._engine) as db:
            votes = dict((await db.execute(count.group_by(VoteRow.helpful))).all())
        return Tally(votes.get(True, 0), votes.get(False, 0))

    async def of_user(self, user_id: str) -> int:
        """Return how many votes a person has given."""
        async with reading(self._engine) as db:
            own = select(func.count()).where(VoteRow.user_id == user_id)
            return await db.scalar(own.select_from(VoteRow)) or 0

    async def forget_user(self, user_id: str) -> int:
        """Delete a person's votes, and return how many there were."""
        gone = delete(VoteRow).where(VoteRow.user_id == user_id).returning(VoteRow.request_id)
        return await write(self._engine, lambda db: len(db.scalars(gone).all()))
