"""Removes what the inbox knows of a user, and what it need not know any more."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Connection, Select, and_, delete, func, or_, select, update

from core.inbox.audience import Settlement
from core.inbox.base import Kind
from core.inbox.limits import CountRow, told_subject, user_subject, waits_subject
from core.inbox.rows import CLOSED, FORGOTTEN_USER, InboxRow, PostRow, is_waiting
from core.storage.database import OfTenant, of_tenants

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
