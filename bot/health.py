"""What is looked at to tell whether a running bot lives, whether it is ready, and how it fares."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from enum import IntEnum
from math import nan
from pathlib import Path
from types import MappingProxyType

from aiohttp import web
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.chat.base import ChatPlatform
from adapters.chat.delivery.worker import Pulse
from adapters.chat.incoming_message import PlatformClock
from bot.settings import DiskSettings, Settings
from core.domain import now
from core.domain.disk import MEGABYTE, Space, is_read_only, megabytes, nearest, space
from core.domain.errors import BotError, ConfigurationError, NoRoom, ServiceError, StoreError
from core.domain.telemetry import COUNTED, COURSE, TIMED, Measure
from core.index.base import VectorIndex
from core.storage.database import answers, driver_url
from core.storage.inbox.store import Inbox

logger = logging.getLogger(__name__)


_EVERY = 60.0
"""Seconds between two looks."""


class Level(IntEnum):
    """How much room a disk has, by the marks that are set."""

    ENOUGH = 0
    LOW = 1
    """To be looked after; all is stored as ever."""
    CRITICAL = 2
    """Not enough to go on, or the disk takes no writes at all."""


@dataclass(frozen=True, slots=True)
class Disk:
    """The file system of one of our folders, as it was found."""

    name: str
    """`data`, or `database` where that lies on another one."""
    folder: Path
    space: Space
    level: Level
    is_read_only: bool

    def __str__(self) -> str:
        """Say how it stands, as one sentence without its full stop."""
        if self.is_read_only:
            return f"{self.folder} is on a disk that is only for reading"
        free, share = megabytes(self.space.free), self.space.share
        return f"{free} are free in {self.folder}, {share:.0%} of the disk"


def disks(settings: Settings) -> list[Disk]:
    """Return the disks that are written to; one that does not answer is left out."""
    found = []
    for name, folder in _folders(settings).items():
        try:
            room, read_only = space(folder), is_read_only(folder)
        except OSError as error:
            logger.warning("the disk of %s does not answer: %s", folder, error.strerror)
            continue
        level = Level.CRITICAL if read_only else _level(room, settings.disk)
        found.append(Disk(name, folder, room, level, read_only))
    return found


def _level(room: Space, marks: DiskSettings) -> Level:
    free = room.free / MEGABYTE
    if free < marks.critical_megabytes:
        return Level.CRITICAL
    return Level.LOW if free < marks.low_megabytes else Level.ENOUGH


def _folders(settings: Settings) -> Mapping[str, Path]:
    folders = {"data": settings.data_dir.absolute()}
    try:
        address = driver_url(settings.database_url)
    except ConfigurationError:  # of which whatever opens the database tells
        return folders
    if address.get_backend_name() == "sqlite":
        database = Path(address.database or "").absolute().parent
        if nearest(database).stat().st_dev != nearest(settings.data_dir).stat().st_dev:
            folders["database"] = database
    return folders


class DiskWatch:
    """Looks at the disks of a running bot; see `disks`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._levels = dict[str, Level]()

    async def look(self) -> list[Disk]:
        """Return how the disks stand now; each change of level is logged once."""
        found = await asyncio.to_thread(disks, self._settings)
        for disk in found:
            before = self._levels.get(disk.name, Level.ENOUGH)
            self._levels[disk.name] = disk.level
            if disk.level > before:
                logger.warning("the disk is nearly full: %s", disk)
            elif disk.level < before:
                logger.info("the disk has more room again: %s", disk)
        return found

    async def check(self) -> None:
        """Return when every disk has room to go on.

        Raises:
            NoRoom: when one has not.
        """
        for disk in await self.look():
            if disk.level is Level.CRITICAL:
                raise NoRoom(str(disk))

    async def run(self) -> None:
        """Look again and again, for ever."""
        while True:
            await self.look()
            await asyncio.sleep(_EVERY)


PREFIX = "glossator"
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Upper bounds in seconds: from an acknowledgement to a question that waited its turn."""


class Levels:
    """What is read when the page is asked for, and not counted as it happens."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def gauge(name: str, text: str, labels: Iterable[str] = ()) -> Gauge:
            return Gauge(f"{PREFIX}_{name}", text, labels, registry=registry)

        self.queued = gauge("queued_events", "Events that wait to be answered.")
        self.oldest = gauge(
            "queue_age_seconds",
            "Age of the oldest event that has not ended: it waits, is answered, or is tried again.",
        )
        self.in_flight = gauge("answers_in_flight", "Events being answered by this process.")
        self.breaker = gauge("breaker_open", "1 while a service is not asked.", ["service"])
        self.disk_free = gauge(
            "disk_free_bytes", "Room on the disk of a folder that is written to.", ["folder"]
        )
        self.disk_share = gauge(
            "disk_free_ratio", "The free part of that disk, from 0 to 1.", ["folder"]
        )
        self.connected = gauge("platform_connected", "1 while connected.", ["platform"])
        self.clock = gauge(
            "clock_behind_seconds",
            "By how much this machine's clock is behind a platform's, from a minute on.",
            ["platform"],
        )


