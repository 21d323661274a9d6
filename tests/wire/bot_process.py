"""The unmodified bot as a process of its own, in front of whatever its settings name."""

import asyncio
import signal
from asyncio.subprocess import Process
from collections.abc import Mapping
from pathlib import Path

from tests.command_line import CommandLine, copy_tree

PASSED_OVER = "cannot be read and is passed over"
CLOCK_DIFFERS = "this machine's clock is 30 minutes"
_HARMLESS = (PASSED_OVER, "Ignoring exception in autocomplete")
"""What is an error in the log, and no harm where events come that cannot be read."""
NO_WAIT = {"INBOX__USER_WAIT_MINUTES": "0"}
"""The settings with which a question beyond its user's limit is refused at once."""
PATIENCE = 40.0
"""Seconds; a machine that is busy takes its time, and nobody waits when it is not."""


class BotProcess:
    """`python -m bot run` over a data folder, with its log."""

    def __init__(self, folder: Path, settings: Mapping[str, str], ready: str) -> None:
        """Prepare a process.

        Args:
            settings: `GLOSSATOR_` variables beside the data folder.
            ready: What it says when it is connected.
        """
        self.folder = folder
        self.module = "bot"
        """What `python -m` runs: the bot, or the bot with something to watch it."""
        self.shell = CommandLine(folder)
        """Where it is started: with which interpreter, and with which variables set."""
        self.passes_over = False
        """Whether events come that cannot be read, and the log may say so."""
        self.clock_differs = False
        """Whether its clock is not the platform's, and the log may say so."""
        self._settings = settings
        self._ready = ready
        self._process: Process | None = None
        self._log = folder / "bot.log"

    @property
    def log(self) -> str:
        """All that the processes of this folder have said."""
        return self._log.read_text(encoding="utf-8") if self._log.exists() else ""

    @property
    def pid(self) -> int:
        """The process's id."""
        assert self._process is not None
        return self._process.pid

    async def launch(self) -> None:
        """Start the process, and wait for nothing."""
        variables = {"DATA_DIR": str(self.folder / "data"), **self._settings}
        line = self.shell.setting(**variables)
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(line.python, "-m", self.module, "run"),
                cwd=self.folder,
                env=line.environment(),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    async def start(self) -> None:
        """Start the process, and wait until it is connected."""
        before = self.log.count(self._ready)
        await self.launch()
        await self.says(self._ready, times=before + 1)

    async def says(self, text: str, times: int = 1, *, within: float = PATIENCE * 2) -> None:
        """Wait until the log says something, for so many seconds at most."""
        async with asyncio.timeout(within):
            while self.log.count(text) < times:
                assert self._process is not None
                assert self._process.returncode is None, self.log
                await asyncio.sleep(0.02)

    async def ended(self) -> int:
        """Wait for the end of the process and return its exit code."""
        assert self._process is not None
        async with asyncio.timeout(PATIENCE):
            return await self._process.wait()

    async def stop(self, number: int = signal.SIGTERM) -> int:
        """Tell the process to end, and return its exit code."""
        self.signal(number)
        return await self.ended()

    async def kill(self) -> None:
        """End the process without a word."""
        await self.stop(signal.SIGKILL)

    def signal(self, number: int) -> None:
        """Send the process a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    @property
    def is_running(self) -> bool:
        """Whether the process has been started and has not ended."""
        return self._process is not None and self._process.returncode is None

    def check_log(self) -> None:
        """Fail for anything in the log that an operator would be alarmed by."""
        alarming = [line for line in self.log.splitlines() if line.startswith(("ERROR", "CRIT"))]
        if self.clock_differs:
            alarming = [line for line in alarming if CLOCK_DIFFERS not in line]
        if self.passes_over:
            alarming = [line for line in alarming if not any(said in line for said in _HARMLESS)]
        else:
            assert "Traceback" not in self.log, self.log
        assert not alarming, "\n".join(alarming)


def copied(template: Path, folder: Path) -> None:
    """Copy a data folder to where a bot is to run; the index's files are mostly holes."""
    copy_tree(template, folder / "data")
