"""The unmodified bot as a process of its own, in front of the local Slack."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, TypeVar

from adapters.slack.oauth import EVENTS, SCOPES
from core.domain.i18n import text
from tests.wire import bot_process
from tests.wire.bot_process import PATIENCE, copied
from tests.wire.slack import (
    Channel,
    Interaction,
    Limits,
    Message,
    SlackServer,
    User,
    World,
)

T = TypeVar("T")
Transport = Literal["socket", "http"]

BY_SOCKET, BY_HTTP = "connected to Slack by a socket", "listening for Slack on port"
COMMANDS = frozenset({"/ask", "/glossator", "/course"})
"""Of the manifest."""
SIGNS = (text("slack-private-working"), text("slack-answered-in-thread"))
"""What tells who asked that an answer is on its way."""
ESCAPED = frozenset({"/course"})
_PORT = re.compile(rf"{BY_HTTP} (\d+)")


class BotProcess(bot_process.BotProcess):
    """The bot in front of a local Slack."""

    def __init__(
        self,
        folder: Path,
        server: SlackServer,
        settings: Mapping[str, str],
        transport: Transport = "socket",
    ) -> None:
        """Prepare a process; `settings` are `GLOSSATOR_` variables beside those needed."""
        app = server.world.app
        variables = {
            "SLACK__BOT_TOKEN": server.world.installation.token,
            "SLACK__APP_TOKEN": app.app_token,
            "SLACK__SIGNING_SECRET": app.signing_secret,
            "SLACK__TRANSPORT": transport,
            "SLACK__PORT": "0",
            "SLACK__API_URL": server.api_url,
            **settings,
        }
        ready = BY_SOCKET if transport == "socket" else BY_HTTP
        super().__init__(folder, {k: v for k, v in variables.items() if v}, ready)

    @property
    def url(self) -> str:
        """Where it listens, when it was started last."""
        return f"http://127.0.0.1:{_PORT.findall(self.log)[-1]}"


@dataclass
class Trial:
    """A world with a running bot in it, seen by its people."""

    server: SlackServer
    bot: BotProcess
    people: int = 0

    @property
    def world(self) -> World:
        return self.server.world

    @property
    def mention(self) -> str:
        """What one writes to speak to the bot."""
        return f"<@{self.world.bot.id}>"

    def user(self, **more: Any) -> User:
        """Return somebody who has not asked anything yet."""
        self.people += 1
        return self.world.add_user(f"user{self.people}", self.world.workspace, **more)

    def channel(self, *members: User, **more: Any) -> Channel:
        """Return a channel with the bot in which nobody has said anything yet."""
        self.people += 1
        members = (self.world.owner, self.world.bot, *members)
        name = f"channel-{self.people}"
        return self.world.add_channel(self.world.workspace, name, members=members, **more)

    async def until(self, condition: Callable[[], T | None], wanted: str = "") -> T:
        """Wait until a condition is true and return its value."""
        try:
            value = await self.world.until(condition, PATIENCE)
            assert value is not None
            return value
        except TimeoutError:
            shown = "\n".join(f"  {m.author.name}: {m.shown}" for m in self.world.messages)
            error = f"{wanted or condition} did not come\n{shown}\n{self.bot.log[-6000:]}"
            raise AssertionError(error.encode(errors="backslashreplace").decode()) from None

    def from_bot(self, channel: Channel, user: User | None = None) -> list[Message]:
        """Return the bot's messages in a channel, as a user sees them."""
        shown = self.world.transcript(channel, user)
        return [message for message in shown if message.author is self.world.bot]

    async def answer_to(self, question: Message) -> Message:
        """Wait for the finished answer to a message and return it."""
        root = question.thread_ts or question.ts

        def answered() -> Message | None:
            for message in self.from_bot(question.channel):
                if message.thread_ts == root and message.ts > question.ts and is_finished(message):
                    return message
            return None

        return await self.until(answered, f"an answer to {question.text!r}")

    async def refusal_of(self, question: Message) -> Message:
        """Wait for what its author alone is shown after a message, and return it."""

        def refused() -> Message | None:
            shown = self.world.transcript(question.channel, question.author)
            alone = (m for m in shown if m.ephemeral and m.visible_to == question.author.id)
            return next((message for message in alone if message.ts > question.ts), None)

        return await self.until(refused, f"a refusal of {question.text!r}")

    async def result_of(self, interaction: Interaction, *, after: int = 0) -> Message:
        """Wait for what its user alone is told in answer to a deed, and return it.

        That it is being looked up is no answer, nor is where the answer will stand.
        """

        def told() -> Message | None:
            shown = self.world.answers_to(interaction)
            found = [m for m in shown if not m.shown.startswith(SIGNS)]
            return found[after] if len(found) > after else None

        return await self.until(told, f"an answer to {interaction.kind}")

    async def ask(self, user: User, channel: Channel, text: str, **more: Any) -> Message:
        """Ask by a mention, and return the finished answer."""
        return await self.answer_to(await self.mentioned(user, channel, text, **more))

    async def refused(self, user: User, channel: Channel, text: str) -> Message:
        """Ask by a mention, and return what the asker alone is shown."""
        return await self.refusal_of(await self.mentioned(user, channel, text))

    async def mentioned(self, user: User, channel: Channel, text: str, **more: Any) -> Message:
        """Say something to the bot in a channel, and return it."""
        channel.members[user.id] = user
        return await self.world.say(user, channel, f"{self.mention} {text}", **more)

    async def quiet(self) -> None:
        """Wait until the bot has taken in all that was said before, and done with it.

        A question that is asked now, elsewhere, is answered after what came before it.
        """
        user = self.user()
        await self.ask(user, self.channel(user), "How much does the fog bell of Arden weigh?")

    def check_manners(self) -> None:
        """Fail for a ping, a preview, or a call into a closed window."""
        pinged = [n for n in self.world.notified if n.message.author is self.world.bot]
        fetched = [p for p in self.world.previews if p.message.author is self.world.bot]
        assert not pinged, "the bot pings nobody"
        assert not fetched, "the bot has nothing previewed"
        assert not self.world.history.early_requests, "no call goes into a closed window"


