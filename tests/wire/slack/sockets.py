"""Socket Mode: hello, envelopes and their acknowledgements, and the ways a socket ends."""

import asyncio
import json
import random
import secrets
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from tests.wire.slack.clock import pause
from tests.wire.slack.entities import App
from tests.wire.slack.errors import Json
from tests.wire.slack.history import Delivery
from tests.wire.slack.undelivered import Undelivered
from tests.wire.slack.world import World


@dataclass(eq=False)
class Socket:
    """One connection of an app."""

    app: App
    request: web.Request
    connection: web.WebSocketResponse
    pending: dict[str, list[asyncio.Future[Any]]] = field(default_factory=dict)
    """Envelopes that went out here and are not acknowledged; one may have gone out twice."""

    async def disconnect(self, reason: str) -> None:
        """Send the message that announces an end, or its reason."""
        host = {"host": "applink-local"}
        await self.send({"type": "disconnect", "reason": reason, "debug_info": host})

    async def send(self, message: Json) -> None:
        """Send one message, if the other side is still there."""
        if not self.connection.closed:
            await self.connection.send_str(json.dumps(message))


class Sockets:
    """All connections; each payload goes to any one of its app's."""

    def __init__(self, world: World, seed: int = 0) -> None:
        self._world = world
        self._random = random.Random(seed)
        self._sockets: list[Socket] = []
        self._tickets: dict[str, App] = {}
        self._changed = asyncio.Condition()
        self.opened = 0
        """How many connections there ever were."""
        self.url = ""

    def ticket(self, app: App) -> str:
        """Return an address for one connection."""
        ticket = secrets.token_hex(16)
        self._tickets[ticket] = app
        return f"{self.url}?ticket={ticket}&app_id={app.id}"

    def forget_tickets(self) -> None:
        """Let no address that was given out be good any more."""
        self._tickets.clear()

    def of(self, app: App | None = None) -> list[Socket]:
        """Return the open connections of an app, or of all."""
        return [s for s in self._sockets if app is None or s.app is app]

    async def connected(self, count: int = 1, timeout: float = 5.0) -> None:  # noqa: ASYNC109
        """Wait until so many connections are open."""
        async with asyncio.timeout(timeout), self._changed:
            await self._changed.wait_for(lambda: len(self._sockets) >= count)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Hold one connection from hello to its end."""
        app = self._tickets.pop(request.query.get("ticket", ""), None)
        if app is None:
            return web.Response(status=403)
        connection = web.WebSocketResponse()
        await connection.prepare(request)
        socket = Socket(app, request, connection)
        if len(self.of(app)) >= self._world.limits.sockets:
            await socket.disconnect("too_many_websockets")
            await connection.close()
            return connection
        await self._greet(socket)
        try:
            async for message in connection:
                if message.type is WSMsgType.TEXT:
                    self._received(app, message.data)
        finally:
            await self._forget(socket)
        return connection

    async def send(self, app: App, delivery: Delivery, kind: str, reason: str | None) -> Any:
        """Send one envelope by some socket; return what its acknowledgement holds.

        Raises:
            Undelivered: No socket, none in time, or the socket ended before.
        """
        if not self.of(app):
            raise Undelivered("connection_failed")
        socket = self._random.choice(self.of(app))
        envelope_id = delivery.envelope_id or secrets.token_hex(16)
        delivery.envelope_id = envelope_id
        acknowledged: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        waiting = socket.pending.setdefault(envelope_id, [])
        waiting.append(acknowledged)
        try:
            await socket.send(_envelope(delivery, kind, reason))
            return await asyncio.wait_for(acknowledged, self._world.limits.ack)
        except (TimeoutError, ConnectionError):
            raise Undelivered("timeout") from None
        finally:
            waiting.remove(acknowledged)
            if not waiting:
                socket.pending.pop(envelope_id, None)

    async def warn(self) -> None:
        """Announce the end of every socket, and end it after the time that is usual."""
        sockets = list(self._sockets)
        for socket in sockets:
            await socket.disconnect("warning")
        await pause(self._world.clock, self._world.limits.warning)
        for socket in sockets:
            await self._end(socket, "refresh_requested")

    async def refresh(self) -> None:
        """End every socket as Slack does every few hours."""
        for socket in list(self._sockets):
            await self._end(socket, "refresh_requested")

    async def disable(self, app: App) -> None:
        """Switch an app's Socket Mode off: sockets end, and no new one is to be had."""
        app.socket_mode = False
        for socket in self.of(app):
            await self._end(socket, "link_disabled")

    async def link_disabled(self) -> None:
        """End every socket with that reason, Socket Mode staying on."""
        for socket in list(self._sockets):
            await self._end(socket, "link_disabled")

    async def close(self, code: int = 1011) -> None:
        """Close every socket without a message before."""
        for socket in list(self._sockets):
            await socket.connection.close(code=code)

    async def drop(self) -> None:
        """Cut every connection without a closing handshake."""
        for socket in list(self._sockets):
            if socket.request.transport is not None:
                socket.request.transport.abort()

    async def _greet(self, socket: Socket) -> None:
        self._sockets.append(socket)
        self.opened += 1
        await socket.send(
            {
                "type": "hello",
                "num_connections": len(self.of(socket.app)),
                "connection_info": {"app_id": socket.app.id},
                "debug_info": {"host": "applink-local", "approximate_connection_time": 18060},
            }
        )
        async with self._changed:
            self._changed.notify_all()

    async def _forget(self, socket: Socket) -> None:
        self._sockets.remove(socket)
        for acknowledged in (each for waiting in socket.pending.values() for each in waiting):
            if not acknowledged.done():
                acknowledged.set_exception(ConnectionResetError())
        async with self._changed:
            self._changed.notify_all()

    async def _end(self, socket: Socket, reason: str) -> None:
        await socket.disconnect(reason)
        await socket.connection.close()

    def _received(self, app: App, text: str) -> None:
        """Take an acknowledgement, which may come by another socket of the app."""
        try:
            message = json.loads(text)
            envelope_id = message["envelope_id"]
        except (ValueError, KeyError, TypeError):
            self._world.mistakes.append(f"not an acknowledgement: {text!r}")
            return
        for socket in self.of(app):
            for acknowledged in socket.pending.get(envelope_id, []):
                if not acknowledged.done():
                    acknowledged.set_result(message.get("payload"))


def _envelope(delivery: Delivery, kind: str, reason: str | None) -> Json:
    envelope: Json = {
        "envelope_id": delivery.envelope_id,
        "type": kind,
        "payload": delivery.payload,
        "accepts_response_payload": kind != "events_api",
    }
    if kind == "events_api":
        envelope |= {"retry_attempt": delivery.attempt, "retry_reason": reason or ""}
    return envelope
