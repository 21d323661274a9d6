"""An earlier session is resumed over a raw connection, and nothing that is sent ends the start."""

import asyncio
import json
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import aiohttp
import pytest
import yarl
from aiohttp import web
from discord.gateway import DiscordWebSocket

from adapters.discord.gateway import replay as module
from adapters.discord.gateway.dispatch import EVENTS
from adapters.discord.gateway.replay import ENDED, Fault, Replay
from adapters.intake.unreadable import Unreadable
from core.storage.gateway_sessions import GatewaySession
from core.telemetry.metering import NO_METER

Serve = Callable[[web.WebSocketResponse], Awaitable[None]]
HELLO = {"op": 10, "d": {"heartbeat_interval": 100}}
RESUMED = {"op": 0, "t": "RESUMED", "s": 9, "d": {}}


def said(number: int) -> dict[str, Any]:
    """Return the event of a message."""
    return {"op": 0, "t": "MESSAGE_CREATE", "s": number, "d": {"id": str(number)}}


class Server:
    """Does with each connection what a test wants, the last thing for ever."""

    def __init__(self, *served: Serve) -> None:
        self._served = list(served)
        self.resumed = list[dict[str, Any]]()
        self.heartbeats = 0
        self.codes = list[int | None]()

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """Greet, take the resume in, and go on as a test wants."""
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json(HELLO)
        frame = await socket.receive_json()
        assert frame["op"] == DiscordWebSocket.RESUME
        self.resumed.append(frame["d"])
        await (self._served.pop(0) if len(self._served) > 1 else self._served[0])(socket)
        async for message in socket:
            self.heartbeats += message.json()["op"] == DiscordWebSocket.HEARTBEAT
        self.codes.append(socket.close_code)
        return socket


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again at once; no connection is taken for dead, however slow the machine is."""
    monkeypatch.setattr(module, "_AGAIN_AFTER", (0.0, 0.01))
    monkeypatch.setattr(module, "_SILENT", 1_000.0)


@asynccontextmanager
async def replaying(
    server: Server, monkeypatch: pytest.MonkeyPatch, url: str | None = None
) -> AsyncIterator[Replay]:
    """Resume a session of which ten events are stored."""
    app = web.Application()
    app.router.add_get("/", server.serve)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    address = f"ws://127.0.0.1:{runner.addresses[0][1]}/"
    monkeypatch.setattr(DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(address))
    session = GatewaySession(
        *("s", "discord:1", 0, 1, "", url or address, 10), noted_at=datetime.now(UTC)
    )
    async with aiohttp.ClientSession() as http:
        replay = Replay(session, http.ws_connect, "t", Unreadable("discord", EVENTS, NO_METER))
        await replay.begin()
        yield replay
        await replay.close(ENDED)
    await runner.cleanup()


def told(replay: Replay) -> list[int]:
    """Return the ids of the messages that a replay has."""
    found = []
    while (event := replay.next()) is not None:
        found.append(int(event[1]["id"]))
    return found


def sending(*frames: object) -> Serve:
    """Return what sends frames: a text as it is, bytes as binary, all else as JSON."""

    async def send(socket: web.WebSocketResponse) -> None:
        for frame in frames:
            if isinstance(frame, bytes):
                await socket.send_bytes(frame)
            else:
                await socket.send_str(frame if isinstance(frame, str) else json.dumps(frame))

    return send


def closing(code: int, *frames: object) -> Serve:
    """Return what sends frames, and closes."""

    async def close(socket: web.WebSocketResponse) -> None:
        await sending(*frames)(socket)
        await socket.close(code=code)

    return close


async def test_what_was_missed_comes_in_order_and_what_follows_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    later = asyncio.Event()

    async def serve(socket: web.WebSocketResponse) -> None:
        compressed = zlib.compress(json.dumps(said(12)).encode())
        await sending(said(11), compressed, RESUMED)(socket)
        await later.wait()
        await sending(said(13))(socket)

    server = Server(serve)
    async with replaying(server, monkeypatch) as replay:
        assert server.resumed == [{"token": "t", "session_id": "s", "seq": 10}]
        assert told(replay) == [11, 12]
        later.set()
        async with asyncio.timeout(10.0):
            while not (found := told(replay)):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            assert found == [13]
            while server.heartbeats < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert replay.fault is None
    assert server.codes == [ENDED]


async def test_frames_that_cannot_be_read_are_passed_over(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    odd = ["{", "7", "[]", {"op": {}}, {"op": 0, "t": ["x"], "s": "y"}, b"", {"op": 0, "t": None}]
    odd = [frame for frame in odd if frame != b""]
    server = Server(sending(said(11), *odd, said(12), RESUMED))
    async with replaying(server, monkeypatch) as replay:
        assert told(replay) == [11, 12]
        assert replay.fault is None
    assert caplog.text.count("cannot be read and is passed over") == 3


async def test_a_connection_that_breaks_is_gone_on_with_where_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reconnect, invalid = {"op": 7, "d": None}, {"op": 9, "d": True}
    server = Server(closing(4000, said(11)), sending(said(12), reconnect), sending(RESUMED))
    async with replaying(server, monkeypatch) as replay:
        assert told(replay) == [11, 12]
        assert replay.fault is None
    assert [one["seq"] for one in server.resumed] == [10, 11, 12]
    server = Server(sending(invalid), sending(said(11), RESUMED))
    async with replaying(server, monkeypatch) as replay:
        assert told(replay) == [11]


@pytest.mark.parametrize(
    ("served", "fault"),
    [
        (sending(said(11), {"op": 9, "d": False}), Fault.REFUSED),
        (closing(4009, said(11)), Fault.REFUSED),
        (closing(4007, said(11)), Fault.REFUSED),
        (closing(4000, said(11)), Fault.BROKEN),
        (sending(*map(said, range(11, 17)), RESUMED), Fault.TOO_MUCH),
    ],
)
async def test_why_not_all_can_be_had_is_told_and_what_came_is_kept(
    monkeypatch: pytest.MonkeyPatch, served: Serve, fault: Fault
) -> None:
    monkeypatch.setattr(module, "MOST_EVENTS", 5)
    async with replaying(Server(served), monkeypatch) as replay:
        assert told(replay)[0] == 11
        assert replay.fault is fault


async def test_so_much_is_read_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 500)
    huge = {**said(12), "d": {"id": "12", "content": "x" * 1_000}}
    for frame in (huge, zlib.compress(json.dumps(huge).encode())):
        server = Server(sending(said(11), frame, RESUMED))
        async with replaying(server, monkeypatch) as replay:
            assert told(replay) == [11]
            assert replay.fault is Fault.TOO_MUCH


async def test_a_silent_discord_does_not_hold_the_start_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    async with replaying(Server(sending()), monkeypatch) as replay:
        assert replay.fault is None
        async with asyncio.timeout(10.0):
            await replay.settled()
        assert replay.fault is Fault.BROKEN


async def test_a_dead_connection_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is heard for two heartbeats after what was missed."""
    monkeypatch.setattr(module, "_SILENT", 2.0)
    server = Server(sending(RESUMED), sending(said(11), RESUMED))
    async with replaying(server, monkeypatch) as replay, asyncio.timeout(10.0):
        while not (found := told(replay)):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert found == [11]


async def test_where_the_own_address_is_away_any_other_is_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for url in ("ws://127.0.0.1:9/", "no address"):
        server = Server(sending(said(11), RESUMED))
        async with replaying(server, monkeypatch, url) as replay:
            assert told(replay) == [11]
