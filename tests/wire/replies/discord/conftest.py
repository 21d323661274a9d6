"""A Discord for each test, with one reader in it, and the real library in front of it."""

from collections.abc import AsyncIterator

import discord
import pytest

from tests.wire.discord import DiscordServer, Limits, User, World, point_library_at
from tests.wire.replies.discord.jobs import logged_in


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[DiscordServer]:
    async with DiscordServer(Limits.relaxed()) as server:
        point_library_at(server, monkeypatch)
        yield server
        assert not server.world.notified
        assert not server.world.previews
        assert not server.world.history.early_requests


@pytest.fixture
def world(server: DiscordServer) -> World:
    return server.world


@pytest.fixture
def ann(world: World) -> User:
    return world.add_user("ann", world.guild)


@pytest.fixture
async def client(server: DiscordServer) -> AsyncIterator[discord.Client]:
    async with logged_in(server) as client:
        yield client
