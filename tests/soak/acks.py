"""Prints how long an event waits for its acknowledgement, commit included, under load.

`python -m tests.soak.acks`: 150 questions a second, each of them new, come by Slack's socket to a
bot that has 1,000 questions to answer already; once on PostgreSQL, once on SQLite. It ends with 1
when one event of a hundred waits for longer than 100 ms, or one for two seconds, or longer than
Slack waits.
"""

import argparse
import asyncio
import os
import statistics
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncEngine

from core.database import create_engine, reading
from core.inbox.rows import InboxRow, is_waiting
from tests.chaos.book import name_of, question_about
from tests.chaos.templates import BUOYS, STAND_INS, Template, Templates, make_models
from tests.postgres import PostgresServer, postgres_server
from tests.wire.slack import Limits
from tests.wire.slack.history import Delivery
from tests.wire.slack_bot import Trial, a_trial

BACKLOG = 1_000
"""Questions that wait for their answers before it is measured."""
P99, MOST = 0.1, 2.0
"""Seconds from receipt to acknowledgement: of 99 in a hundred events at most, and of each less."""
_PEOPLE = 300
_PATIENCE = 30.0
_SLACKS_OWN = (60.0, 300.0)
"""Seconds until an event that was not acknowledged in three is delivered again."""
_MANY = "100000"
_SETTINGS = STAND_INS | {"INBOX__USER_PER_MINUTE": _MANY, "INBOX__CHANNEL_PER_MINUTE": _MANY}


@dataclass(frozen=True)
class Acks:
    """How long the events of one database waited."""

    seconds: Sequence[float]
    """Of each attempt to deliver one; an attempt that was given up waited as long as Slack does."""
    too_late: int
    """Attempts that were given up."""
    sent: float
    """Events a second."""
    before: int
    """Questions that waited for their answers when it began."""
    after: int

    @property
    def are_soon(self) -> bool:
        """Whether all came in the time that is promised."""
        return not self.too_late and self._cuts()[98] <= P99 and max(self.seconds) < MOST

    def __str__(self) -> str:
        cuts = self._cuts()
        figures = {"p50": cuts[49], "p95": cuts[94], "p99": cuts[98], "max": max(self.seconds)}
        told = ", ".join(f"{name} {seconds * 1_000:,.0f} ms" for name, seconds in figures.items())
        return (
            f"{told} of {len(self.seconds):,}, {self.sent:.0f} a second; waiting for their answers "
            f"{self.before:,} before and {self.after:,} after; not acknowledged in time "
            f"{self.too_late:,}"
        )

    def _cuts(self) -> list[float]:
        return statistics.quantiles(self.seconds, n=100, method="inclusive")


def waited(delivery: Delivery, patience: float) -> float:
    """Return the seconds that an attempt waited; one without an acknowledgement, all of them."""
    return patience if delivery.seconds is None else delivery.seconds


async def measure(trial: Trial, engine: AsyncEngine, events: int, rate: float) -> Acks:
    """Return how long the acknowledgements of so many events took."""
    world = trial.world
    people = [trial.user() for _ in range(_PEOPLE)]
    places = [(person, world.direct_channel(person, world.bot)) for person in people]
    loop = asyncio.get_running_loop()

    async def ask(count: int, rate: float) -> None:
        began = loop.time()
        for number in range(count):
            await asyncio.sleep(max(0.0, began + number / rate - loop.time()))
            person, direct = places[number % _PEOPLE]
            await world.say(person, direct, question_about(name_of(number % BUOYS)))
        await _all_acknowledged(trial)

    while (before := await _waiting(engine)) < BACKLOG:
        await ask(BACKLOG + 100 - before, rate / 3)
    known, began = len(world.history.deliveries), loop.time()
    await ask(events, rate)
    sent = events / (loop.time() - began)
    deliveries = world.history.deliveries[known:]
    return Acks(
        seconds=[waited(delivery, world.limits.ack) for delivery in deliveries],
        too_late=sum(delivery.acked_at is None for delivery in deliveries),
        sent=sent,
        before=before,
        after=await _waiting(engine),
    )


async def _all_acknowledged(trial: Trial) -> None:
    deliveries = trial.world.history.deliveries
    async with asyncio.timeout(_PATIENCE):
        while any(  # noqa: ASYNC110 - what is watched has no event
            d.acked_at is None and d.failure is None for d in deliveries[-1_000:]
        ):
            await asyncio.sleep(0.1)


async def _waiting(engine: AsyncEngine) -> int:
    async with reading(engine) as db:
        return await db.scalar(select(func.count()).select_from(InboxRow).where(is_waiting())) or 0


@asynccontextmanager
async def _running(
    template: Template, folder: Path, server: PostgresServer
) -> AsyncIterator[tuple[Trial, AsyncEngine]]:
    """Let a bot run on a template's database."""
    url = f"sqlite:///{folder / 'data' / 'glossator.db'}"
    settings = dict(_SETTINGS)
    if template.database is not None:
        url = settings["DATABASE__URL"] = f"{server.url}{template.database}"
    engine = create_engine(url)
    try:
        limits = Limits.relaxed()
        limits.retry_delays = _SLACKS_OWN
        async with a_trial(template.data, folder, settings=settings, limits=limits) as trial:
            yield trial, engine
            await trial.bot.kill()  # what waits would be answered for minutes
    finally:
        await engine.dispose()


async def main(events: int, rate: float) -> bool:
    """Measure on both databases, print a line for each, and return whether both are good."""
    good = True
    with TemporaryDirectory(prefix="glossator-acks-") as name, postgres_server() as server:
        folder = Path(name)
        templates = Templates(folder, await make_models(folder / "models"), server)
        for on_postgres in (True, False):
            template = await templates.get(on_postgres=on_postgres, stand_ins=True)
            database = "PostgreSQL" if on_postgres else "SQLite"
            async with _running(template, folder / f"on-{database}", server) as (trial, engine):
                acks = await measure(trial, engine, events, rate)
            load, good = os.getloadavg()[0], good and acks.are_soon
            too_slow = "" if acks.are_soon else "; too slow"
            print(f"{database}: receipt to ack {acks}; load {load:.1f}{too_slow}", flush=True)
    return good


if __name__ == "__main__":
    reader = argparse.ArgumentParser(prog="python -m tests.soak.acks")
    reader.add_argument("--events", type=int, default=3_000)
    reader.add_argument("--rate", type=float, default=150.0, help="events a second")
    wanted = reader.parse_args()
    sys.exit(not asyncio.run(main(wanted.events, wanted.rate)))
