"""Leases: never two holders of one name, fair shares, and nothing lost by a dead process."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

import pytest
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine

from core.database import create_engine
from core.errors import StoreError
from core.leases import Leases, Share

NAMES = ["0", "1", "2", "3"]
GROUP = "discord:1:4"
LONG, SHORT = 60.0, 0.3
"""Seconds: no test lasts as long; a process that does not renew is soon taken for dead."""

Process = Callable[..., Leases]


@pytest.fixture
async def process(database_url: str) -> AsyncIterator[Process]:
    """What makes the leases of one more process of the same database."""
    engines = list[AsyncEngine]()

    def another(holder: str, seconds: float = LONG) -> Leases:
        engines.append(create_engine(database_url))
        return Leases(engines[-1], holder, seconds)

    yield another
    for engine in engines:
        await engine.dispose()


async def settled(processes: Sequence[Leases]) -> list[Share]:
    """Let processes come round, in turn, until nothing changes, and return their shares."""
    before = None
    for _ in range(30):
        shares = [await one.share(GROUP, NAMES) for one in processes]
        if shares == before and not any(share.too_large for share in shares):
            return shares
        before = shares
        for one, share in zip(processes, shares, strict=True):
            if share.too_large:
                await one.release(GROUP, max(share.held))
    raise AssertionError(f"the shares never settle: {before}")


def check_partition(shares: Sequence[Share]) -> list[int]:
    """Check that each name has one holder, and return how many each process has, most first."""
    assert sorted(name for share in shares for name in share.held) == NAMES
    return sorted((len(share.held) for share in shares), reverse=True)


async def test_a_process_alone_has_everything_at_once(process: Process) -> None:
    share = await process("a").share(GROUP, NAMES)
    assert share == Share(frozenset(NAMES), too_large=False)


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
    assert (await first.share(GROUP, NAMES)).too_large
    await first.release(GROUP, "3")
    assert not (await first.share(GROUP, NAMES)).too_large, "one is free already"
    assert (await second.share(GROUP, NAMES)).held == {"3"}
    assert (await first.share(GROUP, NAMES)).held == {"0", "1", "2"}


async def test_only_one_of_several_with_too_many_lets_go(process: Process) -> None:
    pair = [process("a"), process("b")]
    await settled(pair)
    await process("c").share(GROUP, NAMES)
    assert [(await one.share(GROUP, NAMES)).too_large for one in pair] == [True, False]


async def test_a_dead_processs_part_is_taken_when_its_leases_run_out(process: Process) -> None:
    alive, dead = process("a"), process("b", SHORT)
    check_partition(await settled([alive, dead]))
    before = (await alive.share(GROUP, NAMES)).held
    while len((await alive.share(GROUP, NAMES)).held) == len(before):  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    assert (await alive.share(GROUP, NAMES)).held == frozenset(NAMES)


async def test_one_that_comes_back_late_gets_back_what_nobody_took(process: Process) -> None:
    late = process("a", SHORT)
    await late.share(GROUP, NAMES)
    await asyncio.sleep(SHORT * 1.5)
    assert (await late.share(GROUP, NAMES)).held == frozenset(NAMES)
    await asyncio.sleep(SHORT * 1.5)
    assert (await process("b").share(GROUP, NAMES)).held == frozenset(NAMES)
    assert (await late.share(GROUP, NAMES)).held == frozenset(), "they are somebody else's"


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


async def test_a_name_is_taken_by_one_until_it_runs_out(process: Process) -> None:
    processes = [process(f"process {number}") for number in range(4)]
    for _ in range(2):
        taken = await asyncio.gather(*(one.take("turn", SHORT) for one in processes))
        assert taken.count(True) == 1
        assert not await processes[taken.index(True)].take("turn", SHORT), "it is its own next"
        await asyncio.sleep(SHORT * 1.5)


async def test_many_at_the_same_time_never_have_the_same(process: Process) -> None:
    """All leases run out again and again, and all processes come back at once."""
    processes = [process(f"process {number}", SHORT) for number in range(4)]
    for _ in range(3):
        await asyncio.gather(*(one.share(GROUP, NAMES) for one in processes))
        shares = await asyncio.gather(*(one.share(GROUP, NAMES) for one in processes))
        held = [name for share in shares for name in share.held]
        assert len(held) == len(set(held))
        await asyncio.sleep(SHORT * 1.5)


@pytest.mark.parametrize("dialect", [pytest.param("postgresql", marks=pytest.mark.postgres)])
async def test_a_process_that_stands_still_while_it_renews_loses_its_part(
    process: Process, engine: AsyncEngine
) -> None:
    stopped, other = Leases(engine, "a", 1.0), process("b")
    await stopped.share(GROUP, NAMES)
    async with engine.connect() as connection:
        await connection.run_sync(stopped._share, GROUP, NAMES)
        async with asyncio.timeout(10.0):  # twenty seconds is what other transactions have
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
