"""What all ways to use the bot on Slack have in common."""

import re
from typing import Any
from uuid import UUID

from tests.security.courses_matrix.matrix import (
    Lane,
)
from tests.security.courses_matrix.relations import (
    Place,
    first_fact,
)
from tests.security.courses_matrix.slack.house import SlackHouse, is_answer
from tests.wire.bot_process import PATIENCE
from tests.wire.slack import Channel, Interaction, Message, User

REQUEST = re.compile(r'"gl:[a-z]", "value": "([0-9a-f-]{36})"|gl:[a-z]:([0-9a-f-]{36})')
CHOICE = re.compile(r"gl:course:([0-9a-f-]{36})()")
NEARBY = re.compile(r"gl:w:([0-9a-f-]{36})()")

_PATIENCE = 15.0
"""Seconds for what is due to follow a first text."""


class Using:
    """Does what people do; all that comes of it is in the house's witness."""

    def __init__(self, house: SlackHouse) -> None:
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
        self.policies: dict[str, str] = {}
        """Keys of policies."""
        self.others_room = house.world.channel
        """A channel of another tenant, bound to its course."""

    async def _told(self, lane: Lane, command: str, text: str = "") -> str:
        mark = self.witness.mark()
        used = await self.world.slash(lane.user, lane.where, command, text)
        await used.ack(PATIENCE)
        return await self._answer_to(used, lane, mark)

    async def _told_alone(self, lane: Lane, command: str, text: str) -> str:
        """Return what a command tells its person alone, whatever else its place shows."""
        return (await self._told_by(lane.user, lane.where, command, text)).shown

    async def _told_by(self, user: User, where: Channel, command: str, text: str) -> Message:
        used = await self.world.slash(user, where, command, text)
        await used.ack(PATIENCE)
        return await self.house.until(lambda: next(filter(is_answer, used.messages), None))

    async def _answer_to(self, used: Interaction, lane: Lane, mark: int) -> str:
        """Return the private answer to a deed, else what its place shows."""
        incoming = await self.house.incoming(lane, mark)
        answer = next(filter(is_answer, used.messages), incoming)
        return answer.shown if answer is not None else ""

    async def _by_owner(self, lane: Lane, where: Channel, text: str) -> None:
        owner = self.house.owners[lane.bond.tenant]
        used = await self.world.slash(owner, where, "/course", text)
        await used.ack(PATIENCE)
        await self.house.until(lambda: used.messages or None)

    async def _something(self, lane: Lane, mark: int) -> None:
        await self.house.until(lambda: any(self.witness.since(mark, lane.places)) or None)

    async def _says(self, lane: Lane, text: str, **more: Any) -> Message:
        return await self.world.say(
            lane.user, lane.where, self._addressed(lane, text), thread=lane.thread, **more
        )

    async def _passage(self, lane: Lane) -> Message:
        """Return a message with a sentence of the course's book that a person has posted."""
        text = lane.typing(first_fact(lane.bond.course))
        return await self.world.say(lane.user, lane.where, text, thread=lane.thread)

    def _addressed(self, lane: Lane, text: str) -> str:
        bot = self.house.installed[lane.tenant].bot
        return text if lane.place is Place.DIRECT else f"<@{bot.id}> {text}"

    def _keep(
        self,
        lane: Lane,
        name: str,
        message: Message | None,
        pattern: re.Pattern[str] = REQUEST,
    ) -> None:
        found = pattern.search(str(message.blocks).replace("'", '"')) if message else None
        if found is not None:
            lane.turns[name] = UUID(found[1] or found[2])

    def _request_of(self, message: Message, pattern: re.Pattern[str] = REQUEST) -> UUID:
        found = pattern.search(str(message.blocks).replace("'", '"'))
        assert found is not None, message.shown
        return UUID(found[1] or found[2])

    def _came(self, lane: Lane, mark: int, wanted: str) -> bool | None:
        return any(wanted in s.words for s in self.witness.since(mark, lane.places)) or None

    async def _patiently(self, condition: Any) -> None:
        try:
            await self.world.until(condition, _PATIENCE)
        except TimeoutError:
            return  # the run says what was due
