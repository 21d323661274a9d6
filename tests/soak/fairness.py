"""Prints what one user who asks a thousand questions a minute costs everybody else.

`python -m tests.soak.fairness`: sixty people of six Slack workspaces ask a bot three questions a
second, in stretches with and without a user of one of these workspaces who asks a thousand a
minute; once on PostgreSQL, once on SQLite. It ends with 1 when the p95 of the others, from
delivery to the finished answer, is more than 20 % higher in the stretches with that user, when a
question of theirs is refused or lost, or when that user is told more often than once a minute
to slow down.
"""

import argparse
import asyncio
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import psutil
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from core.domain.errors import RateLimited
from core.storage.database import reading
from core.storage.inbox.base import IntakeLimits, minute_of
from core.storage.inbox.rows import InboxRow
from tests.soak.bots import POSTGRESQL, SQLITE, on_each
from tests.soak.people import PATIENCE, Asked, People
from tests.wire import slack
from tests.wire.bot_process import NO_WAIT
from tests.wire.slack_bot import Trial

MOST = 1.2
"""Times the p95 of the others without the spammer."""
_WARM_UP = 10.0
_SLOW_DOWN = RateLimited(0).user_message.partition(".")[0]


@dataclass(frozen=True)
class Waits:
    """Seconds that people waited."""

    alone: Sequence[float]
    beside: Sequence[float]
    """In the stretches with the spammer."""

    @property
    def ratio(self) -> float:
        """How many times longer the p95 is beside the spammer."""
        return _share(self.beside, 95) / _share(self.alone, 95)

    def __str__(self) -> str:
        shares = [(_share(self.alone, n), _share(self.beside, n)) for n in (50, 95)]
        return "; ".join(
            f"p{n} {a * 1_000:,.0f} ms without, {b * 1_000:,.0f} ms with, {b / a:.2f} times"
            for n, (a, b) in zip((50, 95), shares, strict=True)
        )


@dataclass(frozen=True)
class Spammer:
    """How one was treated who asked too much."""

    asked: int
    in_minutes: Sequence[int]
    """How many of these were accepted in each minute of the clock."""
    answered: int
    told: int
    """How often they were told to slow down."""
    _most = IntakeLimits().user_per_minute

    @property
    def allowed(self) -> int:
        """How many of these questions the bot promises to answer."""
        return sum(min(count, self._most) for count in self.in_minutes)

    @property
    def too_fast(self) -> int:
        """In how many minutes they asked too much."""
        return sum(count > self._most for count in self.in_minutes)

    def __str__(self) -> str:
        return (
            f"{self.asked:,} questions in {len(self.in_minutes)} minutes of the clock, "
            f"{self.answered} answered of {self.allowed} allowed, told to slow down "
            f"{self.told} times, passed over {self.asked - self.answered - self.told:,}"
        )


@dataclass(frozen=True)
class Fairness:
    """What a spammer cost the others on one database."""

    first_sign: Waits
    """Until anything was seen below the question."""
    answer: Waits
    asked: int
    """Questions of the others, all of which are to be answered."""
    refused: int
    lost: int
    spammer: Spammer
    processor: Mapping[bool, float]
    """Seconds of a processor that the bot took, without and with the spammer."""

    @property
    def are_good(self) -> bool:
        """Whether the others got all they asked for, hardly later, and nobody was nagged."""
        all_answered = not self.refused and not self.lost
        told_politely = self.spammer.told <= self.spammer.too_fast
        return all_answered and told_politely and self.answer.ratio <= MOST

    def __str__(self) -> str:
        return (
            f"{self.asked:,} questions of others, {self.refused} refused, {self.lost} lost\n"
            f"  to the first sign of life: {self.first_sign}\n"
            f"  to the finished answer: {self.answer}\n"
            f"  the spammer: {self.spammer}\n"
            f"  the bot's processor time: {self.processor[False]:.1f} s without, "
            f"{self.processor[True]:.1f} s with"
        )


async def measure(trial: Trial, engine: AsyncEngine, seconds: float, pairs: int) -> Fairness:
    """Return what the others waited in so many pairs of stretches of so many seconds.

    Every other pair begins with the spammer, so that a machine which becomes slower, or a
    database that grows, is not taken for what the spammer costs.
    """
    people = await People.in_workspaces(trial, engine)
    await people.ask(engine, min(_WARM_UP, seconds), beside_spam=False)
    people.asked.clear()
    process, processor = psutil.Process(trial.bot.pid), {False: 0.0, True: 0.0}
    for pair in range(pairs):
        for beside_spam in (False, True) if pair % 2 == 0 else (True, False):
            before = process.cpu_times()
            await people.ask(engine, seconds, beside_spam=beside_spam)
            after = process.cpu_times()
            processor[beside_spam] += after.user + after.system - before.user - before.system
    others, spam = [*people.of_others()], [*people.of_spammer()]
    return Fairness(
        first_sign=_waits((one, one.first_at) for one in others),
        answer=_waits((one, one.done_at) for one in others),
        asked=len(others),
        refused=sum(one.done_at is not None and not one.is_answered for one in others),
        lost=sum(one.done_at is None for one in others),
        spammer=Spammer(
            asked=len(spam),
            in_minutes=await _in_minutes(engine, spam),
            answered=sum(one.is_answered for one in spam),
            told=sum(_SLOW_DOWN in one.told for one in spam),
        ),
        processor=processor,
    )


def _waits(seen: Iterable[tuple[Asked, float | None]]) -> Waits:
    """Return what was waited until these moments; who saw nothing waited to the end."""
    waited: dict[bool, list[float]] = {False: [], True: []}
    for one, moment in seen:
        lasted = PATIENCE if moment is None else moment - one.delivered_at
        waited[one.beside_spam].append(lasted)
    return Waits(alone=waited[False], beside=waited[True])


async def _in_minutes(engine: AsyncEngine, asked: Sequence[Asked]) -> Sequence[int]:
    accepted = select(InboxRow.accepted_at).where(InboxRow.key.in_([one.key for one in asked]))
    async with reading(engine) as db:
        moments = (await db.scalars(accepted)).all()
    return list(Counter(minute_of(moment) for moment in moments).values())


def _share(seconds: Sequence[float], percent: int) -> float:
    return statistics.quantiles(seconds, n=100, method="inclusive")[percent - 1]


async def main(databases: Sequence[str], seconds: float, pairs: int) -> bool:
    """Measure on these databases, print their figures, and return whether all are good."""

    async def measured(trial: Trial, engine: AsyncEngine) -> Fairness:
        return await measure(trial, engine, seconds, pairs)

    limits = slack.Limits()
    return await on_each(databases, measured, settings=NO_WAIT, limits=limits, by_oauth=True)


if __name__ == "__main__":
    both = (POSTGRESQL, SQLITE)
    reader = argparse.ArgumentParser(prog="python -m tests.soak.fairness")
    reader.add_argument("--database", choices=both, help="one of them alone")
    reader.add_argument("--seconds", type=float, default=10.0, help="of a stretch")
    reader.add_argument("--pairs", type=int, default=5, help="stretches of each kind")
    wanted = reader.parse_args()
    databases = (wanted.database,) if wanted.database else both
    sys.exit(not asyncio.run(main(databases, wanted.seconds, wanted.pairs)))
