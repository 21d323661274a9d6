"""The SQL side of the radar: what is reported of weeks, and where it is posted every week."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import JSON, Connection, Date, Text, and_, delete, or_, select, update
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.domain import EXPLAIN_QUOTE, now
from core.storage.database import Base, UtcDateTime, insert_into, reading, write
from core.storage.privacy import ForgottenWorkspace, Holder, Work, deleting
from core.storage.sessions import SessionRow, TurnRow, VoteRow
from core.teaching.help_requests import HelpRequestRow
from core.teaching.radar_activity import OTHER, AskedWording, Ending, Event, Group, SectionActivity


@dataclass(frozen=True, slots=True)
class RadarPost:
    """A report as a chat shows it."""

    text: str
    """Markdown: the picture's table and the lists."""
    picture_name: str
    """The name of its file, the same for the same course and week."""
    picture: bytes
    """PNG."""
    alternative: str
    """What the picture shows, in words."""


@dataclass(frozen=True, slots=True)
class RadarChannel:
    """A channel that gets a course's week, every week."""

    course_id: str
    platform: str
    workspace: str
    channel: str
    enterprise: str | None = None
    locale: str | None = None


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


class RadarStore(Holder):
    """Weeks and channels; every method raises StoreError when the database fails."""

    TABLES = (RadarWeekRow, RadarChannelRow)

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    def forget_workspace(self, db: Connection, workspace: ForgottenWorkspace) -> None:
        """Delete a workspace's reports, and which of its channels get them."""
        super().forget_workspace(db, workspace)
        tenant = f"{workspace.platform}:{workspace.workspace}"
        db.execute(delete(RadarWeekRow).where(RadarWeekRow.tenant == tenant))

    def expired(self, moment: datetime, kept_for: timedelta | None) -> Iterable[Work]:
        """Delete old reports."""
        if kept_for is not None:
            yield deleting(RadarWeekRow, RadarWeekRow.made_at < moment - kept_for)

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


_PAGE = 100
"""Turns that are read at once: each holds its whole answer."""
_AT_ONCE = 500
_NOT_OF_BOOK = frozenset({"verified", "asker"})
"""Marks of what is cited and no passage of the book."""
_DEEPEST = 2
"""Headings that a section is named by."""
CONSOLE = "console"
"""The platform of the operator's own questions, which are not counted."""


@dataclass(frozen=True, slots=True)
class AskedTurn:
    """A question of a week."""

    event: Event
    wording: AskedWording


@dataclass(frozen=True, slots=True)
class VoteReason:
    """Why a user found an answer not helpful."""

    voter: str
    text: str
    section: tuple[str, ...]


