"""Finds what was said while the bot was not connected, in the channels that it can know of.

A direct channel in which nothing was asked is none of these: Discord lists no direct channels to
bots. What was said there first while the bot was away is lost.
"""

import logging
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

import discord

from adapters.discord.api.refusals import Refused
from adapters.discord.api.rest import Json, Rest
from adapters.discord.backfill.reconcile import AskedQuestions, ShardRange
from adapters.discord.inbound import DIRECT

logger = logging.getLogger(__name__)

FURTHEST_BACK = timedelta(hours=24)
MARGIN = timedelta(seconds=30)
"""Events may be on their way when a moment is noted."""
_MOST_A_CHANNEL = 5_000

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


async def missed(
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
            async for page in rest.pages_after(channel, newest, most=_MOST_A_CHANNEL):
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