def is_finished(message: Message) -> bool:
    """Tell whether a message of the bot is what it is to be: no placeholder, nothing growing."""
    if message.deleted or message.stream is not None or not message.shown:
        return False
    return "Stop" not in message.shown


def labels(message: Message) -> list[str]:
    """Return the action ids of a message's buttons, and of what is in the menu of the rest."""
    menus = [e for e in elements(message) if e["action_id"] == "gl:rest"]
    rest = [o["value"].rpartition(":")[0] for menu in menus for o in menu["options"]]
    shown = [str(element["action_id"]) for element in elements(message)]
    return [*(one for one in shown if one != "gl:rest"), *rest]


def elements(message: Message) -> list[Mapping[str, Any]]:
    """Return a message's buttons."""
    return [e for b in message.blocks for e in b.get("elements", ()) if "action_id" in e]


@asynccontextmanager
async def a_trial(
    template: Path,
    folder: Path,
    *,
    transport: Transport = "socket",
    settings: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    by_oauth: bool = False,
    module: str = "bot",
    start: bool = True,
    ahead: timedelta = timedelta(),
) -> AsyncIterator[Trial]:
    """Let a bot run over a copy of a data folder; what it may never do fails the test.

    Args:
        module: What is run as the bot.
        ahead: By how much Slack's clock is ahead of the bot's.
        by_oauth: Give the bot no token: workspaces have to install the app.
    """
    copied(template, folder)
    async with SlackServer(limits or Limits.relaxed()) as server:
        server.world.clock.ahead = ahead
        app = server.world.app
        app.commands, app.events, app.scopes = COMMANDS, EVENTS, SCOPES
        app.escaped = ESCAPED
        server.world.installation.scopes = SCOPES
        given = dict(settings or {})
        if by_oauth:
            app.redirect_urls = ("http://127.0.0.1/slack/oauth_redirect",)
            given |= {"SLACK__BOT_TOKEN": "", "SLACK__CLIENT_ID": app.client_id}
            given |= {"SLACK__CLIENT_SECRET": app.client_secret}
        trial = Trial(server, BotProcess(folder, server, given, transport))
        trial.bot.module = module
        trial.bot.clock_differs = bool(ahead)
        try:
            if start:
                await trial.bot.start()
            if transport == "http":
                await server.subscribe(f"{trial.bot.url}/slack/events")
            yield trial
            if trial.bot.is_running:
                assert await trial.bot.stop() == 0, trial.bot.log
            trial.check_manners()
            trial.bot.check_log()
        finally:
            if trial.bot.is_running:
                await trial.bot.kill()


async def settled(seconds: float = 0.3) -> None:
    """Give the bot a moment in which it should do nothing."""
    await asyncio.sleep(seconds)
