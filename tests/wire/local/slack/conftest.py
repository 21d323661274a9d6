"""A Slack for each test, with one member in it, and Slack's own client before it."""

from collections.abc import AsyncIterator

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from tests.wire.slack import Limits, SlackServer, User, World


@pytest.fixture
async def server() -> AsyncIterator[SlackServer]:
    async with SlackServer(Limits.relaxed()) as server:
        yield server


@pytest.fixture
def world(server: SlackServer) -> World:
    return server.world


@pytest.fixture
def ann(world: World) -> User:
    return world.add_user("ann", world.workspace, world.channel)


@pytest.fixture
def client(server: SlackServer) -> AsyncWebClient:
    """Slack's client with the bot's token; it tries no call again."""
    token = server.world.installation.token
    return AsyncWebClient(token=token, base_url=server.api_url, retry_handlers=[])
