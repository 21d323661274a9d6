"""A Slack for each test, with one reader in it, in which answers are streamed or edited."""

from collections.abc import AsyncIterator

import pytest

from adapters.slack.installations import Workspaces
from tests.wire.replies.slack.jobs import workspaces_of
from tests.wire.slack import Limits, SlackServer, User, World


@pytest.fixture
async def server() -> AsyncIterator[SlackServer]:
    async with SlackServer(Limits.relaxed()) as server:
        yield server
        assert not server.world.notified
        assert not server.world.previews
        assert not server.world.history.early_requests


@pytest.fixture
def world(server: SlackServer) -> World:
    return server.world


@pytest.fixture
def ann(world: World) -> User:
    return world.add_user("ann", world.workspace, world.channel)


@pytest.fixture(params=[True, False], ids=["streamed", "edited"])
def shared(server: SlackServer, request: pytest.FixtureRequest) -> Workspaces:
    return workspaces_of(server, streams=request.param)
