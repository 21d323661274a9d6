"""Several processes keep their sessions apart: each takes up what was left, and no other's."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.chaos.book import name_of, question_about
from tests.wire.discord.connection import Op
from tests.wire.monitored import Pages
from tests.wire.on_postgres import BookOnPostgres, book_on_postgres
from tests.wire.shard_fleet import Asked, Fleet, a_fleet, shards_of

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("discord_resumed_shards"),
    pytest.mark.postgres,
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def book(
    models: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[BookOnPostgres]:
    async with book_on_postgres(tmp_path_factory.mktemp("book") / "template", models) as book:
        yield book


def resumed(fleet: Fleet) -> list[tuple[str, int]]:
    """Return the sessions that were resumed, each with its shard."""
    sessions, commands = fleet.server.gateway.sessions, fleet.server.world.history.commands
    found = [str(one.data["session_id"]) for one in commands if one.op == Op.RESUME]
    return [(one, sessions[one].sight.shard) for one in found if one in sessions]


def live(fleet: Fleet) -> set[str]:
    """Return the sessions that have a connection."""
    return {one.id for one in fleet.server.gateway.sessions.values() if one.send is not None}


async def direct(fleet: Fleet) -> Asked:
    """Have somebody who never wrote to the bot ask it."""
    world, name = fleet.server.world, name_of(fleet.asked)
    fleet.asked += 1
    user = world.add_user(f"direct{fleet.asked}", *fleet.guilds)
    place = world.direct_channel(user, world.bot)
    return Asked(await world.say(user, place, question_about(name)), name)


async def answered_once(fleet: Fleet, *asked: Asked) -> None:
    """Wait for the answers to direct messages, and check that each is the only one."""
    world = fleet.server.world

    def answers(one: Asked) -> int:
        said = world.transcript(one.message.channel)
        return sum(m.author is world.bot and one.name in m.text for m in said)

    await fleet.until(lambda: all(map(answers, asked)), "the answers")
    await asyncio.sleep(2.0)
    assert [answers(one) for one in asked] == [1] * len(asked)


async def test_each_shards_session_is_taken_up_by_whoever_has_the_shard_next(
    book: BookOnPostgres, tmp_path: Path
) -> None:
    async with a_fleet(book, tmp_path, shards=2) as fleet:
        await fleet.have(2)
        await fleet.answered_once(await fleet.ask_everywhere())
        first = next(bot for bot in fleet.running if 0 in shards_of(bot))
        before, kept = len(resumed(fleet)), live(fleet)
        await first.kill()
        asked = await direct(fleet)
        elsewhere = await fleet.ask_everywhere()
        await fleet.until(fleet.is_whole, "the takeover")
        await answered_once(fleet, asked)
        await fleet.answered_once(elsewhere)
        told = resumed(fleet)[before:]
        assert {shard for _, shard in told} == {0}, "the other shard's session goes on"
        assert {session for session, _ in told} <= kept
        gaps = [await Pages(bot).value("session_gaps_total") for bot in fleet.running]
        assert gaps == [0]


async def test_a_session_that_another_process_has_is_left_to_it(
    book: BookOnPostgres, tmp_path: Path
) -> None:
    async with a_fleet(book, tmp_path, shards=1) as fleet:
        fleet.server.world.limits.identify_interval = 0.0
        (first,) = await fleet.add()
        await fleet.until(lambda: len(live(fleet)) == 1, "a session")
        (second,) = await fleet.add()
        await fleet.until(lambda: len(live(fleet)) == 2, "a session each")
        await asyncio.sleep(8.0)
        assert resumed(fleet) == [], "both live, and hear the same"

        left = live(fleet)
        await first.kill()
        await second.kill()
        asked = await direct(fleet)
        (third,) = await fleet.add()
        await answered_once(fleet, asked)
        await fleet.until(lambda: {one for one, _ in resumed(fleet)} == left, "both sessions")
        await fleet.until(lambda: left.isdisjoint(live(fleet)), "their end")
        assert await Pages(third).value("session_gaps_total") == 0
