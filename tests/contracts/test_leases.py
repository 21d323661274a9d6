"""Leases: never two holders of one name, and nothing lost by a dead process."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import timedelta

import pytest
from sqlalchemy import select, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine

from core.domain import now
from core.domain.errors import StoreError
from core.storage.database import create_engine
from core.storage.leases import LeaseRow, Leases, TableLeases, leases_of

NAME = "discord:1"
LONG = 600.0
"""Seconds: no test lasts as long."""

Process = Callable[[str], Leases]
in_the_table = pytest.mark.parametrize(
    "dialect", [pytest.param("postgresql", marks=pytest.mark.postgres)]
)


@pytest.fixture
async def process(database_url: str) -> AsyncIterator[Process]:
    """What makes the leases of one more process of the same database."""
    engines = list[AsyncEngine]()

    def another(holder: str) -> Leases:
        engines.append(create_engine(database_url))
        return leases_of(engines[-1], holder, LONG)

    yield another
    for engine in engines:
        await engine.dispose()


async def run_out(engine: AsyncEngine) -> None:
    """Let time pass until no lease holds."""
    async with engine.begin() as db:
        await db.execute(update(LeaseRow).values(until=now() - timedelta(minutes=1)))


async def test_one_process_holds_and_renews_and_the_others_do_not(process: Process) -> None:
    one, other = process("a"), process("b")
    assert await one.hold(NAME)
    for _ in range(2):
        assert not await other.hold(NAME)
        assert await one.hold(NAME)
    assert await other.hold("discord:2"), "names do not mix"


async def test_what_is_released_is_free_at_once_and_only_for_its_holder(process: Process) -> None:
    one, other = process("a"), process("b")
    assert await one.hold(NAME)
    await other.release(NAME)
    assert not await other.hold(NAME)
    await one.release(NAME)
    assert await other.hold(NAME)
    assert not await one.hold(NAME)


async def test_of_many_at_the_same_time_one_holds(process: Process) -> None:
    processes = [process(f"process {number}") for number in range(4)]
    for _ in range(3):
        held = await asyncio.gather(*(one.hold(NAME) for one in processes))
        assert held.count(True) == 1
        await processes[held.index(True)].release(NAME)


@in_the_table
async def test_a_dead_processs_lease_is_taken_when_it_runs_out(
    process: Process, engine: AsyncEngine
) -> None:
    dead, other = process("a"), process("b")
    assert await dead.hold(NAME)
    assert not await other.hold(NAME)
    await run_out(engine)
    assert await other.hold(NAME)
    assert not await dead.hold(NAME), "it comes back too late"
    await run_out(engine)
    assert await dead.hold(NAME)


@in_the_table
async def test_there_is_a_row_for_each_name_and_no_more(
    process: Process, engine: AsyncEngine
) -> None:
    for holder in ("a", "b", "c"):
        await process(holder).hold(NAME)
        await run_out(engine)
    async with engine.connect() as db:
        assert [*await db.scalars(select(LeaseRow.name))] == [NAME]


@in_the_table
async def test_a_process_that_stands_still_while_it_renews_loses_its_lease(
    engine: AsyncEngine, database_url: str
) -> None:
    second = create_engine(database_url)
    stopped, other = TableLeases(engine, "a", 3.0), TableLeases(second, "b", 3.0)
    assert await stopped.hold(NAME)
    async with engine.connect() as connection:
        await connection.run_sync(stopped._moment)
        await connection.execute(update(LeaseRow).values(holder="a"))
        async with asyncio.timeout(15.0):  # twenty seconds is what other transactions have
            while not await other.hold(NAME):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        with pytest.raises(DBAPIError):
            await connection.commit()
    await second.dispose()


async def test_a_database_that_is_away_is_told() -> None:
    engine = create_engine("postgresql://nobody@127.0.0.1:9/none")
    leases = leases_of(engine, "a", LONG)
    with pytest.raises(StoreError):
        await leases.hold(NAME)
    with pytest.raises(StoreError):
        await leases.release(NAME)
    await engine.dispose()
