"""How much one user or channel may ask, and how it is counted."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Text
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession
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


async def count(
    db: AsyncSession, engine: AsyncEngine, arrival: Arrival, limits: Limits, moment: datetime
) -> Excess | None:
    """Count a question, and return by what it is too much; None: it is not.

    A user's questions beyond the limit do not use up the channel's, so that nobody silences
    a channel.
    """
    minute = minute_of(moment)
    wait = (minute + WINDOW - moment).total_seconds()
    asked = await _counted(db, engine, user_subject(arrival.user_id), minute)
    if asked > limits.user_per_minute:
        refusal = RateLimited(max(1.0, wait)).user_message
        return Excess(refusal, asked == limits.user_per_minute + 1)
    place = f"channel:{arrival.platform}:{arrival.workspace}:{arrival.channel}"
    asked = await _counted(db, engine, place, minute)
    if asked > limits.channel_per_minute:
        refusal = _ChannelBusy(max(1.0, wait)).user_message
        return Excess(refusal, asked == limits.channel_per_minute + 1)
    return None


def user_subject(user_id: str) -> str:
    """Return under which subject a user's questions are counted."""
    return f"user:{user_id}"


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


async def _counted(db: AsyncSession, engine: AsyncEngine, subject: str, minute: datetime) -> int:
    """Count one more question of a subject, and return which one of its minute that is."""
    first = insert_into(engine, CountRow).values(subject=subject, minute=minute, questions=1)
    upsert = first.on_conflict_do_update(
        index_elements=["subject", "minute"], set_={"questions": CountRow.questions + 1}
    )
    asked: int = (await db.execute(upsert.returning(CountRow.questions))).scalar_one()
    return asked
