"""What is looked at to tell whether a running bot lives, whether it is ready, and how it fares."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import nan

from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.base import ChatPlatform
from adapters.delivery.heartbeat import Pulse
from adapters.intake.platform_clock import PlatformClock
from bot.health.disks import DiskWatch
from bot.health.metrics import PrometheusMeter
from bot.health.monitoring import Check
from core.errors import ServiceError, StoreError
from core.inbox.store import Inbox
from core.index.base import VectorIndex
from core.models import now
from core.storage.database import answers

_STUCK_AFTER = 120.0
"""Seconds: even a database that is silent lets a loop come round sooner."""
_PATIENCE = 2.0
"""Seconds that the inbox may take to say how much waits."""


@dataclass(frozen=True, slots=True)
class HealthSources:
    """The parts of a bot that has started."""

    engine: AsyncEngine
    index: VectorIndex
    inbox: Inbox
    disks: DiskWatch
    platforms: Mapping[str, ChatPlatform]
    pulses: Mapping[str, Pulse]
    """Of the loops that never end, by name."""
    in_flight: Callable[[], int]
    breakers: Callable[[], Mapping[str, bool]]
    """Tells of each service whether it is left alone at the moment."""
    clocks: Mapping[str, PlatformClock]
    """By platform."""


class Health:
    """Looks at a bot; before it has started, nothing of it is ready."""

    def __init__(
        self, meter: PrometheusMeter, platforms: Sequence[str], stop: asyncio.Event
    ) -> None:
        """Prepare to look.

        Args:
            platforms: The names of those that the bot is to be connected to.
            stop: Set when the bot is asked to stop: from then on it is not ready.
        """
        self._meter = meter
        self._platforms = platforms
        self._stop = stop
        self._watched: HealthSources | None = None
        self._has_handbook = True
        self.doing = "starting"
        """What is being done until there is something to look at."""

    def begin_with(self, doing: str) -> None:
        """Keep what a start is doing at the moment."""
        self.doing = doing

    def begin(self, watched: HealthSources, *, has_handbook: bool) -> None:
        """Look at these parts from now on.

        Args:
            has_handbook: Whether the handbook is up to date.
        """
        self._watched = watched
        self._has_handbook = has_handbook

    def phase(self) -> Mapping[str, str] | None:
        """Return how the bot is while it starts, with what it does, or stops; else None."""
        if self._stop.is_set():
            return {"status": "stopping"}
        return {"status": "starting", "doing": self.doing} if self._watched is None else None

    def readiness(self) -> Mapping[str, Check]:
        """Return what must pass before the bot is ready, by name."""

        def connected(name: str) -> Check:
            return lambda: self._connected(name)

        platforms = {name: connected(name) for name in self._platforms}
        own = {"database": self._database, "index": self._index, "disk": self._disk}
        return {**own, **platforms}

    def asides(self) -> Mapping[str, Check]:
        """Return what is told with the readiness, and that the bot is ready without, by name."""
        return {"handbook": self._handbook}

    async def alive(self) -> None:
        """Return when every loop still comes round; else a restart helps.

        Raises:
            ServiceError: naming the loop that does not.
        """
        pulses = self._watched.pulses if self._watched is not None else {}
        for name, pulse in pulses.items():
            if pulse.age > _STUCK_AFTER:
                raise ServiceError(f"the {name} has not come round for {pulse.age:.0f} s")

    async def exposition(self) -> bytes:
        """Return all counts, and how things stand at this moment."""
        if self._watched is not None:
            await self._read_levels(self._watched)
        return self._meter.exposition()

    async def _database(self) -> None:
        await answers(self._started().engine)

    async def _index(self) -> None:
        await self._started().index.collections()

    async def _disk(self) -> None:
        await self._started().disks.check()

    async def _handbook(self) -> None:
        self._started()
        if not self._has_handbook:
            raise ServiceError("it was not brought up to date at the start: the log says why")

    async def _connected(self, name: str) -> None:
        if not await self._started().platforms[name].is_connected():
            raise ServiceError("not connected")

    def _started(self) -> HealthSources:
        if self._watched is None:
            raise ServiceError(self.doing)
        return self._watched

    async def _read_levels(self, watched: HealthSources) -> None:
        levels = self._meter.levels
        waiting, oldest = await _backlog(watched.inbox)
        levels.queued.set(waiting)
        levels.oldest.set(oldest)
        levels.in_flight.set(watched.in_flight())
        for service, is_open in watched.breakers().items():
            levels.breaker.labels(service).set(is_open)
        for disk in await watched.disks.look():
            levels.disk_free.labels(disk.name).set(disk.space.free)
            levels.disk_share.labels(disk.name).set(disk.space.share)
        for name, platform in watched.platforms.items():
            levels.clock.labels(name).set(watched.clocks[name].behind.total_seconds())
            levels.connected.labels(name).set(await platform.is_connected())


async def _backlog(inbox: Inbox) -> tuple[float, float]:
    """Return how many events wait, and the oldest one's age in seconds; unknown is NaN."""
    with suppress(StoreError, TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            backlog = await inbox.backlog()
        oldest = backlog.oldest
        return backlog.waiting, 0.0 if oldest is None else (now() - oldest).total_seconds()
    return nan, nan
