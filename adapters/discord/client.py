"""The connection to Discord: events come in here, and each is handed on in one line."""

import logging
import sys
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import aiohttp
import discord
from discord import app_commands
from discord.ext import commands
from discord.http import Route

from adapters.chat.acceptor import Unreadable, place_of, without_text
from adapters.chat.base import Json, mapping
from adapters.discord.inbound import PLATFORM
from adapters.discord.members import lacking
from adapters.discord.notices import Interaction, tell, tell_unread
from adapters.discord.odd_events import EVENTS, ContainedTree, contain_events
from adapters.discord.payloads import needed_id, snowflake
from adapters.discord.presses import DiscordClicks, form_in
from core.domain import i18n
from core.domain.errors import BotError
from core.domain.i18n import use_locale
from core.domain.telemetry import NO_METER, Meter

logger = logging.getLogger(__name__)

LONGEST_RATE_LIMIT = 60.0
"""Seconds: a request that would have to wait longer fails, and its job is tried again later."""


class Listener(Protocol):
    """What the connection tells of; every method may be called twice for the same event."""

    async def joined(self, *guilds: discord.Guild) -> None:
        """The bot is a member of these servers."""
        ...

    async def let_in(self, guild: discord.Guild) -> None:
        """A server has just let the bot in."""
        ...

    async def hidden(self, guild: discord.Guild) -> None:
        """An outage of Discord's hides a server: what is said there is not sent."""
        ...

    async def message(self, data: Json) -> None:
        """A user wrote a message; `data` is its payload."""
        ...

    async def edited(self, data: Json) -> None:
        """A message was changed; `data` is what Discord sent of it, which may be a part."""
        ...

    async def deleted(self, guild: int | None, channel_id: int, message_id: int) -> None:
        """A message is gone; `guild`: None in direct messages."""
        ...

    async def reacted(self, data: Json) -> None:
        """A user added a reaction to a message; `data` is its payload."""
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


