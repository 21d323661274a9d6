"""A held job stays held while its lease can be renewed, and its work is never left unheard."""

import asyncio
import gc
from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast

import pytest

from adapters.chat.delivery.job_lease import JobLease
from core.domain import now
from core.domain.errors import StoreError
from core.storage.inbox.base import Job, LeaseLost
from core.storage.inbox.store import Inbox
from tests.inbox import event

LEASE = 4.0
"""Seconds: long enough for a busy machine."""


class Renewals:
    """An inbox that is only renewed at, and that fails the first times."""

    def __init__(self, *failures: Exception | None) -> None:
        """Prepare to fail; None: that time no answer ever comes."""
        self.failures = [*failures]
        self.done = asyncio.Event()

    async def renew(self, job: Job, lease: timedelta) -> bool:
        if self.failures:
            failure = self.failures.pop(0)
            if failure is None:
                await asyncio.sleep(60)
            else:
                raise failure
        self.done.set()
        return False


def holding(renewals: Renewals, lease: float, clock: Callable[[], float] | None = None) -> JobLease:
    clock = clock or asyncio.get_running_loop().time
    job = Job(event(1), 1, now(), now())
    inbox = cast("Inbox", renewals)
    return JobLease(inbox, job, lease=lease, claimed_at=clock(), clock=clock)


@pytest.mark.parametrize(
    "failures", [[None], [StoreError("away")] * 2], ids=["no answer", "two errors"]
)
async def test_a_renewal_that_fails_is_made_up_for(failures: list[Exception | None]) -> None:
    renewals = Renewals(*failures)
    held = holding(renewals, LEASE)

    async def work() -> None:
        async with asyncio.timeout(LEASE):
            await renewals.done.wait()
        held.check()

    await held.hold_during(work(), lambda: None)


async def test_without_any_renewal_the_work_ends_with_the_lease() -> None:
    held = holding(Renewals(*[StoreError("away")] * 1_000), 0.3)
    with pytest.raises(LeaseLost):
        await held.hold_during(asyncio.sleep(60), lambda: None)


@pytest.mark.costly
async def test_what_fails_after_the_lease_is_lost_is_not_reported_as_unheard() -> None:
    unheard = list[dict[str, Any]]()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unheard.append(context))
    held = holding(Renewals(*[StoreError("away")] * 1_000), 0.3)

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            held.check()

    with pytest.raises(LeaseLost):
        await held.hold_during(work(), lambda: None)
    gc.collect()
    assert unheard == []