class WeekReader:
    """Reads turns and votes; every method raises StoreError when the database fails."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def tenants(self, course_id: str, since: datetime, until: datetime) -> list[str]:
        """Return the tenants in which a course was asked, such as `discord:42`."""
        row, details = SessionRow, SessionRow.details
        platform, workspace = (details[name].as_string() for name in ("platform", "workspace"))
        query = select(platform, workspace).where(row.course_id == course_id)
        query = query.where(row.last_activity >= since, row.created_at < until).distinct()
        async with reading(self._engine) as db:
            found = (await db.execute(query)).all()
        return sorted(f"{p}:{w}" for p, w in found if p and w and p != CONSOLE)

    async def turns(
        self, course_id: str, tenant: str, since: datetime, until: datetime
    ) -> list[AskedTurn]:
        """Return what was asked in a tenant; what is forgotten is not there."""
        found = [
            turn
            async for row in self._rows(course_id, tenant, since, until)
            if (turn := _asked(row)) is not None
        ]
        votes = await self._down_votes([one.wording.request_id for one in found])
        return [
            AskedTurn(
                Event(
                    one.event.section,
                    one.event.ending,
                    one.event.asker,
                    frozenset(votes.get(one.wording.request_id, {})),
                ),
                one.wording,
            )
            for one in found
        ]

    async def help_requests(
        self, course_id: str, tenant: str, since: datetime, until: datetime
    ) -> list[tuple[str, str]]:
        """Return state and asker of what was passed on to a tenant's staff."""
        platform, _, workspace = tenant.partition(":")
        row = HelpRequestRow
        here = (row.course_id == course_id, row.platform == platform, row.workspace == workspace)
        query = select(row.state, row.asked_by).where(*here)
        query = query.where(row.opened_at >= since, row.opened_at < until)
        async with reading(self._engine) as db:
            found = await db.execute(query.order_by(row.opened_at, row.help_id))
            return [(state, asker) for state, asker in found]

    async def wordings(self, request_ids: Iterable[UUID]) -> dict[UUID, AskedWording]:
        """Return what is left of some questions."""
        found, ids = dict[UUID, AskedWording](), [*request_ids]
        for start in range(0, len(ids), _AT_ONCE):
            query = select(TurnRow.request_id, TurnRow.user_id, TurnRow.content).where(
                TurnRow.request_id.in_(ids[start : start + _AT_ONCE]), TurnRow.content.is_not(None)
            )
            async with reading(self._engine) as db:
                rows = (await db.execute(query)).all()
            found |= {row.request_id: _wording(row) for row in rows}
        return found

    async def reasons(self, turns: Sequence[AskedTurn]) -> list[VoteReason]:
        """Return why answers to some questions were found not helpful."""
        by_request = {one.wording.request_id: one.event.section for one in turns}
        votes = await self._down_votes([*by_request])
        return [
            VoteReason(voter, reason, by_request[request_id])
            for request_id, cast in votes.items()
            for voter, reason in cast.items()
            if reason
        ]

    async def _down_votes(self, request_ids: Sequence[UUID]) -> dict[UUID, dict[str, str | None]]:
        """Return who found which answer not helpful, with the reason if there is one."""
        found = dict[UUID, dict[str, str | None]]()
        row = VoteRow
        for start in range(0, len(request_ids), _AT_ONCE):
            part = request_ids[start : start + _AT_ONCE]
            query = select(row.request_id, row.user_id, row.reason)
            query = query.where(row.request_id.in_(part), ~row.helpful)
            async with reading(self._engine) as db:
                for vote in await db.execute(query):
                    found.setdefault(vote.request_id, {})[vote.user_id] = vote.reason
        return found

    async def _rows(
        self, course_id: str, tenant: str, since: datetime, until: datetime
    ) -> AsyncIterator[Any]:
        platform, _, workspace = tenant.partition(":")
        row, details = TurnRow, SessionRow.details
        there = and_(
            details["platform"].as_string() == platform,
            details["workspace"].as_string() == workspace,
        )
        query = select(row.request_id, row.user_id, row.timestamp, row.content)
        query = query.join(SessionRow, SessionRow.session_id == row.session_id)
        query = query.where(SessionRow.course_id == course_id, there, row.content.is_not(None))
        query = query.where(row.timestamp >= since, row.timestamp < until)
        query = query.order_by(row.timestamp, row.request_id).limit(_PAGE)
        after: tuple[datetime, UUID] | None = None
        while True:
            page = query
            if after is not None:
                later = and_(row.timestamp == after[0], row.request_id > after[1])
                page = query.where(or_(row.timestamp > after[0], later))
            async with reading(self._engine) as db:
                rows = (await db.execute(page)).all()
            for one in rows:
                yield one
            if len(rows) < _PAGE:
                return
            after = rows[-1].timestamp, rows[-1].request_id


def _asked(row: Any) -> AskedTurn | None:
    """Return a question; None: nothing was asked, it was refused, or its answer failed."""
    answer = row.content["agent_response"]
    ending = _ending(answer)
    if ending is None:
        return None
    return AskedTurn(Event(_section(answer), ending, row.user_id), _wording(row))


def _wording(row: Any) -> AskedWording:
    content = row.content
    text = content["user_input"]
    if text == EXPLAIN_QUOTE and content.get("selected_text"):
        text = content["selected_text"]
    return AskedWording(row.request_id, row.user_id, text)


def _ending(answer: Mapping[str, Any]) -> Ending | None:
    if answer.get("unknown_section") is not None or answer.get("asks_nothing"):
        return None
    if answer.get("held_to") is not None:
        return Ending.HELD
    if answer.get("checked") is not None:
        return Ending.VERIFIED
    endings = {
        "answered": Ending.ANSWERED,
        "partial": Ending.NOT_SURE,
        "abstained": Ending.NOT_COVERED,
    }
    return endings.get(str(answer.get("outcome")))


def _section(answer: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the headings of what was cited first; of an abstention, the nearest section's.

    What staff said lies in no section, and neither does what the asker wrote.
    """
    cited = answer.get("grounding_chunks") or ()
    of_book = (one for one in cited if _NOT_OF_BOOK.isdisjoint(one.get("metadata") or {}))
    if (first := next(of_book, None)) is not None:
        titles = dict.fromkeys((first["page_title"], *first.get("headings", ())))
        return tuple(titles)[:_DEEPEST]
    nearest = answer.get("nearest_sections") or ()
    return (nearest[0],) if nearest else OTHER
