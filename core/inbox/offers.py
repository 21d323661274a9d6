"""Offers to answer: kept with their question until they are taken up, or vanish."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, Update, and_, or_, select, update

from core.inbox.base import Job, Kind, State
from core.inbox.rows import InboxRow

LASTS = timedelta(minutes=10)
"""How long an offer stands."""


def standing(key: str, moment: datetime) -> Select[Any]:
    """Return the query for the row of an offer that stands, held until the transaction's end."""
    return select(InboxRow.__table__).where(_stands(key, moment)).with_for_update()


def take_up(key: str, moment: datetime, **changed: Any) -> Update:
    """Return the statement that makes an offer a question to be answered, and returns its key.

    The worker that holds the offer to show it, or to remove it, has lost it.

    Args:
        changed: Columns that get another value than those of any question.
    """
    row = InboxRow
    question = {
        "kind": Kind.ASK.value,
        "state": State.WAITING.value,
        "settlement": None,
        "accepted_at": moment,
        "not_before": moment,
        "lease_until": None,
        "heal_at": None,
        "fence": row.fence + 1,
        "attempts": 0,
    }
    taken = update(row).where(_stands(key, moment)).values({**question, **changed})
    return taken.returning(row.key)


def withdraw(key: str, moment: datetime) -> Update:
    """Return the statement by which the janitor removes the reaction at once."""
    return update(InboxRow).where(_is_offer(key)).values(heal_at=moment, request=None)


def vanish(job: Job) -> Update:
    """Return the statement that drops the question of an offer whose reaction is removed."""
    row = InboxRow
    return (
        update(row).where(_is_offer(job.arrival.key), row.fence == job.fence).values(request=None)
    )


def _stands(key: str, moment: datetime) -> ColumnElement[bool]:
    row = InboxRow
    return and_(_is_offer(key), or_(row.heal_at.is_(None), row.heal_at > moment))


def _is_offer(key: str) -> ColumnElement[bool]:
    row = InboxRow
    return and_(row.key == key, row.kind == Kind.OFFER.value, row.request.is_not(None))
