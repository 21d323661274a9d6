"""A course's students and its staff on either local platform, before the real bot."""

import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tests.bench.figures import machine
from tests.chaos.happenings.staff import is_answer_form
from tests.chaos.templates import Templates, make_models
from tests.wire import discord, discord_bot, slack, slack_bot
from tests.wire.bot_process import PATIENCE, BotProcess


@dataclass(frozen=True)
class Asked:
    """A question whose answer stands."""

    user: Any
    answer: Any
    """The platform's message."""
    text: str
    """What it shows."""


class Form(Protocol):
    """What staff write an answer into."""

    async def submit(self, said: str) -> Any:
        """Send it."""
        ...


class Office(Protocol):
    """What both benches do on a platform."""

    name: str

    @property
    def bot(self) -> BotProcess:
        """The bot's process."""
        ...

    async def ask(self, question: str) -> Asked:
        """Ask as a new student in a new channel, and wait for the answer."""
        ...

    async def pass_on(self, asked: Asked) -> bool:
        """Press Ask the staff; False: it is not offered below this answer."""
        ...

    async def form(self, question: str) -> Form:
        """Open the form that answers a question of the queue."""
        ...

    async def verify(self, asked: Asked, said: str) -> None:
        """Verify an answer of the bot in other words."""
        ...

    async def standing(self, asked: Asked, said: str) -> None:
        """Wait until a reply stands in the asker's thread.

        Raises:
            AssertionError: when it does not come.
        """
        ...

    def copies(self, asked: Asked, said: str) -> tuple[int, int]:
        """Return how many messages say so in the asker's thread, and how many elsewhere."""
        ...

    async def quiet(self) -> None:
        """Wait until all that was said before is done with."""
        ...


@dataclass
class DiscordForm:
    """A modal of Discord's."""

    office: "DiscordOffice"
    opened: discord.Interaction

    async def submit(self, said: str) -> discord.Interaction:
        """Send it; it can be sent more than once, as by a client that had no response."""
        return await self.office.trial.world.submit_modal(self.opened, answer=said)


@dataclass
class DiscordOffice:
    """Students and staff in a server of Discord."""

    trial: discord_bot.Trial
    name: str = "Discord"

    @property
    def bot(self) -> BotProcess:
        """The bot's process."""
        return self.trial.bot

    async def ask(self, question: str) -> Asked:
        """As `Office.ask`."""
        user = self.trial.user()
        answer = await self.trial.ask(user, self.trial.channel(), question)
        return Asked(user, answer, answer.text)

    async def pass_on(self, asked: Asked) -> bool:
        """As `Office.pass_on`."""
        if "Ask the staff" not in discord_bot.labels(asked.answer):
            return False
        custom_id = discord_bot.button(asked.answer, "Ask the staff")
        pressed = await self.trial.world.click(asked.user, asked.answer, custom_id)
        await pressed.response(PATIENCE)
        return True

    async def form(self, question: str) -> DiscordForm:
        """As `Office.form`; the question is the only one of the queue."""
        world, room = self.trial.world, self.trial.channel()
        shown = await world.slash(world.owner, room, "course queue")
        await shown.response(PATIENCE)
        queue = shown.original
        assert queue is not None
        assert question in queue.text, queue.text
        opened = await world.click(world.owner, queue, discord_bot.button(queue, "Answer"))
        await opened.response(PATIENCE)
        return DiscordForm(self, opened)

    async def verify(self, asked: Asked, said: str) -> None:
        """As `Office.verify`."""
        world = self.trial.world
        opened = await world.context_menu(world.owner, asked.answer, "Verify answer")
        await opened.response(PATIENCE)
        sent = await world.submit_modal(opened, answer=said)
        await sent.response(PATIENCE)
        assert sent.original is not None
        assert sent.original.text.startswith("Kept, revision 1"), sent.original.text

    async def standing(self, asked: Asked, said: str) -> None:
        """As `Office.standing`."""
        await self.trial.until(lambda: self.copies(asked, said)[0] or None, f"the reply {said!r}")

    def copies(self, asked: Asked, said: str) -> tuple[int, int]:
        """As `Office.copies`."""
        saying = [m for m in self._posted() if said in m.text]
        there = sum(m.channel is asked.answer.channel for m in saying)
        return there, len(saying) - there

    async def quiet(self) -> None:
        """As `Office.quiet`."""
        await self.ask(_LAST)

    def _posted(self) -> Iterator[discord.Message]:
        bot = self.trial.world.bot
        return (m for m in self.trial.said() if m.author is bot and discord_bot.is_finished(m))


