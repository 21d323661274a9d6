"""When a connection to Discord is tried again, and what the client tells of connections."""

import asyncio
import socket as sockets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import aiohttp
import pytest
import yarl
from aiohttp import web
from discord.gateway import DiscordClientWebSocketResponse, DiscordWebSocket

from adapters.discord.gateway import connections as module
from adapters.discord.gateway.client import Client
from adapters.discord.gateway.connections import Gateway
from adapters.discord.gateway.shards import AllShards

INVALID_SEQUENCE = 4007
LOST = 4000
"""The code by which Discord closes what may be resumed."""
QUICK = (0.01, 0.02, 0.03, 0.04)

Serve = Callable[[web.WebSocketResponse], Awaitable[None]]


class Discord:
    """A gateway that does with each connection what a test wants, the last thing for ever."""

    def __init__(self, *served: Serve) -> None:
        self._served = list(served)
        self.connections = 0
        self.url = ""

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """Hold one connection."""
        self.connections += 1
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await (self._served.pop(0) if len(self._served) > 1 else self._served[0])(socket)
        return socket

    async def until(self, connections: int) -> None:
        """Wait until so many connections were opened."""
        async with asyncio.timeout(60.0):
            while self.connections < connections:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    async def stands(self, socket: web.WebSocketResponse) -> None:
        """Begin a session, or take it up, and close the connection."""
        if await _greeted(socket) == DiscordWebSocket.RESUME:
            await socket.send_json({"op": 0, "t": "RESUMED", "s": 2, "d": {}})
        else:
            await socket.send_json({"op": 0, "t": "READY", "s": 1, "d": self._ready()})
        await socket.close(code=LOST)

    async def stays(self, socket: web.WebSocketResponse) -> None:
        """Begin a session, and keep the connection."""
        await _greeted(socket)
        await socket.send_json({"op": 0, "t": "READY", "s": 1, "d": self._ready()})
        await socket.receive()

    def _ready(self) -> dict[str, Any]:
        return {
            "user": {"id": "1", "username": "b", "discriminator": "0", "avatar": None, "bot": True},
            "session_id": "a session",
            "resume_gateway_url": self.url,
            "shard": [0, 1],
            "guilds": [],
            "application": {"id": "1", "flags": 0},
        }


async def refuses(socket: web.WebSocketResponse) -> None:
    """Close a connection before anything was said."""
    await socket.close(code=LOST)


async def breaks(socket: web.WebSocketResponse) -> None:
    """Close a connection after it was said how a session is taken up."""
    await _greeted(socket)
    await socket.close(code=LOST)


class RefusesToResume:
    """Closes each connection that resumes a session, as Discord does with an odd sequence."""

    def __init__(self, discord: Discord) -> None:
        self._discord = discord
        self.identified = 0

    async def __call__(self, socket: web.WebSocketResponse) -> None:
        """Hold one connection."""
        if await _greeted(socket) == DiscordWebSocket.RESUME:
            await socket.close(code=INVALID_SEQUENCE)
            return
        self.identified += 1
        ready = {"op": 0, "t": "READY", "s": 1, "d": self._discord._ready()}
        await socket.send_json(ready)
        if self.identified == 1:
            await socket.close(code=LOST)
        else:
            await socket.receive()


async def invalidates(socket: web.WebSocketResponse) -> None:
    """Say that there is no such session."""
    await _greeted(socket)
    await socket.send_json({"op": DiscordWebSocket.INVALIDATE_SESSION, "d": False})
    await socket.receive()


async def _greeted(socket: web.WebSocketResponse) -> int:
    """Say hello, and return what a connection is for: to identify, or to resume."""
    await socket.send_json({"op": DiscordWebSocket.HELLO, "d": {"heartbeat_interval": 45_000}})
    while (op := int((await socket.receive_json())["op"])) == DiscordWebSocket.HEARTBEAT:
        pass
    assert op in (DiscordWebSocket.IDENTIFY, DiscordWebSocket.RESUME)
    return op


