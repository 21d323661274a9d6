"""One WebSocket connection of the gateway: frames, compression, heartbeats."""

import asyncio
import importlib
import json
import zlib
from collections import deque
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from aiohttp import WSMsgType, web

from tests.wire.discord.errors import Json
from tests.wire.discord.faults import NoHeartbeatAck
from tests.wire.discord.history import Command
from tests.wire.discord.session import Session

if TYPE_CHECKING:
    from tests.wire.discord.gateway import Gateway


_ROUND_TRIP = 0.02
"""Seconds: discord.py takes an acknowledgement for late that is there before it looks."""


class Op(IntEnum):
    """Gateway opcodes."""

    DISPATCH = 0
    HEARTBEAT = 1
    IDENTIFY = 2
    PRESENCE = 3
    RESUME = 6
    RECONNECT = 7
    REQUEST_MEMBERS = 8
    INVALID_SESSION = 9
    HELLO = 10
    HEARTBEAT_ACK = 11


class Connection:
    """Reads commands and writes frames in order."""

    def __init__(self, gateway: "Gateway", request: web.Request) -> None:
        self._gateway = gateway
        self._request = request
        self._socket = web.WebSocketResponse(max_msg_size=4096)
        self._outgoing: asyncio.Queue[Json | str | int] = asyncio.Queue()
        self._compress = _compressor(request.query.get("compress"))
        self._commands: deque[float] = deque()
        self._close_code: int | None = None
        self.session: Session | None = None
        self.silent = False

    def send(self, frame: Json) -> None:
        """Queue a frame."""
        if not self.silent:
            self._outgoing.put_nowait(frame)

    def send_text(self, text: str) -> None:
        """Queue a frame of any form."""
        self._outgoing.put_nowait(text)

    async def close(self, code: int) -> None:
        """Close with a code, after the frames that are queued."""
        self._outgoing.put_nowait(code)

    def abort(self) -> None:
        """Cut the connection."""
        if self._request.transport is not None:
            self._request.transport.abort()

    async def run(self) -> web.WebSocketResponse:
        """Serve until either side ends it."""
        await self._socket.prepare(self._request)
        writer = asyncio.create_task(self._write())
        interval = int(self._gateway.world.limits.heartbeat_interval * 1000)
        hello = {"heartbeat_interval": interval, "_trace": []}
        self.send({"op": Op.HELLO, "d": hello, "s": None, "t": None})
        try:
            await self._read()
        finally:
            writer.cancel()
            if self.session is not None and self.session.send == self.send:
                code = self._close_code or self._socket.close_code
                self._gateway.left(self.session, code)
        return self._socket

    async def _read(self) -> None:
        patience = self._gateway.world.limits.heartbeat_interval * 1.5
        while True:
            try:
                message = await self._socket.receive(timeout=patience)
            except TimeoutError:
                await self.close(4009)
                continue
            if message.type in (WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED):
                return
            if message.type is not WSMsgType.TEXT:
                await self.close(4002)
                continue
            await self._obey(message.data)

    async def _obey(self, text: str) -> None:
        try:
            frame = json.loads(text)
            op, data = frame["op"], frame.get("d")
        except (ValueError, KeyError, TypeError):
            await self.close(4002)
            return
        world = self._gateway.world
        world.history.commands.append(Command(op, data, world.clock.now()))
        if op == Op.HEARTBEAT:
            await asyncio.sleep(_ROUND_TRIP)
            self._acknowledge()
        elif self._too_many():
            await self.close(4008)
        elif op == Op.IDENTIFY:
            await self._enter(data, resumed=False)
        elif op == Op.RESUME:
            await self._enter(data, resumed=True)
        elif self.session is None:
            await self.close(4003)
        elif op == Op.REQUEST_MEMBERS:
            self._gateway.members_chunk(self.session, data)
        elif op != Op.PRESENCE:
            self._gateway.world.mistakes.append(f"unknown gateway opcode {op}")
            await self.close(4001)

    async def _enter(self, data: Json, *, resumed: bool) -> None:
        if self.session is not None:
            await self.close(4005)
            return
        enter = self._gateway.resume if resumed else self._gateway.identify
        outcome = enter(self, data)
        if outcome is False:
            self.send({"op": Op.INVALID_SESSION, "d": False, "s": None, "t": None})
        elif outcome is not True:
            await self.close(outcome)

    def _acknowledge(self) -> None:
        fault = self._gateway.faults.next_gateway("HEARTBEAT")
        if not isinstance(fault, NoHeartbeatAck):
            self.send({"op": Op.HEARTBEAT_ACK, "d": None, "s": None, "t": None})

    def _too_many(self) -> bool:
        most, seconds = self._gateway.world.limits.gateway_commands
        now = self._gateway.world.clock.now()
        while self._commands and now - self._commands[0] >= seconds:
            self._commands.popleft()
        self._commands.append(now)
        return len(self._commands) > most

    async def _write(self) -> None:
        while True:
            frame = await self._outgoing.get()
            if isinstance(frame, int):
                self._close_code = frame
                await self._socket.close(code=frame)
                return
            text = frame if isinstance(frame, str) else json.dumps(frame)
            try:
                if self._compress is None:
                    await self._socket.send_str(text)
                else:
                    await self._socket.send_bytes(self._compress(text.encode()))
            except ConnectionError:
                return
            if isinstance(frame, str):
                continue
            if self.session is not None and frame["s"] is not None:
                world, event = self._gateway.world, (self.session.id, frame["s"])
                world.history.written.setdefault(event, world.clock.now())


def _compressor(wanted: str | None) -> Any:
    """Return what turns frames into one compressed stream; None for plain text."""
    if wanted == "zlib-stream":
        stream = zlib.compressobj()
        return lambda data: stream.compress(data) + stream.flush(zlib.Z_SYNC_FLUSH)
    if wanted == "zstd-stream":
        zstandard = importlib.import_module("zstandard")
        packer = zstandard.ZstdCompressor().compressobj()
        block = zstandard.COMPRESSOBJ_FLUSH_BLOCK
        return lambda data: packer.compress(data) + packer.flush(block)
    return None
