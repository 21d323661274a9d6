"""The SQL side of help requests: opened once, taken by a lease, and closed once."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from sqlalchemy import (
    Connection,
    ForeignKey,
    Index,
    Row,
    Text,
    and_,
    delete,
    func,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.domain import now
from core.storage.access import Tenant
from core.storage.database import Base, UtcDateTime, insert_into, of_tenants, reading, write
from core.storage.privacy import Channel, Holder, PersonRows, Work, deleting

LEASE = timedelta(minutes=30)
"""How long a request stays with the staff member who took it."""
_NAMESPACE = uuid5(NAMESPACE_URL, "urn:glossator:help")


class HelpReason(StrEnum):
    """Why the staff are asked."""

    NOT_COVERED = "not_covered"
    NOT_SURE = "not_sure"
    VOTED_DOWN = "voted_down"
    ASKED = "asked"


class HelpState(StrEnum):
    """OPEN, TAKEN for as long as a lease lasts, and at last ANSWERED or DISMISSED."""

    OPEN = "open"
    TAKEN = "taken"
    ANSWERED = "answered"
    DISMISSED = "dismissed"

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        return self in (HelpState.ANSWERED, HelpState.DISMISSED)


@dataclass(frozen=True, slots=True)
class HelpRequest:
    """A question that waits for the staff of a course in the asker's tenant."""

    help_id: UUID
    course_id: str
    tenant: Tenant
    """The asker's: its staff answer."""
    key: str
    """The event that asked the question, with which the way back to the asker is kept."""
    channel: str
    thread: str | None
    asked_by: str
    """A pseudonym."""
    request_id: UUID
    """The bot's turn."""
    reason: HelpReason
    opened_at: datetime
    locale: str | None = None
    """In which the asker is answered."""
    state: HelpState = HelpState.OPEN
    taken_by: str | None = None
    taken_until: datetime | None = None
    answer_id: UUID | None = None
    closed_at: datetime | None = None

    def at(self, moment: datetime) -> HelpState:
        """Return the state at a moment: a lease that ran out leaves the request open."""
        if self.state is HelpState.TAKEN and not self._is_held(moment):
            return HelpState.OPEN
        return self.state

    def _is_held(self, moment: datetime) -> bool:
        return self.taken_until is not None and self.taken_until > moment


def help_id_for(request_id: UUID) -> UUID:
    """Return the id of the request about one turn of the bot: pressed twice, it is one."""
    return uuid5(_NAMESPACE, str(request_id))


@dataclass(frozen=True, slots=True)
class Counts:
    """How many requests of a course wait in the tenants that it is granted to."""

    by_state: Mapping[HelpState, int]
    oldest: datetime | None = None

    @property
    def waiting(self) -> int:
        """How many are open, or taken."""
        return sum(count for state, count in self.by_state.items() if not state.is_over)


@dataclass(frozen=True, slots=True)
class QueueChannel:
    """A channel in which the staff of a course see what waits for them."""

    course_id: str
    platform: str
    workspace: str
    channel: str
    enterprise: str | None = None
    locale: str | None = None


@dataclass(frozen=True, slots=True)
class QueueCard:
    """A request as such a channel shows it; plain text, in the channel's language."""

    help_id: UUID
    question: str
    status: str
    said: str
    """What the bot answered; empty: nothing that may be shown."""
    is_open: bool
    """Whether staff can do something about it."""


@dataclass(frozen=True, slots=True)
class CardDue:
    """A card that does not show what it has to; for a while no other process sees to it."""

    help_id: UUID
    channel: QueueChannel
    request: HelpRequest | None
    """None: it is no more, and neither is its card to be; or it is just being changed."""
    message: str | None
    """The message to change; None: there is none that is known."""
    posted_since: datetime | None
    """From when on another process may have posted it that died before it said so; None: none."""


FORGOTTEN_USER = "forgotten"
"""Stands in for a user whose data was deleted."""
WAITING = (HelpState.OPEN.value, HelpState.TAKEN.value)
"""The states of requests that staff have to do something about."""
_IS_WAITING = text("state IN ('open', 'taken')")


