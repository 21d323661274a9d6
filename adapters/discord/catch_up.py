"""Takes in what happened while a shard was not connected, or could not see a server."""

import asyncio
import logging
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain, groupby, repeat
from operator import attrgetter
from typing import Protocol

import discord

from adapters.chat.arrivals import LOOKED_BACK, MOST_QUESTIONS, changed_in
from adapters.chat.incoming_message import PlatformClock
from adapters.discord.client import Client
from adapters.discord.inbound import DIRECT, message_key
from adapters.discord.odd_events import HISTORY
from adapters.discord.payloads import RawMessage, moment, read_message, snowflake
from adapters.discord.rest import UNKNOWN_CHANNEL, Json, Refused, Rest
from core.domain.errors import DeliveryError, StoreError
from core.storage.inbox.queries import InboxPlaces, PlacedQuestion
from core.storage.inbox.store import Inbox

logger = logging.getLogger(__name__)


_MOST_A_CHANNEL = 500


@dataclass(frozen=True, slots=True)
class ShardRange:
    """One of so many parts of Discord's servers; direct messages are the first one's."""

    number: int
    """From 0."""
    of: int

    def serves(self, workspace: str) -> bool:
        """Return whether a server, or the direct messages, are this shard's."""
        server = int(workspace) if workspace.isdecimal() else 0
        return (server >> 22) % self.of == self.number


class AskedQuestions(Protocol):
    """Knows what was asked."""

    async def questions(self, since: datetime) -> list[PlacedQuestion]:
        """Return the latest questions in messages since a moment, oldest first."""
        ...


@dataclass(frozen=True, slots=True)
class Deleted:
    """A question whose message is gone."""

    guild: int | None
    channel: int
    message: int


@dataclass(frozen=True, slots=True)
class GoneChannel:
    """A channel or thread that is gone, with all questions in it."""

    channel: int


@dataclass(frozen=True, slots=True)
class Edited:
    """An edited question, as it is now."""

    guild: int | None
    data: Json


Change = Edited | Deleted | GoneChannel


async def changed(
    client: discord.Client, rest: Rest, asked: AskedQuestions, shard: ShardRange, since: datetime
) -> AsyncIterator[Change]:
    """Yield what happened after a moment to a shard's questions of the hour before, and since.

    Every channel with such a question is read. What is closed to us tells nothing, and neither
    does what another bot was asked over the same database: this one may never have been there.
    An edit that was heard already may be among them.

    Raises:
        DeliveryError: when Discord does not let a channel be read now.
    """
    found = await asked.questions(since - LOOKED_BACK)
    here = (q for q in found if shard.serves(q.workspace) and _is_ours(client, q))
    ours = sorted(here, key=attrgetter("channel"))
    for channel, group in groupby(ours, key=attrgetter("channel")):
        try:
            changes = await _messages(rest, channel, [*group], since)
        except Refused as refusal:
            if not refusal.permanent:
                raise
            logger.info("channel %s cannot be read: %s", channel, refusal)
            if refusal.code == UNKNOWN_CHANNEL:
                yield GoneChannel(channel)
        else:
            for change in changes:
                yield change


def _is_ours(client: discord.Client, question: PlacedQuestion) -> bool:
    application = client.application_id
    return application is not None and question.key == message_key(
        application, int(question.message)
    )


async def _messages(
    rest: Rest, channel: int, questions: Sequence[PlacedQuestion], since: datetime
) -> list[Change]:
    ids = sorted(int(question.message) for question in questions)
    history = await rest.messages_after(channel, ids[0] - 1, most=_MOST_A_CHANNEL)
    there = {number: one for one in history if (number := snowflake(one.get("id"))) is not None}
    all_read = len(there) == len(history)  # else one that is not there may be there all the same
    read_to_the_end = len(history) < _MOST_A_CHANNEL
    furthest = max(there, default=0)
    found = changed_in(
        ids,
        {number: moment(message.get("edited_timestamp")) for number, message in there.items()},
        lambda number: all_read and (read_to_the_end or number < furthest),
        since,
    )
    workspace = questions[0].workspace
    guild = int(workspace) if workspace.isdecimal() else None
    return [
        Edited(guild, there[number]) if number in there else Deleted(guild, channel, number)
        for number in found
    ]


FURTHEST_BACK = timedelta(hours=24)
MARGIN = timedelta(seconds=30)
"""Events may be on their way when a moment is noted."""
_CATCH_UP_MOST_A_CHANNEL = 5_000

_Room = discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread


