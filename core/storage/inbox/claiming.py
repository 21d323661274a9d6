"""Finds the event whose turn it is, and takes it."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    delete,
    func,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.orm import aliased

from core.domain import now
from core.domain.errors import StoreError
from core.storage.database import OfTenant, UtcDateTime, of_tenants
from core.storage.inbox.base import (
    CountRow,
    IntakeLimits,
    Job,
    Kind,
    Posted,
    Settlement,
    told_subject,
    user_subject,
    waits_subject,
)
from core.storage.inbox.rows import (
    CLOSED,
    FORGOTTEN_USER,
    InboxRow,
    PostRow,
    arrival_from,
    is_waiting,
    root_of,
)

logger = logging.getLogger(__name__)


_CLAIM_TRIES = 64
"""How often a claim may find that another process was quicker."""
MOMENT = bindparam("moment", type_=UtcDateTime())
_PLATFORMS: BindParameter[Any] = bindparam("platforms", expanding=True)


@dataclass(frozen=True, slots=True)
class Taken:
    """What the database has of an event that was taken."""

    row: Row[Any]
    """Of InboxRow."""
    posted: Posted
    earlier_requests: tuple[UUID, ...]


def candidate(limits: IntakeLimits) -> Select[str, int, str]:
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
    """Return the query for what some worker is working on at a moment, healing included."""
    row = aliased(InboxRow)
    columns = (row.lane, row.user_id, row.platform, row.channel, row.round)
    return select(*columns).where(row.lease_until > moment)


def take(
    db: Connection,
    query: Select[str, int, str],
    platforms: Sequence[str],
    moment: datetime,
    lease: timedelta,
) -> Taken | None:
    """Take the event that a query finds; None: it finds none, or others are always quicker."""
    given = {"moment": moment, "platforms": [*platforms]}
    for _ in range(_CLAIM_TRIES):
        found = db.execute(query, given).one_or_none()
        if found is None:
            return None
        row = _take(db, found, moment, lease)
        if row is not None:
            posted = Posted(_messages_of(db, row), _thread_of(db, row))
            return Taken(row, posted, _earlier_requests(db, row))
    return None


def job_from(taken: Taken, unseal: Callable[[bytes], str]) -> Job:
    """Return the job of an event that was taken, with all that its holder needs."""
    row = taken.row
    return Job(
        arrival=arrival_from(row, _token(row, unseal)),
        fence=row.fence,
        lease_until=row.lease_until or row.accepted_at,
        accepted_at=row.accepted_at,
        attempts=row.attempts,
        posted=taken.posted,
        earlier_requests=taken.earlier_requests,
        stopped=row.stopped,
    )


def overtaking(job: Job) -> Select[str]:
    """Return the query for the key of what makes the turn of a job's request forgotten.

    That is a deletion of its question, or an edit that came after the job and stands after it
    in its lane: that is begun only when the job has ended, in any process. What is not begun
    yet forgets the turn itself.
    """
    row, own = InboxRow, aliased(InboxRow)
    edited = and_(_place(row) > _place(own), row.accepted_at >= own.accepted_at)
    return (
        select(row.key)
        .join(own, row.about == func.coalesce(own.about, own.key))
        .where(own.key == job.arrival.key, row.key != own.key, row.fence > 0)
        .where(or_(row.kind == Kind.FORGET.value, edited))
        .limit(1)
    )


def _take(
    db: Connection, found: Row[str, int, str], moment: datetime, lease: timedelta
) -> Row[Any] | None:
    """Take an event that is still as it was found; None when another worker was quicker."""
    key, fence, state = found
    row = InboxRow
    free = or_(row.lease_until.is_(None), row.lease_until <= moment)
    claim = (
        update(row)
        .where(row.key == key, row.fence == fence, row.state == state, free)
        .values(fence=InboxRow.fence + 1, lease_until=moment + lease)
        .returning(InboxRow)
    )
    return db.execute(claim).one_or_none()


def _token(row: Row[Any], unseal: Callable[[bytes], str]) -> str | None:
    """Return an event's token; None when it has none that still answers anything."""
    if row.token is None or (row.token_expires_at is not None and row.token_expires_at <= now()):
        return None
    try:
        return unseal(row.token)
    except StoreError:
        logger.warning("the token of %s cannot be unsealed", row.key)
        return None


def _messages_of(db: Connection, row: Row[Any]) -> tuple[str, ...]:
    """Return the messages that show the answer to an event's question, in order."""
    query = select(PostRow.message_id).where(PostRow.key == root_of(row)).order_by(PostRow.part)
    return tuple(db.scalars(query))


def _thread_of(db: Connection, row: Row[Any]) -> str | None:
    """Return the thread in which an event's question is answered, if it is known."""
    if row.thread is not None or row.about is None:
        thread: str | None = row.thread
        return thread
    return db.scalar(select(InboxRow.thread).where(InboxRow.key == row.about))


