"""How much one user or channel may ask, and how it is counted."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Text, update
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.database import Base, UtcDateTime, insert_into
from core.errors import RateLimited, RequestError
from core.inbox.base import Arrival

WINDOW = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Limits:
    """What is accepted in a minute, and how much is answered at the same time."""

    user_per_minute: int = 6
    channel_per_minute: int = 30
    user_in_flight: int = 2
    channel_in_flight: int = 4
    in_flight: int = 32
    """Of everybody, in all processes together."""


@dataclass(frozen=True, slots=True)
class Excess:
    """A question beyond a limit."""

    refusal: str
    is_first: bool
    """Whether it is the first beyond this limit in its minute."""


class CountRow(Base):
    """How many questions a user or a channel asked in one minute."""

    __tablename__ = "inbox_counts"

    subject: Mapped[str] = mapped_column(Text, primary_key=True)
    minute: Mapped[datetime] = mapped_column(UtcDateTime, primary_key=True)
    questions: Mapped[int]


class Counting:
    """Counts questions by minute; its statements are built once."""

    def __init__(self, engine: AsyncEngine, limits: Limits) -> None:
        self._limits = limits
        self._one_more = _one_more(engine)

    def count(
        self, db: Connection, arrival: Arrival, asked: int, moment: datetime
    ) -> Excess | None:
        """Count a question, and return by what it is too much; None: it is not.

        A user's questions beyond the limit do not use up the channel's, so that nobody silences
        a channel.

        Args:
            asked: How many its user was seen to have asked in this minute before.
        """
        user, place, minute = user_subject(arrival.user_id), _place(arrival), minute_of(moment)
        both = asked < self._limits.user_per_minute
        given = [
            {"subject": subject, "minute": minute, "questions": 1}
            for subject in ((user, place) if both else (user,))
        ]
        now: dict[str, int] = dict(db.execute(self._one_more, given).all())
        wait = max(1.0, (minute + WINDOW - moment).total_seconds())
        if now[user] > self._limits.user_per_minute:
            if both:  # others counted at the same time
                self._take_back(db, place, minute)
            is_first = now[user] == self._limits.user_per_minute + 1
            return Excess(RateLimited(wait).user_message, is_first)
        in_channel = now.get(place, 0)
        if in_channel > self._limits.channel_per_minute:
            is_first = in_channel == self._limits.channel_per_minute + 1
            return Excess(_ChannelBusy(wait).user_message, is_first)
        return None

    def _take_back(self, db: Connection, place: str, minute: datetime) -> None:
        counted = (CountRow.subject == place, CountRow.minute == minute)
        db.execute(update(CountRow).where(*counted).values(questions=CountRow.questions - 1))


def user_subject(user_id: str) -> str:
    """Return under which subject a user's questions are counted."""
    return f"user:{user_id}"


def channel_subject(platform: str, workspace: str, channel: str) -> str:
    """Return under which subject a channel's questions are counted."""
    return f"channel:{platform}:{workspace}:{channel}"


def minute_of(moment: datetime) -> datetime:
    """Return the beginning of a moment's minute."""
    return moment.astimezone(UTC).replace(second=0, microsecond=0)


class _ChannelBusy(RequestError):
    """More is asked in a channel than it may ask; `retry_after` is in seconds."""

    def __init__(self, retry_after: float) -> None:
        super().__init__(
            user_message=(
                "Many questions are being asked in this channel at the moment. "
                f"Please ask again in {retry_after:.0f} seconds."
            )
        )


def _place(arrival: Arrival) -> str:
    return channel_subject(arrival.platform, arrival.workspace, arrival.channel)


def _one_more(engine: AsyncEngine) -> Any:
    """Return the statement that counts one more for each subject, and tells all their counts."""
    counts = CountRow.__table__
    upsert = insert_into(engine, counts).on_conflict_do_update(
        index_elements=["subject", "minute"], set_={"questions": counts.c.questions + 1}
    )
    return upsert.returning(counts.c.subject, counts.c.questions)
