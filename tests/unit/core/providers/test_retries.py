"""When a request is made again, and after how long."""

import time
from collections.abc import Awaitable, Callable

import pytest

from core.providers.capabilities import ProviderFailure
from core.providers.pacing import RetryPolicy, with_retries
from tests.pauses import passed_over

QUICK = RetryPolicy(retries=3, backoff=0.001, longest_wait=5.0)
BUSY = ProviderFailure("busy", transient=True)


def failing(*failures: ProviderFailure) -> tuple[Callable[[], Awaitable[int]], list[float]]:
    """Return a request that fails so often before it succeeds, and the moments of all tries."""
    left, tries = list(failures), []

    async def attempt() -> int:
        tries.append(time.monotonic())
        if left:
            raise left.pop(0)
        return len(tries)

    return attempt, tries


async def test_what_succeeds_is_made_once() -> None:
    attempt, _ = failing()
    assert await with_retries(attempt, QUICK) == 1


async def test_it_is_made_again_as_often_as_patience_says() -> None:
    attempt, _ = failing(BUSY, BUSY, BUSY)
    assert await with_retries(attempt, QUICK) == 4
    attempt, tries = failing(*[BUSY] * 9)
    with pytest.raises(ProviderFailure):
        await with_retries(attempt, QUICK)
    assert len(tries) == 4


async def test_what_does_not_pass_is_not_made_again() -> None:
    attempt, tries = failing(ProviderFailure("wrong key"))
    with pytest.raises(ProviderFailure):
        await with_retries(attempt, QUICK)
    assert len(tries) == 1


async def test_the_wait_that_the_service_asks_for_is_kept() -> None:
    attempt, tries = failing(ProviderFailure("busy", transient=True, retry_after=0.3))
    with passed_over() as pauses:
        await with_retries(attempt, QUICK)
    assert [pause.seconds for pause in pauses] == [0.3]
    assert len(tries) == 2


@pytest.mark.parametrize(
    ("asked", "left"), [(9.0, 60.0), (3.0, 3.5), (0.0, 0.9)], ids=["too long", "too late", "late"]
)
async def test_nobody_waits_in_vain(asked: float, left: float) -> None:
    attempt, tries = failing(ProviderFailure("busy", transient=True, retry_after=asked))
    with passed_over() as pauses, pytest.raises(ProviderFailure):
        await with_retries(attempt, QUICK, time.monotonic() + left)
    assert len(tries) == 1
    assert pauses == []


def test_waits_grow_and_are_never_quite_the_same() -> None:
    patience = RetryPolicy(backoff=1.0)
    waits = [[patience.wait_after(BUSY, retries) for _ in range(50)] for retries in range(3)]
    assert all(0.5 * 2**n <= wait <= 1.5 * 2**n for n, row in enumerate(waits) for wait in row)
    assert all(len(set(row)) > 1 for row in waits)
