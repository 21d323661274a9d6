"""The connection to Discord: events come in here, and each is handed on in one line."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import aiohttp
import discord
import yarl
from discord import app_commands
from discord.ext import commands
from discord.gateway import DiscordWebSocket
from discord.http import Route

from adapters.discord.clicks import Clicks, reason_in
from adapters.discord.first_calls import entrance, patiently
from adapters.discord.gateway import Gateway, Shards
from adapters.discord.permissions import lacking
from adapters.discord.shards import AllShards, SharedShards
from adapters.discord.telling import Interaction, tell
from core.errors import BotError, ConfigurationError, ServiceError
from core.leases import Leases

logger = logging.getLogger(__name__)

CACHED_MESSAGES = 1_000
LONGEST_RATE_LIMIT = 60.0
"""Seconds: a request that would have to wait longer fails, and its job is tried again later."""
OUTDATED = "I have just learned something new. Please give that command again in a minute."
BAD_TOKEN = (
    "Discord refuses the token: copy it anew from the developer portal, page Bot, "
    "into GLOSSATOR_DISCORD__TOKEN."
)
NO_INTENT = (
    "Discord refuses the message content intent: switch 'Message Content Intent' on in "
    "the developer portal, page Bot, or set GLOSSATOR_DISCORD__MESSAGE_CONTENT=false "
    "(then only commands, mentions and direct messages are answered)."
)
TOO_FEW_SHARDS = (
    "The bot is in too many servers for so few shards: set GLOSSATOR_DISCORD__SHARDS higher, "
    "or not at all, and Discord says how many it takes."
)
_AUTHENTICATION_FAILED = 4004
_TOO_FEW_SHARDS = 4011


class Listener(Protocol):
    """What the connection tells of; every method may be told the same event twice."""

    async def message(self, message: discord.Message) -> None:
        """Somebody wrote a message."""
        ...

    async def edited(self, message: discord.Message) -> None:
        """Somebody edited a message."""
        ...

    async def deleted(self, channel_id: int, message_id: int) -> None:
        """A message is gone."""
        ...

    async def gone(self, channel_id: int) -> None:
        """A channel or thread is gone."""
        ...

    async def disconnected(self, shard_id: int) -> None:
        """A connection broke: what happens now is not heard, or heard later."""
        ...

    async def connected(self, shard_id: int, *, resumed: bool) -> None:
        """A connection stands; unless it was resumed, events may have been missed."""
        ...

    async def alive(self, shard_id: int) -> None:
        """A shard's connection was heard: until now it missed nothing."""
        ...

    async def released(self, shard_id: int) -> None:
        """A shard is this process's no more."""
        ...


