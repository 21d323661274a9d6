"""Which shards a process connects, and when it has to let go of them."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from adapters.discord.gateway import shards as module
from adapters.discord.gateway.shards import AllShards, SharedShards
from core.errors import StoreError
from core.storage.leases import LeaseShare

LEASE = 2.0
"""Seconds: a busy machine must not run them out."""
BOT, GROUP = "discord:1", "discord:1:2"


class Connections:
    """A gateway that is told which shards to connect."""

    def __init__(self) -> None:
        self.running = frozenset[int]()
        self.begun = list[int]()

    def begin(self, shard_id: int) -> None:
        assert shard_id not in self.running
        self.running |= {shard_id}
        self.begun.append(shard_id)

    async def end(self, *shard_ids: int) -> None:
        self.running -= set(shard_ids)


class Table:
    """Leases that say what a test wants, and may keep one waiting for it."""

    seconds, beat = LEASE, LEASE / 4

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self.mine = LeaseShare(frozenset({"0", "1"}), too_large=False)
        self.answers_after = 0.0
        self.fails = False
        self.joined = False
        self.released = list[str]()
        self.turns = list[bool]()
        self.turns_hang = False

    async def share(self, group: str, names: Sequence[str]) -> LeaseShare:
        assert group == GROUP
        assert list(names) == (["0", "1"] if self.joined else [])
        self.joined = True
        await asyncio.sleep(self.answers_after)
        if self.fails:
            raise StoreError("the database is away")
        return self.mine

    async def release(self, group: str, name: str) -> None:
        assert group == GROUP
        assert int(name) not in self._connections.running
        self.released.append(name)
        self.mine = LeaseShare(self.mine.held - {name}, too_large=False)

    async def leave(self, group: str) -> None:
        assert group == GROUP
        raise StoreError("the database is away")

    async def take(self, name: str, seconds: float) -> bool:
        assert name in (f"{BOT}:identify:0", f"{BOT}:hand-over:0")
        assert seconds > 5.0, "Discord's rule"
        if self.turns_hang:
            await asyncio.Event().wait()
        if not self.turns:
            raise StoreError("the database is away")
        return self.turns.pop(0)


@pytest.fixture
def connections() -> Connections:
    return Connections()


@pytest.fixture
def table(connections: Connections) -> Table:
    return Table(connections)


@pytest.fixture
async def shards(connections: Connections, table: Table) -> AsyncIterator[SharedShards]:
    """Shards that are being shared, of which this process has both already."""
    shards = SharedShards(cast("Any", connections), cast("Any", table), BOT, count=2, concurrency=1)
    running = asyncio.create_task(shards.run())
    async with _soon():
        while not connections.running:
            assert not shards.is_certain
            await asyncio.sleep(0.01)
    yield shards
    running.cancel()
    await asyncio.wait({running})


@asynccontextmanager
async def _soon() -> AsyncIterator[None]:
    async with asyncio.timeout(10.0):
        yield


async def _until_running(connections: Connections, *shards: int) -> None:
    async with _soon():
        while connections.running != set(shards):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_what_is_held_is_connected(shards: SharedShards, connections: Connections) -> None:
    assert connections.begun == [0, 1]
    await asyncio.sleep(LEASE * 1.5)
    assert shards.is_certain
    assert connections.begun == [0, 1], "it is renewed, and goes on"


@pytest.mark.parametrize("fails", [True, False])
async def test_without_a_renewal_connections_end(
    shards: SharedShards, connections: Connections, table: Table, fails: bool
) -> None:
    table.fails, table.answers_after = fails, 0.0 if fails else 60.0
    await _until_running(connections)
    assert not shards.is_certain
    if fails:
        table.fails = False
        await _until_running(connections, 0, 1)
        assert shards.is_certain


async def test_a_renewal_that_comes_too_late_connects_nothing(
    shards: SharedShards, connections: Connections, table: Table
) -> None:
    table.answers_after = LEASE
    await _until_running(connections)
    await asyncio.sleep(LEASE * 2)
    assert connections.begun == [0, 1]
    assert not shards.is_certain


async def test_what_another_process_took_is_ended(
    shards: SharedShards, connections: Connections, table: Table
) -> None:
    table.mine = LeaseShare(frozenset({"1"}), too_large=False)
    await _until_running(connections, 1)
    assert table.released == []


async def test_too_large_a_share_becomes_smaller_by_one(
    shards: SharedShards, connections: Connections, table: Table
) -> None:
    table.mine = LeaseShare(frozenset({"0", "1"}), too_large=True)
    table.turns = [False, False, True]
    await asyncio.sleep(LEASE * 0.25)
    assert connections.running == {0, 1}, "another one has just been handed over"
    await _until_running(connections, 0)
    async with _soon():
        while not table.released:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert table.released == ["1"]


async def test_connections_end_with_the_leases_also_while_a_hand_over_hangs(
    shards: SharedShards, connections: Connections, table: Table
) -> None:
    table.mine = LeaseShare(frozenset({"0", "1"}), too_large=True)
    table.turns_hang = True
    await _until_running(connections)
    assert not shards.is_certain


async def test_connections_end_with_the_leases_also_if_the_first_hand_over_hangs(
    connections: Connections, table: Table
) -> None:
    table.mine = LeaseShare(frozenset({"0", "1"}), too_large=True)
    table.turns_hang = True
    shards = SharedShards(cast("Any", connections), cast("Any", table), BOT, count=2, concurrency=1)
    running = asyncio.create_task(shards.run())
    await _until_running(connections, 0, 1)
    await _until_running(connections)
    assert not shards.is_certain
    assert connections.begun == [0, 1]
    running.cancel()
    await asyncio.wait({running})


async def test_a_database_that_is_away_does_not_keep_a_process_from_leaving(
    shards: SharedShards,
) -> None:
    await shards.leave()
    assert not shards.is_certain


async def test_a_turn_is_waited_for(
    shards: SharedShards, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_RETRY", 0.01)
    waiting = asyncio.create_task(shards.turn(1))
    await asyncio.sleep(0.05)
    assert not waiting.done(), "the database is away"
    table.turns = [False, False, True]
    async with _soon():
        await waiting
    assert table.turns == []


async def test_one_process_alone_lets_its_shards_identify_in_turn(
    connections: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "IDENTIFY_EVERY", 1.0)
    shards = AllShards(cast("Any", connections), 4, 2)
    assert not shards.is_certain
    await shards.run()
    assert shards.is_certain
    assert connections.begun == [0, 1, 2, 3]
    clock = asyncio.get_running_loop().time
    begun = clock()
    took = dict[int, float]()

    async def turn(shard: int) -> None:
        await shards.turn(shard)
        took[shard] = clock() - begun

    await asyncio.gather(*(turn(shard) for shard in range(4)))
    assert max(took[0], took[1]) < 1.0 <= min(took[2], took[3])
