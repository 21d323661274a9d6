"""Puts an event into the inbox, behind those that come before it in fairness."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Select, Text, and_, bindparam, func, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession

from core.database import insert_into
from core.inbox.base import Acceptance, Accepted, Arrival, Kind, State
from core.inbox.claiming import MOMENT, in_flight
from core.inbox.limits import WINDOW, Limits, count, minute_of
from core.inbox.rows import CursorRow, InboxRow, is_waiting, values_of

_COUNTED_AHEAD = 1000
"""More than so many are not counted: nobody wants to know exactly."""


@dataclass(frozen=True, slots=True)
class Rank:
    """Where an event stands among all that wait."""

    round: int
    channel_round: int


async def accept(
    db: AsyncSession,
    engine: AsyncEngine,
    queue: "Queue",
    arrival: Arrival,
    token: bytes | None,
    limits: Limits,
    moment: datetime,
) -> Accepted:
    """Store an arrival unless it is there already, and return its receipt."""
    rank = await queue.rank(db, arrival, moment)
    values = {
        **values_of(arrival),
        "token": token,
        "accepted_at": moment,
        "not_before": moment,
        "state": State.WAITING.value,
        "round": rank.round,
        "channel_round": rank.channel_round,
    }
    insert = insert_into(engine, InboxRow).values(fence=0, attempts=0, stopped=False, **values)
    once = insert.on_conflict_do_nothing(index_elements=["key"]).returning(InboxRow.key)
    if await db.scalar(once) is None:
        return Accepted(Acceptance.KNOWN)
    if arrival.kind is not Kind.ASK:
        acceptance = await _accept_change(db, engine, arrival, limits, moment)
        return Accepted(acceptance, await queue.ahead(db, arrival.key, rank, moment))
    await advance(db, engine, arrival.platform, arrival.channel, arrival.position)
    if await _is_to_be_forgotten(db, arrival.key):
        acceptance = await _close(db, arrival.key)
    else:
        acceptance = await _within_limits(db, engine, arrival, limits, moment)
    return Accepted(acceptance, await queue.ahead(db, arrival.key, rank, moment))


class Queue:
    """Tells where an event stands among all that wait; its queries are built once."""

    def __init__(self) -> None:
        self._rounds = _rounds()
        row = InboxRow
        self._beside = select(func.max(row.channel_round)).where(
            is_waiting(), row.channel == bindparam("channel"), row.round == bindparam("round")
        )
        self._before = _before()

    async def rank(self, db: AsyncSession, arrival: Arrival, moment: datetime) -> Rank:
        """Return the rank of a new event, which is the next of its user.

        Each user has one event in a round, and who comes later begins in the current one: so
        a newcomer stands behind one event of everybody's, not behind all of somebody's.
        Within a round the channels take turns in the same way.

        Source: Goyal, Vin, Cheng: Start-time fair queuing, SIGCOMM 1996.
        """
        given = {"moment": moment, "user_id": arrival.user_id}
        current, next_own = (await db.execute(self._rounds, given)).one()
        turn = max(current, next_own)
        last = await db.scalar(self._beside, {"channel": arrival.channel, "round": turn})
        return Rank(turn, 0 if last is None else last + 1)

    async def ahead(self, db: AsyncSession, key: str, rank: Rank, moment: datetime) -> int:
        """Return how many waiting events come before one of this rank."""
        mine = {"round": rank.round, "channel_round": rank.channel_round, "key": key}
        count = await db.scalar(self._before, {**mine, "moment": moment})
        return max(0, count or 0)


def _rounds() -> Select[Any, Any]:
    """Return the query for the current round, and for the next one of a user."""
    row = InboxRow
    latest = select(func.max(in_flight(MOMENT).subquery().c.round))
    earliest = select(func.min(row.round)).where(is_waiting())
    own = select(func.max(row.round)).where(is_waiting(), row.user_id == bindparam("user_id"))
    return select(
        func.coalesce(latest.scalar_subquery(), earliest.scalar_subquery(), 0),
        func.coalesce(own.scalar_subquery() + 1, 0),
    )


def _before() -> Select[Any]:
    """Return the query for how many events wait before a place in the queue."""
    row = InboxRow
    place = tuple_(row.round, row.channel_round, row.accepted_at, row.key)
    mine = tuple_(
        bindparam("round", type_=BigInteger()),
        bindparam("channel_round", type_=BigInteger()),
        MOMENT,
        bindparam("key", type_=Text()),
    )
    before = select(row.key).where(is_waiting(), place < mine).limit(_COUNTED_AHEAD)
    counted, begun = (
        select(func.count()).select_from(query.subquery()).scalar_subquery()
        for query in (before, in_flight(MOMENT))
    )
    return select(counted - begun)


async def _within_limits(
    db: AsyncSession, engine: AsyncEngine, arrival: Arrival, limits: Limits, moment: datetime
) -> Acceptance:
    """Count a question; one too many is refused, and told so when it has to be."""
    excess = await count(db, engine, arrival, limits, moment)
    if excess is None:
        return Acceptance.NEW
    if not excess.is_first and arrival.token is None:
        await _close(db, arrival.key)
    else:
        told = update(InboxRow).where(InboxRow.key == arrival.key)
        await db.execute(told.values(refusal=excess.refusal, request=None))
    return Acceptance.LIMITED


async def _accept_change(
    db: AsyncSession, engine: AsyncEngine, arrival: Arrival, limits: Limits, moment: datetime
) -> Acceptance:
    """Put an edit or a deletion into its question's lane; it replaces what it overtook.

    An edit beyond the limits waits for the next minute. A deletion is never limited, and
    stops the answer that is under way.
    """
    own = InboxRow.key == arrival.key
    root = select(InboxRow).where(InboxRow.key == arrival.about)
    question = await db.scalar(root.with_for_update(key_share=True))
    if question is None:
        # Nothing to change. A deletion stays, for a question that arrives after it.
        return await _close(db, arrival.key)
    await db.execute(update(InboxRow).where(own).values(lane=question.lane))
    about_the_same = and_(
        or_(InboxRow.key == arrival.about, InboxRow.about == arrival.about),
        InboxRow.key != arrival.key,
        is_waiting(),
    )
    if arrival.kind is Kind.FORGET:
        await db.execute(update(InboxRow).where(about_the_same).values(stopped=True))
        return await _replace(db, and_(about_the_same, InboxRow.kind != Kind.FORGET.value))
    if await _is_to_be_forgotten(db, question.key):
        return await _close(db, arrival.key)
    if await count(db, engine, arrival, limits, moment) is not None:
        later = update(InboxRow).where(own)
        await db.execute(later.values(not_before=minute_of(moment) + WINDOW))
    return await _replace(db, and_(about_the_same, InboxRow.kind == Kind.REDO.value))


async def _replace(db: AsyncSession, overtaken: Any) -> Acceptance:
    """Close what nobody has begun to answer yet, and never will."""
    unclaimed = and_(overtaken, InboxRow.fence == 0, InboxRow.token.is_(None))
    await db.execute(update(InboxRow).where(unclaimed).values(**CLOSED))
    return Acceptance.NEW


async def _is_to_be_forgotten(db: AsyncSession, key: str) -> bool:
    deletion = select(InboxRow.key).where(InboxRow.about == key, InboxRow.kind == Kind.FORGET.value)
    return await db.scalar(deletion.limit(1)) is not None


CLOSED: dict[str, Any] = {
    "state": State.DONE.value,
    "request": None,
    "refusal": None,
    "token": None,
    "lease_until": None,
}
"""The columns of an event that needs no answer any more: what was asked is gone."""


async def _close(db: AsyncSession, key: str) -> Acceptance:
    await db.execute(update(InboxRow).where(InboxRow.key == key).values(**CLOSED))
    return Acceptance.NEW


async def advance(
    db: AsyncSession, engine: AsyncEngine, platform: str, channel: str, position: int
) -> None:
    """Move a channel's cursor to a position, never back."""
    insert = insert_into(engine, CursorRow).values(
        platform=platform, channel=channel, position=position
    )
    await db.execute(
        insert.on_conflict_do_update(
            index_elements=["platform", "channel"],
            set_={"position": insert.excluded.position},
            where=CursorRow.position < insert.excluded.position,
        )
    )
