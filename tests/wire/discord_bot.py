"""The unmodified bot as a process of its own, in front of the local Discord."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from bot.settings import Settings
from bot.wiring import ingest_handbook, open_services
from tests.books import LIGHTHOUSE, write_files
from tests.command_line import shell
from tests.wire import bot_process
from tests.wire.bot_process import PATIENCE, copied
from tests.wire.discord import (
    Channel,
    ChannelType,
    DiscordServer,
    Interaction,
    Limits,
    Message,
    User,
    World,
)
from tests.wire.discord.component_checks import walk

T = TypeVar("T")
SITE = "https://arden.example.org/book/"
_BUTTON = 2
FOREIGN_FACT = "amber falcon seventeen"
_MORE = """\
See the drawing of the burner in the hall. Turn to the last page for a list of tools. Read the
label on the tin. View the plate by the door. Watch the lamp from the gallery. Visit the museum of
the harbour. Go to the office for a leaflet. Recall the words of the pilot.
"""
"""Goes on with the paragraph about the wick, and answers nothing: only the evidence shows it."""
_COURSES = f"""\
[courses.arden]
title = "Arden"
base_url = "{SITE}"
sources = ["arden"]

[courses.vault]
title = "The vault"
sources = ["vault"]

[courses.rooms]
title = "The rooms"
sources = ["rooms"]
"""
_VAULT = f"# The vault\n\nThe vault of the Bellhaven bank opens with the words {FOREIGN_FACT}.\n"
_ROOMS = """\
# Nine rooms

## 9.7 The silver room

The silver room of the palace holds forty spoons, which are counted every Sunday.

## 9.8 The map room

The map room of the palace holds a globe of walnut wood, which turns once a day.
"""


def make_template(folder: Path, models: Path, *courses: str) -> Path:
    """Return a data folder with the handbook and these courses: `arden`, `vault`, `rooms`."""
    place = shell(folder, models)
    shown = "no longer see the beam.\n"
    lamp = LIGHTHOUSE["lamp.md"].replace(shown, shown + _MORE)
    write_files(folder / "arden", {**LIGHTHOUSE, "lamp.md": lamp})
    write_files(folder / "vault", {"vault.md": _VAULT})
    write_files(folder / "rooms", {"rooms.md": _ROOMS})
    (folder / "glossator.toml").write_text(_COURSES, encoding="utf-8")
    for course in courses:
        done = place.here("ingest", "--course", course)
        assert done.code == 0, done.err

    async def add_handbook() -> None:
        async with open_services(Settings(_env_file=None, data_dir=place.data)) as opened:
            await ingest_handbook(opened)

    asyncio.run(add_handbook())
    return place.data


class BotProcess(bot_process.BotProcess):
    """The bot in front of a local Discord."""

    def __init__(self, folder: Path, server: DiscordServer, settings: Mapping[str, str]) -> None:
        """Prepare a process; `settings` are `GLOSSATOR_` variables beside the three needed."""
        variables = {
            "DISCORD__TOKEN": server.world.application.token,
            "DISCORD__API_URL": server.api_url,
            **settings,
        }
        super().__init__(folder, variables, ready="connected to Discord as")


@dataclass
class Trial:
    """A world with a running bot in it, seen by its people."""

    server: DiscordServer
    bot: bot_process.BotProcess
    people: int = 0

    @property
    def world(self) -> World:
        return self.server.world

    @property
    def mention(self) -> str:
        """What one writes to speak to the bot."""
        return f"<@{self.world.bot.id}>"

    def user(self, *roles: Any) -> User:
        """Return somebody who has not asked anything yet."""
        self.people += 1
        user = self.world.add_user(f"user{self.people}", self.world.guild)
        self.world.join(user, self.world.guild, *roles)
        return user

    def channel(self, kind: ChannelType = ChannelType.TEXT, **more: Any) -> Channel:
        """Return a channel in which nobody has said anything yet."""
        self.people += 1
        return self.world.add_channel(self.world.guild, f"channel-{self.people}", kind, **more)

    async def until(self, condition: Callable[[], T | None], wanted: str = "") -> T:
        """Wait until a condition is true and return its value."""
        try:
            value = await self.world.until(condition, PATIENCE)
            assert value is not None
            return value
        except TimeoutError:
            shown = "\n".join(f"  {m.author.name}: {m.text}" for m in self.said())
            error = f"{wanted or condition} did not come\n{shown}\n{self.bot.log[-6000:]}"
            raise AssertionError(error.encode(errors="backslashreplace").decode()) from None

    def said(self) -> list[Message]:
        """Return all messages that stand anywhere."""
        return [m for m in self.world.messages.values() if not m.deleted]

    def from_bot(self, channel: Channel, user: User | None = None) -> list[Message]:
        """Return the bot's messages in a channel, as a user sees them."""
        shown = self.world.transcript(channel, user)
        return [message for message in shown if message.author is self.world.bot]

    async def answer_to(self, question: Message) -> Message:
        """Wait for the finished answer to a message and return it."""

        def answered() -> Message | None:
            place = question.thread or question.channel
            later = (m for m in self.from_bot(place) if m.id > question.id and is_finished(m))
            return next((m for m in later if _may_answer(m, question)), None)

        return await self.until(answered, f"an answer to {question.text!r}")

    async def result_of(self, interaction: Interaction) -> Message:
        """Wait for what a command leads to and return it."""

        def answered() -> Message | None:
            shown = [*interaction.follow_ups, interaction.original]
            return next((m for m in shown if m is not None and is_finished(m)), None)

        return await self.until(answered, f"a response to {interaction.data}")

    async def ask(self, user: User, channel: Channel, text: str, **more: Any) -> Message:
        """Ask by a mention, and return the finished answer."""
        return await self.answer_to(
            await self.world.say(user, channel, f"{self.mention} {text}", **more)
        )

    async def quiet(self, channel: Channel, user: User) -> None:
        """Wait until the bot has taken in all that was said before, and done with it.

        A question that is asked now, elsewhere, is answered after what came before it.
        """
        await self.ask(user, self.channel(), "How much does the fog bell of Arden weigh?")

    def check_manners(self) -> None:
        """Fail for a ping, a preview or a request that Discord counts against a bot."""
        history = self.world.history
        pinged = [n for n in self.world.notified if n.message.author is self.world.bot]
        fetched = [p for p in self.world.previews if p.message.author is self.world.bot]
        assert not pinged, "the bot pings nobody"
        assert not fetched, "the bot has nothing previewed"
        assert not history.early_requests, "no request goes into a closed bucket"


