"""A socket of the bot's that is closed while Slack goes on telling things by it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from slack_bolt.async_app import AsyncApp
from slack_bolt.response import BoltResponse

from adapters.chat.acceptor import Unreadable
from adapters.chat.incoming_message import no_locale
from adapters.slack.client import SlackClient
from adapters.slack.sockets import Dispatcher, Sockets
from core.domain.telemetry import NO_METER
from tests.wire.slack import Limits, SlackServer
from tests.wire.slack.entities import App

_TAKES = 0.2
"""Seconds until an event is acknowledged."""
_EVERY = 0.07
"""Seconds between two events."""
_PATIENCE = 5.0
REPLACED_WITHIN = 40.0
"""Seconds; the SDK looks after its socket every five."""


@dataclass
class Line:
    """A socket in use."""

    sockets: Sockets
    told: list[str]
    """The texts of all messages that were acknowledged."""
    begun: asyncio.Semaphore
    """Released whenever a connection stands."""

    async def begins(self) -> None:
        """Wait until one more connection stands."""
        async with asyncio.timeout(REPLACED_WITHIN):
            await self.begun.acquire()


@asynccontextmanager
async def a_line(server: SlackServer, takes: float) -> AsyncIterator[Line]:
    """Listen by a socket, and take so many seconds for each message."""
    world, told, begun = server.world, list[str](), asyncio.Semaphore(0)
    client = SlackClient(server.api_url, world.installation.token)
    app = AsyncApp(
        client=client, signing_secret=world.app.signing_secret, process_before_response=True
    )

    @app.event("message")
    async def hear(event: dict[str, str]) -> BoltResponse:
        await asyncio.sleep(takes)
        told.append(event["text"])
        return BoltResponse(status=200)

    dispatcher = Dispatcher(app, Unreadable("slack", (), NO_METER), lambda _: no_locale())
    sockets = Sockets(dispatcher, world.app.app_token, SlackClient(server.api_url), begun.release)
    running = asyncio.create_task(sockets.run())
    line = Line(sockets, told, begun)
    try:
        await line.begins()
        yield line
    finally:
        await sockets.close()
        await running


def use_up_next_address(server: SlackServer) -> list[str]:
    """Let the next address that Slack gives out be good for nothing; return all it gives out."""
    give_out, given = server.sockets.ticket, list[str]()

    def ticket(app: App) -> str:
        given.append(give_out(app))
        if len(given) == 1:
            server.sockets.forget_tickets()
        return given[-1]

    server.world.socket_url = ticket
    return given


@pytest.fixture
async def server() -> AsyncIterator[SlackServer]:
    async with SlackServer(Limits.relaxed()) as server:
        yield server


@pytest.mark.costly
async def test_all_that_was_told_by_a_socket_is_acknowledged_before_it_is_closed(
    server: SlackServer,
) -> None:
    world = server.world
    ann = world.add_user("ann", world.workspace, world.channel)
    async with a_line(server, _TAKES) as line:
        await world.say(ann, world.channel, "first")
        await asyncio.sleep(_EVERY)
        closing = asyncio.create_task(line.sockets.close())
        await asyncio.sleep(_EVERY)
        await world.say(ann, world.channel, "second")
        await closing
        assert line.told == ["first", "second"]
        deliveries = world.history.deliveries
        assert [d.failure for d in deliveries] == [None, None]
        assert [d.attempt for d in deliveries] == [0, 0]
        assert all(d.acked_at is not None for d in deliveries)


@pytest.mark.costly
async def test_a_socket_is_closed_though_something_is_never_acknowledged(
    server: SlackServer,
) -> None:
    world = server.world
    ann = world.add_user("ann", world.workspace, world.channel)
    async with a_line(server, _PATIENCE) as line:
        await world.say(ann, world.channel, "first")
        await asyncio.sleep(_EVERY)
        await line.sockets.close()
        assert [d.acked_at for d in world.history.deliveries] == [None]
        assert not await line.sockets.is_listening()


async def test_an_address_that_is_used_up_is_given_up_for_another_one(server: SlackServer) -> None:
    given = use_up_next_address(server)
    async with a_line(server, 0.0) as line:
        assert await line.sockets.is_listening()
        assert len(given) == 2


@pytest.mark.costly
async def test_a_socket_that_breaks_is_replaced_though_its_next_address_is_used_up(
    server: SlackServer,
) -> None:
    world = server.world
    ann = world.add_user("ann", world.workspace, world.channel)
    async with a_line(server, 0.0) as line:
        given = use_up_next_address(server)
        await server.sockets.drop()
        await line.begins()
        assert len(given) == 2
        await world.say(ann, world.channel, "first")
        await world.until(lambda: "first" in line.told or None, _PATIENCE)
