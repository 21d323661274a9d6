"""How much one user or channel may ask, and how it is counted."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Text, and_, or_, select, update
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.errors import ChannelFull, RateLimited
from core.i18n import in_language, language_of
from core.inbox.base import Arrival
from core.storage.database import Base, UtcDateTime, insert_into

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
