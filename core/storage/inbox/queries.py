"""Events by where they came from: looked up, and taken out of direct messages, by place."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Select, delete, exists, func, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncEngine

from core.domain import STORED, AgentRequest, now
from core.storage.database import reading, write
from core.storage.inbox import accepting as crowds
from core.storage.inbox import claiming
from core.storage.inbox.base import (
    Answered,
    Arrival,
    Backlog,
    CountRow,
    Job,
    Kind,
    State,
    Twin,
    channel_subject,
    user_subject,
)
from core.storage.inbox.rows import (
    FORGOTTEN_USER,
    CursorRow,
    InboxRow,
    PostRow,
    answered_from,
    arrival_from,
    is_buried,
    is_waiting,
)
from core.storage.privacy import (
    BRIEFLY,
    Channel,
    ForgottenWorkspace,
    Holder,
    PersonRows,
    Work,
    batch_of,
    deleting,
    executing,
    in_workspace,
    parts,
)


@dataclass(frozen=True, slots=True)
class PlacedQuestion:
    """A question in a message, and where that message stands."""

    key: str
    workspace: str
    channel: int | str
    """The channel or thread of the message, as its address names it."""
    message: int | str
    asked_at: datetime
    thread: str | None = None
    """The first message of the thread that it stands in, where its address names that."""


@dataclass(frozen=True, slots=True)
class AskedThere:
    """A question, and whether it is gone with a place that is deleted."""

    workspace: str
    key: str
    is_gone: bool


class InboxPlaces:
    """What the inbox knows of places; every method raises StoreError when the database fails."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def asked_in(self, platform: str, place: str) -> list[AskedThere]:
        """Return the questions that a channel or thread had anything to do with, oldest first."""
        row = InboxRow
        here = or_(row.channel == place, row.thread == place, row.asked_in == place)
        asked = (row.kind == Kind.ASK.value, row.user_id != FORGOTTEN_USER)
        query = select(row.workspace, row.key, row.channel, row.thread, row.address)
        query = query.where(row.platform == platform, here, *asked).order_by(row.accepted_at)
        async with reading(self._engine) as db:
            return [
                AskedThere(workspace, key, _stood_in(place, channel, thread, address))
                for workspace, key, channel, thread, address in await db.execute(query)
            ]

    async def under_way(self, channel: Channel, thread: str) -> list[UUID]:
        """Return the requests below a message that are not answered yet."""
        row = InboxRow
        query = select(row.request_id, row.address, row.thread).where(
            row.platform == channel.platform,
            row.workspace == channel.workspace,
            row.channel == channel.channel,
            row.state == State.WAITING.value,
            row.kind != Kind.FORGET.value,
        )
        async with reading(self._engine) as db:
            return [
                request_id
                for request_id, address, below in await db.execute(query)
                if thread in (below, address.get("thread") or address.get("message"))
            ]

    async def asked_since(
        self, platform: str, moment: datetime, limit: int
    ) -> list[PlacedQuestion]:
        """Return the latest questions in messages that came since a moment, oldest first.

        Those that were deleted, or whose user is forgotten, are left out.
        """
        row, deletion = InboxRow, InboxRow.__table__.alias()
        is_deleted = (
            select(deletion.c.key)
            .where(deletion.c.about == row.key, deletion.c.kind == Kind.FORGET.value)
            .exists()
        )
        query = select(row.key, row.workspace, row.address, row.accepted_at).where(
            row.platform == platform,
            row.accepted_at >= moment,
            row.kind == Kind.ASK.value,
            row.user_id != FORGOTTEN_USER,
            ~is_deleted,
        )
        async with reading(self._engine) as db:
            rows = await db.execute(query.order_by(row.accepted_at.desc()).limit(limit))
            found = [
                PlacedQuestion(
                    key,
                    workspace,
                    address["channel"],
                    address["message"],
                    accepted_at,
                    address.get("thread"),
                )
                for key, workspace, address, accepted_at in rows
                if address.get("message")
            ]
        return found[::-1]

    async def threads(
        self, platform: str, workspace: str, since: datetime
    ) -> list[tuple[str, str]]:
        """Return the channel and thread of all conversations a user asked in since a moment."""
        row = InboxRow
        thread = func.coalesce(row.thread, row.asked_in)
        query = select(row.channel, thread).where(
            row.platform == platform,
            row.workspace == workspace,
            row.accepted_at >= since,
            row.channel != "",
            thread.is_not(None),
        )
        async with reading(self._engine) as db:
            return [(channel, found) for channel, found in await db.execute(query.distinct())]