class Told:
    """What the client told of connections."""

    def __init__(self) -> None:
        self.names = list[str]()

    async def until(self, name: str) -> None:
        """Wait until the client has told something."""
        async with asyncio.timeout(30.0):
            while name not in self.names:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    async def joined(self, *_: object) -> None:
        self.names.append("joined")

    async def connected(self, shard_id: int, *, resumed: bool) -> None:
        self.names.append("resumed" if resumed else "connected")

    async def disconnected(self, shard_id: int) -> None:
        self.names.append("disconnected")

    async def alive(self, shard_id: int) -> None:
        pass

    async def released(self, shard_id: int) -> None:
        self.names.append("released")


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What is waited between tries, of which there are quick ones only."""
    taken = list[float]()

    class Noted(module._Pauses):
        def next(self) -> float:
            taken.append(next(self._left))
            return taken[-1]

    monkeypatch.setattr(module, "_PAUSES", QUICK)
    monkeypatch.setattr(module, "_AFTER_INVALID", (0.0, 0.0))
    monkeypatch.setattr(module, "_Pauses", Noted)
    return taken


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
async def client(told: Told) -> AsyncIterator[Client]:
    """A client that is logged in."""

    async def prepare(_: Client) -> None:
        raise AssertionError("nobody logs in here")

    watch = aiohttp.TraceConfig()
    client = Client(cast("Any", told), message_content=False, prepare=prepare, watch=watch)
    await client._async_setup_hook()
    client.shard_count = client._connection.application_id = 1
    client.http.token = "token"
    async with aiohttp.ClientSession(ws_response_class=DiscordClientWebSocketResponse) as session:
        client.http._HTTPClient__session = session  # type: ignore[attr-defined]
        yield client


@asynccontextmanager
async def connecting(
    client: Client, discord: Discord, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Gateway]:
    """Keep a shard connected during the block."""
    app = web.Application()
    app.router.add_get("/", discord.serve)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    discord.url = f"ws://127.0.0.1:{runner.addresses[0][1]}/"
    monkeypatch.setattr(DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(discord.url))
    running = asyncio.create_task(client.gateway.run(AllShards(client.gateway, 1, 1)))
    try:
        yield client.gateway
    finally:
        await client.gateway.close()
        await running
        await runner.cleanup()


async def test_who_is_closed_again_and_again_tries_ever_more_rarely(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a pause at least lies between two tries: 0.125, 0.5, 1 and 2.5 seconds."""
    discord = Discord(refuses)
    monkeypatch.setattr("adapters.discord.gateway.shards.IDENTIFY_EVERY", 0.0)
    async with connecting(client, discord, monkeypatch):
        await discord.until(1)
        await asyncio.sleep(3.0)
        assert discord.connections <= 4 + 1
        await discord.until(3)


async def test_a_session_that_cannot_be_resumed_is_begun_anew(
    client: Client, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    discord = Discord()
    serving = RefusesToResume(discord)
    discord._served = [serving]
    monkeypatch.setattr("adapters.discord.gateway.shards.IDENTIFY_EVERY", 0.0)
    async with connecting(client, discord, monkeypatch):
        await discord.until(3)
        async with asyncio.timeout(10.0):
            while serving.identified < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
    assert (serving.identified, discord.connections) == (2, 3)


@pytest.mark.parametrize("closes", [refuses, breaks, invalidates])
async def test_pauses_grow_until_a_connection_stands(
    client: Client, pauses: list[float], monkeypatch: pytest.MonkeyPatch, closes: Serve
) -> None:
    discord = Discord()
    discord._served = [discord.stands, closes, closes, closes, discord.stands, discord.stays]
    monkeypatch.setattr("adapters.discord.gateway.shards.IDENTIFY_EVERY", 0.0)
    async with connecting(client, discord, monkeypatch):
        await discord.until(6)
    assert pauses == [*QUICK, QUICK[0]]


async def test_the_client_tells_when_a_connection_stands_and_when_it_was_ended(
    client: Client, told: Told, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    discord = Discord()
    discord._served = [discord.stays]
    async with connecting(client, discord, monkeypatch):
        await told.until("connected")
    await told.until("released")
    assert told.names == ["joined", "connected", "disconnected", "released"]


async def test_a_shard_that_is_no_more_this_processs_is_not_told_as_connected(
    client: Client, told: Told
) -> None:
    """Its servers may come while its connection is being ended."""
    await client.on_shard_ready(0)
    assert told.names == []


async def test_what_is_ended_has_ended_however_often_it_must_be_told(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_FAREWELL", 0.01)
    farewells = 0

    async def stay(_: int) -> None:
        nonlocal farewells
        while farewells < 4:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                farewells += 1

    monkeypatch.setattr(client.gateway, "_stay_connected", stay)
    client.gateway.begin(0)
    await asyncio.sleep(0)
    await client.gateway.end(0)
    assert farewells == 4


async def test_a_discord_that_is_away_for_long_is_soon_found_to_be_back() -> None:
    pauses, away = module._Pauses(), module._Pauses()
    with sockets.create_server(("127.0.0.1", 0)) as nobody:
        closed_port = nobody.getsockname()[1]
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientConnectorError) as unreachable:
            await session.ws_connect(f"http://127.0.0.1:{closed_port}/")
    unheard = [module._pause_after(unreachable.value, pauses, away) for _ in range(50)]
    lost = [module._pause_after(ConnectionResetError(), pauses, away) for _ in range(50)]
    assert max(unheard) <= 10.0
    assert lost[0] <= 1.0, "nothing had failed before but the way there"
    assert min(lost[-10:]) >= 30.0, "each of these may have begun a session"
