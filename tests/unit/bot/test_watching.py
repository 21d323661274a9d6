"""When a running bot counts as alive and as ready."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from aiohttp.test_utils import TestClient, TestServer

from adapters.chat.delivery.worker import Pulse
from adapters.chat.incoming_message import PlatformClock
from bot.health import DiskWatch, Health, HealthSources, Monitoring, PrometheusMeter
from bot.settings import DiskSettings, Settings
from core.domain.errors import ServiceError, StoreError
from core.storage.database import create_engine
from core.storage.inbox.base import Backlog


class Index:
    """An index that has nothing."""

    async def collections(self) -> frozenset[str]:
        return frozenset()


class Discord:
    """A platform that is connected or not."""

    is_there = False

    async def is_connected(self) -> bool:
        return self.is_there


class Inbox:
    """An inbox that cannot be read."""

    async def backlog(self) -> Backlog:
        raise StoreError("away")


class House:
    """The parts of a bot, as far as they are looked at."""

    def __init__(self, folder: Path) -> None:
        self.stop = asyncio.Event()
        self.time = 0.0
        self.pulse = Pulse(lambda: self.time)
        self.discord = Discord()
        self.meter = PrometheusMeter()
        self.watch = Health(self.meter, ["discord"], self.stop)
        self.engine = create_engine(f"sqlite:///{folder}/bot.db")
        self.disks = DiskWatch(Settings(data_dir=folder, disk=DiskSettings(critical_megabytes=0)))

    def start(self, *, has_handbook: bool = True) -> None:
        self.watch.begin(
            HealthSources(
                engine=self.engine,
                index=cast("Any", Index()),
                inbox=cast("Any", Inbox()),
                disks=self.disks,
                platforms={"discord": cast("Any", self.discord)},
                pulses={"worker": self.pulse},
                in_flight=lambda: 2,
                breakers=lambda: {"model-1": True},
                clocks={"discord": self.clock},
            ),
            has_handbook=has_handbook,
        )

    @property
    def clock(self) -> PlatformClock:
        """Discord's, which is an hour ahead."""
        clock = PlatformClock("discord", lambda: datetime(2026, 3, 1, 11, tzinfo=UTC))
        clock.note("Sun, 01 Mar 2026 12:00:00 GMT")
        return clock

    async def failing(self) -> set[str]:
        """Return the names of what is not ready."""
        failing = set[str]()
        for name, check in self.watch.readiness().items():
            try:
                await check()
            except ServiceError:
                failing.add(name)
        return failing


@pytest.fixture
async def house(tmp_path: Path) -> Any:
    house = House(tmp_path)
    yield house
    await house.engine.dispose()


async def test_a_bot_whose_handbook_could_not_be_read_is_ready_and_says_so(house: House) -> None:
    house.start(has_handbook=False)
    house.discord.is_there = True
    pages = Monitoring(house.watch.readiness(), house.watch.exposition, asides=house.watch.asides())
    async with TestClient(TestServer(pages.application())) as client:
        ready = await client.get("/readyz")
        assert (ready.status, (await ready.json())["status"]) == (200, "ok")
        assert (await ready.json())["checks"]["handbook"] == "failing"


async def test_a_bot_is_ready_from_its_connection_until_it_is_told_to_stop(house: House) -> None:
    house.watch.begin_with("reading the handbook")
    assert house.watch.phase() == {"status": "starting", "doing": "reading the handbook"}
    house.start()
    assert house.watch.phase() is None
    assert await house.failing() == {"discord"}
    house.discord.is_there = True
    assert await house.failing() == set()
    house.stop.set()
    assert house.watch.phase() == {"status": "stopping"}


async def test_a_loop_that_does_not_come_round_is_no_life(house: House) -> None:
    house.time = 1_000
    await house.watch.alive()
    house.start()
    with pytest.raises(ServiceError, match="worker"):
        await house.watch.alive()
    house.pulse.beat()
    await house.watch.alive()


async def test_levels_are_read_when_somebody_looks(house: House) -> None:
    house.start()
    page = (await house.watch.exposition()).decode()
    assert "glossator_queued_events NaN" in page
    assert "glossator_answers_in_flight 2.0" in page
    assert 'glossator_breaker_open{service="model-1"} 1.0' in page
    assert 'glossator_platform_connected{platform="discord"} 0.0' in page
    assert 'glossator_clock_behind_seconds{platform="discord"} 3600.0' in page
