"""The replicas of a bot, each a process of its own, kept running as an operator's machine would."""

import asyncio
import random
import re
import signal
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from pathlib import Path

from tests.wire.bot_process import PASSED_OVER, BotProcess, copied

_ENDS_A_TRACE = re.compile(r"[A-Za-z_][\w.]*(?::|$)")
_BEGINS_AN_ENTRY = re.compile(r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\b")
_NOT_AWAITED = "was never awaited"
ON_SLACK, ON_DISCORD = "connected to Slack by a socket", "connected to Discord as"
_RESTARTED_AFTER = (0.1, 1.0)
"""Seconds until a process that has ended is started again."""
_PATIENCE = 90.0


class Fleet:
    """Replicas that are started again whenever they end."""

    def __init__(self, bots: list[BotProcess], seed: int) -> None:
        self.bots = bots
        self.counts = Counter[str]()
        """kills, stops, and exits that nobody ordered."""
        self.exits: list[str] = []
        """The last words of those."""
        self._random = random.Random(seed)
        self._killed: set[int] = set()
        self._stopped: set[int] = set()
        self._is_over = False

    async def start(self) -> None:
        """Start all replicas; wait until each is connected to Slack, and one to Discord."""
        for bot in self.bots:
            await bot.launch()
        async with asyncio.timeout(_PATIENCE):
            while not self._is_connected():  # noqa: ASYNC110
                await asyncio.sleep(0.1)

    def _is_connected(self) -> bool:
        logs = [bot.log for bot in self.bots]
        return all(ON_SLACK in log for log in logs) and any(ON_DISCORD in log for log in logs)

    async def keep_running(self) -> None:
        """Start again what ends, until cancelled."""
        while True:
            for number, bot in enumerate(self.bots):
                if not bot.is_running and not self._is_over:
                    self._note_end(number, bot)
                    await asyncio.sleep(self._random.uniform(*_RESTARTED_AFTER))
                    await bot.launch()
            await asyncio.sleep(0.05)

    def kill(self) -> None:
        """Kill a replica without a word."""
        self._kill(self._random.randrange(len(self.bots)))

    async def kill_all(self) -> None:
        """Kill every replica without a word, and wait until none is there."""
        self.counts["all processes away"] += 1
        for number in range(len(self.bots)):
            self._kill(number)
        codes = [bot.ended() for number, bot in enumerate(self.bots) if number in self._killed]
        await asyncio.gather(*codes)

    def _kill(self, number: int) -> None:
        if self.bots[number].is_running:
            self.counts["SIGKILL"] += 1
            self._killed.add(number)
            with suppress(ProcessLookupError):
                self.bots[number].signal(signal.SIGKILL)

    async def stop_for(self, seconds: float) -> None:
        """Let a replica stand still for a while: it knows nothing of it afterwards."""
        number = self._random.randrange(len(self.bots))
        bot = self.bots[number]
        if not bot.is_running or number in self._stopped:
            return
        self.counts["SIGSTOP"] += 1
        self.counts["SIGSTOP for more than 10 s"] += seconds > 10.0
        self._stopped.add(number)
        bot.signal(signal.SIGSTOP)
        try:
            await asyncio.sleep(seconds)
        finally:
            self._stopped.discard(number)
            with suppress(ProcessLookupError):
                bot.signal(signal.SIGCONT)

    async def end(self) -> int:
        """Tell all replicas to end, and return how many do not do so in time and in peace."""
        self._is_over = True
        running = [bot for bot in self.bots if bot.is_running]
        for bot in running:
            bot.signal(signal.SIGTERM)
        codes = await asyncio.gather(*(bot.ended() for bot in running), return_exceptions=True)
        return sum(code != 0 for code in codes)

    async def end_at_once(self) -> None:
        """Kill what is still running."""
        self._is_over = True
        for bot in self.bots:
            if bot.is_running:
                await bot.kill()

    def alarms(self) -> list[str]:
        """Return what the logs say that nobody foresaw: each alarm, and the error behind it.

        That an event cannot be read is foreseen: such events are sent on purpose.
        """
        lines = [line for bot in self.bots for line in bot.log.splitlines()]
        found, is_passed_over = list[str](), False
        for before, line in pairwise(["", *lines]):
            if _BEGINS_AN_ENTRY.match(line):
                is_passed_over = PASSED_OVER in line
            is_alarm = line.startswith(("CRITICAL", "ERROR")) or _NOT_AWAITED in line
            ends_a_trace = before.startswith("  ") and _ENDS_A_TRACE.match(line)
            if (is_alarm or ends_a_trace) and not is_passed_over:
                found.append(line)
        return found

    def _note_end(self, number: int, bot: BotProcess) -> None:
        if number in self._killed:
            self._killed.discard(number)
            return
        self.counts["exits of its own"] += 1
        self.exits += bot.log.splitlines()[-1:]


@asynccontextmanager
async def a_fleet(
    template: Path, folder: Path, replicas: int, settings: Mapping[str, str], seed: int
) -> AsyncIterator[Fleet]:
    """Let replicas run over copies of a data folder, until the block is left."""
    bots = []
    for number in range(replicas):
        copied(template, folder / f"replica-{number}")
        bots.append(BotProcess(folder / f"replica-{number}", settings, ON_SLACK))
    fleet = Fleet(bots, seed)
    keeper = None
    try:
        await fleet.start()
        keeper = asyncio.create_task(fleet.keep_running())
        yield fleet
    finally:
        if keeper is not None:
            keeper.cancel()
            await asyncio.wait({keeper})
        await fleet.end_at_once()
