"""Jobs for DiscordReply, and what a reader of the local Discord sees of its work."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

import aiohttp
import discord

from adapters.discord.reply import DiscordReply
from adapters.discord.rest import check_again
from core.domain import AgentRequest, now
from core.storage.inbox.base import Job
from tests.wire.discord import Channel, DiscordServer, Interaction, Message, User, World
from tests.wire.discord.component_checks import walk
from tests.wire.discord.interactions import InteractionType
from tests.wire.replies import jobs
from tests.wire.replies.jobs import Kept, finished, job_of


@asynccontextmanager
async def logged_in(server: DiscordServer) -> AsyncIterator[discord.Client]:
    """Yield a client that can send, without a connection to the gateway."""
    trace = aiohttp.TraceConfig()
    trace.on_request_start.append(check_again)
    client = discord.Client(
        intents=discord.Intents.none(), max_ratelimit_timeout=30, http_trace=trace
    )
    await client.login(server.world.application.token)
    try:
        yield client
    finally:
        await client.close()


def about_message(
    question: Message,
    *,
    asked: AgentRequest | None = None,
    open_thread: bool = True,
    **changes: Any,
) -> Job:
    """Return the job of a question that stands in a message."""
    address = {
        "route": "message",
        "channel": question.channel.id,
        "message": question.id,
        "open_thread": open_thread,
        "asker": question.author.id,
        "dm": question.channel.guild is None,
    }
    key = changes.pop("key", f"discord:1:{question.id}")
    return job_of("discord", key, address, asked, **_where(question.channel), **changes)


def deferred(
    world: World, user: User, *, ephemeral: bool = False, channel: Channel | None = None
) -> Interaction:
    """Return a command that was used and acknowledged."""
    interaction = used(world, user, channel=channel)
    acknowledge(world, interaction, ephemeral=ephemeral)
    return interaction


def used(world: World, user: User, *, channel: Channel | None = None) -> Interaction:
    """Return a command that was used."""
    data: dict[str, Any] = {"id": "1", "name": "ask", "type": 1}
    return world.interactions.begin(
        InteractionType.COMMAND, world.application, user, channel or world.channel, data
    )


def acknowledge(world: World, interaction: Interaction, *, ephemeral: bool = False) -> None:
    """Defer the answer, as the adapter does at once."""
    body = {"type": 5, "data": {"flags": 64 if ephemeral else 0}}
    world.interactions.respond(str(interaction.id), interaction.token, body, {})


def about_interaction(
    interaction: Interaction,
    *,
    ephemeral: bool = False,
    open_thread: bool = True,
    expires_at: datetime | None = None,
    asked: AgentRequest | None = None,
    **changes: Any,
) -> Job:
    """Return the job of a command."""
    guild = interaction.channel.guild
    address = {
        "route": "interaction",
        "application": interaction.application.id,
        "interaction": interaction.id,
        "channel": interaction.channel.id,
        "guild": guild.id if guild else None,
        "asker": interaction.user.id,
        "ephemeral": ephemeral,
        "open_thread": open_thread and not ephemeral,
    }
    return job_of(
        "discord",
        f"discord:i:{interaction.id}",
        address,
        asked,
        token=interaction.token,
        token_expires_at=expires_at or now() + timedelta(minutes=15),
        **_where(interaction.channel),
        **changes,
    )


async def opened(client: discord.Client, job: Job, kept: Kept | None = None) -> DiscordReply:
    """Return a reply that edits without waiting."""
    return await DiscordReply.open(client, job, kept or Kept(job.posted), interval=0.0)


async def answered(
    client: discord.Client, job: Job, kept: Kept | None = None, text: str = "A tree [1]."
) -> DiscordReply:
    """Answer a job from its beginning to its end."""
    reply = await opened(client, job, kept)
    await reply.update("A tree")
    await reply.finish(finished(job, text))
    return reply


def long_text(paragraphs: int) -> str:
    """Return an answer with a cited end; a message holds two of its paragraphs."""
    return jobs.long_text(paragraphs, sentences=40)


def by_bot(world: World, channel: Channel, reader: User | None = None) -> list[Message]:
    """Return what the bot shows in a channel, without Discord's own notices."""
    shown = world.transcript(channel, reader)
    return [one for one in shown if one.author is world.bot and one.kind not in (18, 21)]


def labels(message: Message) -> list[str]:
    """Return what is written on a message's buttons, and in the menu of the rest."""
    parts = list(walk(message.components))
    menus = [one for one in parts if str(one.get("custom_id")).startswith("gl:rest:")]
    options = [option for menu in menus for option in menu["options"]]
    return [part["label"] for part in [*parts, *options] if part.get("label")]


def thread_of(world: World, message: Message) -> Channel:
    """Return the thread on a message."""
    return world.channels[message.id]


def _where(channel: Channel) -> dict[str, Any]:
    return {"workspace": str(channel.guild.id) if channel.guild else "@me"}
