"""A real discord.py client that does as little as a test needs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import discord
from discord import app_commands

from tests.wire.discord.server import DiscordServer

INTENTS = discord.Intents(
    guilds=True, messages=True, message_content=True, reactions=True, typing=True
)


class TrialBot(discord.Client):
    """Keeps what it was told; identifies again without discord.py's courtesy wait."""

    def __init__(self, intents: discord.Intents = INTENTS, **options: Any) -> None:
        super().__init__(intents=intents, guild_ready_timeout=0.05, **options)
        self.tree = app_commands.CommandTree(self)
        self.incoming: list[discord.Message] = []
        self.threads_seen: list[discord.Thread] = []
        self.edits: list[discord.RawMessageUpdateEvent] = []
        self.resumes = 0

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Go ahead."""

    async def on_message(self, message: discord.Message) -> None:
        """Remember what others wrote."""
        if message.author != self.user:
            self.incoming.append(message)

    async def on_raw_message_edit(self, edit: discord.RawMessageUpdateEvent) -> None:
        """Remember a change."""
        self.edits.append(edit)

    async def on_thread_create(self, thread: discord.Thread) -> None:
        """Remember a thread."""
        self.threads_seen.append(thread)

    async def on_resumed(self) -> None:
        """Count."""
        self.resumes += 1


@asynccontextmanager
async def running(bot: discord.Client, server: DiscordServer) -> AsyncIterator[None]:
    """Let a bot run, ready, until the block ends."""
    task = asyncio.create_task(bot.start(server.world.application.token))
    try:
        await asyncio.sleep(0)
        waiting = asyncio.create_task(_ready(bot))
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED, timeout=10)
        waiting.cancel()
        if task.done():
            task.result()
        yield
    finally:
        await bot.close()
        await asyncio.gather(task, return_exceptions=True)


async def call(
    server: DiscordServer, method: str, path: str, body: Any = None, *, token: str | None = None
) -> tuple[int, Any]:
    """Make one REST call without a library; returns status and body."""
    sent = server.world.application.token if token is None else token
    headers = {"Authorization": f"Bot {sent}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.request(method, server.api_url + path, json=body) as response,
    ):
        return response.status, await response.json() if response.status != 204 else {}


async def _ready(bot: discord.Client) -> None:
    while not bot.is_ready():  # noqa: ASYNC110 - wait_until_ready needs a login first
        await asyncio.sleep(0.005)
