"""Finds the event whose turn it is, and takes it."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Row,
    Select,
    bindparam,
    func,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from core.database import UtcDateTime
from core.errors import StoreError
from core.inbox.base import Job, Kind, Posted
from core.inbox.limits import Limits
from core.inbox.rows import InboxRow, PostRow, arrival_from, is_waiting, root_of
from core.models import now

logger = logging.getLogger(__name__)

MOMENT = bindparam("moment", type_=UtcDateTime())
_PLATFORMS: BindParameter[Any] = bindparam("platforms", expanding=True)


def candidate(limits: Limits) -> Select[str, int, str]:
    """Return the query for the event to claim at `moment`: its key, fence and state.

    That is, by rank, the first one of `platforms` that is the head of its lane, waits for no
    retry, and
    whose lane, user, channel and everybody together have room. What is in flight is read
    once a query, and the events are read in the order of an index up to the first match.
    """
    row = InboxRow
    held = in_flight(MOMENT).cte("held")
    query = select(row.key, row.fence, row.state).where(
        is_waiting(),
        row.platform.in_(_PLATFORMS),
        row.not_before <= MOMENT,
        select(func.count()).select_from(held).scalar_subquery() < limits.in_flight,
        row.lane.not_in(select(held.c.lane)),
        row.user_id.not_in(_busy(limits.user_in_flight, held.c.user_id)),
        tuple_(row.platform, row.channel).not_in(
            _busy(limits.channel_in_flight, held.c.platform, held.c.channel)
        ),
        ~_has_one_before(row),
    )
    return query.order_by(row.round, row.channel_round, row.accepted_at, row.key).limit(1)


def to_heal() -> Select[str, int, str]:
    """Return the query for the key, fence and state of an event that is to be healed at `moment`.

    Only of a question about which nothing waits, since an answer under way posts messages
    that are not kept yet.
    """
    row, other = InboxRow, aliased(InboxRow)
    root = func.coalesce(row.about, row.key)
    under_way = select(other.key).where(
        is_waiting(other), or_(other.key == root, other.about == root)
    )
    query = select(row.key, row.fence, row.state).where(
        row.heal_at <= MOMENT,
        row.platform.in_(_PLATFORMS),
        ~is_waiting(),
        _is_free(row),
        ~under_way.exists(),
    )
    return query.order_by(row.heal_at).limit(1)


def in_flight(moment: Any) -> Select[str, str, str, str, int]:
    """Return the query for what somebody is working on at a moment, healing included."""
    row = aliased(InboxRow)
    columns = (row.lane, row.user_id, row.platform, row.channel, row.round)
    return select(*columns).where(row.lease_until > moment)


async def take(
    db: AsyncSession, found: Row[str, int, str], moment: datetime, lease: timedelta
) -> InboxRow | None:
    """Take an event that is still as it was found; None when somebody else was quicker."""
    key, fence, state = found
    row = InboxRow
    free = or_(row.lease_until.is_(None), row.lease_until <= moment)
    claim = (
        update(row)
        .where(row.key == key, row.fence == fence, row.state == state, free)
        .values(fence=InboxRow.fence + 1, lease_until=moment + lease)
        .returning(InboxRow)
    )
    return await db.scalar(claim)


async def job_from(db: AsyncSession, row: InboxRow, unseal: Callable[[bytes], str]) -> Job:
    """Return the job of an event that was taken, with all that its holder needs."""
    assert row.lease_until is not None
    return Job(
        arrival=arrival_from(row, _token(row, unseal)),
        fence=row.fence,
        lease_until=row.lease_until,
        accepted_at=row.accepted_at,
        attempts=row.attempts,
        posted=Posted(await _messages_of(db, row), await _thread_of(db, row)),
        earlier_requests=await _earlier_requests(db, row),
        stopped=row.stopped,
    )


def _token(row: InboxRow, unseal: Callable[[bytes], str]) -> str | None:
    """Return an event's token; None when it has none that still answers anything."""
    if row.token is None or (row.token_expires_at is not None and row.token_expires_at <= now()):
        return None
    try:
        return unseal(row.token)
    except StoreError:
        logger.warning("the token of %s cannot be unsealed", row.key)
        return None


async def _messages_of(db: AsyncSession, row: InboxRow) -> tuple[str, ...]:
    """Return the messages that show the answer to an event's question, in order."""
    query = select(PostRow.message_id).where(PostRow.key == root_of(row)).order_by(PostRow.part)
    return tuple(await db.scalars(query))


async def _thread_of(db: AsyncSession, row: InboxRow) -> str | None:
    """Return the thread in which an event's question is answered, if it is known."""
    if row.thread is not None or row.about is None:
        return row.thread
    return await db.scalar(select(InboxRow.thread).where(InboxRow.key == row.about))


async def _earlier_requests(db: AsyncSession, row: InboxRow) -> tuple[Any, ...]:
    """Return the requests whose turns an edit or a deletion makes forgotten, oldest first."""
    if row.kind == Kind.ASK:
        return ()
    root = root_of(row)
    query = select(InboxRow.request_id).where(or_(InboxRow.key == root, InboxRow.about == root))
    if row.kind == Kind.REDO:
        query = query.where(InboxRow.key != row.key)
    return tuple(await db.scalars(query.order_by(InboxRow.accepted_at)))


def _is_free(row: Any) -> ColumnElement[bool]:
    return or_(row.lease_until.is_(None), row.lease_until <= MOMENT)


def _busy(limit: int, *subject: Any) -> Select[Any]:
    """Return the query for the subjects that have all in flight that they may have."""
    return select(*subject).group_by(*subject).having(func.count() >= limit)


def _has_one_before(row: Any) -> ColumnElement[bool]:
    """Return the condition that an earlier event of the same lane waits, or is retried."""
    earlier = aliased(InboxRow)
    place = tuple_(earlier.position, earlier.accepted_at, earlier.key)
    return (
        select(earlier.key)
        .where(
            is_waiting(earlier),
            earlier.lane == row.lane,
            place < tuple_(row.position, row.accepted_at, row.key),
        )
        .exists()
    )
