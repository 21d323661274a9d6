"""Prints how long an event waits for its acknowledgement, commit included, under load.

`python -m tests.soak.acks`: 150 questions a second, each of them new, come by Slack's socket to a
bot that has 1,000 questions to answer already; once on PostgreSQL, once on SQLite.
"""

import argparse
import asyncio
import os
import statistics
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
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
from tests.wire.slack_bot import Trial, a_trial

BACKLOG = 1_000
"""Questions that wait for their answers before it is measured."""
_PEOPLE = 300
_PATIENCE = 30.0
_SLACKS_OWN = (60.0, 300.0)
"""Seconds until an event that was not acknowledged in three is delivered again."""
_MANY = "100000"
_SETTINGS = STAND_INS | {"INBOX__USER_PER_MINUTE": _MANY, "INBOX__CHANNEL_PER_MINUTE": _MANY}


async def measure(trial: Trial, engine: AsyncEngine, events: int, rate: float) -> str:
    """Return the line that tells how long the acknowledgements of so many events took."""
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
    seconds = [d.seconds for d in deliveries if d.seconds is not None]
    after = await _waiting(engine)
    return (
        f"{_told(seconds)} of {len(seconds):,}, {sent:.0f} a second; waiting for their answers "
        f"{before:,} before and {after:,} after; not acknowledged in "
        f"time {sum(d.failure is not None for d in deliveries):,}"
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


def _told(seconds: Sequence[float]) -> str:
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    figures = {"p50": cuts[49], "p95": cuts[94], "p99": cuts[98], "max": max(seconds)}
    return ", ".join(f"{name} {figure * 1_000:,.0f} ms" for name, figure in figures.items())


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


async def main(events: int, rate: float) -> None:
    """Measure on both databases, and print a line for each."""
    with TemporaryDirectory(prefix="glossator-acks-") as name, postgres_server() as server:
        folder = Path(name)
        templates = Templates(folder, await make_models(folder / "models"), server)
        for on_postgres in (True, False):
            template = await templates.get(on_postgres=on_postgres, stand_ins=True)
            database = "PostgreSQL" if on_postgres else "SQLite"
            async with _running(template, folder / f"on-{database}", server) as (trial, engine):
                line = await measure(trial, engine, events, rate)
            load = os.getloadavg()[0]
            print(f"{database}: receipt to ack {line}; load {load:.1f}", flush=True)


if __name__ == "__main__":
    reader = argparse.ArgumentParser(prog="python -m tests.soak.acks")
    reader.add_argument("--events", type=int, default=3_000)
    reader.add_argument("--rate", type=float, default=150.0, help="events a second")
    wanted = reader.parse_args()
    asyncio.run(main(wanted.events, wanted.rate))
