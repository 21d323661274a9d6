"""Takes up an earlier session over a raw connection, and collects what was missed of it.

discord.py resumes only what it began itself: it needs the servers that READY named. Nothing here
is read by it.
"""

import asyncio
import json
import logging
import random
import zlib
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from enum import StrEnum
from typing import Any

import aiohttp
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import INTERNAL_API_VERSION

from adapters.discord.gateway.dispatch import FRAME, INTERACTION, READ_RAW
from adapters.intake.unreadable import Unreadable, UnreadableEvent
from adapters.payloads import Json, mapping
from core.storage.gateway_sessions import GatewaySession

logger = logging.getLogger(__name__)

RESUMABLE, ENDED = 4000, 1000
"""Codes to close a connection with: the session stays for some minutes, or is over."""
MOST_EVENTS, MOST_BYTES = 20_000, 64 * 1024**2
"""So many events are kept in memory, and so much is read, before the rest is given up."""
PATIENCE = 20.0
"""Seconds that Discord may take until it has sent what was missed."""
_TRIES = 5
_SILENT = 2.0
"""Heartbeats without any answer, after which a connection is taken for dead."""
_AGAIN_AFTER = (1.0, 5.0)
"""Seconds, from and to, until the next try."""
_FAREWELL = 0.5
"""Seconds that Discord gets to close its side of a connection."""
_REFUSING = frozenset({1000, 4003, 4004, 4007, 4009, 4010, 4011, 4012, 4013, 4014})
"""Codes with which Discord closes a connection whose session it does not go on with."""
_KEPT = frozenset({*READ_RAW, INTERACTION})
_BROKEN = (aiohttp.ClientError, OSError, TimeoutError, zlib.error)

Connect = Callable[[str], Awaitable[aiohttp.ClientWebSocketResponse]]


class Fault(StrEnum):
    """Why not everything that was missed could be asked for."""

    REFUSED = "refused"
    """Discord has ended the session."""
    EXPIRED = "expired"
    """The session is older than any that Discord keeps."""
    BROKEN = "broken"
    """The connection failed again and again."""
    TOO_MUCH = "too_much"
    UNKNOWN = "unknown"
    """It is not known which session there was."""


