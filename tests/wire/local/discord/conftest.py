"""A Discord for each test, with one member in it, at which discord.py is pointed."""

from collections.abc import AsyncIterator

import pytest

from tests.wire.discord import DiscordServer, Limits, User, World, point_library_at
from tests.wire.discord.trial import TrialBot, running


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[DiscordServer]:
    async with DiscordServer(Limits.relaxed()) as server:
        point_library_at(server, monkeypatch)
        yield server


@pytest.fixture
def world(server: DiscordServer) -> World:
    return server.world


@pytest.fixture
def ann(world: World) -> User:
    return world.add_user("ann", world.guild)


@pytest.fixture
async def bot(server: DiscordServer) -> AsyncIterator[TrialBot]:
    bot = TrialBot()
    async with running(bot, server):
        yield bot


@pytest.fixture
def messages(world: World) -> str:
    """The path of the messages of the first channel."""
    return f"/channels/{world.channel.id}/messages"
