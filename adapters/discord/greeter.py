"""Notes which servers let the bot in, and greets new ones where their system messages stand."""

import asyncio
import logging

import aiohttp
import discord

from adapters.access.location import Location
from adapters.access.readers import Readers
from adapters.discord.inbound import PLATFORM
from adapters.features.greeting import Greeting
from core.access.tenants import Tenant
from core.errors import BotError, StoreError
from core.i18n import use_locale

logger = logging.getLogger(__name__)

NO_PLACE = (
    "the server %d has no channel for system messages that the bot may write in, so that it was "
    "not greeted; the next step there is /course bind"
)


class Greeter:
    """Greets in the background, once and quietly; a greeting that fails is not repeated."""

    def __init__(self, readers: Readers, greeting: Greeting) -> None:
        self._readers = readers
        self._greeting = greeting
        self._going_on = set[asyncio.Task[None]]()

    async def meet(self, *guilds: discord.Guild) -> None:
        """Keep that these servers were met, in the order of joining; greet those that are new."""
        for guild in sorted(guilds, key=_joined_at):
            try:
                if await self._readers.meet(Tenant(PLATFORM, str(guild.id))):
                    self._begin(guild)
            except StoreError as error:
                logger.warning("the server %d could not be noted: %s", guild.id, error)

    async def let_in(self, guild: discord.Guild) -> None:
        """Do as `meet` for a server that has just let the bot in, though it is not admitted."""
        await self.meet(guild)
        if not self._readers.admits(Tenant(PLATFORM, str(guild.id))):
            self._begin(guild)

    def _begin(self, guild: discord.Guild) -> None:
        task = asyncio.create_task(self._greet(guild))
        self._going_on.add(task)
        task.add_done_callback(self._going_on.discard)

    def close(self) -> None:
        """Give up greetings under way."""
        for task in self._going_on:
            task.cancel()

    async def _greet(self, guild: discord.Guild) -> None:
        channel = guild.system_channel
        if channel is None or not _may_write(channel, guild.me):
            logger.info(NO_PLACE, guild.id)
            return
        server = str(guild.id)
        try:
            with use_locale(guild.preferred_locale.value):
                words = await self._greeting.words(Location(PLATFORM, server, (server,), ""))
            nobody = discord.AllowedMentions.none()
            await channel.send(words, allowed_mentions=nobody, suppress_embeds=True, silent=True)
        except (BotError, discord.DiscordException, aiohttp.ClientError, OSError) as error:
            logger.warning("the server %d could not be greeted: %s", guild.id, error)


def _may_write(channel: discord.TextChannel, me: discord.Member) -> bool:
    granted = channel.permissions_for(me)
    return granted.view_channel and granted.send_messages


def _joined_at(guild: discord.Guild) -> tuple[float, int]:
    me = guild.me  # unknown as long as Discord has not announced the server
    joined = me.joined_at if me is not None else None
    return (joined.timestamp() if joined is not None else float("inf"), guild.id)
