"""Takes in what people write, edit and delete; what is no question is passed over."""

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import discord

from adapters.discord import surroundings
from adapters.discord.api.rest import Rest
from adapters.discord.gateway.client import Client
from adapters.discord.inbound import (
    PLATFORM,
    heard_message,
    is_no_persons,
    message_key,
    position_of,
)
from adapters.discord.raw_message import RawMessage, moment, needed_id, read_message
from adapters.intake.acceptor import Acceptor
from adapters.intake.front_desk import FrontDesk, Received
from adapters.intake.incoming_message import IncomingMessage
from adapters.intake.platform_clock import PlatformClock
from adapters.payloads import Json
from core.errors import DeliveryError
from core.inbox.base import DeletedEvent

logger = logging.getLogger(__name__)

_READ_OF_AN_EDIT = frozenset({"author", "content", "mentions", "type"})
_LATE_MENTION = timedelta(minutes=10)
"""How long an edit may take to reach us by which a message becomes a question."""


class MessageIntake:
    """Takes messages in, in the order of their channel; methods return when that has begun."""

    def __init__(
        self,
        client: Client,
        rest: Rest,
        desk: FrontDesk,
        intake: Acceptor,
        clock: PlatformClock,
        me: Callable[[], discord.ClientUser],
    ) -> None:
        """Prepare for a client that is not connected yet; `me` is asked once it is."""
        self._client = client
        self._rest = rest
        self._desk = desk
        self._intake = intake
        self._clock = clock
        self._me = me

    async def written(self, data: Json) -> None:
        """Take a question in; others are passed over."""
        message = read_message(data, surroundings.guild_of(self._client, data))
        await self._intake.begin(message.channel_id, lambda: self._message(message, None))

    async def missed(self, message: RawMessage, listening_since: datetime) -> None:
        """Take in a message that was missed; raises StoreError when that cannot be done now."""
        accept = partial(self._message, message, listening_since)
        await self._intake.begin(message.channel_id, accept, missed=True)

    async def edited(self, data: Json, guild: int | None) -> None:
        """Have an edited question answered again; a preview that Discord adds is no edit.

        Discord may send a part of the message, which is then read.
        """
        if moment(data.get("edited_timestamp")) is None:
            return
        if not data.keys() >= _READ_OF_AN_EDIT:
            try:
                whole = await self._rest.message(
                    needed_id(data, "channel_id"), needed_id(data, "id")
                )
            except DeliveryError as error:
                logger.warning("an edited message cannot be read: %s", error)
                return
            data = {**whole, "member": data.get("member")}
        message = read_message(data, guild)
        await self._intake.begin(message.channel_id, lambda: self._redone(message))

    async def deleted(self, channel_id: int, message_id: int, position: int) -> None:
        """Have a deleted question and its answer forgotten; `position`: as `Arrival.position`."""
        unheard = DeletedEvent(
            key=message_key(self._me().id, message_id),
            platform=PLATFORM,
            workspace="",
            sent_at=discord.utils.snowflake_time(message_id),
        )
        await self._intake.begin(channel_id, lambda: self._desk.deleted(unheard, position))

    async def _message(
        self, message: RawMessage, listening_since: datetime | None
    ) -> Received | None:
        incoming = await self._incoming(message)
        if incoming is None:
            return None
        return await self._desk.receive(replace(incoming, listening_since=listening_since))

    async def _redone(self, message: RawMessage) -> Received | None:
        incoming = await self._incoming(message)
        if incoming is None or message.edited_at is None:
            return None
        edited_ms = int(message.edited_at.timestamp() * 1_000)
        again = incoming.as_edit(str(edited_ms), position_of(edited_ms))
        redone = await self._desk.redo(again, original=incoming.key)
        is_new = discord.utils.utcnow() - self._clock.ours(message.edited_at) < _LATE_MENTION
        if redone is None and incoming.addressed and is_new:
            # It has become a question by the edit; one that was known is not taken in again.
            return await self._desk.receive(replace(incoming, sent_at=message.edited_at))
        return redone

    async def _incoming(self, message: RawMessage) -> IncomingMessage | None:
        if is_no_persons(message):
            return None
        around = await surroundings.around(self._client, self._client.unreadable, message)
        return heard_message(message, self._me(), around)
