"""What waits between a platform's event and its answer, in no platform's words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from sqlalchemy import Connection, Text, and_, or_, select, update
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.domain import AgentRequest, Outcome
from core.domain.errors import (
    BotError,
    ChannelFull,
    RateLimited,
    RequestError,
    ServiceError,
    Stopped,
)
from core.domain.i18n import in_language, language_of
from core.storage.database import Base, UtcDateTime, insert_into


class Audience(StrEnum):
    """Who reads what is sent about a question."""

    PLACE = "place"
    """Everybody who reads where the question was asked."""
    ASKER = "asker"
    """The asker alone where the platform can; else a reply to the message, never a new thread."""


class Settlement(StrEnum):
    """What became of an event that is done with; the inbox keeps it with the event."""

    ANSWERED = "answered"
    """What was asked has its answer; that the book does not say it is an answer, too."""
    REFUSED = "refused"
    """The asker got a notice that says what to change to get an answer."""
    NOTICED = "noticed"
    """The asker got a notice of a limit, or of what they did themselves, such as stopping."""
    APOLOGISED = "apologised"
    """The asker got a notice that there is no answer, for a reason on the bot's side."""
    POINTED = "pointed"
    """The asker got a notice that says how, or for which course, to ask."""
    POINTED_BACK = "pointed back"
    """The asker was shown where the answer stands, or what was said of it."""
    OFFERED = "offered"
    """A reaction offers to answer; the question is kept until it is taken up or vanishes."""
    THANKED = "thanked"
    """A reaction acknowledges that the bot was thanked."""
    PASSED_OVER = "passed over"
    """Nothing was sent: a notice of this minute said why already."""
    REPLACED = "replaced"
    """Nothing was sent: a later edit or the deletion of the same question counts instead."""
    REMOVED = "removed"
    """A deletion was carried out: what had been posted is gone."""

    @property
    def audience(self) -> Audience:
        """Who reads what is sent: an answer is for the place, all else for the asker."""
        return Audience.PLACE if self is Settlement.ANSWERED else Audience.ASKER


def settled_by(error: BotError) -> Settlement:
    """Return what telling an asker of a failure settles their event as."""
    if isinstance(error, RateLimited | Stopped):
        return Settlement.NOTICED
    return Settlement.REFUSED if isinstance(error, RequestError) else Settlement.APOLOGISED


def settled_with(outcome: Outcome | None) -> Settlement:
    """Return what a finished response settles an event as, by its outcome.

    That the book does not cover a question is an answer for all who read it.
    """
    return Settlement.APOLOGISED if outcome is Outcome.ERROR else Settlement.ANSWERED


_REQUEST_NAMESPACE = uuid5(NAMESPACE_URL, "urn:glossator:request")


class Kind(StrEnum):
    """What an event asks for."""

    ASK = "ask"
    REDO = "redo"
    """The question was edited: its answer is written again, where it stands."""
    FORGET = "forget"
    """The question was deleted: its turn is forgotten and its answer removed."""
    OFFER = "offer"
    """It may be a question: a reaction offers to answer, and becomes ASK when it is taken up."""
    THANK = "thank"
    """The bot was thanked, which gets a reaction."""
    REPLY = "reply"
    """Staff have answered a question: that is shown to its asker, whom it notifies."""

    @property
    def is_reaction(self) -> bool:
        """Whether a reaction is all that is shown."""
        return self in (Kind.OFFER, Kind.THANK)


