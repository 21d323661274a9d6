"""The people of a run: conversations on both platforms, many at a time."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from adapters.discord.inbound import message_key as discord_key
from adapters.slack.inbound import message_key as slack_key
from tests.chaos.book import name_of, question_about
from tests.chaos.ground import Ground
from tests.chaos.history import Asked
from tests.wire import discord, slack

_SERVERS, _CHANNELS, _USERS = 4, 6, 24
"""On Discord, the channels are shared out between the servers."""
_LONGEST = 4
_AT_A_TIME = 12
_APART = 1_000_000
"""What sets the number of a conversation apart that broke off from another."""
_WAITS = 0.6
"""How many follow-ups are asked only when the question before is answered."""
_PATIENCE = 40.0
"""Seconds until a person goes on without an answer."""


@dataclass
class People:
    """Asks so many questions, each about a buoy of its own."""

    ground: Ground
    seed: int
    questions: int
    pace: float
    """Questions a second, at most."""
    asked: list[Asked] = field(default_factory=list)
    conversations: int = 0

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._turn = asyncio.Semaphore(_AT_A_TIME)
        there, here = self.ground.discord.world, self.ground.slack.world
        servers = [there.guild]
        for number in range(1, _SERVERS):
            servers.append(there.add_guild(f"Course {number}", there.owner))
            there.install(there.application, servers[-1])
        self._on_discord = [there.add_user(f"user{n}", *servers) for n in range(_USERS)]
        self._there = [
            there.add_channel(servers[n % _SERVERS], f"channel-{n}") for n in range(_CHANNELS)
        ]
        self._on_slack = [here.add_user(f"user{n}", here.workspace) for n in range(_USERS)]
        members = (here.owner, here.bot, *self._on_slack)
        self._here = [
            here.add_channel(here.workspace, f"channel-{n}", members=members)
            for n in range(_CHANNELS)
        ]

    async def ask_all(self) -> None:
        """Have all conversations, and wait until the last question was asked."""
        async with asyncio.TaskGroup() as talking:
            for number, names in enumerate(self._conversations()):
                await self._turn.acquire()
                talk = self._talk_on_discord if number % 2 else self._talk_on_slack
                talking.create_task(self._talk(talk(number, names)))
                await asyncio.sleep(len(names) / self.pace)

    def _conversations(self) -> Iterator[list[str]]:
        """Yield the names that each conversation is about."""
        number = 0
        while number < self.questions:
            length = min(self._random.randint(1, _LONGEST), self.questions - number)
            yield [name_of(n) for n in range(number, number + length)]
            number += length

    async def _talk(self, conversation: Awaitable[None]) -> None:
        try:
            await conversation
        finally:
            self._turn.release()

    async def _talk_on_discord(self, conversation: int, names: list[str]) -> None:
        world = self.ground.discord.world
        user, place = self._random.choice(self._on_discord), self._random.choice(self._there)
        first: discord.Message | None = None
        for name in names:
            text = f"<@{world.bot.id}> {question_about(name)}"
            message = await world.say(user, place, text)
            first = first or message
            key = discord_key(world.application.id, message.id)
            await self._waited(self._note(key, name, conversation))
            if (thread := await _thread_of(first)) is not None:
                place = thread
            else:  # what comes next is a conversation of its own
                first, conversation = None, conversation + _APART

    async def _talk_on_slack(self, conversation: int, names: list[str]) -> None:
        world = self.ground.slack.world
        user, place = self._random.choice(self._on_slack), self._random.choice(self._here)
        first: slack.Message | None = None
        for name in names:
            text = f"<@{world.bot.id}> {question_about(name)}"
            message = await world.say(user, place, text, thread=first)
            first = first or message
            key = slack_key(world.workspace.id, place.id, message.ts)
            await self._waited(self._note(key, name, conversation))

    def _note(self, key: str, name: str, conversation: int) -> Asked:
        asked = Asked(key, name, conversation, said_at=time.monotonic())
        self.asked.append(asked)
        return asked

    async def _waited(self, asked: Asked) -> None:
        """Wait for the answer, or only until the question was seen to be accepted."""
        patient = self._random.random() < _WAITS
        with suppress(TimeoutError):
            await until(lambda: (asked.done_at if patient else asked.seen_at) is not None)


async def _thread_of(message: discord.Message) -> discord.Channel | None:
    """Return the thread that the bot opens for an answer, None where it does not come."""
    with suppress(TimeoutError):
        await until(lambda: message.thread is not None)
    return message.thread


async def until(condition: Callable[[], bool], patience: float = _PATIENCE) -> None:
    """Wait until a condition is true.

    Raises:
        TimeoutError: when it does not become true in time.
    """
    async with asyncio.timeout(patience):
        while not condition():  # noqa: ASYNC110 - what is watched has no event
            await asyncio.sleep(0.1)
