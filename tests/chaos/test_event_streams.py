"""A first direct message is said only while Discord keeps a session for the next process."""

import asyncio
import random
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

from tests.chaos import event_streams
from tests.chaos.event_streams import EventStreams
from tests.wire import discord
from tests.wire.discord.session import Session
from tests.wire.discord.sight import Intent, Sight


class Held:
    """A connection that takes note of what is sent over it."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.frames = list[Any]()

    def send(self, frame: Any) -> None:
        self.frames.append(frame)


@pytest.fixture
async def server() -> AsyncIterator[discord.DiscordServer]:
    async with discord.DiscordServer(discord.Limits.relaxed()) as found:
        yield found


def session(server: discord.DiscordServer, shard: int = 0, shards: int = 1) -> Session:
    """Return a session over which nothing is sent any more, which Discord keeps."""
    sight = Sight(server.world.application, Intent.DIRECT_MESSAGES, shard, shards)
    found = Session(server.world, server.faults, sight, left_at=server.world.clock.now())
    server.gateway.sessions[found.id] = found
    return found


def streams(server: discord.DiscordServer, kept: set[str]) -> EventStreams:
    """Return the streams of a bot whose database has some sessions."""
    ground: Any = SimpleNamespace(discord=server, slack=SimpleNamespace(sockets=None))
    return EventStreams(ground, lambda: kept)


async def ends(found: EventStreams) -> asyncio.Event:
    """Let all processes be ended, and return the event that they were."""
    ended = asyncio.Event()

    async def end_all() -> None:
        ended.set()

    task = asyncio.create_task(found.leave(end_all))
    task.add_done_callback(lambda done: done.result())
    await asyncio.sleep(0.3)
    return ended


async def test_all_end_at_once_where_a_session_is_kept(server: discord.DiscordServer) -> None:
    assert (await ends(streams(server, {session(server).id}))).is_set()


async def test_a_session_that_is_over_is_none(server: discord.DiscordServer) -> None:
    first, kept = session(server), set[str]()
    kept.add(first.id)
    await first_is_over(server, first)
    ended = await ends(streams(server, kept))
    assert not ended.is_set()
    kept.add(session(server, shard=1, shards=2).id)
    await asyncio.sleep(0.3)
    assert not ended.is_set(), "no other shard is told of direct messages"
    following = session(server)
    await asyncio.sleep(0.3)
    assert not ended.is_set(), "no process can know of it"
    kept.add(following.id)
    async with asyncio.timeout(10.0):
        await ended.wait()


async def first_is_over(server: discord.DiscordServer, one: Session) -> None:
    """Cut the streams so that Discord ends a session for good."""
    connection: Any = Held(one)
    server.gateway.connections.append(connection)
    await streams(server, set()).cut(chance_of(2))
    server.gateway.connections.remove(connection)
    assert one.ended
    assert connection.frames


async def test_nothing_is_cut_off_that_collects_what_was_missed(
    server: discord.DiscordServer,
) -> None:
    one = session(server)
    one.collects = True
    connection: Any = Held(one)
    server.gateway.connections.append(connection)
    await streams(server, set()).cut(chance_of(2))
    server.gateway.connections.remove(connection)
    assert not one.ended
    assert not connection.frames


async def test_nothing_is_cut_while_all_end(server: discord.DiscordServer) -> None:
    found, one = streams(server, set()), session(server)
    ended = await ends(found)
    connection: Any = Held(one)
    server.gateway.connections.append(connection)
    cutting = asyncio.create_task(found.cut(chance_of(2)))
    await asyncio.sleep(0.3)
    assert not one.ended
    cutting.cancel()
    await asyncio.wait({cutting})
    server.gateway.connections.remove(connection)
    assert not ended.is_set()


async def test_in_the_end_what_is_said_is_lost(
    server: discord.DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is for the checker to say so."""
    monkeypatch.setattr(event_streams, "_PATIENCE", 0.1)
    assert (await ends(streams(server, set()))).is_set()


def chance_of(number: int) -> random.Random:
    """Return what chooses one of the five ways to cut."""
    return next(
        random.Random(seed) for seed in range(100) if random.Random(seed).randrange(5) == number
    )
