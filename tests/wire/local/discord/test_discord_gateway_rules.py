"""The rules by which the local Discord lets shards in, checked with a bare WebSocket."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.wire.discord import DiscordServer, Limits
from tests.wire.discord_bot import a_trial

IDENTIFY, INVALID_SESSION, HELLO = 2, 9, 10
INTENTS = 1 << 0 | 1 << 9 | 1 << 12


@pytest.fixture
async def server() -> AsyncIterator[DiscordServer]:
    limits = Limits.relaxed()
    limits.identify_interval = 5.0
    limits.max_concurrency = 2
    async with DiscordServer(limits) as server:
        yield server


@asynccontextmanager
async def identified(server: DiscordServer, shard: Any) -> AsyncIterator[Any]:
    """Identify a shard, and give the connection with the first frame after that, or the end."""
    data: dict[str, Any] = {"token": server.world.application.token, "intents": INTENTS}
    if shard is not None:
        data["shard"] = shard
    async with aiohttp.ClientSession() as session, session.ws_connect(server.gateway_url) as socket:
        assert (await socket.receive_json())["op"] == HELLO
        await socket.send_json({"op": IDENTIFY, "d": data})
        yield socket


async def first_frame(server: DiscordServer, shard: Any) -> Any:
    """Return what a shard is told first: a frame, or the code that it is closed with."""
    async with identified(server, shard) as socket:
        message = await socket.receive()
        return message.data if message.type is aiohttp.WSMsgType.CLOSE else message.json()


@pytest.mark.parametrize("shard", [[2, 2], [-1, 2], [0, 0], [0], ["0", "2"], "0"])
async def test_a_shard_that_cannot_be_is_refused(server: DiscordServer, shard: Any) -> None:
    assert await first_frame(server, shard) == 4010


async def test_too_few_shards_are_refused(server: DiscordServer) -> None:
    server.world.limits.guilds_a_shard = 0
    assert await first_frame(server, None) == 4011


@pytest.mark.costly
async def test_a_bot_with_too_few_shards_says_so(one_course: Path, tmp_path: Path) -> None:
    async with a_trial(one_course, tmp_path, start=False) as trial:
        trial.world.limits.guilds_a_shard = 0
        await trial.bot.launch()
        assert await trial.bot.ended() == 78
        assert "set GLOSSATOR_DISCORD__SHARDS higher" in trial.bot.log


@pytest.mark.costly
async def test_a_bot_that_has_begun_all_sessions_of_the_day_waits_for_more(
    one_course: Path, tmp_path: Path
) -> None:
    async with a_trial(one_course, tmp_path, start=False) as trial:
        limits = trial.world.limits
        limits.identifies_a_day, limits.identifies_again_after = 0, 2.0
        await trial.bot.launch()
        await trial.bot.says("0 of 0 sessions with Discord are left for today")
        assert trial.world.application.sessions_started == 0
        limits.identifies_a_day = 1
        await trial.bot.says("connected to Discord")
        assert trial.world.application.sessions_started == 1
        assert await trial.bot.stop() == 0


async def test_a_shard_is_told_of_its_own_guilds(server: DiscordServer) -> None:
    own = (server.world.guild.id >> 22) % 2
    for shard in (0, 1):
        ready = await first_frame(server, [shard, 2])
        assert ready["d"]["shard"] == [shard, 2]
        assert len(ready["d"]["guilds"]) == int(shard == own)


async def test_shards_of_one_kind_identify_one_after_the_other(server: DiscordServer) -> None:
    assert (await first_frame(server, [0, 4]))["t"] == "READY"
    assert (await first_frame(server, [1, 4]))["t"] == "READY", "it is of another kind"
    for shard in (0, 2):
        refused = await first_frame(server, [shard, 4])
        assert (refused["op"], refused["d"]) == (INVALID_SESSION, False)
    server.world.clock.advance(5.0)
    assert (await first_frame(server, [2, 4]))["t"] == "READY"


async def test_direct_messages_are_the_first_shards(server: DiscordServer) -> None:
    world = server.world
    ann = world.add_user("ann", world.guild)
    async with identified(server, [0, 2]) as first, identified(server, [1, 2]) as second:
        await server.gateway.connected(2)
        assert server.gateway.connected_shards() == [0, 1]
        await world.say(ann, world.direct_channel(ann, world.bot), "Hello")
        for socket in (first, second):
            await asyncio.wait_for(socket.receive_json(), 5.0)
    told = [
        s.sight.shard
        for s in server.gateway.sessions.values()
        for e in s.log
        if e.name == "MESSAGE_CREATE"
    ]
    assert told == [0]
