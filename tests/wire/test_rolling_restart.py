"""Every bot is replaced by a new one while people ask on, and nobody notices."""

import asyncio
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from core.storage.database import create_engine
from tests.chaos.checker import check
from tests.chaos.ground import Ground, a_ground
from tests.chaos.history import History
from tests.chaos.people import People, until
from tests.chaos.reading import Watcher, read
from tests.chaos.sightings import Sightings
from tests.wire.bot_process import BotProcess, copied
from tests.wire.monitored import Pages
from tests.wire.on_postgres import BookOnPostgres, book_on_postgres
from tests.wire.pace import Figure
from tests.wire.slack import Slow

pytestmark = [
    pytest.mark.costly,
    pytest.mark.skipif(sys.platform == "win32", reason="ends bots with SIGTERM"),
    pytest.mark.xdist_group("rolling_restart"),
    pytest.mark.postgres,
]

QUESTIONS, PACE, BOTS = 60, 2.0, 2
_ACKNOWLEDGED_WITHIN = 30.0
"""Seconds; Slack gives three, but a redelivery here is to mean that a bot ended too soon."""
_ANSWERED_WITHIN = 120.0
_SEED = 11
_SLOWLY = Slow(0.4)
"""So that some answer is being written at each moment."""
_WRITING = ("postMessage", "update", "startStream", "appendStream", "stopStream")


@dataclass
class Roll:
    """The bots of one platform account, of which the oldest is replaced again and again."""

    ground: Ground
    book: BookOnPostgres
    folder: Path
    bots: list[BotProcess] = field(default_factory=list)
    ready_after: list[float] = field(default_factory=list)
    """Seconds from the start of each process to its readiness."""
    ended_after: list[float] = field(default_factory=list)
    """Seconds from SIGTERM to the end of each process."""
    under_way: float = 0
    """Answers that were being written when their bot was told to end."""

    async def add(self) -> None:
        """Start one more bot, and wait until it says that it is ready."""
        folder = self.folder / f"bot-{len(self.bots)}"
        copied(self.book.template.data, folder)
        database = self.book.settings["DATABASE__URL"].rpartition("/")[2]
        settings = {**self.book.settings, **self.ground.settings(database)}
        bot = BotProcess(folder, settings, "monitoring at")
        self.bots.append(bot)
        began = time.monotonic()
        await bot.start()
        await Pages(bot).becomes("/readyz", 200)
        self.ready_after.append(time.monotonic() - began)

    def slow_down(self) -> None:
        """Let it take its time to write anything."""
        self.ground.discord.faults.rest(_SLOWLY, "/messages", times=None)
        for verb in _WRITING:
            self.ground.slack.faults.api(_SLOWLY, f"chat.{verb}", times=None)

    async def end(self, bot: BotProcess) -> None:
        """Tell a bot to end, as an orchestrator does, and wait until it has."""
        self.under_way += await Pages(bot).value("answers_in_flight")
        told = time.monotonic()
        assert await bot.stop(signal.SIGTERM) == 0, bot.log
        self.ended_after.append(time.monotonic() - told)

    async def replace_oldest(self) -> None:
        """Start a new bot, and end the oldest one once the new one is ready."""
        oldest = next(bot for bot in self.bots if bot.is_running)
        await self.add()
        await self.end(oldest)

    def redelivered(self) -> list[str]:
        """Return why Slack delivered messages again."""
        deliveries = self.ground.slack.world.history.deliveries
        return [f"{d.name}: {d.failure}" for d in deliveries if d.failure is not None]

    def acknowledged_after(self) -> list[float]:
        """Return the seconds that Slack waited for each acknowledgement, in order of size."""
        deliveries = self.ground.slack.world.history.deliveries
        return sorted(d.seconds for d in deliveries if d.seconds is not None)


@asynccontextmanager
async def a_roll(book: BookOnPostgres, folder: Path) -> AsyncIterator[Roll]:
    """Let some bots run until the block is left."""
    async with a_ground(book.server, _SEED) as ground:
        ground.slack.world.limits.ack = _ACKNOWLEDGED_WITHIN
        roll = Roll(ground, book, folder)
        try:
            await asyncio.gather(*(roll.add() for _ in range(BOTS)))
            roll.slow_down()
            yield roll
            for bot in roll.bots:
                if bot.is_running:
                    await roll.end(bot)
                bot.check_log()
        finally:
            for bot in roll.bots:
                if bot.is_running:
                    await bot.kill()


@asynccontextmanager
async def _watched(engine: AsyncEngine, people: People) -> AsyncIterator[Watcher]:
    """Look into the database all the time, so that it is known when everything is answered."""
    watcher = Watcher(engine, people.asked)

    async def watch() -> None:
        while True:
            await watcher.look()
            await asyncio.sleep(0.3)

    watching = asyncio.create_task(watch())
    try:
        yield watcher
    finally:
        watching.cancel()
        await asyncio.wait({watching})


async def _history(roll: Roll, people: People) -> History:
    """Replace all bots again and again while people ask, and return what happened."""
    engine, sightings = create_engine(roll.book.settings["DATABASE__URL"]), Sightings(roll.ground)
    try:
        await people.can_read(engine)
        async with _watched(engine, people) as watcher:
            asking = asyncio.create_task(people.ask_all())
            while len(roll.ended_after) < BOTS or not asking.done():
                await roll.replace_oldest()
            await asking
            done = [*people.asked]
            await until(lambda: all(one.done_at is not None for one in done), _ANSWERED_WITHIN)
            await until(lambda: watcher.is_quiet, _ANSWERED_WITHIN)
        return await read(roll.ground, watcher, sightings, engine)
    finally:
        await engine.dispose()


async def test_no_question_is_lost_or_answered_twice_while_all_bots_are_replaced(
    models: Path, tmp_path: Path, figure: Figure
) -> None:
    async with (
        book_on_postgres(tmp_path / "template", models) as book,
        a_roll(book, tmp_path) as roll,
    ):
        people = People(roll.ground, _SEED, QUESTIONS, PACE)
        history = await _history(roll, people)
        anomalies, ended = check(history), list(roll.ended_after)
        acks = roll.acknowledged_after()
        print(
            f"\n{len(history.asked)} questions while bots were replaced {len(ended)} times, with "
            f"{roll.under_way:.0f} answers under way; {len(anomalies)} lost, doubled or altered; "
            f"{len(roll.redelivered())} redeliveries by Slack\nacknowledged after "
            f"{acks[len(acks) // 2] * 1000:.0f} ms (median), {acks[-1] * 1000:.0f} ms (longest)\n"
            f"ready {_listed(roll.ready_after)} s after the start\n"
            f"ended {_listed(ended)} s after SIGTERM"
        )
        assert anomalies == []
        assert len(history.asked) == QUESTIONS
        assert roll.redelivered() == []
        assert roll.ground.slack.world.history.lost == []
        assert len(ended) >= BOTS


def _listed(seconds: list[float]) -> str:
    return ", ".join(f"{one:.1f}" for one in seconds)