class Client(commands.AutoShardedBot):
    """discord.py's client, which pings nobody and shows no previews."""

    clicks: Clicks
    """What buttons do; given by `prepare`."""

    def __init__(
        self,
        listener: Listener,
        *,
        message_content: bool,
        prepare: Callable[["Client"], Awaitable[None]],
        watch: aiohttp.TraceConfig,
        shards: int | None = None,
        leases: Leases | None = None,
    ) -> None:
        """Make a client that is not connected.

        Args:
            watch: Is told of each request, and may have it wait.
            message_content: Ask for the privileged intent; without it only mentions, replies,
                direct messages and commands carry text.
            prepare: Registers commands and buttons once, after the login.
            shards: How many there are; None: as many as Discord recommends.
            leases: Split several shards between the processes; None: each connects all.
        """
        # There is no voice here, so nobody needs to hear what it would take.
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False
        super().__init__(
            command_prefix=commands.when_mentioned,  # there are no prefix commands
            help_command=None,
            intents=_intents(message_content=message_content),
            allowed_mentions=discord.AllowedMentions.none(),
            max_messages=CACHED_MESSAGES,
            max_ratelimit_timeout=LONGEST_RATE_LIMIT,
            http_trace=watch,
            tree_cls=Commands,
            allowed_installs=discord.app_commands.AppInstallationType(guild=True, user=False),
        )
        self._listener = listener
        self._prepare = prepare
        self._wanted = shards
        self._concurrency = 1
        self._leases = leases
        self.gateway = Gateway(self)

    async def setup_hook(self) -> None:
        """Aim reconnects at the gateway that Discord names, and register what can be clicked."""
        alone = self._leases is None
        found = await entrance(self.http.get_bot_gateway, self._wanted, alone=alone)
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(found.url)
        self.shard_count, self._concurrency = found.shards, found.concurrency
        await self._prepare(self)

    async def connect(self, *, reconnect: bool = True) -> None:
        """Keep the shards that are this process's connected until the client is closed."""
        assert self.shard_count is not None, "known since the login"
        await self.gateway.run(self._shards(self.shard_count))

    async def close(self) -> None:
        """End the connections properly, then all the rest."""
        await self.gateway.close()
        await super().close()

    def _shards(self, count: int) -> Shards:
        """Return what decides which shards are connected; a single one is everybody's."""
        if self._leases is None or count == 1:
            return AllShards(self.gateway, count, self._concurrency)
        bot = f"discord:{self.application_id}"
        logger.info("%s is logged in and shares %d shards with other processes", bot, count)
        return SharedShards(
            self.gateway, self._leases, bot, count=count, concurrency=self._concurrency
        )

    async def on_shard_ready(self, shard_id: int) -> None:
        """Tell that a fresh connection stands, unless it has just been ended."""
        if shard_id not in self.gateway.running:
            return
        logger.info("connected to Discord as %s, shard %d", self.application_id, shard_id)
        for guild in self.guilds:
            if guild.shard_id != shard_id or guild.unavailable:
                continue
            if missing := lacking(guild.me.guild_permissions):
                logger.warning("on the server %d the bot's role lacks %s", guild.id, missing)
        await self._listener.connected(shard_id, resumed=False)

    async def on_shard_resumed(self, shard_id: int) -> None:
        """Tell that a connection goes on where it was."""
        logger.info("resumed the connection to Discord, shard %d", shard_id)
        await self._listener.connected(shard_id, resumed=True)

    async def on_shard_disconnect(self, shard_id: int) -> None:
        """Tell that a connection broke."""
        await self._listener.disconnected(shard_id)

    async def on_shard_released(self, shard_id: int) -> None:
        """Tell that a connection was ended on purpose."""
        await self._listener.released(shard_id)

    async def on_shard_heard(self, shard_id: int) -> None:
        """Tell that Discord was heard."""
        await self._listener.alive(shard_id)

    async def on_message(self, message: discord.Message) -> None:
        """Hand a message on; there are no prefix commands to look for."""
        await self._listener.message(message)

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        """Hand an edit of a person on; a preview that Discord adds is none."""
        if payload.message.edited_at is not None:
            await self._listener.edited(payload.message)

    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        """Hand a deletion on."""
        await self._listener.deleted(payload.channel_id, payload.message_id)

    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        """Hand the deletion of many on."""
        for message_id in payload.message_ids:
            await self._listener.deleted(payload.channel_id, message_id)

    async def on_raw_thread_delete(self, payload: discord.RawThreadDeleteEvent) -> None:
        """Hand the deletion of a thread on."""
        await self._listener.gone(payload.thread_id)

    async def on_guild_channel_delete(self, channel: discord.abc.GuildChannel) -> None:
        """Hand the deletion of a channel on; that of its threads is included in it."""
        await self._listener.gone(channel.id)

    async def on_interaction(self, interaction: Interaction) -> None:
        """Take in what was typed into a modal; discord.py knows no modal of before a restart."""
        reason = reason_in(interaction)
        if reason is not None:
            await self.clicks.reason_given(interaction, *reason)

    async def on_error(self, event_method: str, /, *_: Any, **__: Any) -> None:
        """Log what went wrong with an event; the next one is heard all the same."""
        if self.is_closed():
            logger.info("the event %s was not taken in before the end", event_method)
            return
        logger.exception("the event %s could not be taken in", event_method)


class Commands(app_commands.CommandTree[Client]):
    """The commands; whoever gave one is told when it failed."""

    async def on_error(
        self, interaction: discord.Interaction[Client], error: app_commands.AppCommandError, /
    ) -> None:
        """Log what went wrong, and tell it."""
        outdated = app_commands.CommandNotFound | app_commands.CommandSignatureMismatch
        if isinstance(error, outdated):
            logger.info("a command of another version was given: %s", error)
            await tell(interaction, OUTDATED)
            return
        logger.error("a command failed", exc_info=error.__cause__ or error)
        await tell(interaction, BotError.user_message)


async def connect(client: Client, token: str) -> None:
    """Log in and stay connected until the client is closed.

    Raises:
        ConfigurationError: when the token or an intent is missing; the sentence says what
            to change.
        ServiceError: when Discord refuses us for another reason.
    """
    try:
        async with client:
            await patiently(lambda: _log_in(client, token))
            await client.connect()
    except discord.LoginFailure as error:
        raise ConfigurationError(BAD_TOKEN) from error
    except discord.PrivilegedIntentsRequired as error:
        raise ConfigurationError(NO_INTENT) from error
    except discord.ConnectionClosed as error:
        if error.code == _AUTHENTICATION_FAILED:
            raise ConfigurationError(BAD_TOKEN) from error
        if error.code == _TOO_FEW_SHARDS:
            raise ConfigurationError(TOO_FEW_SHARDS) from error
        raise ServiceError(f"Discord closed the connection with {error.code}") from error
    except discord.DiscordException as error:
        raise ServiceError(f"Discord does not let us in: {error}") from error


async def _log_in(client: Client, token: str) -> None:
    try:
        await client.login(token)
    except BaseException:
        # The next try opens connections of its own.
        await client.http.close()
        client.http.connector = discord.utils.MISSING
        raise


def point_at(api_url: str) -> None:
    """Send every request to another address than Discord's own, such as a proxy's.

    discord.py keeps the address in a class: it holds for the whole process.
    """
    Route.BASE = api_url.rstrip("/")


def _intents(*, message_content: bool) -> discord.Intents:
    intents = discord.Intents.none()
    intents.guilds = True
    intents.guild_messages = True
    intents.dm_messages = True
    intents.message_content = message_content
    return intents
