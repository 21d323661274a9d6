"""The local Discord, the bot and the page, started and stopped together."""

from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.wire.discord.limits import Limits
from tests.wire.discord.server import DiscordServer
from tests.wire.playground.actions import Actions
from tests.wire.playground.bot_process import BotProcess, environment
from tests.wire.playground.live import Live
from tests.wire.playground.site import Site
from tests.wire.playground.stage import Stage

OWN_DATA = Path(".glossator") / "playground"


class Playground:
    """Runs while it is entered.

    The places and people are new each time; with a `data_dir`, the bot answers from the
    handbook and keeps its data there, without one it uses the operator's own settings.
    """

    def __init__(
        self, *, port: int = 0, data_dir: Path | None = OWN_DATA, with_bot: bool = True
    ) -> None:
        self.url = ""
        self.server = DiscordServer(Limits(identify_interval=0.0))
        self.stage = Stage(self.server.world, own_courses=data_dir is None)
        self._port = port
        self._data_dir = data_dir.absolute() if data_dir else None
        self._with_bot = with_bot
        self._closing = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as starting:
            await self.server.start()
            starting.push_async_callback(self.server.stop)
            live = Live(self.stage)
            bot = self._bot(live)
            site = Site(self.server.world, live, Actions(self.stage, bot))
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

    def _bot(self, live: Live) -> BotProcess:
        folder = Path.cwd()
        if self._data_dir is not None:
            self._data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
            folder = self._data_dir  # where no .env and no glossator.toml of the operator's is
        told = environment(self.server, data_dir=self._data_dir)
        return BotProcess(self.server, told, folder, live.tell_status)

    async def _begin(self, bot: BotProcess) -> None:
        if self._data_dir is not None:
            await self.stage.dress()
        if self._with_bot:
            await bot.start()
