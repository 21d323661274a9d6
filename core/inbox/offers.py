"""Offers to answer: kept with their question until they are taken up, or vanish."""

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Update, and_, or_, update

from core.inbox.base import Job, Kind, State
from core.inbox.rows import InboxRow
from core.models import AgentRequest

LASTS = timedelta(minutes=10)
"""How long an offer stands."""


def take_up(key: str, moment: datetime, request: AgentRequest | None) -> Update:
    """Return the statement that makes an offer a question to be answered, and returns its key.

    Whoever holds the offer to show it, or to remove it, has lost it.

    Args:
        request: What is asked now, where the message was edited.
    """
    row = InboxRow
    stands = or_(row.heal_at.is_(None), row.heal_at > moment)
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
    edited = {} if request is None else {"request": request.model_dump(mode="json")}
    taken = update(row).where(_is_offer(key), stands).values(**question, **edited)
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


def _is_offer(key: str) -> ColumnElement[bool]:
    row = InboxRow
    return and_(row.key == key, row.kind == Kind.OFFER.value, row.request.is_not(None))
