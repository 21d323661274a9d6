"""A shard's gap is closed by a look back that succeeds, and by nothing else."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from adapters.discord.gateway.shard_liveness import ShardLiveness


class Surprise(Exception):
    """An error that nobody foresaw."""


@pytest.fixture
def hearing() -> ShardLiveness:
    """What is heard by shards 0 and 1, both connected."""
    hearing = ShardLiveness()
    hearing.met(0)
    hearing.met(1)
    return hearing


def fail(hearing: ShardLiveness) -> None:
    with pytest.raises(Surprise), hearing.catching_up(0):
        raise Surprise


async def test_nothing_is_noted_over_the_gap_of_a_look_back_that_failed(
    hearing: ShardLiveness,
) -> None:
    fail(hearing)
    assert not hearing.is_to_be_noted(0)
    assert hearing.is_to_be_noted(1), "each shard is on its own"


async def test_a_later_look_back_makes_up_for_all_that_failed(hearing: ShardLiveness) -> None:
    fail(hearing)
    fail(hearing)
    with hearing.catching_up(0):
        assert not hearing.is_to_be_noted(0)
    assert hearing.is_to_be_noted(0)


async def test_a_later_look_back_makes_up_for_one_that_was_cancelled(
    hearing: ShardLiveness,
) -> None:
    async with looking_back(hearing) as (look, _):
        look.cancel()
        await asyncio.wait({look})
        assert not hearing.is_to_be_noted(0)
        with hearing.catching_up(0):
            pass
        assert hearing.is_to_be_noted(0)


async def test_an_earlier_look_back_makes_up_for_none_that_began_after_it(
    hearing: ShardLiveness,
) -> None:
    async with looking_back(hearing) as (look, found):
        fail(hearing)
        found.set()
        await look
        assert not hearing.is_to_be_noted(0), "it had not looked for what was said after it"


async def test_the_end_of_a_look_back_that_was_made_up_for_changes_nothing(
    hearing: ShardLiveness,
) -> None:
    async with looking_back(hearing) as (look, found):
        with hearing.catching_up(0):
            pass
        assert hearing.is_to_be_noted(0)
        found.set()
        await look
        assert hearing.is_to_be_noted(0)
        fail(hearing)
        assert not hearing.is_to_be_noted(0)


@asynccontextmanager
async def looking_back(
    hearing: ShardLiveness,
) -> AsyncIterator[tuple[asyncio.Task[None], asyncio.Event]]:
    """Give a look back that has begun, and what makes it succeed."""
    begun, found = asyncio.Event(), asyncio.Event()

    async def look() -> None:
        with hearing.catching_up(0):
            begun.set()
            await found.wait()

    task = asyncio.create_task(look())
    await begun.wait()
    yield task, found
    found.set()
    await asyncio.wait({task})