class PrometheusMeter:
    """A Meter whose counts a Prometheus server can read; one for each process."""

    def __init__(self, *, names_courses: bool = False) -> None:
        """Begin to count.

        Args:
            names_courses: Whether courses are counted apart, by their ids; else all as one.
        """
        self._names_courses = names_courses
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        GCCollector(registry=self._registry)
        self._counters = {
            measure: Counter(
                f"{PREFIX}_{measure.name}", measure.help, measure.labels, registry=self._registry
            )
            for measure in COUNTED
        }
        self._histograms = {
            measure: Histogram(
                f"{PREFIX}_{measure.name}",
                measure.help,
                measure.labels,
                registry=self._registry,
                buckets=_BUCKETS,
            )
            for measure in TIMED
        }
        self.levels = Levels(self._registry)

    def count(self, measure: Measure, *labels: str, amount: float = 1.0) -> None:
        """Add to a counter."""
        self._counters[measure].labels(*self._shown(measure, labels)).inc(amount)

    def time(self, measure: Measure, *labels: str, seconds: float) -> None:
        """Note a duration."""
        self._histograms[measure].labels(*self._shown(measure, labels)).observe(seconds)

    def _shown(self, measure: Measure, labels: Sequence[str]) -> list[str]:
        pairs = zip(measure.labels, labels, strict=True)
        return ["" if name == COURSE and not self._names_courses else it for name, it in pairs]

    def exposition(self) -> bytes:
        """Return everything in Prometheus's text format."""
        return generate_latest(self._registry)


_TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8"
_MONITORING_PATIENCE = 3.0
"""Seconds that one check may take: an orchestrator waits no longer either."""

Check = Callable[[], Awaitable[None]]
"""Returns when all is well; else raises a BotError whose words are for operators."""


class Monitoring:
    """Answers `/healthz`, `/readyz` and `/metrics`.

    `/healthz` says that the process works at all: restarting helps when it does not.
    `/readyz` says that what it needs is there: restarting would not help when it is not.
    Neither shows more than names, so that nothing is shown to readers whom it does not concern.
    """

    def __init__(
        self,
        checks: Mapping[str, Check],
        exposition: Callable[[], Awaitable[bytes]],
        alive: Check | None = None,
        asides: Mapping[str, Check] = MappingProxyType({}),
        phase: Callable[[], Mapping[str, str] | None] = lambda: None,
    ) -> None:
        """Prepare to answer.

        Args:
            checks: What is to be ready, by the name of what is looked at.
            asides: What is told with it, and may fail while the bot is ready.
            exposition: Returns the metrics in Prometheus's text format.
            phase: Returns how the bot is while it starts or stops, when there is nothing to check.
            alive: Fails when nothing but a restart helps.
        """
        self._checks = checks
        self._exposition = exposition
        self._alive = alive
        self._asides = asides
        self._phase = phase

    def application(self) -> web.Application:
        """Return the three pages as an application."""
        app = web.Application()
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/metrics", self._metrics)
        return app

    async def _healthz(self, _: web.Request) -> web.Response:
        is_alive = self._alive is None or await _passes("alive", self._alive)
        return _status(is_alive, {})

    async def _readyz(self, _: web.Request) -> web.Response:
        if (phase := self._phase()) is not None:
            return web.json_response(dict(phase), status=503)
        looked_at = {**self._checks, **self._asides}
        results = await asyncio.gather(*(_passes(*one) for one in looked_at.items()))
        passed = dict(zip(looked_at, results, strict=True))
        states = {name: "ok" if ok else "failing" for name, ok in passed.items()}
        return _status(all(passed[name] for name in self._checks), {"checks": states})

    async def _metrics(self, _: web.Request) -> web.Response:
        return web.Response(body=await self._exposition(), headers={"Content-Type": _TEXT_FORMAT})


async def _passes(name: str, check: Check) -> bool:
    try:
        async with asyncio.timeout(_MONITORING_PATIENCE):
            await check()
    except (BotError, TimeoutError) as error:
        logger.info("a check failed: %s: %s", name, str(error) or "no answer in time")
        return False
    return True


def _status(is_ok: bool, more: Mapping[str, object]) -> web.Response:
    body = {"status": "ok" if is_ok else "failing", **more}
    return web.json_response(body, status=200 if is_ok else 503)


@asynccontextmanager
async def serving(monitoring: Monitoring, host: str, port: int) -> AsyncIterator[int]:
    """Answer at an address while the block lasts, and give the port.

    Args:
        port: 0 for any that is free.

    Raises:
        ConfigurationError: when the address cannot be used.
    """
    runner = web.AppRunner(monitoring.application(), access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        try:
            await site.start()
        except OSError as error:
            raise ConfigurationError(
                f"Nothing can be served at {host}:{port} ({error.strerror}): "
                "set GLOSSATOR_MONITORING__HOST and GLOSSATOR_MONITORING__PORT."
            ) from error
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


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