class Client(commands.AutoShardedBot):
    """discord.py's client, which pings no one and shows no previews."""

    clicks: DiscordClicks
    """What buttons do; given by `prepare`."""

    def __init__(
        self,
        listener: Listener,
        *,
        message_content: bool,
        prepare: Callable[["Client"], Awaitable[None]],
        watch: aiohttp.TraceConfig,
        meter: Meter = NO_METER,
    ) -> None:
        """Make a client that is not connected.

        Args:
            watch: Called with each request, and may have it wait.
            message_content: Ask for the privileged intent; without it only mentions, replies,
                direct messages and commands carry text.
            prepare: Registers commands and buttons once, after the login.
        """
        # There is no voice here, so no one needs to hear what it would take.
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False
        super().__init__(
            command_prefix=commands.when_mentioned,  # there are no prefix commands
            help_command=None,
            intents=_intents(message_content=message_content),
            allowed_mentions=discord.AllowedMentions.none(),
            max_messages=None,  # messages are not read by discord.py
            max_ratelimit_timeout=LONGEST_RATE_LIMIT,
            http_trace=watch,
            tree_cls=BotCommandTree,
            allowed_installs=discord.app_commands.AppInstallationType(guild=True, user=False),
        )
        self._listener = listener
        self._prepare = prepare
        self._begun = set[int]()
        """The shards whose sessions named their servers."""
        self.unreadable = Unreadable(PLATFORM, EVENTS, meter)
        contain_events(self, self.unreadable)

    async def setup_hook(self) -> None:
        """Register what can be typed and clicked; the connections come later, if at all."""
        await self._prepare(self)

    async def on_shard_connect(self, shard_id: int) -> None:
        """Note that a session named its servers."""
        self._begun.add(shard_id)

    async def on_shard_ready(self, shard_id: int) -> None:
        """Notify the listener that a fresh connection stands."""
        logger.info("connected to Discord as %s, shard %d", self.application_id, shard_id)
        here = [one for one in self.guilds if one.shard_id == shard_id and not one.unavailable]
        await self._listener.joined(*here)
        for guild in here:
            if guild.me is not None and (missing := lacking(guild.me.guild_permissions)):
                logger.warning("on the server %d the bot's role lacks %s", guild.id, missing)
        await self._listener.connected(shard_id, resumed=False)

    async def on_shard_resumed(self, shard_id: int) -> None:
        """Notify the listener that a connection was resumed."""
        logger.info("resumed the connection to Discord, shard %d", shard_id)
        await self._listener.connected(shard_id, resumed=True)

    async def on_shard_disconnect(self, shard_id: int) -> None:
        """Notify the listener that a connection broke."""
        await self._listener.disconnected(shard_id)

    async def on_shard_heard(self, shard_id: int) -> None:
        """Notify the listener that Discord was heard."""
        await self._listener.alive(shard_id)

    async def on_guild_join(self, guild: discord.Guild) -> None:
        """Hand on that the bot was let into a server."""
        await self._listener.let_in(guild)

    async def on_guild_unavailable(self, guild: discord.Guild) -> None:
        """Notify the listener that an outage of Discord's hides a server."""
        await self._listener.hidden(guild)

    async def on_guild_available(self, guild: discord.Guild) -> None:
        """Hand on that Discord tells of a server which an outage had hidden."""
        await self._listener.joined(guild)

    async def on_raw_message(self, data: Json) -> None:
        """Hand a message on."""
        with self.unreadable.contained("MESSAGE_CREATE", mapping(data).get("id")):
            await self._listener.message(mapping(data))

    async def on_raw_edit(self, data: Json) -> None:
        """Hand a change of a message on."""
        with self.unreadable.contained("MESSAGE_UPDATE", mapping(data).get("id")):
            await self._listener.edited(mapping(data))

    async def on_raw_deletion(self, data: Json) -> None:
        """Hand a deletion on."""
        with self.unreadable.contained("MESSAGE_DELETE", mapping(data).get("id")):
            channel, guild = needed_id(mapping(data), "channel_id"), _guild(data)
            await self._listener.deleted(guild, channel, needed_id(mapping(data), "id"))

    async def on_raw_bulk_deletion(self, data: Json) -> None:
        """Hand the deletion of many on, of those whose ids can be read."""
        with self.unreadable.contained("MESSAGE_DELETE_BULK", mapping(data).get("channel_id")):
            channel, guild = needed_id(mapping(data), "channel_id"), _guild(data)
            for message in filter(None, map(snowflake, mapping(data)["ids"])):
                await self._listener.deleted(guild, channel, message)

    async def on_raw_reaction(self, data: Json) -> None:
        """Hand a reaction on."""
        with self.unreadable.contained("MESSAGE_REACTION_ADD", mapping(data).get("message_id")):
            await self._listener.reacted(mapping(data))

    async def on_raw_gone_channel(self, data: Json) -> None:
        """Hand the deletion of a thread or a channel on, which includes that of its threads."""
        with self.unreadable.contained("CHANNEL_DELETE", mapping(data).get("id")):
            await self._listener.gone(needed_id(mapping(data), "id"))

    async def on_interaction(self, interaction: Interaction) -> None:
        """Take in what was typed into a modal; discord.py knows no modal of before a restart."""
        with self.unreadable.contained("INTERACTION_CREATE", interaction.id):
            if (form := form_in(interaction)) is not None:
                await self.clicks.submitted(interaction, *form)

    async def on_unreadable_interaction(self, data: Json) -> None:
        """Answer an interaction with the error that it met."""
        with use_locale(str(data.get("locale"))):
            await tell_unread(self.http, data, BotError.user_message)

    async def on_error(self, event_method: str, /, *_: Any, **__: Any) -> None:
        """Log what went wrong with an event; the next one is heard all the same."""
        if self.unreadable.is_ending or self.is_closed():
            logger.info("the event %s was not taken in before the end", event_method)
            return
        error = sys.exc_info()[1] or Exception()
        logger.error(
            "the event %s could not be taken in, %s",
            *(event_method, place_of(error)),
            exc_info=without_text(error),
        )

    def sees(self, guild_id: int) -> bool:
        """Return whether a server that the bot is a member of is surely known here."""
        return (guild_id >> 22) % (self.shard_count or 1) in self._begun


class BotCommandTree(ContainedTree):
    """The commands; the giver of one that fails is notified."""

    client: Client

    async def unreadable(self, interaction: discord.Interaction[Client], error: Exception) -> None:
        """Note a command whose payload discord.py cannot read, and notify its giver."""
        self.client.unreadable.note("INTERACTION_CREATE", interaction.id, error)
        with use_locale(str(interaction.locale)):
            await _tell(interaction, BotError.user_message)

    async def on_error(
        self, interaction: discord.Interaction[Client], error: app_commands.AppCommandError, /
    ) -> None:
        """Log what went wrong, and tell it."""
        with use_locale(str(interaction.locale)):
            await self._report(interaction, error)

    async def _report(
        self, interaction: discord.Interaction[Client], error: app_commands.AppCommandError
    ) -> None:
        if isinstance(error, app_commands.CheckFailure):
            return  # the check has said why
        outdated = app_commands.CommandNotFound | app_commands.CommandSignatureMismatch
        if isinstance(error, outdated):
            logger.info("a command of another version was given: %s", error)
            await _tell(interaction, i18n.text("discord-outdated"))
            return
        cause = error.__cause__ or error
        if isinstance(cause, BotError):
            logger.error("a command failed, %s", place_of(cause), exc_info=without_text(cause))
        elif isinstance(cause, Exception):
            self.client.unreadable.note("INTERACTION_CREATE", interaction.id, cause)
        await _tell(interaction, BotError.user_message)


async def _tell(interaction: Interaction, text: str) -> None:
    """Notify the giver of a command, unless an option is only being completed."""
    if interaction.type is not discord.InteractionType.autocomplete:
        await tell(interaction, text)


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
    intents.guild_reactions = True
    intents.dm_reactions = True
    intents.message_content = message_content
    return intents


def _guild(data: Json) -> int | None:
    return snowflake(mapping(data).get("guild_id"))
