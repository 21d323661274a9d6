"""What the inbox knows of its events, read and left as it is."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, exists, func, or_, select
from sqlalchemy.ext.asyncio import AsyncEngine

from core.inbox import claiming, crowds, forgetting
from core.inbox.base import Answered, Arrival, Backlog, Job, Kind, Twin
from core.inbox.rows import CursorRow, InboxRow, PostRow, answered_from, arrival_from, is_waiting
from core.models import STORED, AgentRequest, now
from core.storage.database import reading


class InboxQueries:
    """Reads events and cursors; every method raises StoreError when the database fails."""

    def __init__(self, engine: AsyncEngine) -> None:
        """Prepare to read."""
        self._engine = engine

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
            kept = await db.scalar(forgetting.pending_query(request_id))
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

    async def of_user(self, user_id: str) -> int:
        """Return how many events of a user are kept."""
        count = select(func.count()).select_from(InboxRow).where(InboxRow.user_id == user_id)
        async with reading(self._engine) as db:
            return await db.scalar(count) or 0
