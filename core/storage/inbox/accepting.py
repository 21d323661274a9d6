"""Puts an event into the inbox, after those that come before it in fairness."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    CTE,
    Connection,
    Row,
    Select,
    Text,
    and_,
    bindparam,
    case,
    func,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import aliased

from core.domain import AgentRequest
from core.storage.database import insert_into
from core.storage.inbox import rows as offers
from core.storage.inbox.base import (
    WINDOW,
    Acceptance,
    Accepted,
    Arrival,
    Counting,
    CountRow,
    DeletedEvent,
    IntakeLimits,
    Job,
    Kind,
    Settlement,
    State,
    Twin,
    minute_of,
    user_subject,
)
from core.storage.inbox.claiming import MOMENT, forget_pending, in_flight
from core.storage.inbox.rows import (
    CLOSED,
    FORGOTTEN_USER,
    CursorRow,
    InboxRow,
    PostRow,
    arrival_from,
    is_waiting,
    values_of,
)

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


AT_ONCE = timedelta(minutes=1)
"""How long after a question the same one counts as asked at once."""
TERM = timedelta(weeks=26)
"""How long after a question the same one is shown where it was asked before."""
LINKED_TO = "linked_to"
"""In the address of an event that ended with a link: the key of the question it leads to."""
DOUBTFUL = "doubtful"
"""In the same address: that a post may have been applied unseen."""


def first_of(job: Job) -> Select[Any]:
    """Return the query for the first event of another person that asked what a job asks."""
    row = InboxRow
    of_others = row.user_id != job.arrival.user_id
    at_once = row.accepted_at >= job.accepted_at - AT_ONCE
    return _same(job).where(of_others, at_once).order_by(row.accepted_at, row.key).limit(1)


def latest_before(job: Job) -> Select[Any]:
    """Return the query for the latest event that asked what a job asks, and was answered.

    What is asked at once is left to `first_of`.
    """
    row = InboxRow
    in_term = row.accepted_at.between(job.accepted_at - TERM, job.accepted_at - AT_ONCE)
    answered = row.settlement == Settlement.ANSWERED.value
    latest = (row.accepted_at.desc(), row.key.desc())
    return _same(job).where(in_term, answered).order_by(*latest).limit(1)


def _same(job: Job) -> Select[Any]:
    """Return the query for the events before a job's that asked the same in its channel.

    Of people who are forgotten there are none, nor of questions that were edited or deleted.
    """
    row, own, gone = InboxRow, aliased(InboxRow), aliased(InboxRow)
    is_changed = select(gone.key).where(gone.about == row.key).exists()
    return (
        select(row)
        .with_only_columns(
            row.key,
            row.request_id,
            row.state,
            row.settlement,
            row.workspace,
            row.channel,
            row.thread,
            row.address,
            row.accepted_at,
        )
        .join(own, own.gist == row.gist)
        .where(
            own.key == job.arrival.key,
            row.key != own.key,
            row.platform == own.platform,
            row.workspace == own.workspace,
            row.channel == own.channel,
            row.kind == Kind.ASK.value,
            row.user_id != FORGOTTEN_USER,
            tuple_(row.accepted_at, row.key) < tuple_(own.accepted_at, own.key),
            or_(row.course_id == own.course_id, row.course_id.is_(None)),
            ~is_changed,
        )
    )


def linked_to(key: str, asked_at: datetime) -> Select[InboxRow]:
    """Return the query for the events whose askers were shown a link to this one's answer."""
    row = InboxRow
    is_linked = row.address[LINKED_TO].as_string() == key
    in_time = row.accepted_at.between(asked_at, asked_at + AT_ONCE)
    return select(row).where(in_time, is_linked).order_by(row.accepted_at, row.key)


def with_link(address: Mapping[str, Any], key: str, *, doubtful: bool) -> dict[str, Any]:
    """Return the address of an event whose asker is shown a link to another one's answer."""
    return {**address, LINKED_TO: key, **({DOUBTFUL: True} if doubtful else {})}


def without_link(address: Mapping[str, Any]) -> dict[str, Any]:
    """Return the address of an event as it was before its asker was shown a link."""
    return {name: value for name, value in address.items() if name not in (LINKED_TO, DOUBTFUL)}


def posts_of(key: str) -> Select[str]:
    """Return the query for the messages that show an event's answer, in order."""
    return select(PostRow.message_id).where(PostRow.key == key).order_by(PostRow.part)


def twin_from(row: Row[Any], messages: tuple[str, ...]) -> Twin:
    """Return what a row of `first_of` or `latest_before` says."""
    return Twin(
        key=row.key,
        request_id=row.request_id,
        waits=row.state == State.WAITING.value,
        answered=row.settlement == Settlement.ANSWERED.value,
        workspace=row.workspace,
        channel=row.channel,
        thread=row.thread,
        messages=messages,
        address=row.address,
        asked_at=row.accepted_at,
    )
