"""Removes what the inbox knows of a user, and what it need not know any more."""

from typing import Any

from sqlalchemy import Connection, delete, func, select, update

from core.inbox.accepting import CLOSED
from core.inbox.base import Kind
from core.inbox.limits import CountRow, user_subject
from core.inbox.rows import FORGOTTEN_USER, InboxRow, PostRow, is_waiting

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
_BLANK: dict[str, Any] = {"user_id": FORGOTTEN_USER, "address": {}, "session_id": None}


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
    db.execute(update(InboxRow).where(own).values(**CLOSED, **_BLANK))
    db.execute(delete(CountRow).where(CountRow.subject == user_subject(user_id)))
    return count