class HelpRequestRow(Base):
    """A question that was passed on to staff, and how far it has come."""

    __tablename__ = "help_requests"
    __table_args__ = (
        Index(None, "platform", "workspace", "state", "opened_at"),
        Index(None, "course_id", "state"),
        Index(
            "uq_help_requests_waiting",
            *("course_id", "platform", "workspace", "channel", "thread", "question_print"),
            unique=True,
            sqlite_where=_IS_WAITING,
            postgresql_where=_IS_WAITING,
        ),
    )

    help_id: Mapped[UUID] = mapped_column(primary_key=True)
    course_id: Mapped[str] = mapped_column(ForeignKey("courses.course_id", ondelete="CASCADE"))
    platform: Mapped[str] = mapped_column(Text)
    workspace: Mapped[str] = mapped_column(Text)
    key: Mapped[str] = mapped_column(Text, index=True)
    channel: Mapped[str] = mapped_column(Text)
    thread: Mapped[str] = mapped_column(Text)
    """Empty: it was asked in no thread."""
    question_print: Mapped[str] = mapped_column(Text)
    """A fingerprint of the question: the same one waits once in a place."""
    asked_by: Mapped[str] = mapped_column(Text, index=True)
    locale: Mapped[str | None] = mapped_column(Text)
    request_id: Mapped[UUID] = mapped_column(index=True)
    reason: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(Text)
    opened_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)
    taken_by: Mapped[str | None] = mapped_column(Text, index=True)
    taken_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    answer_id: Mapped[UUID | None]
    closed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class HelpRequests(Holder):
    """Requests by course and tenant; every method raises StoreError when the database fails."""

    TABLES = (HelpRequestRow,)
    COUNTED_AS = "passed_on"

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def open(self, request: HelpRequest, question: str) -> HelpRequest:
        """Store a request, and return the one that waits for the same question in its place.

        The same turn again stores nothing, whatever became of its request.

        Args:
            question: As it is compared; only its fingerprint is stored.
        """
        return await write(
            self._engine, lambda db: _open(db, self._engine, request, question), urgent=True
        )

    async def get(self, help_id: UUID) -> HelpRequest | None:
        """Return a request, or None."""
        async with reading(self._engine) as db:
            row = await db.get(HelpRequestRow, help_id)
        return None if row is None else request_from(row)

    async def about(self, request_id: UUID) -> HelpRequest | None:
        """Return the request that was opened about a turn of the bot; None: none was."""
        row = HelpRequestRow
        async with reading(self._engine) as db:
            found = await db.scalar(select(row).where(row.request_id == request_id))
        return None if found is None else request_from(found)

    async def waiting(
        self, tenants: Sequence[Tenant], courses: Sequence[str], limit: int, offset: int = 0
    ) -> list[HelpRequest]:
        """Return what waits in these tenants about these courses, oldest first."""
        row = HelpRequestRow
        here = (of_tenants(row, tenants), row.course_id.in_(courses), row.state.in_(WAITING))
        query = select(row).where(*here).order_by(row.opened_at, row.help_id)
        async with reading(self._engine) as db:
            found = await db.scalars(query.limit(limit).offset(offset))
            return [request_from(one) for one in found]

    async def of_course(self, course_id: str) -> list[HelpRequest]:
        """Return what waits about a course in all tenants, oldest first."""
        row = HelpRequestRow
        query = select(row).where(row.course_id == course_id, row.state.in_(WAITING))
        async with reading(self._engine) as db:
            found = await db.scalars(query.order_by(row.opened_at, row.help_id))
            return [request_from(one) for one in found]

    async def number_waiting(
        self,
        tenants: Sequence[Tenant],
        courses: Sequence[str],
        before: HelpRequest | None = None,
    ) -> int:
        """Return how many wait in these tenants about these courses, or stand before one there."""
        row = HelpRequestRow
        here = [of_tenants(row, tenants), row.course_id.in_(courses), row.state.in_(WAITING)]
        if before is not None:
            as_old = and_(row.opened_at == before.opened_at, row.help_id < before.help_id)
            here.append(or_(row.opened_at < before.opened_at, as_old))
        async with reading(self._engine) as db:
            return await db.scalar(select(func.count()).select_from(row).where(*here)) or 0

    async def counts(self, course_id: str, besides: Sequence[Tenant] = ()) -> Counts:
        """Return how many of a course's requests are in each state, and no text of them.

        Args:
            besides: Tenants whose requests are not counted.
        """
        row = HelpRequestRow
        counted = [row.course_id == course_id]
        if besides:
            counted.append(~of_tenants(row, besides))
        states = select(row.state, func.count()).where(*counted).group_by(row.state)
        oldest = select(func.min(row.opened_at)).where(*counted, row.state.in_(WAITING))
        async with reading(self._engine) as db:
            found = {HelpState(state): count for state, count in await db.execute(states)}
            return Counts(found, await db.scalar(oldest))

    async def take(
        self,
        help_id: UUID,
        tenants: Sequence[Tenant],
        user_id: str,
        moment: datetime | None = None,
    ) -> bool:
        """Hold a request for half an hour, again if it is held; False: another user has it.

        Args:
            tenants: Those whose staff the user is; the requests of others are left as they are.
        """
        at, row = moment or now(), HelpRequestRow
        free = or_(
            row.state == HelpState.OPEN.value,
            and_(
                row.state == HelpState.TAKEN.value,
                or_(row.taken_by == user_id, row.taken_until <= at),
            ),
        )
        taken = {"state": HelpState.TAKEN.value, "taken_by": user_id, "taken_until": at + LEASE}
        own = (row.help_id == help_id, of_tenants(row, tenants))
        take = update(row).where(*own, free).values(**taken)
        taking = take.returning(row.help_id)
        return await write(self._engine, lambda db: db.scalar(taking), urgent=True) is not None

    async def dismiss(
        self,
        help_id: UUID,
        tenants: Sequence[Tenant],
        user_id: str,
        moment: datetime | None = None,
    ) -> bool:
        """Close a request without an answer; False: it is closed, or another user has it.

        Args:
            tenants: As of `take`.
        """
        at = moment or now()
        closing = write(
            self._engine,
            lambda db: close(db, help_id, tenants, user_id, HelpState.DISMISSED, None, at),
            urgent=True,
        )
        return await closing

    async def of_user(self, user_id: str) -> int:
        """Return how many requests of a person are kept."""
        row = HelpRequestRow
        count = select(func.count()).select_from(row).where(row.asked_by == user_id)
        async with reading(self._engine) as db:
            return await db.scalar(count) or 0

    async def forget_user(self, user_id: str) -> int:
        """Delete what a person passed on, and that they took anything; return how many it was."""
        row = HelpRequestRow
        own = delete(row).where(row.asked_by == user_id).returning(row.help_id)
        held = update(row).where(row.taken_by == user_id, row.state == HelpState.TAKEN.value)
        freed = held.values(state=HelpState.OPEN.value, taken_by=None, taken_until=None)
        closed = update(row).where(row.taken_by == user_id).values(taken_by=FORGOTTEN_USER)

        def forget(db: Connection) -> int:
            db.execute(freed)
            db.execute(closed)
            return len(db.scalars(own).all())

        return await write(self._engine, forget)

    def rows_of(self, user_ids: Sequence[str], direct: Iterable[Channel]) -> Iterable[PersonRows]:
        """Return what a person passed on or, being staff, took."""
        row = HelpRequestRow
        theirs = or_(row.asked_by.in_(user_ids), row.taken_by.in_(user_ids))
        return [PersonRows(row, theirs, of_others={"asked_by": (), "taken_by": ()})]

    def expired(self, moment: datetime, kept_for: timedelta | None) -> Iterable[Work]:
        """Delete old requests."""
        if kept_for is not None:
            yield deleting(HelpRequestRow, HelpRequestRow.opened_at < moment - kept_for)

    async def withdraw(self, key: str) -> int:
        """Delete the requests about a question that was deleted; return how many there were."""
        row = HelpRequestRow
        gone = delete(row).where(row.key == key, row.state.in_(WAITING)).returning(row.help_id)
        return await write(self._engine, lambda db: len(db.scalars(gone).all()))


