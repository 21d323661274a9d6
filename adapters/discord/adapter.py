"""Discord as a chat platform: lets events in, and opens the way back for their answers."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, repeat
from typing import cast

import aiohttp
import discord

from adapters.base import PlatformReply, PostKeeper
from adapters.desk import FrontDesk, Received
from adapters.discord import catch_up, threads
from adapters.discord.about import About
from adapters.discord.changed import Change, Deleted, GoneChannel, Shard, changed
from adapters.discord.clicks import AnswerButton, Clicks, ForgetMe
from adapters.discord.client import Client, connect, point_at
from adapters.discord.first_calls import patiently
from adapters.discord.hearing import Hearing
from adapters.discord.inbound import PLATFORM, heard_message, message_key, position_of
from adapters.discord.questions import Questions
from adapters.discord.reply import DiscordReply, retract, tidy
from adapters.discord.rest import Rest
from adapters.discord.sharing import shared_limits
from adapters.discord.staff import CourseCommands
from adapters.discord.syncing import sync_changed
from adapters.gone import GonePlaces
from adapters.heard import Heard
from adapters.intake import Intake
from core.closed_windows import ClosedWindows
from core.errors import StoreError
from core.inbox.base import Job, Unheard
from core.leases import Leases
from core.metering import NO_METER, Meter
from core.models import AgentRequest

logger = logging.getLogger(__name__)

_PAUSES = (0.5, 1.0, 2.0, 5.0, 10.0)
"""Seconds between two looks for what was missed, when they fail."""
_ABSENT_FOR = 60.0
"""Seconds after which it is looked whether a server that was hidden is gone for good."""
_LATE_MENTION = timedelta(minutes=10)
"""How long an edit may take to reach us by which a message becomes a question."""


class DiscordAdapter:
    """One bot account on Discord."""

    platform = PLATFORM

    def __init__(
        self,
        *,
        token: str,
        api_url: str | None,
        message_content: bool,
        desk: FrontDesk,
        gone: GonePlaces,
        cursors: catch_up.Cursors,
        clicks: Clicks,
        cogs: tuple[Questions, CourseCommands, About],
        wake: Callable[[], None],
        closed: ClosedWindows,
        shards: int | None = None,
        leases: Leases | None = None,
        meter: Meter = NO_METER,
    ) -> None:
        """Prepare a client; nothing is connected yet.

        Args:
            token: The bot's.
            api_url: Where Discord's API is, as of a proxy; none: Discord's own.
            message_content: Whether messages without a mention can be read.
            wake: Tells the worker that there is something to do.
            closed: The rate limits of which other processes know.
            shards: As of `Client`, like `leases`.
        """
        if api_url is not None:
            point_at(api_url)
        self._token = token
        self._desk = desk
        self._gone = gone
        self._cursors = cursors
        self._clicks = clicks
        self._cogs = cogs
        self._intake = Intake(wake, meter)
        self._client = Client(
            self,
            message_content=message_content,
            prepare=self._prepare,
            watch=shared_limits(closed),
            shards=shards,
            leases=leases,
        )
        self._hearing = Hearing()

    async def run(self) -> None:
        """Stay connected until `close`.

        Raises:
            ConfigurationError: when the token or an intent is refused.
        """
        await connect(self._client, self._token)

    async def close(self) -> None:
        """Disconnect; what is being taken in is finished before."""
        await self._intake.close()
        if self._client.http.token is not None:  # else it has not begun to connect
            await self._client.close()

    @property
    def is_ready(self) -> bool:
        """Whether the login has told who we are."""
        return self._client.user is not None

    async def is_connected(self) -> bool:
        """Return whether every shard that is this process's, if any, hears what is said."""
        gateway = self._client.gateway
        return gateway.is_certain and self._hearing.is_whole(gateway.running)

    async def open(self, job: Job, keeper: PostKeeper) -> PlatformReply:
        """Return the way to the reader, with the placeholder in place."""
        reply = await DiscordReply.open(self._client, job, keeper)
        await threads.rename(self._client, Rest(self._client, keeper.check), job)
        return reply

    async def complete(self, job: Job, request: AgentRequest) -> AgentRequest:
        """Return the request: Discord's events tell all of it."""
        return request

    async def retract(self, job: Job) -> None:
        """Remove what was posted for a job, and its question from its thread's name."""
        await retract(self._client, job)
        await threads.close(self._client, Rest(self._client, lambda: None), job)

    async def tidy(self, job: Job) -> None:
        """Remove messages of ours that answer a job's question and that nobody knows of."""
        await tidy(self._client, job)

    # --- what the connection tells ---------------------------------------------------

    async def message(self, message: discord.Message) -> None:
        """Take a question in; others are passed over."""
        await self._intake.begin(message.channel.id, lambda: self._message(message, None))

    async def edited(self, message: discord.Message) -> None:
        """Have an edited question answered anew."""
        await self._intake.begin(message.channel.id, lambda: self._edited(message))

    async def deleted(self, channel_id: int, message_id: int) -> None:
        """Have a deleted question and its answer forgotten."""
        moment = _position_now()
        unheard = Unheard(
            key=message_key(self._me.id, message_id),
            platform=PLATFORM,
            workspace="",
            sent_at=discord.utils.snowflake_time(message_id),
        )
        await self._intake.begin(channel_id, lambda: self._desk.deleted(unheard, moment))

    async def gone(self, channel_id: int) -> None:
        """Have all that was asked in a deleted channel or thread forgotten."""
        await self._intake.begin(
            channel_id, lambda: self._gone.forget(PLATFORM, str(channel_id), _position_now())
        )

    async def disconnected(self, shard_id: int) -> None:
        """Take note that a shard hears nothing at the moment."""
        self._hearing.lost(shard_id)

    async def released(self, shard_id: int) -> None:
        """Take note that another process hears for a shard."""
        self._hearing.released(shard_id)

    async def connected(self, shard_id: int, *, resumed: bool) -> None:
        """Look for what was said while nobody listened."""
        if resumed:
            self._hearing.resumed(shard_id)
            return
        self._hearing.met(shard_id)
        since = discord.utils.utcnow()
        with self._hearing.catching_up(shard_id):
            await self._catch_up(shard_id, since)
        await self._note(shard_id, since)

    async def alive(self, shard_id: int) -> None:
        """Note, now and then, that a shard heard everything up to this moment."""
        if not self._intake.waiting and not self._intake.gave_up:
            await self._note(shard_id, discord.utils.utcnow())

    async def _note(self, shard_id: int, moment: datetime) -> None:
        if not self._client.gateway.is_certain or not self._hearing.is_to_be_noted(shard_id):
            return
        try:
            await self._cursors.note(self._shard(shard_id), moment)
        except StoreError as error:
            logger.warning("how far Discord was heard could not be noted: %s", error)

    # --- the rest ------------------------------------------------------------------------

    def _shard(self, shard_id: int) -> Shard:
        return Shard(shard_id, self._client.shard_count or 1)

    @property
    def _me(self) -> discord.ClientUser:
        assert self._client.user is not None
        return self._client.user

    async def _prepare(self, client: Client) -> None:
        client.clicks = self._clicks
        client.add_dynamic_items(AnswerButton, ForgetMe)
        for cog in self._cogs:
            await client.add_cog(cog)
        client.tree.add_command(self._cogs[0].menu)
        try:
            await patiently(lambda: sync_changed(client.tree))
        except discord.DiscordException as error:
            logger.error("Discord does not take the commands: %s", error)

    async def _message(
        self, message: discord.Message, listening_since: datetime | None
    ) -> Received | None:
        heard = await self._heard(message)
        if heard is None:
            return None
        return await self._desk.receive(replace(heard, listening_since=listening_since))

    async def _edited(self, message: discord.Message) -> Received | None:
        heard = await self._heard(message)
        if heard is None or message.edited_at is None:
            return None
        edited_ms = int(message.edited_at.timestamp() * 1_000)
        again = heard.as_edit(str(edited_ms), position_of(edited_ms))
        redone = await self._desk.redo(again, original=heard.key)
        is_new = discord.utils.utcnow() - message.edited_at < _LATE_MENTION
        if redone is None and heard.addressed and is_new:
            # It has become a question by the edit; one that was known is not taken in again.
            return await self._desk.receive(replace(heard, sent_at=message.edited_at))
        return redone

    async def _heard(self, message: discord.Message) -> Heard | None:
        if message.author.bot:
            return None
        await self._with_its_channel(message)
        return heard_message(message, self._me, await self._unknown_parent(message.channel))

    async def _with_its_channel(self, message: discord.Message) -> None:
        """Replace a channel that is not known, as a thread's whose first message came early."""
        if message.guild is None or not isinstance(message.channel, discord.PartialMessageable):
            return
        try:
            fetched = await self._client.fetch_channel(message.channel.id)
        except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
            logger.warning("a message's channel cannot be read: %s", error)
            return
        if isinstance(fetched, discord.abc.Messageable):
            message.channel = cast("discord.abc.MessageableChannel", fetched)

    async def _unknown_parent(self, channel: object) -> discord.abc.GuildChannel | None:
        """Return the channel that a thread stands in, when discord.py does not know it."""
        if not isinstance(channel, discord.Thread) or channel.parent is not None:
            return None
        try:
            parent = await self._client.fetch_channel(channel.parent_id)
        except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
            logger.warning("a thread's channel cannot be read: %s", error)
            return None
        return parent if isinstance(parent, discord.abc.GuildChannel) else None

    async def _catch_up(self, shard_id: int, listening_since: datetime) -> None:
        """Take in what a shard missed, also from servers that Discord cannot tell of at once."""
        while True:
            absent = self._absent(shard_id)
            await self._take_in_missed(shard_id, listening_since)
            while absent and self._absent(shard_id) == absent:
                with suppress(TimeoutError):
                    await self._client.wait_for("guild_available", timeout=_ABSENT_FOR)
            if not absent:
                return

    def _absent(self, shard_id: int) -> set[int]:
        """Return the servers of a shard that an outage of Discord's hides."""
        ours = (guild for guild in self._client.guilds if guild.shard_id == shard_id)
        return {guild.id for guild in ours if guild.unavailable}

    async def _take_in_missed(self, shard_id: int, listening_since: datetime) -> None:
        """Take in what was missed and can be read, until that has succeeded."""
        for pause in chain(_PAUSES, repeat(_PAUSES[-1])):
            try:
                await self._take_in_once(shard_id, listening_since)
            except (StoreError, discord.DiscordException, aiohttp.ClientError, OSError) as error:
                logger.warning("what was missed could not be looked for: %s", error)
                await asyncio.sleep(pause)
            else:
                return

    async def _take_in_once(self, shard_id: int, listening_since: datetime) -> None:
        shard = self._shard(shard_id)
        since = await catch_up.missed_since(self._cursors, shard)
        if since is None:
            return
        async for message in catch_up.missed(self._client, self._cursors, shard, since):
            accepting = self._intake.begin(
                message.channel.id,
                partial(self._message, message, listening_since),
                missed=True,
            )
            await asyncio.wait({accepting})
            failure = None if accepting.cancelled() else accepting.exception()
            if isinstance(failure, StoreError):
                raise failure
            if failure is not None:  # what was said behind it is not to be missed for it
                logger.error("a message that was missed cannot be taken in", exc_info=failure)
        async for change in changed(self._client, self._cursors, shard, since):
            await self._take_in_change(change)

    async def _take_in_change(self, change: Change) -> None:
        match change:
            case Deleted(channel, message):
                await self.deleted(channel, message)
            case GoneChannel(channel):
                await self.gone(channel)
            case _:
                await self.edited(change)


def _position_now() -> int:
    return position_of(int(discord.utils.utcnow().timestamp() * 1_000))
