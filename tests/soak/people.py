"""People in several Slack workspaces, one of whom asks without end, and what they are told."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.slack.inbound import message_key
from tests.chaos.book import COURSE, fact_about, name_of, question_about
from tests.chaos.templates import BUOYS
from tests.soak.bots import all_acknowledged, waiting
from tests.wire.grants import grant_on
from tests.wire.pace import paced
from tests.wire.slack import Change, Message, User
from tests.wire.slack_bot import Trial, is_finished
from tests.wire.slack_installs import install

WORKSPACES, PEOPLE = 6, 60
"""Slack allows fifty updates a minute in a workspace, and each answer ends with one."""
RATE = 3.0
"""Questions a second of all the others together: each asks three a minute."""
SPAM = 1_000 / 60
"""Questions a second of one user."""
PATIENCE = 90.0
"""Seconds for what is still to be answered; Slack delivers again after sixty."""


@dataclass
class Asked:
    """A question, and what became of it; times are seconds of Slack's clock."""

    name: str
    message: Message
    beside_spam: bool
    """Whether it was asked in a stretch with the spammer."""
    by_spammer: bool
    delivered_at: float = 0.0
    """When Slack first sent its event."""
    first_at: float | None = None
    """When anything of the bot's was first seen below it."""
    done_at: float | None = None
    """When what the bot said was first whole."""
    told: str = ""

    @property
    def is_answered(self) -> bool:
        """Whether it was told what the book says."""
        return fact_about(self.name) in self.told

    @property
    def key(self) -> str:
        """Its key in the inbox."""
        channel = self.message.channel
        return message_key(channel.workspaces[0].id, channel.id, self.message.ts)

    def note(self, reply: Message, moment: float) -> None:
        """Take in what stands below it now."""
        self.first_at = moment if self.first_at is None else self.first_at
        if is_finished(reply):
            self.done_at = moment if self.done_at is None else self.done_at
            self.told = reply.shown


class People:
    """Ask in conversations of their own with the bot, by turns."""

    def __init__(self, trial: Trial, spammer: User, others: Sequence[User]) -> None:
        self.asked: list[Asked] = []
        self._trial = trial
        self._spammer = spammer
        self._others = others
        self._below: dict[str, Asked] = {}
        trial.world.watch(self._seen)

    @classmethod
    async def in_workspaces(cls, trial: Trial, engine: AsyncEngine) -> Self:
        """Return people of workspaces that read the book; all but one are ordinary."""
        world = trial.world
        await trial.bot.says("listening for Slack on port")
        places = [world.workspace]
        places += [world.add_workspace(f"Workspace {n}") for n in range(1, WORKSPACES)]
        # Before they are met: a running bot reads the grants again when it meets a tenant.
        await grant_on(engine, COURSE, [f"slack:{workspace.id}" for workspace in places])
        for workspace in places:
            await install(trial, workspace)
        for workspace in places[1:]:
            await trial.bot.says(f"slack:{workspace.id} has let the bot in")
        others = [world.add_user(f"user{n}", places[n % WORKSPACES]) for n in range(PEOPLE)]
        return cls(trial, world.add_user("spammer", world.workspace), others)

    async def ask(self, engine: AsyncEngine, seconds: float, *, beside_spam: bool) -> None:
        """Let all ask for so long, with the spammer or without, and wait for the answers."""
        async with asyncio.TaskGroup() as asking:
            asking.create_task(self._ask(round(seconds * RATE), beside_spam=beside_spam))
            if beside_spam:
                asking.create_task(self._spam(round(seconds * SPAM)))
        await self._settled(engine)
        self._note_deliveries()

    def of_others(self) -> Iterator[Asked]:
        """Yield what everybody but the spammer has asked."""
        return (one for one in self.asked if not one.by_spammer)

    def of_spammer(self) -> Iterator[Asked]:
        """Yield what the spammer has asked."""
        return (one for one in self.asked if one.by_spammer)

    async def _ask(self, count: int, *, beside_spam: bool) -> None:
        async for _ in paced(count, RATE):
            number = sum(1 for _ in self.of_others())
            await self._say(self._others[number % PEOPLE], beside_spam=beside_spam)

    async def _spam(self, count: int) -> None:
        async for _ in paced(count, SPAM):
            await self._say(self._spammer, beside_spam=True)

    async def _say(self, user: User, *, beside_spam: bool) -> None:
        world, name = self._trial.world, name_of(len(self.asked) % BUOYS)
        message = await world.say(user, world.dm(user), question_about(name))
        asked = Asked(name, message, beside_spam, by_spammer=user is self._spammer)
        self._below[message.ts] = asked
        self.asked.append(asked)

    def _seen(self, change: Change) -> None:
        reply = change.subject
        if isinstance(reply, Message) and reply.installation is not None:
            asked = self._below.get(reply.thread_ts or "")
            if asked is not None:
                asked.note(reply, self._trial.world.clock.now())

    async def _settled(self, engine: AsyncEngine) -> None:
        """Wait until all is answered that will be; what is not then, is lost."""
        await all_acknowledged(self._trial)
        give_up = asyncio.get_running_loop().time() + PATIENCE
        while asyncio.get_running_loop().time() < give_up:
            if all(one.done_at for one in self.of_others()) and not await waiting(engine):
                return
            await asyncio.sleep(0.1)

    def _note_deliveries(self) -> None:
        for delivery in self._trial.world.history.delivered("message"):
            asked = self._below.get(delivery.payload["event"].get("ts", ""))
            if asked is not None and not delivery.attempt:
                asked.delivered_at = delivery.at
