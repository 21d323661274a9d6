"""A socket of the bot's that is closed while Slack goes on telling things by it."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from slack_bolt.async_app import AsyncApp
from slack_bolt.response import BoltResponse

from adapters.slack.installations import slack_client
from adapters.slack.sockets import Sockets
from tests.wire.slack import Limits, SlackServer

_TAKES = 0.2
"""Seconds until an event is acknowledged."""
_EVERY = 0.07
"""Seconds between two events."""
_PATIENCE = 5.0


@asynccontextmanager
async def a_socket(server: SlackServer, takes: float) -> AsyncIterator[tuple[Sockets, list[str]]]:
    """Listen by a socket to an app that takes its time, and note what it was told."""
    world, told = server.world, list[str]()
    client = slack_client(server.api_url, world.installation.token)
    app = AsyncApp(
        client=client, signing_secret=world.app.signing_secret, process_before_response=True
    )

    @app.event("message")
    async def hear(event: dict[str, str]) -> BoltResponse:
        await asyncio.sleep(takes)
        told.append(event["text"])
        return BoltResponse(status=200)

    sockets = Sockets(app, world.app.app_token, slack_client(server.api_url), lambda: None)
    running = asyncio.create_task(sockets.run())
    try:
        await server.sockets.connected(1)
        yield sockets, told
    finally:
        await sockets.close()
        await running


@pytest.fixture
async def server() -> AsyncIterator[SlackServer]:
    async with SlackServer(Limits.relaxed()) as server:
        yield server


async def test_all_that_was_told_by_a_socket_is_acknowledged_before_it_is_closed(
    server: SlackServer,
) -> None:
    world = server.world
    ann = world.add_user("ann", world.workspace, world.channel)
    async with a_socket(server, _TAKES) as (sockets, told):
        await world.say(ann, world.channel, "first")
        await asyncio.sleep(_EVERY)
        closing = asyncio.create_task(sockets.close())
        await asyncio.sleep(_EVERY)
        await world.say(ann, world.channel, "second")
        await closing
        assert told == ["first", "second"]
        deliveries = world.history.deliveries
        assert [d.failure for d in deliveries] == [None, None]
        assert [d.attempt for d in deliveries] == [0, 0]
        assert all(d.acked_at is not None for d in deliveries)


async def test_a_socket_is_closed_though_something_is_never_acknowledged(
    server: SlackServer,
) -> None:
    world = server.world
    ann = world.add_user("ann", world.workspace, world.channel)
    async with a_socket(server, _PATIENCE) as (sockets, _):
        await world.say(ann, world.channel, "first")
        await asyncio.sleep(_EVERY)
        began = time.monotonic()
        await sockets.close()
        assert 0.9 < time.monotonic() - began < _PATIENCE
        assert not await sockets.is_listening()