def _stood_in(place: str, channel: str, thread: str | None, address: Mapping[str, Any]) -> bool:
    """Return whether a question, or the whole of its answer, stood in a channel or thread.

    A thread may lie below a question, or an answer, that stands in the channel.
    """
    was_asked_there = str(address.get("channel")) == place
    is_answered_there = thread == place and address.get("message") is not None
    return channel == place or was_asked_there or is_answered_there


_BURIED_FOR = timedelta(days=1)
"""How long it is known that a message was deleted whose event may still come."""
_PENDING_FOR = timedelta(days=1)
"""How long a question waits until its asker says to which course it is."""


class InboxHoldings(Holder):
    """What the inbox holds of people and workspaces; methods raise StoreError."""

    TABLES = (InboxRow, PostRow, CursorRow, CountRow)
    COUNTED_AS = "waiting"

    def __init__(self, engine: AsyncEngine) -> None:
        """Prepare to read and delete."""
        self._engine = engine

    async def workspaces(self, platform: str) -> frozenset[str]:
        """Return the workspaces of a platform that events are kept of."""
        query = select(InboxRow.workspace).where(InboxRow.platform == platform)
        async with reading(self._engine) as db:
            return frozenset(await db.scalars(query.distinct()))

    async def of_organisation(self, platform: str, organisation: str) -> list[str]:
        """Return the ids of the workspaces of an organisation in which a user asked."""
        of_it = InboxRow.address["enterprise"].as_string() == organisation
        query = select(InboxRow.workspace).where(InboxRow.platform == platform, of_it).distinct()
        async with reading(self._engine) as db:
            return [*await db.scalars(query)]

    async def direct_channels(self, user_ids: Sequence[str]) -> frozenset[Channel]:
        """Return the direct messages that a person asked in, by their pseudonyms."""
        row = InboxRow
        query = select(row.platform, row.workspace, row.channel, row.address)
        async with reading(self._engine) as db:
            rows = await db.execute(query.where(row.user_id.in_(user_ids), row.channel != ""))
            return frozenset(Channel(*where) for *where, address in rows if address.get("dm"))

    async def of_user(self, user_id: str) -> int:
        """Return how many events of a user are kept."""
        count = select(func.count()).select_from(InboxRow).where(InboxRow.user_id == user_id)
        async with reading(self._engine) as db:
            return await db.scalar(count) or 0

    async def forget_user(self, user_id: str) -> int:
        """Blank all events of a user, and return how many there were.

        Their keys stay, so that none of them is answered when it is delivered again. What is
        under way is taken from its holder, and becomes the order to remove what was posted.
        """
        return await write(self._engine, lambda db: claiming.forget_user(db, user_id))

    async def forget_direct(self, direct: Channel) -> None:
        """Remove the id of direct messages from all events, counters and cursors.

        The events keep their keys, so that none is answered when it is delivered again.
        """
        await write(self._engine, lambda db: _forget_direct(db, direct))

    def rows_of(self, user_ids: Sequence[str], direct: Iterable[Channel]) -> Iterable[PersonRows]:
        """Return a person's events, where they were answered, and how many were counted."""
        own = InboxRow.user_id.in_(user_ids)
        yield PersonRows(InboxRow, own, withheld=frozenset({"token"}))
        yield PersonRows(PostRow, PostRow.key.in_(select(InboxRow.key).where(own)))
        yield PersonRows(CountRow, CountRow.subject.in_([user_subject(one) for one in user_ids]))
        channels = sorted({(one.platform, one.channel) for one in direct})
        yield PersonRows(CursorRow, tuple_(CursorRow.platform, CursorRow.channel).in_(channels))

    def known_of(self, db: Connection, workspace: ForgottenWorkspace) -> ForgottenWorkspace:
        """Return a workspace with who asked there, and what."""
        query = select(InboxRow.user_id, InboxRow.request_id)
        asked = db.execute(query.where(in_workspace(InboxRow, workspace))).all()
        people = {user_id for user_id, _ in asked} - {FORGOTTEN_USER}
        return workspace.knowing(people, (request_id for _, request_id in asked))

    def forget_workspace(self, db: Connection, workspace: ForgottenWorkspace) -> None:
        """Delete a workspace's events, how much its people asked, and how far it was read.

        The cursors of channels that other workspaces see as well stay.
        """
        platform = workspace.platform
        here = in_workspace(InboxRow, workspace)
        others = (InboxRow.platform == platform, InboxRow.workspace != workspace.workspace)
        for channels in parts(db.scalars(select(InboxRow.channel).where(here).distinct())):
            elsewhere = select(InboxRow.channel).where(*others, InboxRow.channel.in_(channels))
            own = {*channels} - {*db.scalars(elsewhere)}
            db.execute(
                delete(CursorRow).where(CursorRow.platform == platform, CursorRow.channel.in_(own))
            )
            counted = [channel_subject(platform, workspace.workspace, one) for one in channels]
            db.execute(delete(CountRow).where(CountRow.subject.in_(counted)))
        for users in parts(workspace.people):
            counted = [user_subject(one) for one in users]
            db.execute(delete(CountRow).where(CountRow.subject.in_(counted)))
        super().forget_workspace(db, workspace)

    def expired(self, moment: datetime, kept_for: timedelta | None) -> Iterable[Work]:
        """Delete counters, what stands for deleted messages, and events that have ended.

        Questions whose course was never chosen are blanked.
        """
        row = InboxRow
        yield deleting(CountRow, CountRow.minute < moment - BRIEFLY)
        yield deleting(row, is_buried(), row.accepted_at < moment - _BURIED_FOR)
        before = moment - _PENDING_FOR
        old = batch_of(row, ~is_waiting(), row.request.is_not(None), row.accepted_at < before)
        yield executing(update(row).where(old).values(request=None))
        if kept_for is not None:
            yield partial(_delete_ended, moment - kept_for)


