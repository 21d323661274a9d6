"""The people of a run: what they ask on both platforms, many at a time."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.discord.inbound import message_key as discord_key
from adapters.slack.inbound import message_key as slack_key
from core.storage.channels import ChannelRules, Place, Rules
from tests.chaos.book import COURSE, question_about
from tests.chaos.ground import Ground
from tests.chaos.happenings.commands import commanded
from tests.chaos.happenings.crowds import crowded
from tests.chaos.happenings.first_messages import (
    said_in_new_channel,
    said_nothing,
    said_while_away,
)
from tests.chaos.happenings.staff import StaffOffice, passed_on
from tests.chaos.history import Asked, Spot, Way
from tests.chaos.plan import Talk, talks
from tests.chaos.scene import Scene
from tests.wire import discord, slack
from tests.wire.grants import FOLLOWS_IN, grant_on

_AT_A_TIME = 12
_APART = 1_000_000
"""What sets the number of a conversation apart that broke off from another."""
_WAITS = 0.6
"""How many follow-ups are asked only when the question before is answered."""
_PATIENCE = 40.0
"""Seconds until a person goes on without an answer."""

Away = Callable[[], Awaitable[None]]
"""Ends every process of the bot, which is started again soon after."""


@dataclass
class People:
    """Asks so many questions, each about a buoy of its own."""

    ground: Ground
    seed: int
    questions: int
    pace: float
    """Questions a second, at most."""
    asked: list[Asked] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.scene = Scene(self.ground)
        self._turn = asyncio.Semaphore(_AT_A_TIME)
        self.away: Away | None = None
        self.offices = {name: StaffOffice() for name in ("discord", "slack")}

    async def can_read(self, engine: AsyncEngine) -> None:
        """Let every server and the workspace read the book, and wait until running bots know.

        In one channel of each platform the bot is switched off.
        """
        there = [f"discord:{number}" for number in self.ground.discord.world.guilds]
        here = f"slack:{self.ground.slack.world.workspace.id}"
        await grant_on(engine, COURSE, [*there, here])
        for place in self.scene.switched_off():
            await ChannelRules(engine).set(Place(*place), Rules(excluded=True))
        self.engine = engine
        await asyncio.sleep(FOLLOWS_IN)

    async def ask_all(self, away: Away | None = None) -> None:
        """Have all conversations, and wait until the last question was asked.

        Args:
            away: Ends every process; without it conversations alone are held.
        """
        self.away = away
        async with asyncio.TaskGroup() as talking:
            for talk in talks(self.questions, self.seed, plain=away is None):
                await self._turn.acquire()
                talking.create_task(self._talk(talk))
                await asyncio.sleep(len(talk.names) / self.pace)

    async def _talk(self, talk: Talk) -> None:
        try:
            match talk.way:
                case Way.TALK if talk.on_discord:
                    await self._talk_on_discord(talk)
                case Way.TALK:
                    await self._talk_on_slack(talk)
                case Way.CROWD:
                    await crowded(self, talk)
                case Way.COMMAND:
                    await commanded(self, talk)
                case Way.AWAY:
                    assert self.away is not None
                    await said_while_away(self, talk, self.away)
                case Way.NEW_CHANNEL:
                    await said_in_new_channel(self, talk)
                case Way.BARE:
                    await said_nothing(self, talk)
                case Way.STAFF:
                    await passed_on(self, talk)
        finally:
            self._turn.release()

    async def _talk_on_discord(self, talk: Talk) -> None:
        user, place = self.scene.somebody_there(), self.scene.somewhere_there()
        conversation, first = talk.conversation, None
        for name in talk.names:
            message, asked = await self.say_there(user, place, name, conversation)
            first = first or message
            await self.wait_for(asked)
            if (thread := await _thread_of(first)) is not None:
                place = thread
            else:  # what comes next is a conversation of its own
                first, conversation = None, conversation + _APART

    async def _talk_on_slack(self, talk: Talk) -> None:
        user, place = self.scene.somebody_here(), self.scene.somewhere_here()
        first: slack.Message | None = None
        for name in talk.names:
            message, asked = await self.say_here(user, place, name, talk.conversation, first)
            first = first or message
            await self.wait_for(asked)

    async def say_there(
        self,
        user: discord.User,
        place: discord.Channel,
        name: str,
        conversation: int,
        way: Way = Way.TALK,
        text: str | None = None,
    ) -> tuple[discord.Message, Asked]:
        """Ask by a message on Discord about a name; without one, mention the bot alone.

        Args:
            text: What is asked, if not about a name.
        """
        world = self.ground.discord.world
        asked = text or _question(name)
        message = await world.say(user, place, f"<@{world.bot.id}> {asked}")
        spot = Spot(str(user.id), str(place.id), str(message.id))
        key = discord_key(world.application.id, message.id)
        return message, self.note(Asked(key, name, conversation, way, spot))

    async def say_here(
        self,
        user: slack.User,
        place: slack.Channel,
        name: str,
        conversation: int,
        thread: slack.Message | None = None,
        way: Way = Way.TALK,
        text: str | None = None,
    ) -> tuple[slack.Message, Asked]:
        """Ask by a message on Slack about a name; without one, mention the bot alone.

        Args:
            text: What is asked, if not about a name.
        """
        world = self.ground.slack.world
        asked = text or _question(name)
        message = await world.say(user, place, f"<@{world.bot.id}> {asked}", thread=thread)
        spot = Spot(user.id, place.id, message.ts, thread.ts if thread else "")
        key = slack_key(world.workspace.id, place.id, message.ts)
        return message, self.note(Asked(key, name, conversation, way, spot))

    def note(self, asked: Asked) -> Asked:
        """Enter a question that was asked just now."""
        asked.said_at = time.monotonic()
        self.asked.append(asked)
        return asked

    async def wait_for(self, asked: Asked) -> None:
        """Wait for the answer, or only until the question was seen to be accepted."""
        patient = self.random.random() < _WAITS
        with suppress(TimeoutError):
            await until(lambda: (asked.done_at if patient else asked.seen_at) is not None)


def _question(name: str) -> str:
    return question_about(name) if name else ""


async def _thread_of(message: discord.Message) -> discord.Channel | None:
    """Return the thread that the bot opens for an answer, None where it does not come."""
    with suppress(TimeoutError):
        await until(lambda: message.thread is not None)
    return message.thread


async def until(condition: Callable[[], Any], patience: float = _PATIENCE) -> None:
    """Wait until a condition is true.

    Raises:
        TimeoutError: when it does not become true in time.
    """
    async with asyncio.timeout(patience):
        while not condition():  # noqa: ASYNC110 - what is watched has no event
            await asyncio.sleep(0.1)
