"""Finds what was said while the bot was not connected, and could not resume."""

import logging
from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta
from typing import Protocol

import discord

from adapters.discord.changed import Asked, Shard
from adapters.discord.inbound import DIRECT

logger = logging.getLogger(__name__)

FURTHEST_BACK = timedelta(hours=24)
_MARGIN = timedelta(seconds=30)
"""Events may be on their way when a moment is noted."""
_MOST_A_CHANNEL = 5_000

_Room = discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread
Readable = _Room | discord.DMChannel


class Cursors(Asked, Protocol):
    """Remembers how far Discord was heard, and what was asked."""

    async def note(self, shard: Shard, moment: datetime) -> None:
        """Keep the moment up to which a shard missed nothing."""
        ...

    async def last(self, shard: Shard) -> datetime | None:
        """Return the latest such moment; None before the first connection ever."""
        ...

    async def direct_channels(self, since: datetime) -> list[int]:
        """Return the direct messages in which something was asked since then."""
        ...


async def missed_since(cursors: Cursors, shard: Shard) -> datetime | None:
    """Return from when on a shard may have missed something; None before the first connection.

    Raises:
        StoreError: when the database fails.
    """
    last = await cursors.last(shard)
    if last is None:
        return None
    return max(last - _MARGIN, discord.utils.utcnow() - FURTHEST_BACK)


async def missed(
    client: discord.AutoShardedClient, cursors: Cursors, shard: Shard, since: datetime
) -> AsyncIterator[discord.Message]:
    """Yield a shard's messages since a moment, each channel's oldest first.

    Only channels with a newer message are read: Discord tells each channel's last message
    when it connects, so that a quiet server costs no request at all. Messages that were heard
    already may be among them. A channel that is closed to us is left out.

    Raises:
        discord.DiscordException: when Discord does not let a channel be read now.
    """
    channels: list[Readable] = [*_with_news(client, since, shard.number)]
    if shard.serves(DIRECT):
        channels += await _direct(client, cursors)
    found = 0
    for channel in channels:
        try:
            async for message in channel.history(
                after=since, oldest_first=True, limit=_MOST_A_CHANNEL
            ):
                found += 1
                yield message
        except (discord.Forbidden, discord.NotFound) as error:
            logger.warning("channel %s cannot be read: %s", channel.id, error.code)
    logger.info("looked through %d channels and %d messages for missed ones", len(channels), found)


async def _direct(client: discord.Client, cursors: Cursors) -> list[Readable]:
    """Return the direct messages that are under way; a user who left is passed over."""
    channels = list[Readable]()
    for channel_id in await cursors.direct_channels(discord.utils.utcnow() - FURTHEST_BACK):
        try:
            channel = await client.fetch_channel(channel_id)
        except (discord.Forbidden, discord.NotFound) as error:
            logger.info("direct messages %s cannot be read: %s", channel_id, error.code)
            continue
        if isinstance(channel, discord.DMChannel):
            channels.append(channel)
    return channels


def _with_news(
    client: discord.AutoShardedClient, since: datetime, shard_id: int
) -> Iterator[Readable]:
    """Yield a shard's channels and threads that we can read and that have newer messages."""
    newest = discord.utils.time_snowflake(since)
    for guild in client.guilds:
        if guild.shard_id != shard_id:
            continue
        rooms: list[_Room] = [*guild.text_channels, *guild.voice_channels, *guild.threads]
        rooms += guild.stage_channels
        for channel in rooms:
            if (channel.last_message_id or 0) < newest:
                continue
            allowed = channel.permissions_for(guild.me)
            if allowed.view_channel and allowed.read_message_history:
                yield channel
