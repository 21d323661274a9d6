"""What Discord says of the bot's account, for `glossator doctor`."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp
import discord

from adapters.actions.about import Greeting
from adapters.chat.access import Location, Readers
from adapters.chat.incoming_message import PlatformClock
from adapters.discord.client import point_at
from adapters.discord.inbound import PLATFORM
from adapters.discord.members import PERMISSIONS, lacking
from core.domain.errors import BotError, ConfigurationError, DeliveryError, StoreError
from core.domain.i18n import use_locale
from core.storage.access import Tenant

logger = logging.getLogger(__name__)


SCOPES = ("bot", "applications.commands")
_MOST_SERVERS = 200
"""As many as Discord lists at once."""


@dataclass(frozen=True, slots=True)
class Account:
    """A bot account as Discord knows it."""

    application_id: int
    name: str
    may_read_messages: bool
    """Whether the privileged intent for the content of messages is switched on."""
    is_reviewed: bool
    """Whether Discord has reviewed it for that intent, as it does from 10,000 users on."""
    is_public: bool
    """Whether everybody may invite it."""
    lacking: Mapping[str, str]
    """Which permissions it lacks, in words, by the name of the server."""
    clock_warning: str | None = None
    """What is wrong with this machine's clock."""

    @property
    def invite_url(self) -> str:
        """The URL by which it is invited to a server."""
        return discord.utils.oauth_url(self.application_id, permissions=PERMISSIONS, scopes=SCOPES)


async def account(token: str, api_url: str | None) -> Account:
    """Return what Discord says of the token's account.

    Raises:
        ConfigurationError: when Discord refuses the token.
        DeliveryError: when Discord cannot be reached.
    """
    if api_url is not None:
        point_at(api_url)
    clock = PlatformClock("Discord")
    watch = _watching(clock)
    async with discord.Client(intents=discord.Intents.none(), http_trace=watch) as client:
        try:
            await client.login(token)
            info = await client.application_info()
            guilds = await client.http.get_guilds(_MOST_SERVERS, with_counts=False)
        except discord.LoginFailure as error:
            raise ConfigurationError("Discord refuses GLOSSATOR_DISCORD__TOKEN.") from error
        except (discord.HTTPException, aiohttp.ClientError, OSError) as error:
            raise DeliveryError(f"Discord cannot be reached: {error}") from error
    flags = info.flags
    reads = flags.gateway_message_content or flags.gateway_message_content_limited
    missing = {
        str(guild["name"]): lacking(discord.Permissions(int(guild["permissions"])))
        for guild in guilds
    }
    return Account(
        info.id,
        info.name,
        reads,
        flags.gateway_message_content,
        info.bot_public,
        {n: said for n, said in missing.items() if said},
        clock.warning,
    )


def _watching(clock: PlatformClock) -> aiohttp.TraceConfig:
    """Return what has a clock learn from every answer."""

    async def note(_: object, __: object, ended: aiohttp.TraceRequestEndParams) -> None:
        clock.note(ended.response.headers.get("Date"))

    trace = aiohttp.TraceConfig()
    trace.on_request_end.append(note)
    return trace


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
