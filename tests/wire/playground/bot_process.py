"""The real bot as a process of its own, told everything by environment variables."""

import asyncio
import contextlib
import os
import sys
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from bot.model_tables import FOREIGN_KEYS
from bot.settings import PREFIX, Settings
from tests.wire.discord.server import DiscordServer
from tests.wire.playground.data import passed_on
from tests.wire.playground.side import Json
from tests.wire.slack.server import SlackServer

ROOT = Path(__file__).parents[3]
_PATIENCE = 20.0
"""Seconds that the bot gets to stop by itself; it promises ten."""
_ASLEEP = "What is asked now is answered when it starts again."
_LONGEST_LINE = 1 << 20
_LOGGED = ("DEBUG ", "INFO ", "WARNING ")


@dataclass(frozen=True)
class Status:
    """How the bot is: `starting`, `ready`, `stopping` or `stopped`, and a sentence about it."""

    state: str
    detail: str

    @classmethod
    def stopped(cls, why: str) -> "Status":
        """Return the status of a bot that does not run."""
        return cls("stopped", why)

    def payload(self) -> Json:
        """Return it as the page gets it."""
        return asdict(self)


class BotProcess:
    """Starts, watches and stops `python -m bot run`."""

    def __init__(
        self,
        environment: Mapping[str, str],
        folder: Path,
        *,
        connected: Callable[[], Awaitable[None]],
        changed: Callable[[Status], None],
    ) -> None:
        """Prepare a bot.

        Args:
            connected: Returns when a process that was started is connected everywhere.
            folder: The current folder of the process, where it looks for its settings.
            changed: Called with each new status.
        """
        self._environment = dict(environment)
        self._folder = folder
        self._connected = connected
        self._changed = changed
        self._process: asyncio.subprocess.Process | None = None
        self._watching: asyncio.Task[None] | None = None
        self._said: deque[str] = deque(maxlen=20)
        self._state = "stopped"

    @property
    def running(self) -> bool:
        """Whether there is a process."""
        return self._watching is not None and not self._watching.done()

    async def start(self) -> None:
        """Start the process, unless it runs; the status tells when it is ready."""
        if self.running:
            return
        self._said.clear()
        self._tell("starting", "Starting the bot …")
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "bot", "run"),
            env=self._environment,
            cwd=self._folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            limit=_LONGEST_LINE,
        )
        self._watching = asyncio.create_task(self._watch(self._process))

    async def stop(self) -> None:
        """Ask the process to stop and wait for it; kill it when it does not."""
        if self._process is None or self._watching is None or self._watching.done():
            return
        self._tell("stopping", "Stopping; answers under way get a few seconds.")
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        try:
            await asyncio.wait_for(asyncio.shield(self._watching), _PATIENCE)
        except TimeoutError:
            self._process.kill()
            await self._watching

    async def _watch(self, process: asyncio.subprocess.Process) -> None:
        connecting = asyncio.create_task(self._tell_when_connected(process.pid))
        try:
            await self._listen(process)
            code = await process.wait()
        finally:
            connecting.cancel()
        asked_to = code == 0 or self._state == "stopping"
        self._tell("stopped", _ASLEEP if asked_to else f"It failed. {self._last_words()}")

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        async for line in process.stderr:
            text = line.decode(errors="replace").rstrip()
            print(f"  bot | {text}", file=sys.stderr, flush=True)
            self._said.append(text)
            if self._state == "starting" and text and not text.startswith(_LOGGED):
                self._tell("starting", text)

    async def _tell_when_connected(self, pid: int) -> None:
        began = time.monotonic()
        await self._connected()
        took = time.monotonic() - began
        self._tell("ready", f"Ready after {took:.1f} s, as process {pid}.")

    def _tell(self, state: str, detail: str) -> None:
        self._state = state
        self._changed(Status(state, detail))

    def _last_words(self) -> str:
        return next((text for text in reversed(self._said) if text), "it said nothing")


def environment(
    discord: DiscordServer,
    slack: SlackServer,
    *,
    data_dir: Path,
    own: Settings | None = None,
    variables: Mapping[str, str] = os.environ,
) -> dict[str, str]:
    """Return what the bot is told: where the two platforms are, and which data it works on.

    Args:
        data_dir: The data folder of the playground's bot.
        own: The operator's settings, for a copy of their own courses; None: no setting or key of
            the operator's is passed on.
        variables: The environment of whoever started the playground.
    """
    if own is not None:
        told = passed_on(own, variables)
    else:
        told = {n: v for n, v in variables.items() if not n.startswith(PREFIX)}
        told = {n: v for n, v in told.items() if n not in FOREIGN_KEYS}
    path = [str(ROOT), *filter(None, [told.get("PYTHONPATH")])]
    return told | {
        "PYTHONPATH": os.pathsep.join(path),
        f"{PREFIX}DATA_DIR": str(data_dir),
        f"{PREFIX}DISCORD__TOKEN": discord.world.application.token,
        f"{PREFIX}DISCORD__API_URL": discord.api_url,
        f"{PREFIX}SLACK__BOT_TOKEN": slack.world.installation.token,
        f"{PREFIX}SLACK__APP_TOKEN": slack.world.app.app_token,
        f"{PREFIX}SLACK__TRANSPORT": "socket",
        f"{PREFIX}SLACK__API_URL": slack.api_url,
    }
