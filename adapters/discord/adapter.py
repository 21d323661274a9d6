"""Discord as a chat platform: lets events in, and opens the way back for their answers."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from itertools import chain, repeat
from typing import cast

import aiohttp
import discord

from adapters.base import PlatformReply, PostKeeper
from adapters.desk import FrontDesk, Received
from adapters.discord import catch_up
from adapters.discord.about import About
from adapters.discord.clicks import AnswerButton, Clicks, ForgetMe
from adapters.discord.client import Client, connect, patiently, point_at
from adapters.discord.inbound import PLATFORM, heard_message, message_key, position_of
from adapters.discord.questions import Questions
from adapters.discord.reply import DiscordReply, retract, tidy
from adapters.discord.staff import CourseCommands
from adapters.discord.syncing import sync_changed
from adapters.heard import Heard
from adapters.intake import Intake
from core.errors import StoreError
from core.inbox.base import Job

logger = logging.getLogger(__name__)

_PAUSES = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""Seconds between two looks for what was missed, when they fail."""
_ABSENT_FOR = 60.0
"""Seconds after which it is looked whether a server that was hidden is gone for good."""
_ALIVE_EVERY = 15.0
"""Seconds between two notes of how far Discord was heard."""


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
        cursors: catch_up.Cursors,
        clicks: Clicks,
        cogs: tuple[Questions, CourseCommands, About],
        wake: Callable[[], None],
    ) -> None:
        """Prepare a client; nothing is connected yet.

        Args:
            token: The bot's.
            api_url: Where Discord's API is, as of a proxy; none: Discord's own.
            message_content: Whether messages without a mention can be read.
            wake: Tells the worker that there is something to do.
        """
        if api_url is not None:
            point_at(api_url)
        self._token = token
        self._desk = desk
        self._cursors = cursors
        self._clicks = clicks
        self._cogs = cogs
        self._intake = Intake(wake)
        self._client = Client(self, message_content=message_content, prepare=self._prepare)
        self._met = set[int]()
        self._away = set[int]()
        self._catching_up = 0
        self._noted = -_ALIVE_EVERY

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

    async def open(self, job: Job, keeper: PostKeeper) -> PlatformReply:
        """Return the way to the reader, with the placeholder in place."""
        return await DiscordReply.open(self._client, job, keeper)

    async def retract(self, job: Job) -> None:
        """Remove what was posted for a job."""
        await retract(self._client, job)

    async def tidy(self, job: Job) -> None:
        """Remove messages of ours that answer a job's question and that nobody knows of."""
        await tidy(self._client, job)

    # --- what the connection tells ---------------------------------------------------

    async def message(self, message: discord.Message) -> None:
        """Take a question in; others are passed over."""
        await self._intake.begin(message.channel.id, lambda: self._message(message))

    async def edited(self, message: discord.Message) -> None:
        """Have an edited question answered anew."""
        await self._intake.begin(message.channel.id, lambda: self._edited(message))

    async def deleted(self, channel_id: int, message_id: int) -> None:
        """Have a deleted question and its answer forgotten."""
        key = message_key(self._me.id, message_id)
        moment = position_of(int(discord.utils.utcnow().timestamp() * 1_000))
        await self._intake.begin(
            channel_id,
            lambda: self._desk.forget(key, key=f"{key}:delete", position=moment),
        )

    async def disconnected(self, shard_id: int) -> None:
        """Take note that a shard hears nothing at the moment."""
        self._away.add(shard_id)

    async def connected(self, shard_id: int, *, resumed: bool) -> None:
        """Look for what was said while nobody listened."""
        self._away.discard(shard_id)
        if resumed:
            return
        self._catching_up += 1
        self._met.add(shard_id)
        await self._catch_up(shard_id)
        self._catching_up -= 1
        self._noted = -_ALIVE_EVERY
        await self.alive()

    async def alive(self) -> None:
        """Note, now and then, that everything up to this moment was heard."""
        moment = asyncio.get_running_loop().time()
        if not self._hears_all or moment - self._noted < _ALIVE_EVERY:
            return
        self._noted = moment
        try:
            await self._cursors.note(discord.utils.utcnow())
        except StoreError as error:
            logger.warning("how far Discord was heard could not be noted: %s", error)

    # --- the rest ------------------------------------------------------------------------

    @property
    def _hears_all(self) -> bool:
        """Whether every shard is connected and nothing said before is still to be taken in."""
        is_whole = len(self._met) == self._client.shard_count and not self._away
        return is_whole and not self._catching_up and not self._intake.waiting

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

    async def _message(self, message: discord.Message) -> Received | None:
        heard = await self._heard(message)
        return None if heard is None else await self._desk.receive(heard)

    async def _edited(self, message: discord.Message) -> Received | None:
        heard = await self._heard(message)
        if heard is None or message.edited_at is None:
            return None
        edited_ms = int(message.edited_at.timestamp() * 1_000)
        again = heard.as_edit(str(edited_ms), position_of(edited_ms))
        return await self._desk.redo(again, original=heard.key)

    async def _heard(self, message: discord.Message) -> Heard | None:
        if message.author.bot:
            return None
        await self._with_its_channel(message)
        return heard_message(message, self._me)

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

    async def _catch_up(self, shard_id: int) -> None:
        """Take in what a shard missed, also from servers that Discord cannot tell of at once."""
        while True:
            absent = self._absent(shard_id)
            await self._take_in_missed(shard_id)
            while absent and self._absent(shard_id) == absent:
                with suppress(TimeoutError):
                    await self._client.wait_for("guild_available", timeout=_ABSENT_FOR)
            if not absent:
                return

    def _absent(self, shard_id: int) -> set[int]:
        """Return the servers of a shard that an outage of Discord's hides."""
        ours = (guild for guild in self._client.guilds if guild.shard_id == shard_id)
        return {guild.id for guild in ours if guild.unavailable}

    async def _take_in_missed(self, shard_id: int) -> None:
        """Take in what was missed and can be read, until that has succeeded."""
        for pause in chain(_PAUSES, repeat(_PAUSES[-1])):
            try:
                async for message in catch_up.missed(self._client, self._cursors, shard_id):
                    await self.message(message)
            except (StoreError, discord.DiscordException, aiohttp.ClientError, OSError) as error:
                logger.warning("what was missed could not be looked for: %s", error)
                await asyncio.sleep(pause)
            else:
                return
