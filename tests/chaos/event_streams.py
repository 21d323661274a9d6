"""The connections by which the platforms tell of events: how they are cut, and when they are not.

What is said while no session stands that Discord goes on with is lost by its rules, where it is a
first direct message (docs/reliability.md). Such a message is therefore said only while there is a
session to go on with, so that each one that is lost is the bot's fault.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress

from tests.chaos.ground import Ground
from tests.chaos.people import until

_DIRECT = 0
"""The shard that is told of direct messages."""
_PATIENCE = 90.0
"""Seconds for a bot to begin a session and to keep it."""


class EventStreams:
    """Cuts connections, and lets processes end while Discord keeps a session for the next ones."""

    def __init__(self, ground: Ground, kept: Callable[[], Collection[str]]) -> None:
        """Prepare to cut.

        Args:
            kept: Returns the ids of the sessions that the database has.
        """
        self._gateway, self._sockets = ground.discord.gateway, ground.slack.sockets
        self._kept = kept
        self._turn = asyncio.Lock()

    async def cut(self, chance: random.Random) -> None:
        """End the connections by which a platform tells of events.

        Discord ends no session from which a process collects what was missed: if that process is
        killed, what it had collected is lost.
        """
        async with self._turn:
            match chance.randrange(5):
                case 0:
                    await self._gateway.reconnect()
                case 1:
                    await self._gateway.close(4000)
                case 2:
                    await self._gateway.invalidate(resumable=False, collecting=False)
                case 3:
                    await self._sockets.close()
                case 4:
                    await self._sockets.refresh()

    async def leave(self, end_all: Callable[[], Awaitable[None]]) -> None:
        """End all processes when there is a session for the next ones to go on with.

        Args:
            end_all: Returns when no process is there.
        """
        async with self._turn:
            with suppress(TimeoutError):  # what is said then is lost, and found to be
                await until(self._is_kept, _PATIENCE)
            before = {*self._gateway.connections}
            await end_all()
            with suppress(TimeoutError):
                await until(lambda: not before & {*self._gateway.connections})

    def _is_kept(self) -> bool:
        """Return whether the database has a session that Discord goes on with."""
        sessions, kept = self._gateway.sessions, self._kept()
        found = [sessions[one] for one in kept if one in sessions]
        return any(one.sight.shard == _DIRECT and one.resumable() for one in found)
