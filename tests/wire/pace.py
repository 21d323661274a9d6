"""Questions at an even pace, and how soon the bot has them for sure."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

RATE, COUNT = 50, 250
"""Questions a second, and how many in all."""
Figure = Callable[[str], None]
"""The fixture that keeps a line for the summary of the run."""
_TICK = 0.005
_ROOT = Path(__file__).parents[2]


def outage(seconds: float) -> float:
    """Return how long something is to be away: so many seconds, or as many as `OUTAGE_SECONDS`."""
    return float(os.environ.get("OUTAGE_SECONDS", seconds))


def load_a_core() -> float:
    """Return how many processes want each core, on average of the last minute."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)


async def paced(count: int = COUNT, rate: float = RATE) -> AsyncIterator[int]:
    """Yield so many numbers at an even pace, so many a second."""
    begin = time.monotonic()
    for number in range(count):
        await asyncio.sleep(max(0.0, begin + number / rate - time.monotonic()))
        yield number


class Report:
    """Collects figures for the summary of the run."""

    def __init__(self) -> None:
        self._lines = [f"load a core before: {load_a_core():.2f}"]

    def add(self, what: str, seconds: Iterable[float]) -> None:
        """Add the times of one kind of question."""
        self._lines.append(f"{what}: {shares(sorted(seconds))}")

    def say(self, line: str) -> None:
        """Add a line of words."""
        self._lines.append(line)

    def keep(self, figure: Figure) -> None:
        """Hand everything to the fixture `figure`."""
        for line in self._lines:
            figure(line)


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