def close(
    db: Connection,
    help_id: UUID,
    tenants: Sequence[Tenant],
    user_id: str,
    state: HelpState,
    answer_id: UUID | None,
    moment: datetime,
) -> bool:
    """End a tenant's request that is open or held by this person; False: it is not."""
    row = HelpRequestRow
    theirs = and_(
        row.state == HelpState.TAKEN.value,
        or_(row.taken_by == user_id, row.taken_until <= moment),
    )
    ended = {
        "state": state.value,
        "taken_by": user_id,
        "taken_until": None,
        "answer_id": answer_id,
        "closed_at": moment,
    }
    free = or_(row.state == HelpState.OPEN.value, theirs)
    own = (row.help_id == help_id, of_tenants(row, tenants), free)
    return db.scalar(update(row).where(*own).values(**ended).returning(row.help_id)) is not None


def _open(db: Connection, engine: AsyncEngine, request: HelpRequest, question: str) -> HelpRequest:
    row, printed = HelpRequestRow, _print_of(question)
    values = {
        "help_id": request.help_id,
        "course_id": request.course_id,
        "platform": request.tenant.platform,
        "workspace": request.tenant.workspace,
        "key": request.key,
        "channel": request.channel,
        "thread": request.thread or "",
        "question_print": printed,
        "asked_by": request.asked_by,
        "locale": request.locale,
        "request_id": request.request_id,
        "reason": request.reason.value,
        "state": HelpState.OPEN.value,
        "opened_at": request.opened_at,
    }
    insert = insert_into(engine, row).values(**values).on_conflict_do_nothing()
    if db.scalar(insert.returning(row.help_id)) is not None:
        return request
    table = row.__table__
    known = db.execute(select(table).where(table.c.help_id == request.help_id)).one_or_none()
    if known is None:
        names = ("course_id", "platform", "workspace", "channel", "thread", "question_print")
        same = [table.c[name] == values[name] for name in names]
        known = db.execute(select(table).where(*same, table.c.state.in_(WAITING))).one_or_none()
    return request if known is None else request_from(known)


def _print_of(question: str) -> str:
    return hashlib.sha256(question.encode()).hexdigest()[:32]


def request_from(row: HelpRequestRow | Row[Any]) -> HelpRequest:
    """Return the request that a row tells."""
    return HelpRequest(
        help_id=row.help_id,
        course_id=row.course_id,
        tenant=Tenant(row.platform, row.workspace),
        key=row.key,
        channel=row.channel,
        thread=row.thread or None,
        asked_by=row.asked_by,
        locale=row.locale,
        request_id=row.request_id,
        reason=HelpReason(row.reason),
        opened_at=row.opened_at,
        state=HelpState(row.state),
        taken_by=row.taken_by,
        taken_until=row.taken_until,
        answer_id=row.answer_id,
        closed_at=row.closed_at,
    )
