"""Looks up what is known around a message: its server, its channel, and its author's roles."""

import logging
from typing import Any

import aiohttp
import discord

from adapters.discord.gateway.odd_events import HISTORY, readable_member
from adapters.discord.inbound import KnownSurroundings, where
from adapters.discord.raw_message import RawMessage, snowflake
from adapters.intake.unreadable import Unreadable
from adapters.payloads import Json

logger = logging.getLogger(__name__)


def guild_of(client: discord.Client, data: Json) -> int | None:
    """Return the server of an event; where it does not say that, its channel's, if it is known."""
    if (said := snowflake(data.get("guild_id"))) is not None:
        return said
    channel = client.get_channel(snowflake(data.get("channel_id")) or 0)
    guild: discord.Guild | None = getattr(channel, "guild", None)
    return guild.id if guild is not None else None


async def around(
    client: discord.Client, unreadable: Unreadable, message: RawMessage
) -> KnownSurroundings:
    """Return what is known around a message; an unknown channel of a server is asked for."""
    if message.guild_id is None:
        return KnownSurroundings()
    guild = client.get_guild(message.guild_id)
    channel: Any = guild.get_channel_or_thread(message.channel_id) if guild is not None else None
    if channel is None:  # as a thread's whose first message came early
        channel = await _fetched(client, unreadable, message.channel_id)
    parent: object = None
    if isinstance(channel, discord.Thread) and channel.parent is None:
        parent = await _fetched(client, unreadable, channel.parent_id)
    return KnownSurroundings(
        guild,
        channel,
        parent if isinstance(parent, discord.abc.GuildChannel) else None,
        None if guild is None else _member(message, guild),
    )


async def places_of(
    client: discord.Client, unreadable: Unreadable, workspace: str, channel: str
) -> tuple[str, ...]:
    """Return the places around a channel, as `ChatPlatform.places_of` does."""
    channel_id = int(channel)
    known: Any = client.get_channel(channel_id)
    if known is None:  # as in a process that stands by
        known = await _fetched(client, unreadable, channel_id)
    return where(known, int(workspace), channel_id).places


def _member(message: RawMessage, guild: discord.Guild) -> discord.Member | None:
    """Return the author as a member; None where it is not said which roles they have."""
    roles = message.member.get("roles")
    if not isinstance(roles, list):
        return None
    return readable_member(guild, message.author.id, filter(None, map(snowflake, roles)))


async def _fetched(client: discord.Client, unreadable: Unreadable, channel_id: int) -> object:
    """Return a channel as Discord tells of it; None where that cannot be read now."""
    try:
        return await client.fetch_channel(channel_id)
    except (discord.DiscordException, aiohttp.ClientError, OSError, RuntimeError) as error:
        logger.warning("a channel cannot be read: %s", type(error).__name__)
    except Exception as error:  # noqa: BLE001 - discord.py could not read what Discord answered
        unreadable.note(HISTORY, channel_id, error)
    return None