class _Over(Exception):
    """The session cannot be gone on with."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault


class _Again(Exception):
    """The connection ended, and the session may go on over another one."""


class Replay:
    """One session: what it sent since it was left, and what it sends until it is closed."""

    def __init__(
        self, session: GatewaySession, connect: Connect, token: str, unreadable: Unreadable
    ) -> None:
        """Prepare to resume a session; nothing is connected yet.

        Args:
            connect: Opens a WebSocket.
            unreadable: Notes what cannot be read.
        """
        self.session = session
        self.fault: Fault | None = None
        """Why something is missing, once that is known."""
        self._events = deque[tuple[str, Any]]()
        self._connect = connect
        self._token = token
        self._unreadable = unreadable
        self._sequence = session.sequence
        self._read = self._kept = 0
        self._is_complete = asyncio.Event()
        self._following: asyncio.Task[None] | None = None
        self._code = RESUMABLE

    async def begin(self) -> None:
        """Begin to listen; return when what was missed is here, or is long in coming.

        Raises:
            OSError: when Discord cannot be reached; nothing is begun then.
            aiohttp.ClientError: the same.
        """
        socket = await self._first()
        self._following = asyncio.create_task(self._follow(socket))
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await self.settled()

    async def settled(self) -> None:
        """Return when all that was missed is here, or cannot be had."""
        assert self._following is not None, "begun"
        complete = asyncio.create_task(self._is_complete.wait())
        try:
            await asyncio.wait({self._following, complete}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            complete.cancel()

    def next(self) -> tuple[str, Any] | None:
        """Return the next event's name and payload; None: there is none at the moment."""
        return self._events.popleft() if self._events else None

    async def close(self, code: int) -> None:
        """End the connection: ENDED, where everything is stored, or RESUMABLE."""
        self._code = code
        if self._following is not None:
            self._following.cancel()
            await asyncio.wait({self._following})

    async def _first(self) -> aiohttp.ClientWebSocketResponse:
        """Connect where the session is resumed, or, if that is away, where any is."""
        try:
            async with asyncio.timeout(PATIENCE):
                return await self._connect(_address(self.session.url))
        except (*_BROKEN, ValueError) as error:
            logger.info("a session cannot be resumed at its own address: %s", type(error).__name__)
        async with asyncio.timeout(PATIENCE):
            return await self._connect(_address(str(DiscordWebSocket.DEFAULT_GATEWAY)))

    async def _follow(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        """Take in what the session tells, over several connections where one breaks."""
        tries = 0
        while True:
            was_complete = self._is_complete.is_set()
            try:
                await self._listen(socket)
            except _Over as end:
                self.fault = end.fault
                return
            except (_Again, *_BROKEN) as error:
                logger.info("a replay was interrupted: %s", type(error).__name__)
            except Exception as error:  # noqa: BLE001 - whatever was sent: the start goes on
                self._unreadable.note(FRAME, None, error)
            tries = 1 if self._is_complete.is_set() and not was_complete else tries + 1
            while True:
                if tries >= _TRIES:
                    self.fault = Fault.BROKEN
                    return
                await asyncio.sleep(random.uniform(*_AGAIN_AFTER))
                try:
                    socket = await self._first()
                    break
                except _BROKEN:
                    tries += 1

    async def _listen(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        """Resume the session over a connection, and take in what comes until it ends."""
        async with _closing(socket, lambda: self._code):
            async with asyncio.timeout(PATIENCE):
                hello = await self._frame(socket)
                if hello.get("op") != DiscordWebSocket.HELLO:
                    raise _Again
                interval = float(mapping(hello.get("d"))["heartbeat_interval"]) / 1_000
                await self._send(socket, DiscordWebSocket.RESUME, self._resume())
            beating = asyncio.create_task(self._beat(socket, interval))
            try:
                async with asyncio.timeout(PATIENCE):
                    while not await self._take(await self._frame(socket), socket):
                        pass
                self._is_complete.set()
                while True:
                    async with asyncio.timeout(interval * _SILENT):
                        await self._take(await self._frame(socket), socket)
            finally:
                beating.cancel()

    def _resume(self) -> dict[str, Any]:
        identity = {"token": self._token, "session_id": self.session.session_id}
        return {**identity, "seq": self._sequence}

    async def _take(self, frame: Json, socket: aiohttp.ClientWebSocketResponse) -> bool:
        """Take a frame in; return whether all that was missed has come before it."""
        if isinstance(sequence := frame.get("s"), int):
            self._sequence = sequence
        match frame.get("op"):
            case DiscordWebSocket.DISPATCH if frame.get("t") == "RESUMED":
                return True
            case DiscordWebSocket.DISPATCH:
                self._keep(frame)
            case DiscordWebSocket.HEARTBEAT:
                await self._send(socket, DiscordWebSocket.HEARTBEAT, self._sequence)
            case DiscordWebSocket.RECONNECT:
                raise _Again
            case DiscordWebSocket.INVALIDATE_SESSION if frame.get("d") is True:
                raise _Again
            case DiscordWebSocket.INVALIDATE_SESSION:
                raise _Over(Fault.REFUSED)
        return False

    def _keep(self, frame: Json) -> None:
        name = frame.get("t")
        if not isinstance(name, str) or name not in _KEPT:
            return
        if self._kept >= MOST_EVENTS:
            raise _Over(Fault.TOO_MUCH)
        self._kept += 1
        self._events.append((name, frame.get("d")))

    async def _frame(self, socket: aiohttp.ClientWebSocketResponse) -> Json:
        """Return the next frame; one that is none is passed over."""
        while True:
            message = await socket.receive()
            if message.type is aiohttp.WSMsgType.TEXT:
                text: str | bytes = message.data
            elif message.type is aiohttp.WSMsgType.BINARY:
                text = zlib.decompressobj().decompress(message.data, MOST_BYTES)
            elif (code := message.data or socket.close_code) in _REFUSING:
                logger.info("Discord does not go on with a session: %s", code)
                raise _Over(Fault.REFUSED)
            else:
                raise _Again
            self._read += len(text)
            if self._read > MOST_BYTES:
                raise _Over(Fault.TOO_MUCH)
            try:
                frame = json.loads(text)
            except (ValueError, RecursionError) as error:
                self._unreadable.note(FRAME, None, error)
                continue
            if isinstance(frame, dict):
                return frame
            self._unreadable.note(FRAME, None, UnreadableEvent("op"))

    async def _beat(self, socket: aiohttp.ClientWebSocketResponse, interval: float) -> None:
        """Keep a connection alive."""
        pause = interval * random.random()
        with suppress(*_BROKEN):  # the reader of the connection is notified
            while True:
                await asyncio.sleep(pause)
                await self._send(socket, DiscordWebSocket.HEARTBEAT, self._sequence)
                pause = interval

    async def _send(self, socket: aiohttp.ClientWebSocketResponse, op: int, data: object) -> None:
        await socket.send_str(json.dumps({"op": op, "d": data}))


@asynccontextmanager
async def _closing(socket: aiohttp.ClientWebSocketResponse, code: Callable[[], int]) -> Any:
    """Close a connection at the end of the block, with the code that is right by then."""
    try:
        yield
    finally:
        with suppress(*_BROKEN):
            async with asyncio.timeout(_FAREWELL):
                await socket.close(code=code())


def _address(url: str) -> str:
    return str(yarl.URL(url).with_query(v=INTERNAL_API_VERSION, encoding="json"))
