"""Puts an event into the inbox, after those that come before it in fairness."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, or_, select, update
from sqlalchemy.ext.asyncio import AsyncEngine

from core.inbox import offers
from core.inbox.audience import Settlement
from core.inbox.base import Acceptance, Accepted, Arrival, DeletedEvent, Kind, State
from core.inbox.forgetting import forget_pending
from core.inbox.limits import WINDOW, Counting, IntakeLimits, minute_of
from core.inbox.queue import Queue, QueuePosition
from core.inbox.rows import (
    CLOSED,
    FORGOTTEN_USER,
    CursorRow,
    InboxRow,
    arrival_from,
    is_waiting,
    values_of,
)
from core.models import AgentRequest
from core.storage.database import insert_into

_NEW: dict[str, Any] = {
    "state": State.WAITING.value,
    "fence": 0,
    "attempts": 0,
    "stopped": False,
    "told_to_wait": False,
}

_REPLACED = {"settlement": Settlement.REPLACED.value}


class Accepting:
    """Accepts events; what every event needs is built once, as that takes the longest."""

    def __init__(self, engine: AsyncEngine, limits: IntakeLimits) -> None:
        self._queue = Queue()
        self._counting = Counting(engine, limits)
        self._insert = _insert(engine)
        self._advance = _advance(engine)

    def accept(
        self, db: Connection, arrival: Arrival, token: bytes | None, moment: datetime
    ) -> Accepted:
        """Store an arrival unless it is there already, and return its receipt.

        Raises:
            RateLimited: when it was pressed beyond a limit; the transaction has to be
                rolled back.
        """
        standing = self._queue.standing(db, arrival, moment)
        if standing.is_known:
            return Accepted(Acceptance.KNOWN)
        values = {
            **_NEW,
            **values_of(arrival),
            "token": token,
            "accepted_at": moment,
            "not_before": moment,
            "round": standing.round,
            "channel_round": standing.channel_round,
        }
        if db.scalar(self._insert, values) is None:  # another process was quicker by a moment
            return Accepted(Acceptance.KNOWN)
        if arrival.kind is Kind.REPLY:
            acceptance = Acceptance.NEW  # no one asked it: it is not counted, and was not read
        elif arrival.kind.is_reaction:
            self.advance(db, arrival.platform, arrival.channel, arrival.position)
            acceptance = Acceptance.NEW
        elif arrival.kind is Kind.ASK:
            acceptance = self._question(db, arrival, standing, moment)
        else:
            acceptance = self._change(db, arrival, standing, moment)
        return Accepted(acceptance)

    def is_wanted(self, db: Connection, key: str) -> bool:
        """Return whether an event is known that asked something, and was not taken back since."""
        row = InboxRow
        asked = (row.key == key, row.user_id != FORGOTTEN_USER, row.kind != Kind.FORGET.value)
        known = db.scalar(select(row.key).where(*asked).with_for_update(key_share=True))
        return known is not None and not _is_to_be_forgotten(db, key)

    def take_up(
        self, db: Connection, key: str, request: AgentRequest | None, moment: datetime
    ) -> Acceptance | None:
        """Make an offer a question like any other, counted as its author's; None: it is gone.

        Beyond the limit its author is notified once a minute; the offer stands the other times.

        Args:
            request: What is asked now, where the message was edited.
        """
        row = db.execute(offers.standing(key, moment)).one_or_none()
        if row is None:
            return None
        arrival = arrival_from(row)
        standing = self._queue.standing(db, arrival, moment)
        counted = self._counting.count(db, arrival, standing.asked, moment)
        if counted.refusal is not None and not counted.is_first:
            return Acceptance.PASSED_OVER
        asked: dict[str, Any] = {
            "round": standing.round,
            "channel_round": standing.channel_round,
            "not_before": counted.not_before or moment,
        }
        if request is not None:
            asked["request"] = request.model_dump(mode="json")
        if counted.refusal is not None:
            noticed = Settlement.NOTICED.value
            asked |= {"refusal": counted.refusal, "settlement": noticed, "request": None}
        if db.scalar(offers.take_up(key, moment, **asked)) is None:
            return None
        return Acceptance.NEW if counted.refusal is None else Acceptance.LIMITED

    def tombstone(self, db: Connection, unheard: DeletedEvent, moment: datetime) -> bool:
        """Put an event that has ended where a question would stand; False: it stands there.

        It is in no lane, which would make the bot take part in a conversation, and of no one.
        """
        nothing = Arrival(
            key=unheard.key,
            platform=unheard.platform,
            workspace=unheard.workspace,
            channel="",
            lane="",
            position=0,
            user_id=FORGOTTEN_USER,
            address={},
            kind=Kind.FORGET,
        )
        values = {
            **_NEW,
            **values_of(nothing),
            **CLOSED,
            "settlement": Settlement.REMOVED.value,
            "accepted_at": moment,
            "not_before": moment,
            "round": 0,
            "channel_round": 0,
        }
        return db.scalar(self._insert, values) is not None

    def advance(self, db: Connection, platform: str, channel: str, position: int) -> None:
        """Move a channel's cursor to a position, never back."""
        given = {"platform": platform, "channel": channel, "position": position}
        db.execute(self._advance, given)

    def _question(
        self, db: Connection, arrival: Arrival, standing: QueuePosition, moment: datetime
    ) -> Acceptance:
        """Count a question; one too many of a user is refused, of a channel waits."""
        self.advance(db, arrival.platform, arrival.channel, arrival.position)
        counted = self._counting.count(db, arrival, standing.asked, moment)
        if counted.limit is not None and arrival.pressed:
            raise counted.limit
        own = update(InboxRow).where(InboxRow.key == arrival.key)
        if counted.refusal is not None and not counted.is_first:
            _close(db, arrival.key, Settlement.PASSED_OVER)
            return Acceptance.PASSED_OVER
        if counted.refusal is not None:
            noticed = Settlement.NOTICED.value
            db.execute(own.values(refusal=counted.refusal, settlement=noticed, request=None))
            return Acceptance.LIMITED
        if counted.not_before is not None and arrival.refusal is None:
            db.execute(own.values(not_before=counted.not_before))
        return Acceptance.NEW

    def _change(
        self, db: Connection, arrival: Arrival, standing: QueuePosition, moment: datetime
    ) -> Acceptance:
        """Put an edit or a deletion into its question's lane; it replaces what it overtook.

        An edit beyond the limits waits for the next minute. A deletion is never limited, and
        stops the answer that is under way.
        """
        own = InboxRow.key == arrival.key
        root = select(InboxRow.lane).where(InboxRow.key == arrival.about)
        lane = db.scalar(root.with_for_update(key_share=True))
        if lane is None:
            return _close(db, arrival.key, Settlement.REPLACED)  # there is nothing to change
        db.execute(update(InboxRow).where(own).values(lane=lane))
        about_the_same = and_(
            or_(InboxRow.key == arrival.about, InboxRow.about == arrival.about),
            InboxRow.key != arrival.key,
            is_waiting(),
        )
        if arrival.kind is Kind.FORGET:
            db.execute(update(InboxRow).where(about_the_same).values(stopped=True))
            forget_pending(db, arrival.about)
            return _replace(db, and_(about_the_same, InboxRow.kind != Kind.FORGET.value))
        if _is_to_be_forgotten(db, arrival.about):
            return _close(db, arrival.key, Settlement.REPLACED)
        counted = self._counting.count(db, arrival, standing.asked, moment, tells=False)
        not_before = counted.not_before
        if counted.refusal is not None:
            not_before = minute_of(moment) + WINDOW
        if not_before is not None:
            db.execute(update(InboxRow).where(own).values(not_before=not_before))
        return _replace(db, and_(about_the_same, InboxRow.kind == Kind.REDO.value))


