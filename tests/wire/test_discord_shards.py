"""Discord's shards are split between processes, and each is heard by one at a time."""

import asyncio
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from tests.chaos.ground import through
from tests.chaos.proxy import Proxy
from tests.wire.bot_process import PATIENCE
from tests.wire.discord import Slow
from tests.wire.discord_bot import BotProcess, Trial
from tests.wire.monitored import Pages
from tests.wire.on_postgres import BookOnPostgres, book_on_postgres
from tests.wire.pace import Figure
from tests.wire.shard_fleet import HANDED_OVER, LEASE, Fleet, a_fleet, shards_of

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(sys.platform == "win32", reason="stops processes with SIGSTOP"),
    pytest.mark.xdist_group("discord_shards"),
    pytest.mark.postgres,
]

IDENTIFY = 2


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def book(
    models: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[BookOnPostgres]:
    async with book_on_postgres(tmp_path_factory.mktemp("book") / "template", models) as book:
        yield book


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet(
    book: BookOnPostgres, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Fleet]:
    """Two processes, at first, and four shards, as Discord recommends."""
    async with a_fleet(book, tmp_path_factory.mktemp("fleet"), shards=4) as fleet:
        yield fleet


async def test_each_shard_is_one_processs_and_every_question_is_answered_once(
    fleet: Fleet, figure: Figure
) -> None:
    await fleet.have(2)
    assert [len(shards_of(bot)) for bot in fleet.running] == [2, 2]
    await fleet.answered_once(await fleet.ask_everywhere())
    identified = [c.data["shard"] for c in fleet.server.world.history.commands if c.op == IDENTIFY]
    handed_over = sum(bot.log.count(HANDED_OVER) for bot in fleet.bots)
    figure(f"{len(identified)} identified, {handed_over} of them after a hand-over")
    assert len(identified) == len(fleet.all_shards) + handed_over
    assert len(identified) == fleet.server.world.application.sessions_started, "none too early"


async def test_a_killed_processs_shards_are_taken_over(fleet: Fleet, figure: Figure) -> None:
    await fleet.have(2)
    await fleet.running[0].kill()
    asked = await fleet.ask_everywhere()
    seconds = await fleet.until(fleet.is_whole, "the takeover")
    figure(f"taken over {seconds:.1f} s after the kill, with a lease of {LEASE:.0f} s")
    figure(f"what was asked meanwhile: answered {await fleet.answered_once(asked):.1f} s later")
    assert fleet.is_whole()


async def test_a_process_that_is_told_to_stop_hands_over(fleet: Fleet, figure: Figure) -> None:
    await fleet.have(2)
    bot = fleet.running[0]
    bot.signal(signal.SIGTERM)
    asked = await fleet.ask_everywhere()
    assert await bot.ended() == 0
    seconds = await fleet.until(fleet.is_whole, "the hand-over")
    figure(f"handed over {seconds:.1f} s after the end")
    await fleet.answered_once(asked)


@pytest.mark.slow
async def test_a_newcomer_gets_a_share(fleet: Fleet, figure: Figure) -> None:
    await fleet.have(2)
    began = time.monotonic()
    asked = await fleet.ask_everywhere()
    await fleet.have(3)
    figure(f"even shares {time.monotonic() - began:.1f} s after the start of a third process")
    assert sorted(len(shards_of(bot)) for bot in fleet.running) == [1, 1, 2]
    await fleet.answered_once([*asked, *await fleet.ask_everywhere()])


async def test_a_process_that_stood_still_gives_up_what_others_took(
    fleet: Fleet, figure: Figure
) -> None:
    await fleet.have(2)
    zombie, other = fleet.running
    zombie.signal(signal.SIGSTOP)
    try:
        asked = await fleet.ask_everywhere()
        seconds = await fleet.until(lambda: shards_of(other) == {0, 1, 2, 3}, "the takeover")
        asked += await fleet.ask_everywhere()
        await asyncio.sleep(1.0)
    finally:
        zombie.signal(signal.SIGCONT)
    woken = time.monotonic()
    await fleet.until(fleet.is_whole, "one connection a shard")
    figure(f"taken over {seconds:.1f} s after the stop")
    figure(f"one connection a shard {time.monotonic() - woken:.1f} s after the process went on")
    await fleet.answered_once([*asked, *await fleet.ask_everywhere()])
    await fleet.balanced()
    assert [len(shards_of(bot)) for bot in (zombie, other)] == [2, 2]


@pytest.mark.slow
async def test_a_process_that_loses_its_database_is_off_before_another_is_on(fleet: Fleet) -> None:
    await fleet.have(1)
    url = fleet.book.settings["DATABASE__URL"]
    async with Proxy(urlsplit(url).port or 0) as proxy:
        (cut,) = await fleet.add(settings={"DATABASE__URL": through(proxy, url)})
        await fleet.balanced()
        async with _watching(fleet) as most:
            await proxy.down()
            asked = await fleet.ask_everywhere()
            await fleet.until(lambda: len(shards_of(fleet.running[0])) == 4, "the takeover")
            await fleet.until(fleet.is_whole, "one connection a shard")
            assert await Pages(cut).status("/readyz") == 503
            await fleet.answered_once(asked)
            await proxy.up()
            await fleet.until(lambda: len(shards_of(cut)) == 2, "a share of its own again")
            await fleet.balanced()
        assert max(most.values()) == 1, "never two connections of one shard"
        await fleet.answered_once(await fleet.ask_everywhere())
        assert await cut.stop() == 0


async def test_a_process_without_a_shard_answers_in_servers_it_never_saw(
    fleet: Fleet, book: BookOnPostgres, tmp_path: Path
) -> None:
    """It has REST alone to go by: the gateway lets it in only at the end."""
    await fleet.stop(fleet.running)  # they would work for the other bot of the same database
    async with a_fleet(book, tmp_path, shards=2) as fleet:
        world, faults = fleet.server.world, fleet.server.faults
        world.limits.shards = 1
        settings = {"DISCORD__SHARDS": "2"}
        hearing = await fleet.add(2, settings)
        await fleet.balanced()
        edited, deleted = [await fleet.ask(0) for _ in range(2)]
        await fleet.answered_once([edited, deleted])
        removed = await Trial(fleet.server, hearing[0]).answer_to(deleted.message)

        before = await _claimed(hearing)
        for route in ("/channels/", "/webhooks/"):
            faults.rest(Slow(300.0), route, times=None)
        new = await fleet.ask(0)
        user, channel = fleet.room(fleet.guilds[0])
        command = await world.slash(user, channel, "ask", question=new.message.text)
        await world.edit(edited.message, new.message.text)
        await world.delete(deleted.message)
        await _all_claimed(hearing, before + 4)
        (idle,) = await fleet.add(1, settings)
        assert shards_of(idle) == set(), "it is ready without a shard"
        world.limits.identify_interval = 10_000.0
        for bot in hearing:
            await bot.kill()
        faults.heal()

        trial, thread = Trial(fleet.server, idle), edited.message.thread
        assert thread is not None
        await fleet.answered_once([new])
        await trial.result_of(command)
        await trial.until(lambda: (new.name in thread.name) or None, "the thread's new name")
        await trial.until(lambda: removed.deleted or None, "the removal of the answer")
        assert fleet.server.gateway.connected_shards() == []
        world.limits.identify_interval = 5.0
        await fleet.until(fleet.is_whole, "both shards")


async def _claimed(bots: list[BotProcess]) -> float:
    """Return how many events processes have begun to work on, together."""
    return sum([await Pages(bot).value("events_claimed_total") for bot in bots])


async def _all_claimed(bots: list[BotProcess], least: float) -> None:
    """Wait until processes have begun to work on so many events, together."""
    async with asyncio.timeout(PATIENCE):
        while await _claimed(bots) < least:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


@asynccontextmanager
async def _watching(fleet: Fleet) -> AsyncIterator[dict[int, int]]:
    """Give how many connections each shard had at most, at any moment of the block."""
    most = dict.fromkeys(fleet.all_shards, 0)

    async def watch() -> None:
        while True:
            connected = fleet.server.gateway.connected_shards()
            for shard in fleet.all_shards:
                most[shard] = max(most[shard], connected.count(shard))
            await asyncio.sleep(0.01)

    watching = asyncio.create_task(watch())
    try:
        yield most
    finally:
        watching.cancel()