class State(StrEnum):
    """How far an event has come; only WAITING ones are claimed, again when a lease ran out."""

    WAITING = "waiting"
    DONE = "done"
    UNDELIVERABLE = "undeliverable"
    """The platform refuses for good, or has refused for too long."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """One event that is to be answered, as an adapter understood it."""

    key: str
    """Identifies the event: delivered twice, or seen by two replicas, it has one key."""
    platform: str
    workspace: str
    channel: str
    """Where it was said; the channel that limits count, also for its threads."""
    lane: str
    """Events of one lane are answered one after the other."""
    position: int
    """The platform's own order inside the lane, such as a message's id."""
    user_id: str
    """The asker's pseudonym."""
    address: Mapping[str, Any]
    """What the platform's adapter needs to answer: JSON, no text of anybody's message."""
    kind: Kind = Kind.ASK
    about: str | None = None
    """For REDO and FORGET: the key of the event that asked the question."""
    request: AgentRequest | None = None
    """What to ask the agent; none for FORGET, and where `refusal` is the answer."""
    refusal: str | None = None
    """A safe sentence that is shown instead of an answer."""
    settles: Settlement = Settlement.REFUSED
    """What the event is settled as when its `refusal` was sent."""
    pending: AgentRequest | None = None
    """With a `refusal` that asks for its course: the question, kept until one is chosen."""
    token: str | None = None
    """A secret that answers this event; kept sealed, and only until `token_expires_at`."""
    token_expires_at: datetime | None = None
    sent_at: datetime | None = None
    """The platform's own time of the event; none: it came just now."""
    told_to_wait: bool = False
    """Whether its asker was notified, while it waited, that it does."""
    gist: str | None = None
    """The same for the same question where several people may ask it at once; None: it stands in
    a conversation, or is private."""
    pressed: bool = False
    """Whether a button asked it, which can be pressed again: a limit that stops it stores nothing.
    Not kept."""

    @property
    def locale(self) -> str | None:
        """The asker's locale, as far as it is known."""
        asked = self.request or self.pending
        return asked.user_context.locale if asked is not None else None


@dataclass(frozen=True, slots=True)
class DeletedEvent:
    """A message that was deleted, perhaps before its event came: what may be known of it."""

    key: str
    """The key that its event would have."""
    platform: str
    workspace: str
    sent_at: datetime


class Acceptance(StrEnum):
    """What became of an arrival."""

    NEW = "new"
    KNOWN = "known"
    """Its key is there already: nothing was written."""
    LIMITED = "limited"
    """Too many of one user, who is to be notified."""
    PASSED_OVER = "passed over"
    """Too many of one user, who is notified in this minute already: nothing will be sent."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The receipt of an arrival, written when the database has it for sure."""

    acceptance: Acceptance


@dataclass(frozen=True, slots=True)
class Posted:
    """What of an answer the platform has already, by the platform's ids."""

    messages: tuple[str, ...] = ()
    """The message of each part, in order; the first is the placeholder."""
    thread: str | None = None
    """The thread in which the conversation goes on, once it is known."""


@dataclass(frozen=True, slots=True)
class Job:
    """An event that one worker holds, until its lease runs out."""

    arrival: Arrival
    fence: int
    """Rises with every claim; what is written with a lower one is refused."""
    lease_until: datetime
    accepted_at: datetime
    attempts: int = 0
    """Deliveries that failed before this one."""
    posted: Posted = field(default_factory=Posted)
    """What an earlier holder, or for REDO and FORGET the event it is about, has posted."""
    earlier_requests: tuple[UUID, ...] = ()
    """For REDO and FORGET: the requests whose turns are to be forgotten."""
    stopped: bool = False
    """The asker wants no answer any more."""

    @property
    def taken_over(self) -> bool:
        """Whether another worker held it before, and may have posted unknown messages."""
        return self.fence > 1


@dataclass(frozen=True, slots=True)
class Answered:
    """What a message of the bot's answers."""

    key: str
    platform: str
    workspace: str
    request_id: UUID
    user_id: str
    thread: str | None
    """The thread in which the conversation goes on."""
    session_id: UUID | None
    course_id: str | None
    address: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Backlog:
    """What is in the inbox at a moment."""

    waiting: int
    in_flight: int
    oldest: datetime | None
    """When the oldest event was accepted that is not answered yet."""


