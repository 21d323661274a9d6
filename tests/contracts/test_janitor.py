"""The janitor looks again for what a platform may show too much, on every database."""

from datetime import datetime, timedelta
from typing import cast

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.chat.base import ChatAdapter
from adapters.chat.delivery.janitor import Janitor
from core.domain import now
from core.domain.errors import DeliveryError
from core.storage.database import reading
from core.storage.inbox.base import Job
from core.storage.inbox.rows import InboxRow
from core.storage.inbox.store import Inbox
from tests.inbox import PLATFORMS, event, inbox_of

LEASE = timedelta(seconds=15)
DEADLINE = timedelta(days=1)


class Failing:
    """A platform on which every look fails, until nothing is to be raised any more."""

    is_ready = True

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.looks = 0
        self.unreacted = list[str]()

    async def unreact(self, job: Job) -> None:
        self.unreacted.append(job.arrival.key)

    async def tidy(self, job: Job) -> None:
        self.looks += 1
        if self.error is not None:
            raise self.error


class Rounds:
    """An inbox with one event that has ended in doubt, and who looks after it."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self.inbox: Inbox = inbox_of(engine, healed_after=timedelta())
        self.adapter = Failing()
        adapters = {"test": cast("ChatAdapter", self.adapter)}
        self.janitor = Janitor(inbox=self.inbox, adapters=adapters)

    async def end_in_doubt(self, accepted_at: datetime) -> None:
        await self.inbox.accept(event(1), accepted_at)
        job = await self.inbox.claim(LEASE, PLATFORMS)
        assert job is not None
        await self.inbox.finish(job, doubtful=True)

    async def heal_at(self) -> datetime | None:
        async with reading(self._engine) as db:
            return (await db.get_one(InboxRow, "test:1")).heal_at


@pytest.fixture
def rounds(engine: AsyncEngine) -> Rounds:
    return Rounds(engine)


@pytest.mark.parametrize(
    "error", [RuntimeError("nobody foresaw this"), DeliveryError("away"), TimeoutError()], ids=repr
)
async def test_a_look_that_fails_is_done_again_until_the_deadline(
    rounds: Rounds, error: Exception
) -> None:
    rounds.adapter.error = error
    await rounds.end_in_doubt(now() - DEADLINE + timedelta(minutes=5))
    assert await rounds.janitor.heal_one()
    again_at = await rounds.heal_at()
    assert again_at is not None
    assert now() < again_at < now() + timedelta(minutes=5)


@pytest.mark.parametrize(
    "error", [RuntimeError("nobody foresaw this"), DeliveryError("away"), TimeoutError()], ids=repr
)
async def test_after_the_deadline_nobody_looks_any_more(rounds: Rounds, error: Exception) -> None:
    rounds.adapter.error = error
    await rounds.end_in_doubt(now() - DEADLINE - timedelta(minutes=5))
    assert await rounds.janitor.heal_one()
    assert await rounds.heal_at() is None


async def test_what_is_refused_for_good_is_not_looked_for_again(rounds: Rounds) -> None:
    rounds.adapter.error = DeliveryError("the channel is gone", permanent=True)
    await rounds.end_in_doubt(now())
    assert await rounds.janitor.heal_one()
    assert await rounds.heal_at() is None


async def test_a_look_that_succeeds_is_the_last(rounds: Rounds) -> None:
    await rounds.end_in_doubt(now())
    assert await rounds.janitor.heal_one()
    assert await rounds.heal_at() is None
    assert rounds.adapter.looks == 1
    assert not await rounds.janitor.heal_one()
