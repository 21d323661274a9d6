"""What all ways to use the bot on Discord have in common."""

import re
from typing import Any
from uuid import UUID

from tests.security.courses_matrix.discord.house import DiscordHouse
from tests.security.courses_matrix.matrix import (
    Lane,
)
from tests.security.courses_matrix.relations import (
    Place,
    first_fact,
)
from tests.wire.bot_process import PATIENCE
from tests.wire.discord import Callback, Channel, Interaction, Message, User
from tests.wire.discord.commands import CHAT_INPUT
from tests.wire.discord.errors import Json
from tests.wire.discord.interaction_payloads import command_data, interaction_payload
from tests.wire.discord.interactions import InteractionType
from tests.wire.discord.state import Event
from tests.wire.discord_bot import is_finished

REQUEST = re.compile(r"gl:[a-z]:([0-9a-f-]{36})")
CHOICE = re.compile(r"gl:course:([0-9a-f-]{36})")
NEARBY = re.compile(r"gl:w:([0-9a-f-]{36}):\d")

_PATIENCE = 15.0
"""Seconds for what is due to follow a first text."""


class Using:
    """Does what people do; all that comes of it is in the house's witness."""

    def __init__(self, house: DiscordHouse) -> None:
        self.house, self.world = house, house.world
        self.witness, self.tenants = house.witness, house.tenants
        self.waits_for_words = True
        """Whether a cell is waited for until it shows what is due, and not only until it ends."""
        self.elsewhere: dict[str, UUID] = {}
        """Request ids of turns of other tenants, by course, and of other people."""
        self.planted: dict[str, UUID] = {}
        """Request ids of turns that staff were asked about and answered, by `taught`."""
        self.offered: dict[str, UUID] = {}
        """Request ids of turns below which that answer is offered."""
        self.answers: dict[UUID, Message] = {}
        """Messages of the bot with turns of other people, by request id."""
        self.policies: dict[str, str] = {}
        """Keys of policies."""

    async def _told(self, lane: Lane, name: str, options: Json) -> str:
        used = self._use(lane.user, lane.where, name, options)
        await self._replied(used)
        return used.original.text if used.original is not None else ""

    def _use(self, user: User, where: Channel, name: str, options: Json) -> Interaction:
        """Use a command, also one that a server has opened to people who were not shown it."""
        command, *path = name.split()
        guild = where.guild.id if where.guild else None
        found = self.world.commands.named(self.world.application, CHAT_INPUT, command, guild)
        return self._begun(InteractionType.COMMAND, user, where, command_data(found, path, options))

    def _begun(self, kind: InteractionType, user: User, where: Channel, data: Json) -> Interaction:
        application = self.world.application
        begun = self.world.interactions.begin(kind, application, user, where, data)
        payload, only_to = interaction_payload(begun), frozenset({application.id})
        event = Event("INTERACTION_CREATE", payload, where.guild, where, only_to=only_to)
        self.world.tell(event)
        return begun

    async def _typed_into(self, lane: Lane, name: str, option: str, typed: str) -> None:
        command, *path = name.split()
        guild = lane.where.guild.id if lane.where.guild else None
        found = self.world.commands.named(self.world.application, CHAT_INPUT, command, guild)
        data = command_data(found, path, {option: typed}, option)
        begun = self._begun(InteractionType.AUTOCOMPLETE, lane.user, lane.where, data)
        await begun.response(PATIENCE)

    async def _replied(self, interaction: Interaction) -> None:
        """Wait until an interaction is answered, and what was deferred has come."""

        def answered() -> bool | None:
            if interaction.callback is Callback.MODAL:
                return True
            original = interaction.original
            return True if original is not None and is_finished(original) else None

        await self.house.until(answered)

    async def _passage(self, lane: Lane, where: Channel) -> Message:
        """Return a message with a sentence of the course's book that a person has posted."""
        author = lane.user if where.guild is None else self.house.owners[lane.bond.tenant]
        return await self.world.say(author, where, lane.typing(first_fact(lane.bond.course)))

    async def _turn(
        self, user: User, room: Channel, options: Json, pattern: re.Pattern[str] = REQUEST
    ) -> UUID:
        asked = self._use(user, room, "ask", options)
        await self._replied(asked)
        found = request_of(asked.original, pattern)
        assert asked.original is not None
        assert found is not None, asked.original.text
        self.answers[found] = asked.original
        return found

    def _addressed(self, lane: Lane, text: str) -> str:
        return text if lane.place is Place.DIRECT else f"<@{self.world.bot.id}> {text}"

    def _keep(
        self,
        lane: Lane,
        name: str,
        message: Message | None,
        pattern: re.Pattern[str] = REQUEST,
    ) -> None:
        found = request_of(message, pattern)
        if found is not None:
            lane.turns[name] = found

    def _came(self, lane: Lane, mark: int, wanted: str) -> bool | None:
        return any(wanted in s.words for s in self.witness.since(mark, lane.places)) or None

    async def _patiently(self, condition: Any) -> None:
        try:
            await self.world.until(condition, _PATIENCE)
        except TimeoutError:
            return  # the run says what was due


def request_of(message: Message | None, pattern: re.Pattern[str] = REQUEST) -> UUID | None:
    found = pattern.search(str(message.components)) if message is not None else None
    return UUID(found[1]) if found else None
