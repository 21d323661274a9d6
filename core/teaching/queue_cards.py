"""Which channels show the requests that wait, and which message shows each of them."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, ForeignKey, Row, Text, and_, delete, or_, select, update
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.domain import now
from core.storage.access import Tenant
from core.storage.database import Base, UtcDateTime, insert_into, of_tenants, reading, write
from core.storage.privacy import Channel, Holder, PersonRows
from core.teaching.help_requests import (
    WAITING,
    CardDue,
    HelpRequestRow,
    HelpState,
    QueueChannel,
    request_from,
)

_CLAIMED_FOR = timedelta(minutes=2)
"""How long a process has to post a card, before another one looks for it."""
_LOST = "lost"
"""The state that a card shows whose message cannot be changed any more."""
_FINAL = (HelpState.ANSWERED.value, HelpState.DISMISSED.value, _LOST)


class QueueChannelRow(Base):
    """A channel in which the staff of a course see what waits for them."""

    __tablename__ = "queue_channels"

    course_id: Mapped[str] = mapped_column(
        Text, ForeignKey("courses.course_id", ondelete="CASCADE"), primary_key=True
    )
    platform: Mapped[str] = mapped_column(Text, primary_key=True)
    workspace: Mapped[str] = mapped_column(Text, primary_key=True)
    channel: Mapped[str] = mapped_column(Text)
    enterprise: Mapped[str | None] = mapped_column(Text)
    """The organisation around a workspace, where its platform needs to know."""
    locale: Mapped[str | None] = mapped_column(Text)
    """Of the person who chose the channel."""


class QueueCardRow(Base):
    """A message in such a channel; it outlives its request, so that it can be deleted then."""

    __tablename__ = "queue_cards"

    help_id: Mapped[UUID] = mapped_column(primary_key=True)
    course_id: Mapped[str] = mapped_column(Text)
    platform: Mapped[str] = mapped_column(Text)
    workspace: Mapped[str] = mapped_column(Text)
    channel: Mapped[str] = mapped_column(Text)
    enterprise: Mapped[str | None] = mapped_column(Text)
    locale: Mapped[str | None] = mapped_column(Text)
    message: Mapped[str | None] = mapped_column(Text)
    """The platform's id; None: it is not known to be posted."""
    shown: Mapped[str | None] = mapped_column(Text)
    """The state of the request that it shows."""
    claimed_at: Mapped[datetime] = mapped_column(UtcDateTime)
    """When the first process was about to post it."""
    claimed_until: Mapped[datetime | None] = mapped_column(UtcDateTime)