@dataclass(frozen=True, slots=True)
class Twin:
    """An event that asked the same, and how far its answer has come."""

    key: str
    request_id: UUID
    waits: bool
    """Whether its answer is still on its way."""
    answered: bool
    workspace: str
    channel: str
    thread: str | None
    messages: tuple[str, ...]
    """Those that show its answer, by the platform's ids."""
    address: Mapping[str, Any]
    asked_at: datetime


class LeaseLost(ServiceError):
    """Another worker holds the event now: the worker that gets this must stop at once."""


def lane_for(platform: str, workspace: str, channel: str, thread: str) -> str:
    """Return the lane of a thread's events."""
    return f"{platform}:{workspace}:{channel}:{thread}"


def request_id_for(key: str) -> UUID:
    """Return the request id of an event: two workers compute the same one."""
    return uuid5(_REQUEST_NAMESPACE, key)


WINDOW = timedelta(minutes=1)
USER = "user:"
"""Begins every subject of `user_subject`."""
WAITS = "waits:"
"""Begins every subject of `waits_subject`."""


@dataclass(frozen=True, slots=True)
class IntakeLimits:
    """What is accepted in a minute, and how much is answered at the same time."""

    user_per_minute: int = 6
    channel_per_minute: int = 30
    user_in_flight: int = 2
    channel_in_flight: int = 4
    in_flight: int = 32
    """Of everybody, in all processes together."""
    user_wait: timedelta = timedelta(minutes=5)
    """How long a question beyond its user's limit may wait for its minute; else it is refused."""
    longest_wait: timedelta = timedelta(minutes=30)
    """The age at which a question is not answered any more; one that would reach it is refused."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What a question's limits say of it."""

    refusal: str | None = None
    """Why its asker has to wait before asking again; none: it is answered."""
    is_first: bool = False
    """Whether its asker is yet to be notified in this minute."""
    not_before: datetime | None = None
    """The minute in which its user and its channel have room for it; none: this one."""
    limit: RateLimited | None = None
    """What `refusal` is the sentence of."""


class CountRow(Base):
    """How many questions a user or a channel asked in one minute."""

    __tablename__ = "inbox_counts"

    subject: Mapped[str] = mapped_column(Text, primary_key=True)
    minute: Mapped[datetime] = mapped_column(UtcDateTime, primary_key=True)
    questions: Mapped[int]


