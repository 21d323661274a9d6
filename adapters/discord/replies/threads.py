"""Renames the thread of a question, when the question was edited or deleted."""

import asyncio
import logging
from typing import Any

import aiohttp
import discord

from adapters.discord.api.rest import Rest
from adapters.discord.replies import outbound
from core.errors import DeliveryError
from core.i18n import text
from core.inbox.base import Job, Kind

logger = logging.getLogger(__name__)

_WRITTEN = frozenset({0, 19})
"""Types of messages that a user wrote; the others are Discord's own, as of a new name."""
_PATIENCE = 2.0
"""Seconds: Discord has a thread renamed twice in ten minutes, and no one waits that long."""


async def rename(client: discord.Client, rest: Rest, job: Job) -> None:
    """Give the thread of an edited question its new name, unless Discord forbids it now."""
    request = job.arrival.request
    if job.arrival.kind is not Kind.REDO or request is None:
        return
    thread = await _own_thread(client, job)
    name = outbound.thread_name(request)
    if thread is not None and thread.name != name:
        await _change(rest, thread.id, name=name)


async def close(client: discord.Client, rest: Rest, job: Job) -> None:
    """Take a deleted question out of its thread's name; put an empty thread away.

    What Discord forbids now is left: the question's text is then the thread's name still.
    """
    thread = await _own_thread(client, job)
    if thread is None:
        return
    changes: dict[str, Any] = {"name": text("discord-thread-deleted")}
    try:
        left = await rest.messages_after(thread.id, thread.id, most=100)
        if not any(message.get("type") in _WRITTEN for message in left):
            changes["archived"] = True
    except DeliveryError as error:
        logger.info("a thread cannot be read: %s", error)
    await _change(rest, thread.id, **changes)


async def _own_thread(client: discord.Client, job: Job) -> discord.Thread | None:
    """Return the thread that we opened for the question; None: there is none."""
    if job.posted.thread is None:
        return None
    thread_id = int(job.posted.thread)
    try:
        thread = client.get_channel(thread_id) or await client.fetch_channel(thread_id)
    except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
        logger.info("a thread cannot be found: %s", type(error).__name__)
        return None
    if not isinstance(thread, discord.Thread) or client.user is None:
        return None
    return thread if thread.owner_id == client.user.id else None


async def _change(rest: Rest, thread: int, **changes: Any) -> None:
    try:
        async with asyncio.timeout(_PATIENCE):
            await rest.change_thread(thread, **changes)
    except (DeliveryError, TimeoutError) as error:
        logger.info("a thread keeps its name: %s", error)
