"""Events by where they came from: looked up, and taken out of direct messages, by place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncEngine

from core.inbox.base import Kind, State
from core.inbox.limits import CountRow, channel_subject
from core.inbox.rows import FORGOTTEN_USER, CursorRow, InboxRow
from core.storage.database import reading, write


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel, by the platform's ids."""

    platform: str
    workspace: str
    channel: str


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

    async def workspaces(self, platform: str) -> frozenset[str]:
        """Return the workspaces of a platform that events are kept of."""
        query = select(InboxRow.workspace).where(InboxRow.platform == platform)
        async with reading(self._engine) as db:
            return frozenset(await db.scalars(query.distinct()))

    async def direct_channels(self, user_ids: Sequence[str]) -> frozenset[Channel]:
        """Return the direct messages that a person asked in, by their pseudonyms."""
        row = InboxRow
        query = select(row.platform, row.workspace, row.channel, row.address)
        async with reading(self._engine) as db:
            rows = await db.execute(query.where(row.user_id.in_(user_ids), row.channel != ""))
            return frozenset(Channel(*where) for *where, address in rows if address.get("dm"))

    async def forget_direct(self, direct: Channel) -> None:
        """Remove the id of direct messages from all events, counters and cursors.

        The events keep their keys, so that none is answered when it is delivered again.
        """
        await write(self._engine, lambda db: _forget_direct(db, direct))

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


def _forget_direct(db: Connection, direct: Channel) -> None:
    row, channel = InboxRow, direct.channel
    here = (
        row.platform == direct.platform,
        row.workspace == direct.workspace,
        row.channel == channel,
    )
    blank = {"channel": "", "lane": row.key, "thread": None, "asked_in": None}
    db.execute(update(row).where(*here).values(**blank))
    subject = channel_subject(direct.platform, direct.workspace, channel)
    db.execute(delete(CountRow).where(CountRow.subject == subject))
    cursor = (CursorRow.platform == direct.platform, CursorRow.channel == channel)
    db.execute(delete(CursorRow).where(*cursor))