def _forget_direct(db: Connection, direct: Channel) -> None:
    row, channel = InboxRow, direct.channel
    here = (
        in_workspace(row, ForgottenWorkspace(direct.platform, direct.workspace)),
        row.channel == channel,
    )
    blank = {"channel": "", "lane": row.key, "thread": None, "asked_in": None}
    db.execute(update(row).where(*here).values(**blank))
    subject = channel_subject(direct.platform, direct.workspace, channel)
    db.execute(delete(CountRow).where(CountRow.subject == subject))
    cursor = (CursorRow.platform == direct.platform, CursorRow.channel == channel)
    db.execute(delete(CursorRow).where(*cursor))


def _delete_ended(before: datetime, db: Connection) -> int:
    """Delete events that have ended, and the cursors of direct messages that had no other."""
    row = InboxRow
    gone = delete(row).where(batch_of(row, row.accepted_at < before, ~is_waiting()))
    deleted = db.execute(gone.returning(row.platform, row.channel, row.address)).all()
    for platform, channel, address in deleted:
        if address.get("dm"):
            others = select(row.key).where(row.platform == platform, row.channel == channel)
            cursor = (CursorRow.platform == platform, CursorRow.channel == channel)
            db.execute(delete(CursorRow).where(*cursor, ~others.exists()))
    return len(deleted)


