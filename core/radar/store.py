"""The SQL side of the radar: what is reported of weeks, and where it is posted every week."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import JSON, Connection, Date, Text, and_, delete, or_, select, update
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.models import now
from core.radar.activity import Ending, SectionActivity
from core.radar.post import RadarChannel
from core.radar.wordings import Group
from core.storage.database import Base, UtcDateTime, insert_into, reading, write

_CLAIMED_FOR = timedelta(minutes=5)
"""How long a process has to post a week, before another one tries."""


class RadarWeekRow(Base):
    """What may be shown of a course's week in a tenant; it never changes."""

    __tablename__ = "radar_weeks"

    course_id: Mapped[str] = mapped_column(Text, primary_key=True)
    tenant: Mapped[str] = mapped_column(Text, primary_key=True)
    week: Mapped[date] = mapped_column(Date, primary_key=True)
    """Its Monday."""
    least_askers: Mapped[int]
    content: Mapped[dict[str, Any]] = mapped_column(JSON)
    made_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)


class RadarChannelRow(Base):
    """A channel that gets a course's week, every week."""

    __tablename__ = "radar_channels"

    course_id: Mapped[str] = mapped_column(Text, primary_key=True)
    platform: Mapped[str] = mapped_column(Text, primary_key=True)
    workspace: Mapped[str] = mapped_column(Text, primary_key=True)
    channel: Mapped[str] = mapped_column(Text)
    posted: Mapped[date | None] = mapped_column(Date)
    """The latest week that stands there; None: none yet."""
    claimed_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    enterprise: Mapped[str | None] = mapped_column(Text)
    """The organisation around a workspace, where its platform needs to know."""
    locale: Mapped[str | None] = mapped_column(Text)
    """Of the user who chose the channel."""


@dataclass(frozen=True, slots=True)
class WeekTold:
    """What may be shown of a week."""

    least_askers: int
    activity: tuple[SectionActivity, ...]
    asked: tuple[Group, ...] = ()
    """The questions asked most."""
    not_covered: tuple[Group, ...] = ()
    """Those of them that the book does not answer."""
    queue: tuple[tuple[str, int], ...] = ()
    """What had become of questions to staff, by state."""