def _earlier_requests(db: Connection, row: Row[Any]) -> tuple[UUID, ...]:
    """Return the requests whose turns an edit or a deletion makes forgotten, oldest first."""
    if row.kind in (Kind.ASK, Kind.REPLY):
        return ()
    root = root_of(row)
    query = select(InboxRow.request_id).where(or_(InboxRow.key == root, InboxRow.about == root))
    if row.kind == Kind.REDO:
        query = query.where(InboxRow.key != row.key)
    return tuple(db.scalars(query.order_by(InboxRow.accepted_at)))


def _is_free(row: Any) -> ColumnElement[bool]:
    return or_(row.lease_until.is_(None), row.lease_until <= MOMENT)


def _busy(limit: int, *subject: Any) -> Select[Any]:
    """Return the query for the subjects that have all in flight that they may have."""
    return select(*subject).group_by(*subject).having(func.count() >= limit)


def _has_one_before(row: Any) -> ColumnElement[bool]:
    """Return the condition that an earlier event of the same lane waits, or is retried."""
    earlier = aliased(InboxRow)
    return (
        select(earlier.key)
        .where(is_waiting(earlier), earlier.lane == row.lane, _place(earlier) < _place(row))
        .exists()
    )


def _place(row: Any) -> ColumnElement[Any]:
    """Return what events of a lane are ordered by."""
    return tuple_(row.position, row.accepted_at, row.key)


_FORGETTING: dict[str, Any] = {
    "user_id": FORGOTTEN_USER,
    "kind": Kind.FORGET.value,
    "about": func.coalesce(InboxRow.about, InboxRow.key),
    "fence": InboxRow.fence + 1,
    "lease_until": None,
    "request": None,
    "refusal": None,
}
"""What makes an event that is being answered the order to remove its own answer."""
_TO_BE_FORGOTTEN = (InboxRow.user_id == FORGOTTEN_USER) & InboxRow.about.is_not(None)
_BLANK: dict[str, Any] = {
    "user_id": FORGOTTEN_USER,
    "address": {},
    "session_id": None,
    "gist": None,
}
_IS_PENDING = and_(InboxRow.request.is_not(None), or_(~is_waiting(), InboxRow.refusal.is_not(None)))
"""A question that was asked for its course; its asker may have been so quick that it is not
known to be notified yet."""


def forget_user(db: Connection, user_id: str) -> int:
    """Blank all events of a user, save for the orders to remove what is being posted."""
    own = InboxRow.user_id == user_id
    # Always oldest first, as a holder's writes are: so no two wait for each other.
    keys = select(InboxRow.key).where(own).order_by(InboxRow.accepted_at)
    count = len(db.scalars(keys.with_for_update()).all())
    begun = (own, is_waiting(), InboxRow.fence > 0)
    db.execute(update(InboxRow).where(*begun).values(**_FORGETTING))
    ended = select(InboxRow.key).where(own)
    under_way = select(InboxRow.about).where(_TO_BE_FORGOTTEN, is_waiting())
    gone = (PostRow.key.in_(ended), PostRow.key.not_in(under_way))
    db.execute(delete(PostRow).where(*gone))
    unanswered = (own, is_waiting())
    removed = {"settlement": Settlement.REMOVED.value}
    db.execute(update(InboxRow).where(*unanswered).values(**removed))
    db.execute(update(InboxRow).where(own).values(**CLOSED, **_BLANK))
    db.execute(delete(CountRow).where(_counted(user_id)))
    return count


def _counted(user_id: str) -> ColumnElement[bool]:
    """Return the condition that a count is of a user, in whichever channel."""
    subject, waits = CountRow.subject, waits_subject(user_id, "", "").removesuffix(":")
    own = subject.in_([user_subject(user_id), told_subject(user_id)])
    return or_(own, subject.startswith(waits, autoescape=True))


def pending_query(request_id: UUID) -> Select[tuple[dict[str, Any] | None]]:
    """Return the query for a question that waits for its course."""
    return select(InboxRow.request).where(InboxRow.request_id == request_id, _IS_PENDING)


def drop_pending(db: Connection, request_id: UUID, tenants: Sequence[OfTenant]) -> None:
    """Blank a question of these tenants that waited for its course."""
    this = (InboxRow.request_id == request_id, of_tenants(InboxRow, tenants), _IS_PENDING)
    db.execute(update(InboxRow).where(*this).values(request=None))


def forget_pending(db: Connection, key: str | None) -> None:
    """Blank a question that waits for its course, as its message was deleted."""
    about = or_(InboxRow.key == key, InboxRow.about == key)
    db.execute(update(InboxRow).where(about, _IS_PENDING).values(request=None))
