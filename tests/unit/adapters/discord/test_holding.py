"""Who holds Discord's gateway, what its shards hear, and what is asked before they connect."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import aiohttp
import discord
import pytest
from discord.http import Route

from adapters.chat.base import SteppedDown
from adapters.discord import gateway_lease as module
from adapters.discord.client import Client, point_at
from adapters.discord.gateway_lease import GatewayHolder, ShardLiveness, retry_forever
from core.domain.errors import StoreError
from tests.wire.discord import DiscordServer, Limits

LEASE = 0.8
"""Seconds."""


class Lease:
    """A lease that a test takes from the process that holds it, and gives back."""

    seconds = LEASE

    def __init__(self, server: DiscordServer) -> None:
        self.is_ours = True
        self.is_away = False
        self.connected_at_release: list[int] | None = None
        self._server = server

    async def hold(self, name: str) -> bool:
        assert name == f"discord:{self._server.world.application.id}"
        if self.is_away:
            raise StoreError("away")
        return self.is_ours

    async def release(self, name: str) -> None:
        self.connected_at_release = self._server.gateway.connected_shards()


class Notice:
    """Whom the client tells of its connections."""

    def __init__(self, liveness: ShardLiveness) -> None:
        self._liveness = liveness

    async def joined(self, *_: object) -> None:
        pass

    async def connected(self, shard_id: int, *, resumed: bool) -> None:
        self._liveness.met(shard_id)

    async def disconnected(self, shard_id: int) -> None:
        self._liveness.lost(shard_id)

    async def alive(self, shard_id: int) -> None:
        pass


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[DiscordServer]:
    limits = Limits.relaxed()
    async with DiscordServer(limits) as server:
        monkeypatch.setattr(Route, "BASE", Route.BASE)
        point_at(server.api_url)
        yield server


@pytest.fixture
def lease(server: DiscordServer) -> Lease:
    return Lease(server)


class Running:
    """A holder that runs."""

    def __init__(self, server: DiscordServer, lease: Lease) -> None:
        async def prepare(_: Client) -> None:
            """Register nothing."""

        self.liveness = ShardLiveness()
        told = cast("Any", Notice(self.liveness))
        watch = aiohttp.TraceConfig()
        self.client = Client(told, message_content=True, prepare=prepare, watch=watch)
        self.holder = GatewayHolder(self.client, lease, self.liveness, shards=2)
        self.task = asyncio.create_task(self.holder.run(server.world.application.token))
        self._server = server

    async def until(self, condition: Any) -> None:
        """Wait until a condition is true, or the holder has ended."""
        await self._server.world.until(lambda: condition() or self.task.done() or None, 30.0)

    async def connects(self) -> None:
        """Wait until both shards stand."""
        await self.until(lambda: self.liveness.is_whole([0, 1]))
        assert self._server.gateway.connected_shards() == [0, 1]


@asynccontextmanager
async def running(server: DiscordServer, lease: Lease) -> AsyncIterator[Running]:
    """Run a holder during the block."""
    found = Running(server, lease)
    try:
        yield found
        await found.client.close()
        await asyncio.wait({found.task}, timeout=10.0)
    finally:
        found.task.cancel()
        await asyncio.wait({found.task})


async def test_who_stands_by_is_logged_in_and_connects_when_the_gateway_is_free(
    server: DiscordServer, lease: Lease
) -> None:
    lease.is_ours = False
    async with running(server, lease) as found:
        await found.until(lambda: found.holder.is_certain)
        await asyncio.sleep(LEASE)
        assert found.client.user is not None
        assert found.holder.is_whole, "somebody holds it"
        assert server.world.application.sessions_started == 0
        lease.is_ours = True
        await found.until(lambda: server.gateway.connected_shards())
        assert not found.holder.is_whole, "not every shard stands"
        await found.connects()
        assert found.holder.is_whole
    assert lease.connected_at_release == []


async def test_the_lease_is_released_when_the_connections_are_closed(
    server: DiscordServer, lease: Lease
) -> None:
    async with running(server, lease) as found:
        await found.connects()
        found.task.cancel()
        await asyncio.wait({found.task})
        assert lease.connected_at_release == []


async def test_who_lost_the_lease_closes_its_connections(
    server: DiscordServer, lease: Lease
) -> None:
    async with running(server, lease) as found:
        await found.connects()
        lease.is_ours = False
        await found.until(lambda: False)
        with pytest.raises(SteppedDown):
            await found.task
        assert server.gateway.connected_shards() == []
        assert lease.connected_at_release is None, "it is another's"


async def test_while_the_database_is_away_who_is_connected_stays_and_is_not_certain(
    server: DiscordServer, lease: Lease
) -> None:
    async with running(server, lease) as found:
        await found.connects()
        lease.is_away = True
        await asyncio.sleep(LEASE * 2)
        assert not found.holder.is_certain
        assert server.gateway.connected_shards() == [0, 1]
        lease.is_away = False
        await found.until(lambda: found.holder.is_whole)


async def test_a_connection_that_is_lost_for_long_is_begun_anew(
    server: DiscordServer, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LONGEST_AWAY", 1.0)
    async with running(server, lease) as found:
        await found.connects()
        server.world.limits.identifies_a_day = 0  # Discord lets nobody in again
        found.liveness.lost(1)
        await found.until(lambda: False)
        with pytest.raises(SteppedDown):
            await found.task
        assert lease.connected_at_release == []


async def test_a_connection_that_is_begun_again_is_no_error_in_the_log(
    server: DiscordServer, lease: Lease, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(server, lease) as found:
        await found.until(lambda: found.holder.is_certain)
        failure = OSError("no route")
        logging.getLogger("discord.shard").error("Again in %.0f s", 1.0, exc_info=failure)
    again = [one for one in caplog.records if one.getMessage().startswith("Again in")]
    (record,) = [one for one in again if one.name == "discord.shard"]
    assert (record.levelname, record.getMessage()) == ("WARNING", "Again in 1 s (OSError)")
    assert record.exc_info is None


# --- what is heard --------------------------------------------------------------------------------


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


# --- what is asked before ------------------------------------------------------------------------


class Limited:
    """A request that has to wait a number of times before it is answered."""

    def __init__(self, *seconds: float) -> None:
        self._left = [*seconds]
        self.tries = 0

    async def __call__(self) -> str:
        self.tries += 1
        if self._left:
            raise discord.RateLimited(self._left.pop(0))
        return "answered"


@pytest.fixture
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAUSES", (0.0, 0.1))
    monkeypatch.setattr(module, "_LONGEST_LIMIT", 0.1)


@pytest.mark.usefixtures("_short_pauses")
async def test_a_limit_that_others_met_is_waited_out(caplog: pytest.LogCaptureFixture) -> None:
    request = Limited(0.05, 0.05)
    assert await retry_forever(request) == "answered"
    assert request.tries == 3
    assert "takes no more requests now" in caplog.text


@pytest.mark.usefixtures("_short_pauses")
async def test_a_limit_for_long_is_no_reason_to_wait() -> None:
    request = Limited(0.2)
    with pytest.raises(discord.RateLimited):
        await retry_forever(request)
    assert request.tries == 1