@dataclass(frozen=True, slots=True)
class Missed:
    """A message of the history, as Discord sent it."""

    channel: int
    guild: int | None
    """None for a direct message."""
    data: Json


class Cursors(AskedQuestions, Protocol):
    """Remembers how far Discord was heard, and what was asked."""

    async def note(self, shard: ShardRange, moment: datetime) -> None:
        """Keep the moment up to which a shard missed nothing."""
        ...

    async def last(self, shard: ShardRange) -> datetime | None:
        """Return the latest such moment; None before the first connection ever."""
        ...

    async def direct_channels(self, since: datetime) -> list[int]:
        """Return the direct messages in which something was asked since then."""
        ...


async def missed_since(cursors: Cursors, shard: ShardRange) -> datetime | None:
    """Return from when on a shard may have missed something; None before the first connection.

    Raises:
        StoreError: when the database fails.
    """
    last = await cursors.last(shard)
    if last is None:
        return None
    return max(last - MARGIN, discord.utils.utcnow() - FURTHEST_BACK)


async def missed_messages(
    client: discord.AutoShardedClient,
    rest: Rest,
    cursors: Cursors,
    shard: ShardRange,
    since: datetime,
) -> AsyncIterator[Missed]:
    """Yield a shard's messages since a moment, each channel's oldest first.

    Only channels with a newer message are read: Discord tells each channel's last message
    when it connects, so that a quiet server costs no request at all. Messages that were heard
    already may be among them. A channel that is closed to us is left out.

    Raises:
        DeliveryError: when Discord does not let a channel be read now.
    """
    newest = discord.utils.time_snowflake(since)
    channels = list[tuple[int, int | None]](_with_news(client, newest, shard.number))
    if shard.serves(DIRECT):
        active = await cursors.direct_channels(discord.utils.utcnow() - FURTHEST_BACK)
        channels += [(channel, None) for channel in active]
    found = 0
    for channel, guild in channels:
        try:
            async for page in rest.pages_after(channel, newest, most=_CATCH_UP_MOST_A_CHANNEL):
                for data in page:
                    found += 1
                    yield Missed(channel, guild, data)
        except Refused as refusal:
            if not refusal.permanent:
                raise
            logger.warning("channel %s cannot be read: %s", channel, refusal)
    logger.info("looked through %d channels and %d messages for missed ones", len(channels), found)


def _with_news(
    client: discord.AutoShardedClient, newest: int, shard_id: int
) -> Iterator[tuple[int, int]]:
    """Yield a shard's channels and threads that we can read and that have newer messages.

    Each with its server; whether we can is asked where our roles are not known.
    """
    for guild in client.guilds:
        if guild.shard_id != shard_id:
            continue
        rooms: list[_Room] = [*guild.text_channels, *guild.voice_channels, *guild.threads]
        rooms += guild.stage_channels
        for channel in rooms:
            if (channel.last_message_id or 0) >= newest and _is_open(channel):
                yield channel.id, guild.id


def _is_open(channel: _Room) -> bool:
    me: discord.Member | None = channel.guild.me
    unparented = isinstance(channel, discord.Thread) and channel.parent is None
    if me is None or channel.guild.default_role is None or unparented:
        return True
    allowed = channel.permissions_for(me)
    return allowed.view_channel and allowed.read_message_history


_PAUSES = (0.5, 1.0, 2.0, 5.0, 10.0)
"""Seconds between two looks for what was missed, when they fail."""
_ABSENT_FOR = 60.0
"""Seconds after which it is looked whether a server that was hidden is gone for good."""


class Intaking(Protocol):
    """Takes in what is found; every method raises StoreError when that cannot be done now."""

    async def missed_message(self, message: RawMessage, listening_since: datetime) -> None:
        """Take in a message that was missed."""
        ...

    async def changed(self, change: Change) -> None:
        """Take in what became of a message meanwhile."""
        ...


