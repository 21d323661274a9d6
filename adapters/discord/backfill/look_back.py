"""Takes in what happened while a shard was not connected, or could not see a server."""

import asyncio
import logging
from contextlib import suppress
from datetime import datetime
from itertools import chain, repeat
from typing import Protocol

import discord

from adapters.discord.api.rest import Rest
from adapters.discord.backfill import catch_up
from adapters.discord.backfill.reconcile import Change, ShardRange, changed
from adapters.discord.gateway.client import Client
from adapters.discord.gateway.odd_events import HISTORY
from adapters.discord.raw_message import RawMessage, read_message
from adapters.intake.platform_clock import PlatformClock
from core.errors import DeliveryError, StoreError

logger = logging.getLogger(__name__)

_PAUSES = (0.5, 1.0, 2.0, 5.0, 10.0)
"""Seconds between two looks for what was missed, when they fail."""
_ABSENT_FOR = 60.0
"""Seconds after which it is looked whether a server that was hidden is gone for good."""


class Intaking(Protocol):
    """Takes in what is found; every method raises StoreError when that cannot be done now."""

    async def missed_message(self, message: RawMessage, listening_since: datetime) -> None:
        """Take in a message that was missed."""
        ...

    async def changed(self, change: Change) -> None:
        """Take in what became of a message meanwhile."""
        ...


class Backfill:
    """Looks for what a shard missed, in the channels of its servers."""

    def __init__(
        self,
        client: Client,
        rest: Rest,
        cursors: catch_up.Cursors,
        intake: Intaking,
        clock: PlatformClock,
    ) -> None:
        """Prepare to look.

        Args:
            cursors: Tell up to when nothing was missed.
            clock: Discord's, which its history and the cursors go by.
        """
        self._clock = clock
        self._client = client
        self._rest = rest
        self._cursors = cursors
        self._intake = intake

    async def look(self, shard: ShardRange, listening_since: datetime) -> None:
        """Take in what a shard missed, also from servers that Discord cannot tell of at once."""
        while True:
            absent = self._absent(shard)
            await self._take_in_missed(shard, listening_since)
            while absent and self._absent(shard) == absent:
                await self._guild_available()
            if not absent:
                return

    async def look_when_seen(self, shard: ShardRange, guild_id: int) -> None:
        """Take in what a shard missed of a server that an outage hides, once that is over."""
        hidden_at = self._clock.theirs(discord.utils.utcnow())
        while (guild := self._client.get_guild(guild_id)) is not None and guild.unavailable:
            await self._guild_available()
        await self._take_in_missed(shard, discord.utils.utcnow(), hidden_at - catch_up.MARGIN)

    async def _guild_available(self) -> None:
        with suppress(TimeoutError):
            await self._client.wait_for("guild_available", timeout=_ABSENT_FOR)

    def _absent(self, shard: ShardRange) -> set[int]:
        """Return the servers of a shard that an outage of Discord's hides."""
        ours = (guild for guild in self._client.guilds if guild.shard_id == shard.number)
        return {guild.id for guild in ours if guild.unavailable}

    async def _take_in_missed(
        self, shard: ShardRange, listening_since: datetime, heard_until: datetime | None = None
    ) -> None:
        """Take in what was missed and can be read, until that has succeeded.

        Args:
            heard_until: From when on it may be, where nothing has been noted of the shard yet.
        """
        for pause in chain(_PAUSES, repeat(_PAUSES[-1])):
            try:
                await self._take_in_once(shard, listening_since, heard_until)
            except (StoreError, DeliveryError) as error:
                logger.warning("what was missed could not be looked for: %s", error)
                await asyncio.sleep(pause)
            else:
                return

    async def _take_in_once(
        self, shard: ShardRange, listening_since: datetime, heard_until: datetime | None
    ) -> None:
        since = await catch_up.missed_since(self._cursors, shard) or heard_until
        if since is None:
            return
        missed = catch_up.missed(self._client, self._rest, self._cursors, shard, since)
        async for one in missed:
            with self._client.unreadable.contained(HISTORY, one.data.get("id")):
                message = read_message(one.data, one.guild)
                await self._intake.missed_message(message, listening_since)
        async for change in changed(self._client, self._rest, self._cursors, shard, since):
            with self._client.unreadable.contained(HISTORY, None):
                await self._intake.changed(change)