@dataclass
class SlackForm:
    """A modal of Slack's."""

    office: "SlackOffice"
    view: Any

    async def submit(self, said: str) -> slack.Interaction | None:
        """Send it; None: it is closed, or shows by now that it was taken."""
        world = self.office.trial.world
        top = world.modals.top(world.owner)
        if top is None or top is not self.view or not is_answer_form(top):
            return None
        return await world.submit_view(world.owner, self.view, answer=said)


@dataclass
class SlackOffice:
    """Students and staff in a workspace of Slack."""

    trial: slack_bot.Trial
    name: str = "Slack"

    @property
    def bot(self) -> BotProcess:
        """The bot's process."""
        return self.trial.bot

    async def ask(self, question: str) -> Asked:
        """As `Office.ask`."""
        user = self.trial.user()
        answer = await self.trial.ask(user, self.trial.channel(user), question)
        return Asked(user, answer, answer.shown)

    async def pass_on(self, asked: Asked) -> bool:
        """As `Office.pass_on`."""
        if "gl:k" not in slack_bot.labels(asked.answer):
            return False
        pressed = await self.trial.world.click(asked.user, asked.answer, "gl:k")
        await self.trial.result_of(pressed)
        return True

    async def form(self, question: str) -> SlackForm:
        """As `Office.form`; the question is the only one of the queue."""
        world, room = self.trial.world, self.trial.channel()
        while (left := world.modals.top(world.owner)) is not None:
            await world.close_view(world.owner, left)
        queue = await self.trial.result_of(await world.slash(world.owner, room, "/course", "queue"))
        assert question in queue.shown, queue.shown
        await world.click(world.owner, queue, "gl:a")
        return SlackForm(self, await self._opened())

    async def verify(self, asked: Asked, said: str) -> None:
        """As `Office.verify`."""
        world = self.trial.world
        while (left := world.modals.top(world.owner)) is not None:
            await world.close_view(world.owner, left)
        asked.answer.channel.members[world.owner.id] = world.owner
        await world.shortcut(world.owner, "gl-verify", asked.answer)
        sent = await world.submit_view(world.owner, await self._opened(), answer=said)
        await sent.ack(PATIENCE)

    async def standing(self, asked: Asked, said: str) -> None:
        """As `Office.standing`."""
        await self.trial.until(lambda: self.copies(asked, said)[0] or None, f"the reply {said!r}")

    def copies(self, asked: Asked, said: str) -> tuple[int, int]:
        """As `Office.copies`."""
        saying = [m for m in self._posted() if said in m.shown]
        place = (asked.answer.channel, asked.answer.thread_ts)
        there = sum((m.channel, m.thread_ts) == place for m in saying)
        return there, len(saying) - there

    async def quiet(self) -> None:
        """As `Office.quiet`."""
        await self.ask(_LAST)

    def _posted(self) -> Iterator[slack.Message]:
        bot = self.trial.world.bot
        own = (m for m in self.trial.world.messages if m.author is bot and not m.ephemeral)
        return (m for m in own if slack_bot.is_finished(m))

    async def _opened(self) -> Any:
        world = self.trial.world

        def opened() -> Any:
            view = world.modals.top(world.owner)
            return view if view is not None and is_answer_form(view) else None

        return await self.trial.until(opened, "a form to answer in")


_LAST = "How long does the lamp of buoy K0001 burn?"


def offices(template: Path, folder: Path) -> Iterator[AbstractAsyncContextManager[Office]]:
    """Yield an office of each platform, over copies of a data folder."""
    yield _on_discord(template, folder / "discord")
    yield _on_slack(template, folder / "slack")


@asynccontextmanager
async def _on_discord(template: Path, folder: Path) -> AsyncIterator[Office]:
    async with discord_bot.a_trial(template, folder) as trial:
        yield DiscordOffice(trial)
        trial.world.notified.clear()  # each reply notifies its asker


@asynccontextmanager
async def _on_slack(template: Path, folder: Path) -> AsyncIterator[Office]:
    async with slack_bot.a_trial(template, folder) as trial:
        yield SlackOffice(trial)
        trial.world.notified.clear()


class Found(Protocol):
    """What a bench found on one platform."""

    @property
    def holds(self) -> bool:
        """Whether it is as it must be."""
        ...

    def lines(self) -> Iterator[str]:
        """Yield the figures."""
        ...


async def on_both(measure: Callable[[Office], Awaitable[Found]]) -> bool:
    """Measure on both platforms, print the figures, and return whether they hold."""
    holds = True
    with tempfile.TemporaryDirectory(prefix="glossator-teaching-") as name:
        folder = Path(name)
        templates = Templates(folder, await make_models(folder / "models"), None)
        template = await templates.get(on_postgres=False, stand_ins=False)
        for opened in offices(template.data, folder):
            async with opened as office:
                found = await measure(office)
            print("\n".join(found.lines()), flush=True)
            holds = holds and found.holds
    print(machine())
    return holds
