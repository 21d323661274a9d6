"""Questions at an even pace, and how soon the bot has them for sure."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

RATE, COUNT = 50, 250
"""Questions a second, and how many in all."""
SOON = 0.1
"""Seconds from receipt to acknowledgement, commit included, for 99 of 100 questions."""
QUIET = 0.5
"""Load a core below which what we measure is ours."""
STILL = 0.2
"""Load a core below which nothing but a test runs: two tests beside one another are more."""
BUSY = 4.0
"""How many times longer everything takes at most where others want the cores as well."""
_TICK = 0.005
_ROOT = Path(__file__).parents[2]


def outage(seconds: float) -> float:
    """Return how long something is to be away: so many seconds, or as many as `OUTAGE_SECONDS`."""
    return float(os.environ.get("OUTAGE_SECONDS", seconds))


def load_a_core() -> float:
    """Return how many processes want each core, on average of the last minute."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def slowness() -> float:
    """Return how many times longer than promised things may take: once where nothing else runs.

    The load is of the last minute, so what a test did just before counts as well.
    """
    return 1.0 if load_a_core() < STILL else BUSY


async def paced(count: int = COUNT, rate: float = RATE) -> AsyncIterator[int]:
    """Yield so many numbers at an even pace, so many a second."""
    begin = time.monotonic()
    for number in range(count):
        await asyncio.sleep(max(0.0, begin + number / rate - time.monotonic()))
        yield number


class Report:
    """Prints figures, and compares them where nobody else uses the machine."""

    def __init__(self) -> None:
        self._is_quiet = load_a_core() < QUIET
        self._lines = [f"load a core before: {load_a_core():.2f}"]
        self._late = list[str]()

    def add(self, what: str, seconds: Iterable[float]) -> None:
        """Add the times of one kind of question."""
        times = sorted(seconds)
        self._lines.append(f"{what}: {shares(times)}")
        if _share(times, 0.99) > SOON:
            self._late.append(what)

    def beside(self, what: str, seconds: Iterable[float]) -> None:
        """Add times that are only told."""
        self._lines.append(f"{what}: {shares(sorted(seconds))}")

    def say(self, line: str) -> None:
        """Add a line of words."""
        self._lines.append(line)

    def check(self) -> None:
        """Print everything; on a quiet machine fail for what took too long."""
        print("", *self._lines, sep="\n")
        if not self._is_quiet:
            pytest.skip("the machine is not quiet: times are printed, and not compared")
        assert not self._late, "\n".join(self._lines)


@asynccontextmanager
async def commits(database: Path) -> AsyncIterator[dict[str, float]]:
    """Watch an inbox, and fill in when each new event was first seen there.

    A process of its own looks every millisecond, so that neither the bot nor the local server
    makes a commit look later than it is; the times are of the monotonic clock.
    """
    seen = dict[str, float]()
    watcher = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.wire.commit_watch", str(database)),
        cwd=_ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    assert watcher.stdout is not None
    assert await watcher.stdout.readline() == b"watching\n"
    reading = asyncio.create_task(_read(watcher.stdout, seen))
    try:
        yield seen
    finally:
        watcher.terminate()
        await watcher.wait()
        await reading


async def _read(lines: asyncio.StreamReader, seen: dict[str, float]) -> None:
    async for line in lines:
        moment, _, key = line.decode().strip().partition(" ")
        seen[key] = float(moment)


@contextmanager
def delays() -> Iterator[list[float]]:
    """Sample how late this process's event loop is, on which the local server runs."""
    found = list[float]()

    async def sample() -> None:
        while True:
            due = time.monotonic() + _TICK
            await asyncio.sleep(_TICK)
            found.append(max(0.0, time.monotonic() - due))

    sampling = asyncio.ensure_future(sample())
    try:
        yield found
    finally:
        sampling.cancel()


def shares(times: list[float]) -> str:
    """Return the median and the slowest of sorted times, in words."""
    parts = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}
    return ", ".join(f"{name} {_share(times, part) * 1_000:.0f} ms" for name, part in parts.items())


def _share(times: list[float], part: float) -> float:
    return times[max(0, round(part * len(times)) - 1)]