class RadarStore:
    """Weeks and channels; every method raises StoreError when the database fails."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def week(self, course_id: str, tenant: str, week: date) -> WeekTold | None:
        """Return what was reported of a week, or None where that is not settled yet."""
        async with reading(self._engine) as db:
            row = await db.get(RadarWeekRow, (course_id, tenant, week))
        return None if row is None else _told(row.least_askers, row.content)

    async def settle(self, course_id: str, tenant: str, week: date, told: WeekTold) -> WeekTold:
        """Keep the report of a week from now on, and return it; the first to settle it wins."""
        insert = insert_into(self._engine, RadarWeekRow).values(
            course_id=course_id,
            tenant=tenant,
            week=week,
            least_askers=told.least_askers,
            content=_content(told),
            made_at=now(),
        )
        key = ["course_id", "tenant", "week"]
        once = insert.on_conflict_do_nothing(index_elements=key)
        await write(self._engine, lambda db: db.execute(once).rowcount)
        return await self.week(course_id, tenant, week) or told

    async def choose(self, channel: RadarChannel, posted: date) -> None:
        """Have a course's weeks posted into a channel, instead of one that was chosen before.

        Args:
            posted: The latest week that is not to be posted any more.
        """
        key = {
            "course_id": channel.course_id,
            "platform": channel.platform,
            "workspace": channel.workspace,
        }
        values = {
            "channel": channel.channel,
            "posted": posted,
            "claimed_until": None,
            "enterprise": channel.enterprise,
            "locale": channel.locale,
        }
        insert = insert_into(self._engine, RadarChannelRow).values(**key, **values)
        kept = {name: value for name, value in values.items() if name != "posted"}
        upsert = insert.on_conflict_do_update(index_elements=[*key], set_=kept)
        await write(self._engine, lambda db: db.execute(upsert).rowcount, urgent=True)

    async def stop(self, course_id: str, platform: str, workspace: str) -> bool:
        """Have a course's weeks posted no more, and return whether they were."""
        row = RadarChannelRow
        gone = delete(row).where(_of(course_id, platform, workspace)).returning(row.channel)
        return await write(self._engine, lambda db: db.scalar(gone), urgent=True) is not None

    async def channel(self, course_id: str, platform: str, workspace: str) -> RadarChannel | None:
        """Return the channel that gets a course's weeks, or None."""
        async with reading(self._engine) as db:
            row = await db.get(RadarChannelRow, (course_id, platform, workspace))
            return None if row is None else _channel(row)

    async def claim(
        self,
        due: Callable[[str], date],
        platforms: Sequence[str],
        may_read: Callable[[RadarChannel], Awaitable[bool]],
    ) -> tuple[RadarChannel, date] | None:
        """Return a channel whose week is due, and that week; for a while it is no one else's.

        Args:
            due: Returns the week that is to stand in the channels of a course.
            platforms: Those that can be posted to.
            may_read: Returns whether the course of a channel may be read there now.
        """
        query = select(RadarChannelRow).where(RadarChannelRow.platform.in_(platforms))
        async with reading(self._engine) as db:
            rows = [*await db.scalars(query)]
        for row in rows:
            week = due(row.course_id)
            if row.posted is not None and row.posted >= week:
                continue
            if await may_read(_channel(row)) and await self._claimed(row, week):
                return _channel(row), week
        return None

    async def _claimed(self, row: RadarChannelRow, week: date) -> bool:
        moment, table = now(), RadarChannelRow
        free = or_(table.claimed_until.is_(None), table.claimed_until <= moment)
        is_due = or_(table.posted.is_(None), table.posted < week)
        here = _of(row.course_id, row.platform, row.workspace)
        claim = update(table).where(here, free, is_due)
        claimed = claim.values(claimed_until=moment + _CLAIMED_FOR).returning(table.channel)
        return await write(self._engine, lambda db: db.scalar(claimed)) is not None

    async def posted(self, channel: RadarChannel, week: date) -> None:
        """Keep that a week stands in its channel."""
        row = RadarChannelRow
        here = _of(channel.course_id, channel.platform, channel.workspace)
        done = update(row).where(here).values(posted=week, claimed_until=None)

        def keep(db: Connection) -> None:
            db.execute(done)

        await write(self._engine, keep)


def _of(course_id: str, platform: str, workspace: str) -> Any:
    row = RadarChannelRow
    return and_(row.course_id == course_id, row.platform == platform, row.workspace == workspace)


def _channel(row: RadarChannelRow) -> RadarChannel:
    return RadarChannel(
        row.course_id, row.platform, row.workspace, row.channel, row.enterprise, row.locale
    )


def _content(told: WeekTold) -> dict[str, Any]:
    return {
        "activity": [
            {
                "section": list(one.section),
                "endings": {ending.value: count for ending, count in one.endings.items()},
                "voted_down": one.voted_down,
                "askers": one.askers,
            }
            for one in told.activity
        ],
        "asked": [[str(one) for one in group.request_ids] for group in told.asked],
        "not_covered": [[str(one) for one in group.request_ids] for group in told.not_covered],
        "queue": [list(one) for one in told.queue],
    }


def _told(least: int, content: Mapping[str, Any]) -> WeekTold:
    known = {ending.value: ending for ending in Ending}
    activity = tuple(
        SectionActivity(
            tuple(one["section"]),
            {known[name]: count for name, count in one["endings"].items() if name in known},
            one["voted_down"],
            one["askers"],
        )
        for one in content["activity"]
    )
    return WeekTold(
        least,
        activity,
        _groups(content["asked"]),
        _groups(content["not_covered"]),
        tuple((state, count) for state, count in content.get("queue", ())),
    )


def _groups(listed: Sequence[Sequence[str]]) -> tuple[Group, ...]:
    return tuple(Group(tuple(map(UUID, ids))) for ids in listed)
