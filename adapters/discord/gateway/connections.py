"""The connections to Discord's gateway: one a shard, begun and ended one by one.

discord.py keeps the same shards connected from its start to its end. Here each shard has a task
of its own, so that the set may change. What discord.py does not publish of its sockets, and of
the state that it keeps of a shard's servers, is used in this file alone.
"""

import asyncio
import json
import logging
import random
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import chain, repeat
from typing import Any, Protocol

import aiohttp
import discord
from discord.gateway import DiscordWebSocket, ReconnectWebSocket, WebSocketClosure

from adapters.discord.gateway.dispatch import FRAME
from adapters.discord.gateway.salvage import readable_ready
from adapters.discord.gateway.sessions import ResumedSessions
from adapters.intake.unreadable import Unreadable, place_of, without_text
from adapters.payloads import Json, mapping

logger = logging.getLogger(__name__)

_PATIENCE = 60.0
"""Seconds that a connection may take until it is identified or resumed."""
_FAREWELL = 0.5
"""Seconds that Discord gets to close its side of a connection."""
_PAUSES = (0.25, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""Seconds, down to half as many, between two tries to connect, until a connection stands."""
_AFTER_INVALID = (1.0, 5.0)
"""Seconds, from and to, after which a session is begun in place of an invalid one, at first."""
_NO_INTENT, _CLEAN = 4014, 1000
_MAY_GO_ON = 4000
"""The code by which connections are closed, so that their sessions may be taken up afterwards: with
1000 or 1001 Discord would end them."""
_BEFORE_A_SESSION = (aiohttp.ClientConnectorError, aiohttp.WSServerHandshakeError)
_SOON = 10.0
"""Seconds, at most, between two tries to reach a Discord that is away: these begin no session, of
which there are a thousand a day."""
_FAILURES = (OSError, TimeoutError, aiohttp.ClientError, discord.HTTPException)


class Shards(Protocol):
    """Which shards this process connects, and when."""

    @property
    def is_certain(self) -> bool:
        """Whether it is known which shards are this process's; else it hears nothing for sure."""
        ...

    async def run(self) -> None:
        """Begin connections, and end them, as long as that may change."""
        ...

    async def turn(self, shard_id: int) -> None:
        """Return when a shard may identify itself."""
        ...

    async def leave(self) -> None:
        """Let others have this process's shards; their connections have ended."""
        ...


class Gateway:
    """A client's connections; it tells the client as discord.py does, by its events.

    Besides those it calls `shard_heard`, when Discord sent anything at all, and
    `shard_released`, when a connection was ended on purpose.
    """

    def __init__(self, client: discord.AutoShardedClient, unreadable: Unreadable) -> None:
        """Prepare for connections of a client.

        Args:
            unreadable: Notes what cannot be read.
        """
        self._client = client
        self.unreadable = unreadable
        self._connections: dict[int, asyncio.Task[None]] = {}
        self._failed = asyncio.Queue[BaseException | None]()
        self._choosing: asyncio.Task[None] | None = None
        self._shards: Shards | None = None
        self._noting: asyncio.Task[None] | None = None
        self.seen = set[int]()
        """The shards of which this process was sent the servers, and has not left them since."""
        self.sessions: ResumedSessions | None = None
        """Keeps the sessions; None: each is new, and what was missed is not asked for."""

    @property
    def running(self) -> frozenset[int]:
        """The shards that are connected, or about to be."""
        return frozenset(self._connections)

    @property
    def is_certain(self) -> bool:
        """Whether these are exactly the shards that are to be connected."""
        return self._shards is not None and self._shards.is_certain

    async def run(self, shards: Shards) -> None:
        """Keep connections up as `shards` says, until `close`.

        Raises:
            discord.PrivilegedIntentsRequired: when an intent is refused.
            discord.ConnectionClosed: when Discord wants no more connections of this kind.
        """
        state = self._client._connection
        state.shard_count = self._client.shard_count
        state.shard_ids = range(self._client.shard_count or 1)
        self._shards = shards
        if self.sessions is not None:
            self._noting = asyncio.create_task(self.sessions.notes.run())
            self._noting.add_done_callback(self._take_note)
        self._choosing = asyncio.create_task(shards.run())
        self._choosing.add_done_callback(self._take_note)
        if (error := await self._failed.get()) is not None:
            raise error

    async def close(self) -> None:
        """End all connections, let others have the shards, and end `run`."""
        try:
            if self._choosing is not None:
                self._choosing.cancel()
                await asyncio.wait({self._choosing})
            await self.end(*self.running)
            shards, self._shards = self._shards, None
            if shards is not None:
                await shards.leave()
            if self._noting is not None and self.sessions is not None:
                self._noting.cancel()
                await asyncio.wait({self._noting})
                await self.sessions.notes.close()
        finally:
            self._failed.put_nowait(None)

    def begin(self, shard_id: int) -> None:
        """Begin to keep a shard connected."""
        connection = asyncio.create_task(self._stay_connected(shard_id))
        connection.add_done_callback(self._take_note)
        self._connections[shard_id] = connection

    async def end(self, *shard_ids: int) -> None:
        """End connections properly; return when nothing more is heard by them."""
        ending = {self._connections.pop(one) for one in shard_ids if one in self._connections}
        while ending:  # more than once for those that Discord does not say farewell to
            for connection in ending:
                connection.cancel()
            _, ending = await asyncio.wait(ending, timeout=_FAREWELL)
        if self.sessions is not None:
            await self.sessions.end(shard_ids)
        for shard_id in shard_ids:
            self._forget(shard_id)
            self._client.dispatch("shard_released", shard_id)

    def _take_note(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._failed.put_nowait(error)

    def _forget(self, shard_id: int) -> None:
        """Remove what discord.py knows of a shard's servers: it grows old from now on."""
        state = self._client._connection
        self.seen.discard(shard_id)
        for guild in [one for one in self._client.guilds if one.shard_id == shard_id]:
            state._remove_guild(guild)
        if (becoming_ready := state._ready_tasks.pop(shard_id, None)) is not None:
            becoming_ready.cancel()

    async def _stay_connected(self, shard_id: int) -> None:
        session: dict[str, Any] = {}
        pauses, away = _Pauses(), _Pauses()
        while True:
            try:
                async with self._connected(shard_id, session) as socket:
                    away.begin_again()
                    await self._listen(socket, shard_id, session, pauses)
            except ReconnectWebSocket as request:
                pause = pauses.next()
                if not request.resume:
                    session.clear()
                    pause = max(pause, random.uniform(*_AFTER_INVALID))
                logger.info("shard %d connects to Discord again in %.1f s", shard_id, pause)
                await asyncio.sleep(pause)
            except _FAILURES as error:
                pause = _pause_after(error, pauses, away)
                logger.warning(
                    "shard %d is not connected to Discord (%s); I try again in %.1f s",
                    *(shard_id, type(error).__name__, pause),
                )
                session.pop("gateway", None)  # it may be that address alone which is away
                await asyncio.sleep(pause)
            except discord.ConnectionClosed as error:
                if error.code == _NO_INTENT:
                    raise discord.PrivilegedIntentsRequired(shard_id) from error
                if error.code != _CLEAN:
                    raise
                await asyncio.sleep(pauses.next())
            except Exception as error:
                pause = pauses.next()
                logger.error(
                    "the connection of shard %d failed, %s; I try again in %.1f s",
                    *(shard_id, place_of(error), pause),
                    exc_info=without_text(error),
                )
                session.clear()
                await asyncio.sleep(pause)

    async def _listen(
        self, socket: DiscordWebSocket, shard_id: int, session: dict[str, Any], pauses: "_Pauses"
    ) -> None:
        """Take in what a connection tells; note in `session` how it is resumed.

        A session whose resumption was cut off is not resumed once more: Discord closes a
        connection that names an event it never sent, each time.
        """
        standing = socket.wait_for("RESUMED" if session else "READY", lambda _: True)
        try:
            while True:
                await socket.poll_event()
                if standing.done():
                    pauses.begin_again()
                    self.seen.add(shard_id)
                if self.sessions is not None:
                    known = (socket.session_id, socket.gateway, socket.sequence)
                    self.sessions.notes.incoming(shard_id, *known)
                self._client.dispatch("shard_heard", shard_id)
        finally:
            self._client.dispatch("shard_disconnect", shard_id)
            if not standing.done():
                session.clear()
            elif socket.session_id is not None:
                session |= {
                    "resume": True,
                    "session": socket.session_id,
                    "sequence": socket.sequence,
                    "gateway": socket.gateway,
                }

    @asynccontextmanager
    async def _connected(
        self, shard_id: int, session: dict[str, Any]
    ) -> AsyncIterator[DiscordWebSocket]:
        """Give a connection that has identified itself, or resumed a session.

        Before it identifies itself, what was left of an earlier session is taken up.
        """
        if not session and self.sessions is not None:
            await self.sessions.take_up(shard_id)
        if not session and self._shards is not None:
            await self._shards.turn(shard_id)
        async with asyncio.timeout(_PATIENCE):
            # As the initial one it does not wait: its turn has come already.
            socket = await _Socket.from_client(
                self._client, initial=True, shard_id=shard_id, **session
            )
        try:
            yield socket
        finally:
            if socket.open:
                await socket.close(_MAY_GO_ON)


class _Socket(DiscordWebSocket):
    """A connection that nothing ends which is said over it.

    It closes itself when it is given up before anybody else has it.
    """

    async def received_message(self, msg: Any, /) -> None:
        """Take in a frame; of one that discord.py cannot read, what the connection needs."""
        if isinstance(msg, bytes):
            try:
                msg = self._decompressor.decompress(msg)
            except zlib.error as error:  # nothing after it can be read either
                raise ReconnectWebSocket(self.shard_id) from error
            if msg is None:
                return
        try:
            await super().received_message(msg)
        except (ReconnectWebSocket, WebSocketClosure, discord.ConnectionClosed, *_FAILURES):
            raise
        except Exception as error:  # noqa: BLE001 - whatever was sent, the next frame is read
            frame = _frame(msg)
            self._unreadable.note(frame.get("t") or FRAME, frame.get("s"), error)
            await self._go_on_without(frame)

    async def _go_on_without(self, frame: Json) -> None:
        """Make up for a frame that could not be read, where the connection depends on it."""
        if frame.get("op") == self.HELLO:
            raise ReconnectWebSocket(self.shard_id)
        if frame.get("t") == "RESUMED":
            await super().received_message(json.dumps({**frame, "d": {}}))
        elif frame.get("t") == "READY":
            shard = (self.shard_id, self.shard_count)
            readable = readable_ready(frame.get("d"), shard, self._connection.user)
            await super().received_message(json.dumps({**frame, "d": readable}))

    @property
    def _unreadable(self) -> Unreadable:
        client: Any = self._connection._get_client()
        noting: Unreadable = client.gateway.unreadable
        return noting

    async def poll_event(self) -> None:
        async with self._closed_if_cancelled():
            await super().poll_event()

    async def identify(self) -> None:
        async with self._closed_if_cancelled():
            await super().identify()

    async def resume(self) -> None:
        async with self._closed_if_cancelled():
            await super().resume()

    @asynccontextmanager
    async def _closed_if_cancelled(self) -> AsyncIterator[None]:
        try:
            yield
        except asyncio.CancelledError:
            await self.close(_MAY_GO_ON)
            raise


def _frame(text: str) -> Json:
    """Return a frame as far as it is one."""
    try:
        return mapping(json.loads(text))
    except (ValueError, RecursionError):
        return {}


class _Pauses:
    """How long to wait between two tries: the longer, the more of them have failed."""

    def __init__(self) -> None:
        self.begin_again()

    def begin_again(self) -> None:
        """Take note that a try has not failed."""
        self._left = chain(_PAUSES, repeat(_PAUSES[-1]))

    def next(self) -> float:
        """Return the seconds until the next try."""
        return random.uniform(0.5, 1.0) * next(self._left)


def _pause_after(error: Exception, pauses: _Pauses, away: _Pauses) -> float:
    """Return the seconds until the next try, of which those at a closed door are counted apart."""
    return min(away.next(), _SOON) if isinstance(error, _BEFORE_A_SESSION) else pauses.next()
