"""One process holds Discord's gateway; when it ends, another takes over and loses no question."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from tests.chaos.ground import through
from tests.chaos.proxy import Proxy
from tests.postgres import PostgresServer, postgres_server
from tests.wire.discord import Slow
from tests.wire.discord_fleet import LEASE, Fleet, a_fleet, holds
from tests.wire.monitored import Pages
from tests.wire.pace import Figure

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(sys.platform == "win32", reason="stops processes with SIGSTOP"),
    pytest.mark.xdist_group("discord_standby"),
]

ON_POSTGRES = pytest.param("postgresql", marks=pytest.mark.postgres)
on_postgres = pytest.mark.parametrize("fleet", [ON_POSTGRES], indirect=True)
IDENTIFY = 2


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    serving = postgres_server()
    try:
        server = serving.__enter__()
    except RuntimeError as reason:
        pytest.skip(str(reason))
    yield server
    serving.__exit__(None, None, None)


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["sqlite", ON_POSTGRES])
async def fleet(
    request: pytest.FixtureRequest, models: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Fleet]:
    """Processes over one database, and two shards, as Discord recommends."""
    is_file = request.param == "sqlite"
    server = None if is_file else request.getfixturevalue("postgres")
    async with a_fleet(tmp_path_factory.mktemp("fleet"), models, server, shards=2) as fleet:
        yield fleet


async def test_one_process_is_connected_and_each_question_is_answered_once(fleet: Fleet) -> None:
    await fleet.have(2)
    first, second = fleet.running
    assert (holds(first), holds(second)) == (True, False)
    assert await Pages(second).status("/readyz") == 200, "who stands by is ready"
    await fleet.answered_once(await fleet.ask_everywhere())
    identified = [c.data["shard"] for c in fleet.server.world.history.commands if c.op == IDENTIFY]
    assert sorted(identified) == [[0, 2], [1, 2]]


async def test_when_the_holder_is_killed_the_other_finds_what_was_asked_meanwhile(
    fleet: Fleet, figure: Figure
) -> None:
    await fleet.have(2)
    world = fleet.server.world
    user, _ = fleet.room(fleet.guilds[0])
    known = world.direct_channel(user, world.bot)
    await fleet.answered_once([await fleet.say(user, known)])

    dead = fleet.holder
    await dead.kill()
    asked = [*await fleet.ask_everywhere(), await fleet.say(user, known)]
    seconds = await fleet.until(fleet.is_whole, "the takeover")
    figure(f"taken over {seconds:.1f} s after the kill, with a lease of {LEASE:.0f} s")
    figure(f"what was asked meanwhile: answered {await fleet.answered_once(asked):.1f} s later")
    await fleet.answered_once(await fleet.ask_everywhere())
    found = await Pages(fleet.holder).value("events_backfilled_total", platform="discord")
    assert found == len(asked)


async def test_who_stands_by_answers_what_a_dead_holder_had_only_accepted(fleet: Fleet) -> None:
    await fleet.have(2)
    holder, (idle,) = fleet.holder, [bot for bot in fleet.running if not holds(bot)]
    fleet.server.faults.rest(Slow(300.0), "/channels/", times=None)
    before = await Pages(holder).value("events_claimed_total", platform="discord")
    asked = await fleet.ask()
    await Pages(holder).reaches(before + 1, "events_claimed_total", platform="discord")
    fleet.server.world.limits.identify_interval = 10_000.0  # the gateway lets nobody in
    await holder.kill()
    fleet.server.faults.heal()
    await fleet.answered_once([asked])
    assert fleet.server.gateway.connected_shards() == []
    fleet.server.world.limits.identify_interval = 0.0
    await fleet.until(fleet.is_whole, "the takeover")
    assert holds(idle)


async def test_a_holder_that_is_told_to_stop_hands_over_at_once(
    fleet: Fleet, figure: Figure
) -> None:
    await fleet.have(2)
    bot = fleet.holder
    bot.signal(signal.SIGTERM)
    asked = await fleet.ask_everywhere()
    assert await bot.ended() == 0
    figure(f"handed over {await fleet.until(fleet.is_whole, 'the hand-over'):.1f} s after the end")
    await fleet.answered_once([*asked, *await fleet.ask_everywhere()])


async def test_a_holder_that_is_started_again_does_not_wait_for_its_own_lease(
    fleet: Fleet, figure: Figure
) -> None:
    await fleet.have(1)
    await fleet.holder.kill()
    asked = await fleet.ask_everywhere()
    await fleet.add()
    figure(f"connected {await fleet.until(fleet.is_whole, 'the connections'):.1f} s after ready")
    await fleet.answered_once(asked)


@on_postgres
async def test_a_holder_that_stood_still_leaves_the_gateway_to_who_took_over(
    fleet: Fleet, figure: Figure
) -> None:
    await fleet.have(2)
    zombie = fleet.holder
    zombie.signal(signal.SIGSTOP)
    try:
        asked = await fleet.ask_everywhere()
        (other,) = [bot for bot in fleet.running if bot is not zombie]
        figure(f"taken over {await fleet.until(lambda: holds(other), 'the takeover'):.1f} s later")
        asked += await fleet.ask_everywhere()
        await asyncio.sleep(1.0)
    finally:
        zombie.signal(signal.SIGCONT)
    await fleet.until(fleet.is_whole, "one connection a shard")
    assert fleet.holder is other
    await fleet.answered_once([*asked, *await fleet.ask_everywhere()])
    await Pages(zombie).becomes("/readyz", 200)


@on_postgres
async def test_a_holder_that_loses_its_database_stays_until_another_holds(fleet: Fleet) -> None:
    await fleet.have(0)
    url = fleet.settings["DATABASE__URL"]
    async with Proxy(urlsplit(url).port or 0) as proxy:
        cut = await fleet.add({"DATABASE__URL": through(proxy, url)})
        await fleet.until(fleet.is_whole, "one connection a shard")
        await proxy.down()
        asked = await fleet.ask_everywhere()
        await asyncio.sleep(LEASE * 1.5)
        assert fleet.is_whole(), "nobody else hears what is said"
        assert await Pages(cut).status("/readyz") == 503
        other = await fleet.add()
        await fleet.until(lambda: holds(other), "the takeover")
        await fleet.answered_once(asked)
        await proxy.up()
        await fleet.until(fleet.is_whole, "one connection a shard")
        assert fleet.holder is other
        await fleet.answered_once(await fleet.ask_everywhere())
        assert await cut.stop() == 0
