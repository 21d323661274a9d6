"""Leases: never two holders of one name, fair shares, and nothing lost by a dead process."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import insert, select, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.util import await_only

from core.errors import StoreError
from core.models import now
from core.storage.database import create_engine
from core.storage.leases import LeaseRow, Leases, LeaseShare

NAMES = ["0", "1", "2", "3"]
GROUP = "discord:1:4"
LONG, SHORT_BEAT = 600.0, 0.1
"""Seconds: no test lasts as long; a process that does not renew is soon taken for dead."""

Process = Callable[..., Leases]


@pytest.fixture
async def process(database_url: str) -> AsyncIterator[Process]:
    """What makes the leases of one more process of the same database."""
    engines = list[AsyncEngine]()

    def another(holder: str, beat: float = LONG) -> Leases:
        engines.append(create_engine(database_url))
        return Leases(engines[-1], holder, LONG, beat)

    yield another
    for engine in engines:
        await engine.dispose()


async def run_out(engine: AsyncEngine) -> None:
    """Let time pass until no lease holds, and nobody is known to be alive."""
    async with engine.begin() as db:
        await db.execute(update(LeaseRow).values(until=now() - timedelta(minutes=1)))


async def settled(processes: Sequence[Leases]) -> list[LeaseShare]:
    """Let processes come round, in turn, until nothing changes, and return their shares."""
    before = None
    for one in processes:
        await one.share(GROUP, NAMES)
    for _ in range(30):
        shares = [await one.share(GROUP, NAMES) for one in processes]
        if shares == before and not any(share.too_large for share in shares):
            return shares
        before = shares
        for one, share in zip(processes, shares, strict=True):
            if share.too_large:
                await one.release(GROUP, max(share.held))
    raise AssertionError(f"the shares never settle: {before}")


def check_partition(shares: Sequence[LeaseShare]) -> list[int]:
    """Check that each name has one holder, and return how many each process has, most first."""
    assert sorted(name for share in shares for name in share.held) == NAMES
    return sorted((len(share.held) for share in shares), reverse=True)


async def test_a_process_alone_has_everything_at_once(process: Process) -> None:
    share = await process("a").share(GROUP, NAMES)
    assert share == LeaseShare(frozenset(NAMES), too_large=False)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("count", "sizes"), [(2, [2, 2]), (3, [2, 1, 1]), (4, [1, 1, 1, 1]), (5, [1, 1, 1, 1, 0])]
)
async def test_newcomers_get_their_share(process: Process, count: int, sizes: list[int]) -> None:
    processes = list[Leases]()
    for number in range(count):
        processes.append(process(f"process {number}"))
        shares = await settled(processes)
    assert check_partition(shares) == sizes


async def test_one_that_has_too_many_lets_go_of_one_at_a_time(process: Process) -> None:
    first, second = process("a"), process("b")
    await first.share(GROUP, NAMES)
    assert (await second.share(GROUP, NAMES)).held == frozenset()
    assert not (await first.share(GROUP, NAMES)).too_large, "the other may have died as it started"
    assert (await second.share(GROUP, NAMES)).held == frozenset()
    assert (await first.share(GROUP, NAMES)).too_large
    await first.release(GROUP, "3")
    assert not (await first.share(GROUP, NAMES)).too_large, "one is free already"
    assert (await second.share(GROUP, NAMES)).held == {"3"}
    assert (await first.share(GROUP, NAMES)).held == {"0", "1", "2"}


async def test_only_one_of_several_with_too_many_lets_go(process: Process) -> None:
    pair = [process("a"), process("b")]
    await settled(pair)
    third = process("c")
    for _ in range(2):
        await third.share(GROUP, NAMES)
    assert [(await one.share(GROUP, NAMES)).too_large for one in pair] == [True, False]


async def test_a_dead_processs_part_is_taken_when_its_leases_run_out(
    process: Process, engine: AsyncEngine
) -> None:
    alive, dead = process("a"), process("b")
    check_partition(await settled([alive, dead]))
    await run_out(engine)
    assert (await alive.share(GROUP, NAMES)).held == frozenset(NAMES)


async def test_one_that_comes_back_late_gets_back_what_nobody_took(
    process: Process, engine: AsyncEngine
) -> None:
    late = process("a")
    await late.share(GROUP, NAMES)
    await run_out(engine)
    assert (await late.share(GROUP, NAMES)).held == frozenset(NAMES)
    await run_out(engine)
    assert (await process("b").share(GROUP, NAMES)).held == frozenset(NAMES)
    assert (await late.share(GROUP, NAMES)).held == frozenset(), "they are somebody else's"


@pytest.mark.costly
async def test_processes_that_die_as_they_start_take_nothing_away(process: Process) -> None:
    """Each of them joins, and is killed before it comes round."""
    alive = process("a")
    await alive.share(GROUP, NAMES)
    for number in range(10):
        await process(f"ghost {number}").share(GROUP, [])
        assert await alive.share(GROUP, NAMES) == LeaseShare(frozenset(NAMES), too_large=False)


async def test_what_is_left_for_processes_that_die_is_taken_all_the_same(process: Process) -> None:
    await process("ghost").share(GROUP, [])
    alive = process("a", SHORT_BEAT)
    assert len((await alive.share(GROUP, NAMES)).held) == len(NAMES) // 2
    await until_held(alive, NAMES)


async def test_what_is_handed_over_to_a_process_that_has_died_is_taken_back(
    process: Process,
) -> None:
    alive = process("a", SHORT_BEAT)
    await alive.share(GROUP, NAMES)
    ghost = process("ghost")
    for _ in range(2):
        await ghost.share(GROUP, [])
    for _ in range(2):
        assert (await alive.share(GROUP, NAMES)).too_large
        await alive.release(GROUP, "3")
        await until_held(alive, NAMES)


async def test_nothing_is_handed_over_to_who_has_been_silent_for_two_beats(
    process: Process,
) -> None:
    alive, ghost = process("a"), process("ghost", SHORT_BEAT)
    await alive.share(GROUP, NAMES)
    for _ in range(2):
        await ghost.share(GROUP, [])
    await asyncio.sleep(SHORT_BEAT * 2.5)
    assert not (await alive.share(GROUP, NAMES)).too_large


async def until_held(process: Leases, names: Collection[str]) -> None:
    """Let a process come round until it holds names."""
    async with asyncio.timeout(30.0):
        while (await process.share(GROUP, NAMES)).held != frozenset(names):  # noqa: ASYNC110
            await asyncio.sleep(SHORT_BEAT / 2)


async def test_what_ran_out_long_ago_is_forgotten_whosever_it_was(
    process: Process, engine: AsyncEngine
) -> None:
    ages = {"discord:2:4:0": 120, "discord:2:4@b": 120, "discord:2:4:1": 10, "discord:2:4@c": 10}
    async with engine.begin() as db:
        for name, minutes in ages.items():
            until = now() - timedelta(minutes=minutes)
            await db.execute(insert(LeaseRow).values(name=name, holder="b", until=until))
    await process("a").share(GROUP, [])
    async with engine.connect() as db:
        names = set(await db.scalars(select(LeaseRow.name)))
    assert names == {"discord:2:4:1", "discord:2:4@c", f"{GROUP}@a"}


async def test_one_that_leaves_hands_over_at_once(process: Process) -> None:
    staying, leaving = process("a"), process("b")
    await settled([staying, leaving])
    await leaving.leave(GROUP)
    assert (await staying.share(GROUP, NAMES)).held == frozenset(NAMES)


async def test_groups_do_not_mix(process: Process) -> None:
    one, other = process("a"), process("b")
    await one.share(GROUP, NAMES)
    assert len((await other.share("discord:1:40", NAMES)).held) == len(NAMES)
    await other.leave("discord:1:40")
    assert len((await one.share(GROUP, NAMES)).held) == len(NAMES)


async def test_what_somebody_has_is_not_released_by_another(process: Process) -> None:
    one, other = process("a"), process("b")
    await one.share(GROUP, NAMES)
    await other.release(GROUP, "0")
    assert (await other.share(GROUP, NAMES)).held == frozenset()
    assert (await one.share(GROUP, NAMES)).held == frozenset(NAMES)


async def test_a_name_is_taken_by_one_until_it_runs_out(
    process: Process, engine: AsyncEngine
) -> None:
    processes = [process(f"process {number}") for number in range(4)]
    for _ in range(2):
        taken = await asyncio.gather(*(one.take("turn", LONG) for one in processes))
        assert taken.count(True) == 1
        assert not await processes[taken.index(True)].take("turn", LONG), "it is its own next"
        await run_out(engine)


@pytest.mark.costly
async def test_many_at_the_same_time_never_have_the_same(
    process: Process, engine: AsyncEngine
) -> None:
    """All leases run out again and again, and all processes come back at once."""
    processes = [process(f"process {number}") for number in range(4)]
    for _ in range(3):
        await asyncio.gather(*(one.share(GROUP, NAMES) for one in processes))
        shares = await asyncio.gather(*(one.share(GROUP, NAMES) for one in processes))
        held = [name for share in shares for name in share.held]
        assert len(held) == len(set(held))
        await run_out(engine)


class Overtaken(Leases):
    """A process that another one overtakes after it has looked at what is free."""

    other: Leases

    def _take_free(self, *found: Any) -> set[str]:
        share = await_only(self.other.share(GROUP, NAMES))
        assert share.held == frozenset(NAMES)
        return super()._take_free(*found)


@pytest.mark.parametrize("dialect", [pytest.param("postgresql", marks=pytest.mark.postgres)])
async def test_what_has_just_been_taken_is_not_taken_again(
    process: Process, engine: AsyncEngine
) -> None:
    """SQLite lets nobody write between the two."""
    first = process("first")
    await first.share(GROUP, NAMES)
    await first.leave(GROUP)
    late = Overtaken(engine, "late", LONG)
    late.other = process("other")
    assert (await late.share(GROUP, NAMES)).held == frozenset()
    assert (await late.other.share(GROUP, NAMES)).held == frozenset(NAMES)


@pytest.mark.parametrize("dialect", [pytest.param("postgresql", marks=pytest.mark.postgres)])
async def test_a_process_that_stands_still_while_it_renews_loses_its_part(
    process: Process, engine: AsyncEngine
) -> None:
    stopped, other = Leases(engine, "a", 3.0), process("b")
    await stopped.share(GROUP, NAMES)
    async with engine.connect() as connection:
        await connection.run_sync(stopped._share, GROUP, NAMES)
        async with asyncio.timeout(15.0):  # twenty seconds is what other transactions have
            while len((await other.share(GROUP, NAMES)).held) < len(NAMES):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        with pytest.raises(DBAPIError):
            await connection.commit()


async def test_a_database_that_is_away_is_told() -> None:
    engine = create_engine("postgresql://nobody@127.0.0.1:9/none")
    leases = Leases(engine, "a", LONG)
    with pytest.raises(StoreError):
        await leases.share(GROUP, NAMES)
    with pytest.raises(StoreError):
        await leases.take("turn", LONG)
    await engine.dispose()
