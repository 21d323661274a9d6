"""The two platforms, the bot and the page, started and stopped together."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from bot.settings import load_settings
from tests.wire.playground.bot_process import BotProcess, environment
from tests.wire.playground.data import copy_courses, folder_of_copy, forget_people
from tests.wire.playground.discord.side import DiscordSide
from tests.wire.playground.live import Live
from tests.wire.playground.site import Site
from tests.wire.playground.slack.side import SlackSide

OWN_DATA = Path(".glossator") / "playground"
_A_DAY = 86_400.0


class Playground:
    """Runs while it is entered.

    The places and people are new each time; with a `data_dir`, the bot answers from the
    handbook and keeps its data there, without one it uses the operator's own settings, and a copy
    of their courses.
    """

    def __init__(
        self, *, port: int = 0, data_dir: Path | None = OWN_DATA, with_bot: bool = True
    ) -> None:
        self.url = ""
        self.discord = DiscordSide(own_courses=data_dir is None)
        self.slack = SlackSide(own_courses=data_dir is None)
        self._port = port
        self._own = load_settings() if data_dir is None else None
        self._data_dir = (
            folder_of_copy(self._own) if self._own else (data_dir or OWN_DATA).absolute()
        )
        self._with_bot = with_bot
        self._closing = AsyncExitStack()

    async def __aenter__(self) -> Self:
        if self._with_bot:
            await self._prepare()
        async with AsyncExitStack() as starting:
            for server in (self.discord.server, self.slack.server):
                await server.start()
                starting.push_async_callback(server.stop)
            live = Live()
            bot = self._bot(live)
            site = Site({"discord": self.discord, "slack": self.slack}, live, bot)
            self.url = await site.start(self._port)
            starting.push_async_callback(site.stop)
            starting.push_async_callback(bot.stop)
            await self._begin(bot)
            self._closing = starting.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._closing.aclose()

    async def _prepare(self) -> None:
        """Have the data folder hold the courses, and nobody of an earlier start."""
        if self._own is None:
            await forget_people(self._data_dir)
        else:
            print("Copying your courses for the playground ...", flush=True)
            await copy_courses(self._own)

    def _bot(self, live: Live) -> BotProcess:
        # Where it starts, no .env and no glossator.toml of the operator's is.
        self._data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        servers = self.discord.server, self.slack.server
        told = environment(*servers, data_dir=self._data_dir, own=self._own)
        return BotProcess(told, self._data_dir, connected=self.connected, changed=live.tell_status)

    async def connected(self) -> None:
        """Wait, for as long as the bot runs, until it is connected to both platforms."""
        await asyncio.gather(self.discord.connected(_A_DAY), self.slack.connected(_A_DAY))

    async def _begin(self, bot: BotProcess) -> None:
        if self._own is None:
            await self.discord.stage.dress()
            await self.slack.stage.dress()
        if self._with_bot:
            await bot.start()
