"""Finds the place of an event among all that wait, and what else its acceptance depends on."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import CTE, Connection, Select, Text, bindparam, case, func, select

from core.inbox.base import Arrival
from core.inbox.claiming import MOMENT, in_flight
from core.inbox.limits import CountRow, minute_of, user_subject
from core.inbox.rows import InboxRow, is_waiting

_WAITING = InboxRow.__table__
_COUNTS = CountRow.__table__


@dataclass(frozen=True, slots=True)
class QueuePosition:
    """What the database says of an event before it is accepted."""

    round: int
    channel_round: int
    asked: int
    """How many questions its user has asked in this minute."""
    is_known: bool
    """Whether its key is there already."""


class Queue:
    """All that wait; its one query is built once."""

    def __init__(self) -> None:
        self._standing = _standing()

    def standing(self, db: Connection, arrival: Arrival, moment: datetime) -> QueuePosition:
        """Return how a new event stands, which is the next of its user.

        Each user has one event in a round, and who comes later begins in the current one: so
        a newcomer stands after one event of each user's, not after all of one user's.
        Within a round the channels take turns in the same way.

        Source: Goyal, Vin, Cheng: Start-time fair queuing, SIGCOMM 1996.
        """
        given = {
            "moment": moment,
            "key": arrival.key,
            "user_id": arrival.user_id,
            "channel": arrival.channel,
            "subject": user_subject(arrival.user_id),
            "minute": minute_of(moment),
        }
        found = (db.execute(self._standing, given)).one()
        return QueuePosition(found[0], found[1], found[2], bool(found[3]))


def _standing() -> Select[Any]:
    """Return the query for all of a Standing at once."""
    rank = _rank()
    asked = select(_COUNTS.c.questions).where(
        _COUNTS.c.subject == bindparam("subject"), _COUNTS.c.minute == bindparam("minute")
    )
    known = select(_WAITING.c.key).where(_WAITING.c.key == bindparam("key", type_=Text()))
    return select(
        rank.c.round,
        rank.c.channel_round,
        func.coalesce(asked.scalar_subquery(), 0),
        known.exists(),
    ).select_from(rank)


def _rank() -> Any:
    """Return the next round of a user, and within it the next round of a channel."""
    row = _WAITING.c
    latest = select(func.max(in_flight(MOMENT).subquery().c.round)).scalar_subquery()
    earliest = select(func.min(row.round)).where(is_waiting(row)).scalar_subquery()
    own = select(func.max(row.round)).where(is_waiting(row), row.user_id == bindparam("user_id"))
    turns = _once(
        "turns",
        func.coalesce(latest, earliest, 0).label("current"),
        func.coalesce(own.scalar_subquery() + 1, 0).label("own"),
    )
    later = case((turns.c.own > turns.c.current, turns.c.own), else_=turns.c.current)
    turn = _once("turn", later.label("round"))
    beside = select(func.max(row.channel_round)).where(
        is_waiting(row), row.channel == bindparam("channel"), row.round == turn.c.round
    )
    place = func.coalesce(beside.scalar_subquery() + 1, 0)
    return _once("rank", turn.c.round, place.label("channel_round"))


def _once(name: str, *columns: Any) -> CTE:
    """Return a part of the query that is worked out once, however often it is referred to.

    PostgreSQL would otherwise plan and run it again for each column of it that is used.
    """
    return select(*columns).cte(name).prefix_with("MATERIALIZED", dialect="postgresql")