class InboxQueries(InboxHoldings):
    """Reads events and cursors; every method raises StoreError when the database fails."""

    async def is_overtaken(self, job: Job) -> bool:
        """Return whether a deletion, or a later edit, of a job's question was begun.

        Then its turn must not stay either: the one of an edit has taken its place.
        """
        async with reading(self._engine) as db:
            return await db.scalar(claiming.overtaking(job)) is not None

    async def of_key(self, key: str) -> Arrival | None:
        """Return an event as it arrived, without its token, and once ended without its text."""
        async with reading(self._engine) as db:
            row = await db.get(InboxRow, key)
            return arrival_from(row) if row is not None else None

    async def all_of_request(self, request_id: UUID) -> list[Answered]:
        """Return the events that asked a request, then those that showed its answer once more."""
        async with reading(self._engine) as db:
            asking = select(InboxRow).where(InboxRow.request_id == request_id)
            rows = await db.scalars(asking.order_by(InboxRow.accepted_at, InboxRow.key))
            return [answered_from(row) for row in rows]

    async def first_of_crowd(self, job: Job) -> Twin | None:
        """Return the event that asked the same question just before; None: there is none."""
        return await self._twin(job, crowds.first_of(job))

    async def asked_before(self, job: Job) -> Twin | None:
        """Return the latest event of the term that asked the same in the same channel.

        None: there is none that was answered, whose asker and question are there still.
        """
        return await self._twin(job, crowds.latest_before(job))

    async def _twin(self, job: Job, query: Select[Any]) -> Twin | None:
        if job.arrival.gist is None:
            return None
        async with reading(self._engine) as db:
            row = (await db.execute(query)).one_or_none()
            if row is None:
                return None
            posts = await db.scalars(crowds.posts_of(row.key))
            return crowds.twin_from(row, tuple(posts))

    async def linked_to(self, key: str) -> list[Arrival]:
        """Return the events that ended with a link to this one's answer, as they arrived."""
        async with reading(self._engine) as db:
            asked_at = await db.scalar(select(InboxRow.accepted_at).where(InboxRow.key == key))
            if asked_at is None:
                return []
            rows = await db.scalars(crowds.linked_to(key, asked_at))
            return [arrival_from(row) for row in rows]

    async def change_of(self, key: str) -> int | None:
        """Return the position of the first edit or deletion of an event; None: there is none."""
        changes = select(func.min(InboxRow.position)).where(
            InboxRow.about == key, InboxRow.kind.in_([Kind.REDO.value, Kind.FORGET.value])
        )
        async with reading(self._engine) as db:
            return await db.scalar(changes)

    async def pending_request(self, request_id: UUID) -> AgentRequest | None:
        """Return a question that waits for its course; None: it does not wait."""
        async with reading(self._engine) as db:
            kept = await db.scalar(claiming.pending_query(request_id))
            return AgentRequest.model_validate(kept, context=STORED) if kept else None

    async def by_message(self, platform: str, message_id: str) -> Answered | None:
        """Return the latest event that a message of the bot's answers."""
        post = (PostRow.platform == platform, PostRow.message_id == message_id)
        root = select(PostRow.key).where(*post).scalar_subquery()
        events = select(InboxRow).where(
            or_(InboxRow.key == root, InboxRow.about == root), InboxRow.kind != Kind.FORGET.value
        )
        async with reading(self._engine) as db:
            latest = events.order_by(InboxRow.accepted_at.desc(), InboxRow.about.is_(None))
            row = await db.scalar(latest.limit(1))
            return answered_from(row) if row is not None else None

    async def latest_of(self, user_ids: Sequence[str], limit: int) -> list[Answered]:
        """Return the questions that a person asked last, by their pseudonyms, latest first."""
        asked = select(InboxRow).where(
            InboxRow.user_id.in_(user_ids), InboxRow.kind == Kind.ASK.value
        )
        async with reading(self._engine) as db:
            rows = await db.scalars(asked.order_by(InboxRow.accepted_at.desc()).limit(limit))
            return [answered_from(row) for row in rows]

    async def has_lane(self, lane: str, *, before: int | None = None) -> bool:
        """Return whether there ever was an event in a lane, at all or before a position."""
        reactions = [kind.value for kind in Kind if kind.is_reaction]
        there = [InboxRow.lane == lane, InboxRow.kind.not_in(reactions)]
        if before is not None:
            there.append(InboxRow.position < before)
        async with reading(self._engine) as db:
            return bool(await db.scalar(select(exists().where(*there))))

    async def backlog(self, moment: datetime | None = None) -> Backlog:
        """Return how much there is to do."""
        held = InboxRow.lease_until > (moment or now())
        query = select(
            func.count(), func.count().filter(held), func.min(InboxRow.accepted_at)
        ).where(is_waiting())
        async with reading(self._engine) as db:
            open_events, in_flight, oldest = (await db.execute(query)).one()
        return Backlog(open_events - in_flight, in_flight, oldest)

    async def cursors(self, platform: str) -> Mapping[str, int]:
        """Return the latest position that was accepted or seen, by channel."""
        query = select(CursorRow.channel, CursorRow.position)
        async with reading(self._engine) as db:
            rows = await db.execute(query.where(CursorRow.platform == platform))
            return dict(rows.all())

    async def active_direct_channels(self, platform: str, since: datetime) -> frozenset[str]:
        """Return the direct messages with the bot in which something was accepted since then."""
        row = InboxRow
        query = select(row.channel).where(
            row.platform == platform, row.accepted_at >= since, row.address["dm"].as_boolean()
        )
        async with reading(self._engine) as db:
            return frozenset(await db.scalars(query.distinct()))
