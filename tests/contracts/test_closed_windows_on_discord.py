"""Discord's limit of all requests is one that every process of a bot knows to be met."""

from collections.abc import AsyncIterator

import aiohttp
import discord
import pytest
from sqlalchemy import Connection, event
from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.discord.rest import shared_limits
from core.storage.database import create_engine
from core.storage.leases import RateLimitWindows
from tests.wire.discord import DiscordServer, RateLimited

pytestmark = pytest.mark.parametrize(
    "dialect", [pytest.param("postgresql", marks=pytest.mark.postgres)]
)

GLOBAL = "discord:global"
DIRECT = ("POST", "/users/@me/channels")
LOGIN = ("GET", "/users/@me")
MESSAGES = ("GET", "/channels/{channel}/messages")
OF_AN_INTERACTION = (
    ("POST", "/interactions/1/token/callback"),
    ("PATCH", "/webhooks/1/token/messages/@original"),
)


class Process:
    """A process of the bot, as far as it sends requests."""

    def __init__(self, server: DiscordServer, engine: AsyncEngine) -> None:
        self.engine = engine
        self.closed = RateLimitWindows(engine)
        self._server = server
        application = server.world.application
        self.session = aiohttp.ClientSession(
            headers={
                "Authorization": f"Bot {application.token}",
                "User-Agent": "DiscordBot (x, 1)",
            },
            trace_configs=[shared_limits(self.closed)],
        )

    async def send(self, method: str, path: str) -> int:
        """Send a request and return the answer's status."""
        world = self._server.world
        url = self._server.api_url + path.format(channel=world.channel.id)
        body = {"recipient_id": str(world.owner.id)} if method == "POST" else None
        async with self.session.request(method, url, json=body) as response:
            return response.status


@pytest.fixture
async def server() -> AsyncIterator[DiscordServer]:
    async with DiscordServer() as server:
        yield server


@pytest.fixture
async def processes(
    server: DiscordServer, database_url: str
) -> AsyncIterator[tuple[Process, Process]]:
    """Two processes with one database."""
    one, other = (Process(server, create_engine(database_url)) for _ in range(2))
    yield one, other
    for process in (one, other):
        await process.session.close()
        await process.engine.dispose()


Both = tuple[Process, Process]


@pytest.mark.parametrize(
    ("refused", "next_"), [(DIRECT, LOGIN), (LOGIN, DIRECT), (DIRECT, MESSAGES)]
)
async def test_the_limit_of_all_requests_is_waited_for_on_every_route(
    server: DiscordServer, processes: Both, refused: tuple[str, str], next_: tuple[str, str]
) -> None:
    one, other = processes
    server.faults.rest(RateLimited(0.9, "global"), " ".join(refused))
    assert await one.send(*refused) == 429
    assert await other.send(*next_) == 200
    assert server.world.history.early_requests == []


async def test_nothing_is_sent_on_any_route_while_the_limit_of_all_requests_is_met_for_long(
    server: DiscordServer, processes: Both
) -> None:
    one, other = processes
    await one.closed.close(GLOBAL, 30.0)
    for request in (DIRECT, LOGIN, MESSAGES):
        with pytest.raises(discord.RateLimited):
            await other.send(*request)
    assert server.world.history.calls == []


async def test_what_does_not_count_for_the_limit_of_all_requests_does_not_wait_for_it(
    server: DiscordServer, processes: Both
) -> None:
    one, other = processes
    await one.closed.close(GLOBAL, 30.0)
    for request in OF_AN_INTERACTION:
        await other.send(*request)
    assert len(server.world.history.calls) == 2
    async with other.session.ws_connect(server.gateway_url) as socket:
        assert not socket.closed


async def test_a_refusal_of_one_route_closes_no_other(
    server: DiscordServer, processes: Both
) -> None:
    one, other = processes
    server.faults.rest(RateLimited(30.0), " ".join(DIRECT))
    assert await one.send(*DIRECT) == 429
    assert await other.closed.seconds_left(GLOBAL) == 0.0


@pytest.mark.parametrize("sent", [DIRECT, MESSAGES])
async def test_a_request_costs_one_look_into_the_database(
    processes: Both, sent: tuple[str, str]
) -> None:
    process, _ = processes
    seen = list[str]()

    def see(_: Connection, __: object, statement: str, *___: object) -> None:
        seen.append(statement)

    await process.closed.seconds_left(GLOBAL)  # connects
    event.listen(process.engine.sync_engine, "before_cursor_execute", see)
    assert await process.send(*sent) == 200
    assert len([one for one in seen if "closed_windows" in one]) == 1, seen