class QueueCards(Holder):
    """Channels and cards; every method raises StoreError when the database fails."""

    TABLES = (QueueChannelRow, QueueCardRow)

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def choose(self, channels: Sequence[QueueChannel]) -> None:
        """Have what waits for the staff of courses shown in channels, instead of others."""
        insert = insert_into(self._engine, QueueChannelRow)
        key = ["course_id", "platform", "workspace"]
        changed = {name: insert.excluded[name] for name in ("channel", "enterprise", "locale")}
        upsert = insert.on_conflict_do_update(index_elements=key, set_=changed)
        values = [
            {
                "course_id": one.course_id,
                "platform": one.platform,
                "workspace": one.workspace,
                "channel": one.channel,
                "enterprise": one.enterprise,
                "locale": one.locale,
            }
            for one in channels
        ]

        def keep(db: Connection) -> None:
            for one in values:
                db.execute(upsert, one)

        await write(self._engine, keep, urgent=True)

    async def stop(self, courses: Sequence[str], platform: str, workspace: str) -> int:
        """Show what waits for the staff of courses in no channel; return how many had one.

        Cards that stand somewhere go on to show how far their requests have come.
        """
        row = QueueChannelRow
        here = (row.platform == platform, row.workspace == workspace)
        gone = delete(row).where(*here, row.course_id.in_(courses)).returning(row.course_id)
        return await write(self._engine, lambda db: len(db.scalars(gone).all()), urgent=True)

    async def claim(
        self, platforms: Sequence[str], moment: datetime | None = None
    ) -> CardDue | None:
        """Return a card that is to be posted, changed or deleted; None: all are as they should be.

        Args:
            platforms: Those that can be posted to.
        """
        at = moment or now()
        for due in await self._due(platforms, at):
            if await self._claimed(due, at):
                return due
        return None

    async def claim_of(
        self, help_id: UUID, tenants: Sequence[Tenant], moment: datetime | None = None
    ) -> CardDue | None:
        """Claim the message that shows a request which is about to change; `release` ends it.

        Return None when no message does, or another process is seeing to it.

        Args:
            tenants: Those whose staff is about to change it.
        """
        at, row = moment or now(), QueueCardRow
        is_free = or_(row.claimed_until.is_(None), row.claimed_until <= at)
        can_change = or_(row.shown.is_(None), row.shown != _LOST)
        own = (row.help_id == help_id, of_tenants(row, tenants))
        standing = (*own, row.message.is_not(None), can_change, is_free)
        claim = update(row).where(*standing).values(claimed_until=at + _CLAIMED_FOR)
        claiming = claim.returning(*row.__table__.columns)
        found = await write(
            self._engine, lambda db: db.execute(claiming).one_or_none(), urgent=True
        )
        return (
            None if found is None else CardDue(help_id, _channel(found), None, found.message, None)
        )

    async def release(self, due: CardDue, *, as_shown: bool) -> None:
        """End a claim; unless the card shows what it has to, it is due from now on."""
        stale = {} if as_shown else {"shown": None}
        await self._change(due.help_id, {"claimed_until": None, **stale})

    async def shown(self, due: CardDue, message: str, state: HelpState) -> None:
        """Keep which message shows a card, and the state that it shows."""
        values = {"message": message, "shown": state.value, "claimed_until": None}
        await self._change(due.help_id, values)

    async def lose(self, due: CardDue) -> None:
        """Keep that a card's message cannot be changed, and never will be."""
        await self._change(due.help_id, {"shown": _LOST, "claimed_until": None})

    async def drop(self, due: CardDue) -> None:
        """Forget a card: no message shows it."""
        gone = delete(QueueCardRow).where(QueueCardRow.help_id == due.help_id)
        await write(self._engine, lambda db: _execute(db, gone))

    def rows_of(self, user_ids: Sequence[str], direct: Iterable[Channel]) -> Iterable[PersonRows]:
        """Return the cards that show what a person passed on."""
        asked = select(HelpRequestRow.help_id).where(HelpRequestRow.asked_by.in_(user_ids))
        return [PersonRows(QueueCardRow, QueueCardRow.help_id.in_(asked))]

    async def _change(self, help_id: UUID, values: dict[str, Any]) -> None:
        change = update(QueueCardRow).where(QueueCardRow.help_id == help_id).values(**values)
        await write(self._engine, lambda db: _execute(db, change))

    async def _due(self, platforms: Sequence[str], at: datetime) -> list[CardDue]:
        card, asked, chosen = QueueCardRow, HelpRequestRow, QueueChannelRow
        is_free = or_(card.claimed_until.is_(None), card.claimed_until <= at)
        own = card.help_id == asked.help_id
        changing = select(card, asked).outerjoin(asked, own).where(
            card.platform.in_(platforms),
            is_free,
            or_(card.shown.is_(None), card.shown.not_in(_FINAL), asked.help_id.is_(None)),
        )  # fmt: skip
        of_its_course = and_(
            chosen.course_id == asked.course_id,
            chosen.platform == asked.platform,
            chosen.workspace == asked.workspace,
        )
        new = (
            select(chosen, asked)
            .join(asked, of_its_course)
            .outerjoin(card, own)
            .where(chosen.platform.in_(platforms), asked.state.in_(WAITING), card.help_id.is_(None))
            .order_by(asked.opened_at, asked.help_id)
        )
        async with reading(self._engine) as db:
            standing = (await db.execute(changing)).all()
            waiting = (await db.execute(new)).all()
        found = [_of_card(row, request) for row, request in standing]
        due = [one for one, (row, _) in zip(found, standing, strict=True) if _differs(one, row, at)]
        for row, request in waiting:
            own_request = request_from(request)
            due.append(CardDue(request.help_id, _channel(row), own_request, None, None))
        return due

    async def _claimed(self, due: CardDue, at: datetime) -> bool:
        row, until = QueueCardRow, at + _CLAIMED_FOR
        free = or_(row.claimed_until.is_(None), row.claimed_until <= at)
        again = update(row).where(row.help_id == due.help_id, free).values(claimed_until=until)
        place = due.channel
        values = {
            "help_id": due.help_id,
            "course_id": place.course_id,
            "platform": place.platform,
            "workspace": place.workspace,
            "channel": place.channel,
            "enterprise": place.enterprise,
            "locale": place.locale,
            "claimed_at": at,
            "claimed_until": until,
        }
        insert = insert_into(self._engine, row).values(**values).on_conflict_do_nothing()
        is_new = due.message is None and due.posted_since is None
        claim = insert.returning(row.help_id) if is_new else again.returning(row.help_id)
        return await write(self._engine, lambda db: db.scalar(claim)) is not None


def _of_card(row: QueueCardRow, request: HelpRequestRow | None) -> CardDue:
    asked = None if request is None else request_from(request)
    since = row.claimed_at if row.message is None else None
    return CardDue(row.help_id, _channel(row), asked, row.message, since)


def _differs(due: CardDue, row: QueueCardRow, at: datetime) -> bool:
    """Return whether a card does not show how far its request has come."""
    return due.request is None or row.shown != due.request.at(at).value


def _channel(row: QueueChannelRow | QueueCardRow | Row[Any]) -> QueueChannel:
    return QueueChannel(
        row.course_id, row.platform, row.workspace, row.channel, row.enterprise, row.locale
    )


def _execute(db: Connection, statement: Any) -> None:
    db.execute(statement)
