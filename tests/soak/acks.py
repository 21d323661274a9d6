"""Prints how long an event waits for its acknowledgement, commit included, under load.

`python -m tests.soak.acks`: 150 questions a second, each of them new, come by Slack's socket to a
bot that has 1,000 questions to answer already; once on PostgreSQL, once on SQLite. It ends with 1
when one event of a hundred waits for longer than 100 ms, or one for two seconds, or longer than
Slack waits.
"""

import argparse
import asyncio
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncEngine

from tests.chaos.book import name_of, question_about
from tests.chaos.templates import BUOYS
from tests.soak.bots import POSTGRESQL, SQLITE, all_acknowledged, on_each, waiting
from tests.wire.pace import paced
from tests.wire.slack import Limits
from tests.wire.slack.history import Delivery
from tests.wire.slack_bot import Trial

BACKLOG = 1_000
"""Questions that wait for their answers before it is measured."""
P99, MOST = 0.1, 2.0
"""Seconds from receipt to acknowledgement: of 99 in a hundred events at most, and of each less."""
_PEOPLE = 300
_SLACKS_OWN = (60.0, 300.0)
"""Seconds until an event that was not acknowledged in three is delivered again."""
_MANY = "100000"
_SETTINGS = {"INBOX__USER_PER_MINUTE": _MANY, "INBOX__CHANNEL_PER_MINUTE": _MANY}


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
    def are_good(self) -> bool:
        """Whether all came in the time that is promised."""
        return not self.too_late and self._cuts()[98] <= P99 and max(self.seconds) < MOST

    def __str__(self) -> str:
        cuts = self._cuts()
        figures = {"p50": cuts[49], "p95": cuts[94], "p99": cuts[98], "max": max(self.seconds)}
        told = ", ".join(f"{name} {seconds * 1_000:,.0f} ms" for name, seconds in figures.items())
        return (
            f"receipt to ack {told} of {len(self.seconds):,}, {self.sent:.0f} a second; "
            f"waiting for their answers {self.before:,} before and {self.after:,} after; "
            f"not acknowledged in time {self.too_late:,}"
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
        async for number in paced(count, rate):
            person, direct = places[number % _PEOPLE]
            await world.say(person, direct, question_about(name_of(number % BUOYS)))
        await all_acknowledged(trial)

    while (before := await waiting(engine)) < BACKLOG:
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
        after=await waiting(engine),
    )


async def main(events: int, rate: float) -> bool:
    """Measure on both databases, print a line for each, and return whether both are good."""
    limits = Limits.relaxed()
    limits.retry_delays = _SLACKS_OWN

    async def measured(trial: Trial, engine: AsyncEngine) -> Acks:
        acks = await measure(trial, engine, events, rate)
        await trial.bot.kill()  # what waits would be answered for minutes
        return acks

    return await on_each((POSTGRESQL, SQLITE), measured, settings=_SETTINGS, limits=limits)


if __name__ == "__main__":
    reader = argparse.ArgumentParser(prog="python -m tests.soak.acks")
    reader.add_argument("--events", type=int, default=3_000)
    reader.add_argument("--rate", type=float, default=150.0, help="events a second")
    wanted = reader.parse_args()
    sys.exit(not asyncio.run(main(wanted.events, wanted.rate)))
