"""A TCP proxy that spoils what passes through it, in ways that a test chooses."""

import asyncio
import random
import socket
import struct
from contextlib import suppress
from types import TracebackType
from typing import Self

from tests.chaos.toxics import (
    Bandwidth,
    Latency,
    Limit,
    Reset,
    Slicer,
    SlowClose,
    Timeout,
    Toxic,
)

_CHUNK = 16_384
_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER with no time: closing sends RST."""
_HOST = "127.0.0.1"


class Proxy:
    """Listens on a port of its own and passes on to another, while it is entered."""

    def __init__(self, target: int, seed: int = 0) -> None:
        """Prepare a proxy in front of a port of this machine."""
        self.port = 0
        self.connections = 0
        """How many there ever were."""
        self._target = target
        self._random = random.Random(seed)
        self._links: set[_Link] = set()
        self._server: asyncio.Server | None = None
        self._toxic: Toxic | None = None
        self._share = 1.0

    async def __aenter__(self) -> Self:
        await self.up()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.down()

    async def up(self) -> None:
        """Take connections, after `down` on the same port as before."""
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, _HOST, self.port)
            self.port = self._server.sockets[0].getsockname()[1]

    async def down(self) -> None:
        """Refuse new connections and reset those that there are."""
        if self._server is not None:
            self._server.close()
            self._server = None
        links = list(self._links)
        for link in links:
            link.reset()
        await asyncio.gather(*(link.ended.wait() for link in links))

    def poison(self, toxic: Toxic, share: float = 1.0) -> None:
        """Let a share of the connections, old and new ones, suffer from a toxic."""
        self._toxic, self._share = toxic, share
        for link in self._links:
            self._infect(link)

    def heal(self) -> None:
        """Let everything pass as it is."""
        self._toxic = None
        for link in self._links:
            link.infect(None)

    def _infect(self, link: "_Link") -> None:
        if self._toxic is not None and self._random.random() < self._share:
            link.infect(self._toxic)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            onward = await asyncio.open_connection(_HOST, self._target)
        except OSError:
            _abort(writer)
            return
        link = _Link((reader, writer), onward, self._random)
        self._links.add(link)
        self.connections += 1
        self._infect(link)
        try:
            await link.run()
        finally:
            self._links.discard(link)
            link.ended.set()


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class _Link:
    """One connection with its way onward."""

    def __init__(self, near: Streams, far: Streams, chance: random.Random) -> None:
        self.ended = asyncio.Event()
        self._near, self._far = near, far
        self._random = chance
        self._toxic: Toxic | None = None
        self._passed = 0
        self._doom: asyncio.TimerHandle | None = None
        self._healed = asyncio.Event()
        self._healed.set()

    def infect(self, toxic: Toxic | None) -> None:
        """Suffer from a toxic from now on, or from none."""
        self._toxic, self._passed = toxic, 0
        if self._doom is not None:
            self._doom.cancel()
            self._doom = None
        loop = asyncio.get_running_loop()
        if isinstance(toxic, Reset):
            self._doom = loop.call_later(toxic.seconds, self.reset)
        elif isinstance(toxic, Timeout):
            self._doom = loop.call_later(toxic.seconds, self.close)
        if isinstance(toxic, Timeout):
            self._healed.clear()
        else:
            self._healed.set()

    def reset(self) -> None:
        """End both sides at once, without a farewell."""
        for _, writer in (self._near, self._far):
            _abort(writer)
        self._healed.set()

    def close(self) -> None:
        """End both sides."""
        for _, writer in (self._near, self._far):
            writer.close()
        self._healed.set()

    async def run(self) -> None:
        """Pass on what comes from either side until both have ended."""
        ways = ((self._near[0], self._far[1]), (self._far[0], self._near[1]))
        try:
            await asyncio.gather(*(self._carry(*way) for way in ways))
        finally:
            self.infect(None)
            self.close()
            for _, writer in (self._near, self._far):
                with suppress(OSError):
                    await writer.wait_closed()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                await self._pass_on(data, writer)
        if isinstance(self._toxic, SlowClose):
            await asyncio.sleep(self._toxic.seconds)
        with suppress(OSError):
            writer.close()

    async def _pass_on(self, data: bytes, writer: asyncio.StreamWriter) -> None:
        match self._toxic:
            case Latency(seconds, jitter):
                await asyncio.sleep(max(0.0, seconds + self._random.uniform(-jitter, jitter)))
            case Bandwidth(rate):
                await asyncio.sleep(len(data) / rate)
            case Timeout():
                await self._healed.wait()
            case Limit(most):
                data = data[: max(0, most - self._passed)]
                self._passed += len(data)
            case Slicer(size, pause):
                for start in range(0, len(data), size):
                    writer.write(data[start : start + size])
                    await writer.drain()
                    await asyncio.sleep(pause)
                return
        writer.write(data)
        await writer.drain()
        if isinstance(self._toxic, Limit) and self._passed >= self._toxic.bytes:
            self.close()


def _abort(writer: asyncio.StreamWriter) -> None:
    """End a connection by RST."""
    connection = writer.get_extra_info("socket")
    if connection is not None and not writer.transport.is_closing():
        with suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    writer.transport.abort()