def _may_answer(message: Message, question: Message) -> bool:
    """Return whether a message is no reply to another one than a question."""
    referenced = (message.reference or {}).get("message_id")
    return referenced is None or str(referenced) == str(question.id)


def is_finished(message: Message) -> bool:
    """Tell whether a message of the bot is what it is to be: no placeholder, nothing growing."""
    if message.loading or message.deleted or not message.text:
        return False
    return "Stop" not in labels(message) and "Yours waits its turn" not in message.text


def is_growing(message: Message) -> bool:
    """Tell whether a message shows an answer that is being written."""
    return message.text.endswith(" …") and "Stop" in labels(message)


def labels(message: Message) -> list[str]:
    """Return what is written on a message's buttons, and in the menu of the rest."""
    return [button["label"] for button in _buttons(message) if "label" in button]


def button(message: Message, label: str) -> str:
    """Return the custom id of a message's button."""
    found = next(b for b in _buttons(message) if b.get("label") == label)
    return str(found.get("custom_id") or found["value"])


def _buttons(message: Message) -> list[Mapping[str, Any]]:
    parts = list(walk(message.components))
    shown = [part for part in parts if part["type"] == _BUTTON]
    menus = [part for part in parts if str(part.get("custom_id")).startswith("gl:rest:")]
    return [*shown, *(option for menu in menus for option in menu["options"])]


@asynccontextmanager
async def a_trial(
    template: Path,
    folder: Path,
    *,
    settings: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    start: bool = True,
) -> AsyncIterator[Trial]:
    """Let a bot run over a copy of a data folder; what it may never do fails the test."""
    copied(template, folder)
    async with DiscordServer(limits or Limits.relaxed()) as server:
        trial = Trial(server, BotProcess(folder, server, settings or {}))
        try:
            if start:
                await trial.bot.start()
            yield trial
            if trial.bot.is_running:
                assert await trial.bot.stop() == 0, trial.bot.log
            trial.check_manners()
            trial.bot.check_log()
        finally:
            if trial.bot.is_running:
                await trial.bot.kill()