def _replace(db: Connection, overtaken: Any) -> Acceptance:
    """Close what no one has begun to answer yet, and never will."""
    unclaimed = and_(overtaken, InboxRow.fence == 0, InboxRow.token.is_(None))
    db.execute(update(InboxRow).where(unclaimed).values(**CLOSED, **_REPLACED))
    return Acceptance.NEW


def _is_to_be_forgotten(db: Connection, key: str | None) -> bool:
    deletion = select(InboxRow.key).where(InboxRow.about == key, InboxRow.kind == Kind.FORGET.value)
    return db.scalar(deletion.limit(1)) is not None


def _close(db: Connection, key: str, settlement: Settlement) -> Acceptance:
    ended = {**CLOSED, "settlement": settlement.value}
    db.execute(update(InboxRow).where(InboxRow.key == key).values(**ended))
    return Acceptance.NEW


def _insert(engine: AsyncEngine) -> Any:
    """Return the statement that stores a new event, once, and then returns its key."""
    events = InboxRow.__table__
    once = insert_into(engine, events).on_conflict_do_nothing(index_elements=["key"])
    return once.returning(events.c.key)


def _advance(engine: AsyncEngine) -> Any:
    """Return the statement that moves a cursor on."""
    cursors = CursorRow.__table__
    insert = insert_into(engine, cursors)
    return insert.on_conflict_do_update(
        index_elements=["platform", "channel"],
        set_={"position": insert.excluded.position},
        where=cursors.c.position < insert.excluded.position,
    )