class Backfill:
    """Looks for what a shard missed, in the channels of its servers."""

    def __init__(
        self,
        client: Client,
        rest: Rest,
        cursors: Cursors,
        intake: Intaking,
        clock: PlatformClock,
    ) -> None:
        """Prepare to look.

        Args:
            cursors: Tell up to when nothing was missed.
            clock: Discord's, which its history and the cursors go by.
        """
        self._clock = clock
        self._client = client
        self._rest = rest
        self._cursors = cursors
        self._intake = intake

    async def look(self, shard: ShardRange, listening_since: datetime) -> None:
        """Take in what a shard missed, also from servers that Discord cannot tell of at once."""
        while True:
            absent = self._absent(shard)
            await self._take_in_missed(shard, listening_since)
            while absent and self._absent(shard) == absent:
                await self._guild_available()
            if not absent:
                return

    async def look_when_seen(self, shard: ShardRange, guild_id: int) -> None:
        """Take in what a shard missed of a server that an outage hides, once that is over."""
        hidden_at = self._clock.theirs(discord.utils.utcnow())
        while (guild := self._client.get_guild(guild_id)) is not None and guild.unavailable:
            await self._guild_available()
        await self._take_in_missed(shard, discord.utils.utcnow(), hidden_at - MARGIN)

    async def _guild_available(self) -> None:
        with suppress(TimeoutError):
            await self._client.wait_for("guild_available", timeout=_ABSENT_FOR)

    def _absent(self, shard: ShardRange) -> set[int]:
        """Return the servers of a shard that an outage of Discord's hides."""
        ours = (guild for guild in self._client.guilds if guild.shard_id == shard.number)
        return {guild.id for guild in ours if guild.unavailable}

    async def _take_in_missed(
        self, shard: ShardRange, listening_since: datetime, heard_until: datetime | None = None
    ) -> None:
        """Take in what was missed and can be read, until that has succeeded.

        Args:
            heard_until: From when on it may be, where nothing has been noted of the shard yet.
        """
        for pause in chain(_PAUSES, repeat(_PAUSES[-1])):
            try:
                await self._take_in_once(shard, listening_since, heard_until)
            except (StoreError, DeliveryError) as error:
                logger.warning("what was missed could not be looked for: %s", error)
                await asyncio.sleep(pause)
            else:
                return

    async def _take_in_once(
        self, shard: ShardRange, listening_since: datetime, heard_until: datetime | None
    ) -> None:
        since = await missed_since(self._cursors, shard) or heard_until
        if since is None:
            return
        missed = missed_messages(self._client, self._rest, self._cursors, shard, since)
        async for one in missed:
            with self._client.unreadable.contained(HISTORY, one.data.get("id")):
                message = read_message(one.data, one.guild)
                await self._intake.missed_message(message, listening_since)
        async for change in changed(self._client, self._rest, self._cursors, shard, since):
            with self._client.unreadable.contained(HISTORY, None):
                await self._intake.changed(change)


class ShardCursors:
    """The moments of Discord's shards, next to the inbox's cursors; methods raise StoreError."""

    def __init__(self, inbox: Inbox, places: InboxPlaces) -> None:
        self._inbox = inbox
        self._places = places

    async def note(self, shard: ShardRange, moment: datetime) -> None:
        """Keep the moment up to which a shard missed nothing."""
        await self._inbox.advance_cursor(
            "discord", _name_of(shard), int(moment.timestamp() * 1_000)
        )

    async def last(self, shard: ShardRange) -> datetime | None:
        """Return the latest such moment; None before the first connection ever.

        It may be one up to which another number of shards missed nothing, all together.
        """
        cursors = await self._inbox.cursors("discord")
        found = [*_heard_by_all(cursors), *filter(None, [cursors.get(_name_of(shard))])]
        return datetime.fromtimestamp(max(found) / 1_000, UTC) if found else None

    async def direct_channels(self, since: datetime) -> list[int]:
        """Return the direct messages in which something was asked since then."""
        active = await self._inbox.active_direct_channels("discord", since)
        return [int(channel) for channel in active if channel]  # a forgotten one has no id

    async def questions(self, since: datetime) -> list[PlacedQuestion]:
        """Return the latest questions in messages since a moment, oldest first."""
        return await self._places.asked_since("discord", since, MOST_QUESTIONS)


_EVERYWHERE = "*"
"""Stands where a cursor has its channel, for the only shard."""
_SHARD = re.compile(r"\*\d+/(\d+)")


def _name_of(shard: ShardRange) -> str:
    """Return what stands for a shard where a cursor has its channel."""
    return _EVERYWHERE if shard.of == 1 else f"*{shard.number}/{shard.of}"


def _heard_by_all(cursors: Mapping[str, int]) -> Iterator[int]:
    """Yield, for each number of shards there ever was, up to when all of them were heard."""
    by_count = defaultdict[int, list[int]](list)
    for name, milliseconds in cursors.items():
        if name == _EVERYWHERE:
            by_count[1].append(milliseconds)
        elif found := _SHARD.fullmatch(name):
            by_count[int(found[1])].append(milliseconds)
    return (min(incoming) for count, incoming in by_count.items() if len(incoming) == count)