class Counting:
    """Counts questions by minute; its statements are built once."""

    def __init__(self, engine: AsyncEngine, limits: IntakeLimits) -> None:
        self._limits = limits
        self._one_more = count_one_more(engine)

    def count(
        self, db: Connection, arrival: Arrival, asked: int, moment: datetime, *, tells: bool = True
    ) -> Counted:
        """Count a question, and return whether and when it may be answered.

        A user's questions beyond the limit use up their later minutes, of `user_wait` at most, and
        none of the channel's that others need now, so that no one silences a channel. Those beyond
        the channel's use up a later minute's, unless they would be too old by its end. What was
        pressed waits for nothing, as it can be pressed again, and neither does what is refused
        anyway.

        Args:
            asked: How many its user was seen to have asked in this minute before.
            tells: Whether its asker is notified of a refusal.
        """
        user, place, minute = user_subject(arrival.user_id), _place(arrival), minute_of(moment)
        both = asked < self._limits.user_per_minute
        now = self._add(db, minute, *((user, place) if both else (user,)))
        patience = self._limits.longest_wait - WINDOW
        latest = (arrival.sent_at or moment) + patience
        if now[user] > self._limits.user_per_minute:
            if both:  # others counted at the same time
                self._take_back(db, minute, place)
            latest = min(latest, moment + self._limits.user_wait)
            if not arrival.pressed and arrival.refusal is None:
                free = self._reserve(db, minute, latest, user, place)
                if free.is_counted:
                    return Counted(not_before=free.minute)
            return self._refused(db, arrival, too_fast(moment), minute, tells=tells)
        if now.get(place, 0) <= self._limits.channel_per_minute:
            return Counted()
        self._take_back(db, minute, place)
        free = self._reserve(db, minute, latest, place)
        if free.is_counted:
            return Counted(not_before=free.minute)
        full = ChannelFull(_seconds(free.minute - patience - moment))
        return self._refused(db, arrival, full, minute, tells=tells)

    def _refused(
        self, db: Connection, arrival: Arrival, limit: RateLimited, minute: datetime, *, tells: bool
    ) -> Counted:
        told = told_subject(arrival.user_id)
        is_first = tells and self._add(db, minute, told)[told] == 1
        sentence = in_language(limit.sentence, language_of(arrival.locale))
        return Counted(sentence, is_first, limit=limit)

    def _reserve(
        self, db: Connection, minute: datetime, latest: datetime, *subjects: str
    ) -> "_Free":
        """Count a question in the next minute in which all subjects have room, by `latest`.

        Return that minute in any case, and whether it is counted.
        """
        row, most = CountRow, {one: self._most(one) for one in subjects}
        beyond = or_(*(and_(row.subject == one, row.questions >= most[one]) for one in subjects))
        full = {*db.scalars(select(row.minute).where(row.minute > minute, beyond))}
        while True:
            minute += WINDOW
            if minute in full:
                continue
            if minute > latest:
                return _Free(minute, is_counted=False)
            counted = self._add(db, minute, *subjects)
            if all(counted[one] <= most[one] for one in subjects):
                return _Free(minute, is_counted=True)
            self._take_back(db, minute, *subjects)  # others counted at the same time

    def _most(self, subject: str) -> int:
        limits = self._limits
        return limits.user_per_minute if subject.startswith(USER) else limits.channel_per_minute

    def _add(self, db: Connection, minute: datetime, *subjects: str) -> dict[str, int]:
        given = [{"subject": one, "minute": minute, "questions": 1} for one in subjects]
        return dict(db.execute(self._one_more, given).all())

    def _take_back(self, db: Connection, minute: datetime, *subjects: str) -> None:
        counted = (CountRow.subject.in_(subjects), CountRow.minute == minute)
        db.execute(update(CountRow).where(*counted).values(questions=CountRow.questions - 1))


@dataclass(frozen=True, slots=True)
class _Free:
    """A minute in which there is room, and whether a question is counted in it."""

    minute: datetime
    is_counted: bool


def user_subject(user_id: str) -> str:
    """Return under which subject a user's questions are counted."""
    return f"{USER}{user_id}"


def told_subject(user_id: str) -> str:
    """Return under which subject it is counted that a user was notified of the limit."""
    return f"told:{user_id}"


def waits_subject(user_id: str, platform: str, channel: str) -> str:
    """Return under which subject it is counted that a user was asked to wait in a channel."""
    return f"{WAITS}{user_id}:{platform}:{channel}"


def channel_subject(platform: str, workspace: str, channel: str) -> str:
    """Return under which subject a channel's questions are counted."""
    return f"channel:{platform}:{workspace}:{channel}"


def minute_of(moment: datetime) -> datetime:
    """Return the beginning of a moment's minute."""
    return moment.astimezone(UTC).replace(second=0, microsecond=0)


def too_fast(moment: datetime) -> RateLimited:
    """Return that a user asks too much, who may ask again when a moment's minute is over."""
    return RateLimited(_seconds(minute_of(moment) + WINDOW - moment))


def _seconds(wait: timedelta) -> float:
    return max(1.0, wait.total_seconds())


def _place(arrival: Arrival) -> str:
    return channel_subject(arrival.platform, arrival.workspace, arrival.channel)


def count_one_more(engine: AsyncEngine) -> Any:
    """Return the statement that counts one more for each subject, and tells all their counts."""
    counts = CountRow.__table__
    upsert = insert_into(engine, counts).on_conflict_do_update(
        index_elements=["subject", "minute"], set_={"questions": counts.c.questions + 1}
    )
    return upsert.returning(counts.c.subject, counts.c.questions)
