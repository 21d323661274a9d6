"""What is done to a run, and when: chosen by a seed, carried out one after the other."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from tests.chaos import server_outages, toxics
from tests.chaos.fleet import Fleet
from tests.chaos.ground import LEASE, Ground
from tests.chaos.happenings.poison import Poison
from tests.chaos.toxics import Toxic
from tests.postgres import PostgresServer

KILLED_EVERY, STOPPED_EVERY, CRASHED_EVERY = 40, 160, 400
"""Questions."""
_POISONED_EVERY, _CUT_EVERY, _ODD_EVERY = 30, 60, 10
_ODD_AT_ONCE = 3
LONG_STOPS = 0.25
"""The share of stops that are long."""
_STOPPED_FOR, _LONG = (LEASE * 1.2, LEASE * 2.5), (LEASE * 2.5, 30.0)
"""Seconds."""
_DOWN = "down"
_KILL, _STOP, _CRASH = "SIGKILL", "SIGSTOP", "crash of the database"
TOXICS: tuple[Toxic | str, ...] = (
    toxics.Latency(),
    _DOWN,
    toxics.Bandwidth(),
    toxics.SlowClose(),
    toxics.Timeout(),
    toxics.Reset(),
    toxics.Slicer(),
    toxics.Limit(),
)


@dataclass(frozen=True)
class Disturbance:
    """Something that is done when so many questions were asked."""

    after: int
    name: str


def planned(questions: int, seed: int, *, crashes: bool) -> list[Disturbance]:
    """Return what is done in a run of so many questions, in order; each kind once at least."""
    chance = random.Random(seed)
    every = {
        "kill": KILLED_EVERY,
        "stop": STOPPED_EVERY,
        "poison": _POISONED_EVERY,
        "cut": _CUT_EVERY,
        "odd": _ODD_EVERY,
    }
    if crashes:
        every["crash"] = CRASHED_EVERY
    found = [
        Disturbance(chance.randint(questions // 20, questions * 19 // 20), name)
        for name, number in every.items()
        for _ in range(max(1, round(questions / number)))
    ]
    found = [_lengthened(one, chance) for one in found]
    hidden = server_outages.moments(questions, seed)
    found += [Disturbance(after, server_outages.NAME) for after in hidden]
    return sorted(found, key=lambda one: (one.after, one.name))


def _lengthened(one: Disturbance, chance: random.Random) -> Disturbance:
    """Return the same, or a long stop in place of some of the stops."""
    if one.name == "stop" and chance.random() < LONG_STOPS:
        return replace(one, name="long stop")
    return one


def _on_the_way(name: str) -> str:
    return f"fault on the way to {name}"


class Troublemaker:
    """Carries disturbances out."""

    def __init__(
        self,
        ground: Ground,
        fleet: Fleet,
        postgres: PostgresServer | None,
        poison: Poison,
        seed: int,
    ) -> None:
        """Prepare to disturb."""
        self.counts = Counter[str]()
        self._ground = ground
        self._fleet = fleet
        self._postgres = postgres
        self._events = poison
        self._random = random.Random(seed)
        self._left = list[tuple[str, Toxic | str]]()
        self._beside = set[asyncio.Task[None]]()
        self._happened = list[tuple[float, float, str]]()

    async def carry_out(self, plan: list[Disturbance], asked: Callable[[], int]) -> None:
        """Do what is planned; `asked` tells how many questions were asked so far."""
        for one in plan:
            while asked() < one.after:  # noqa: ASYNC110 - counted by others
                await asyncio.sleep(0.05)
            match one.name:
                case "kill":
                    with self._noted(_KILL):
                        self._fleet.kill()
                case "stop":
                    self._meanwhile(self._stop_for(self._random.uniform(*_STOPPED_FOR)))
                case "long stop":
                    self._meanwhile(self._stop_for(self._random.uniform(*_LONG)))
                case "crash":
                    with self._noted(_CRASH):
                        await self._crash()
                case "poison":
                    self._meanwhile(self._poison())
                case server_outages.NAME:
                    self._meanwhile(self._hide_a_server())
                case "cut":
                    with suppress(ConnectionError):  # it was ending already
                        self.counts["lost event streams"] += 1
                        await self._cut_event_streams()
                case "odd":
                    self.counts["events in an odd form"] += _ODD_AT_ONCE * 2
                    self._events.send(_ODD_AT_ONCE)

    async def away(self) -> None:
        """End all processes of the bot, as by SIGKILL; they are started again soon after."""
        with self._noted(_KILL):
            await self._fleet.kill_all()

    async def ended(self) -> None:
        """Wait until nothing is disturbed any more."""
        if self._beside:
            await asyncio.wait(self._beside)

    def between(self, begun: float, ended: float) -> list[str]:
        """Return what was wrong between two moments of the monotonic clock."""
        return [name for first, last, name in self._happened if first <= ended and begun <= last]

    def spans(self, *names: str) -> list[tuple[float, float]]:
        """Return when something was wrong, in seconds of the monotonic clock.

        Args:
            names: Of what alone; without any, of everything.
        """
        return [
            (begun, ended) for begun, ended, name in self._happened if not names or name in names
        ]

    def halts(self) -> list[tuple[float, float]]:
        """Return when a process was killed, or stood still."""
        return self.spans(_KILL, _STOP)

    def spoiled(self, platform: str) -> list[tuple[float, float]]:
        """Return when calls to a platform, or commits, could end without a clear answer."""
        return self.spans(_on_the_way(platform), _on_the_way("database"), _CRASH)

    @contextmanager
    def _noted(self, name: str) -> Iterator[None]:
        """Remember when something was done."""
        begun = time.monotonic()
        try:
            yield
        finally:
            self._happened.append((begun, time.monotonic(), name))

    async def _cut_event_streams(self) -> None:
        """End the connections by which a platform tells of events, resumable or not."""
        gateway, sockets = self._ground.discord.gateway, self._ground.slack.sockets
        match self._random.randrange(5):
            case 0:
                await gateway.reconnect()
            case 1:
                await gateway.close(4000)
            case 2:
                await gateway.invalidate(resumable=False)
            case 3:
                await sockets.close()
            case 4:
                await sockets.refresh()

    async def _stop_for(self, seconds: float) -> None:
        with self._noted(_STOP):
            await self._fleet.stop_for(seconds)

    def _meanwhile(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)

    async def _crash(self) -> None:
        """Crash the database and start it again a moment later."""
        assert self._postgres is not None
        self.counts["database crashes"] += 1
        await asyncio.to_thread(self._postgres.crash)
        await asyncio.sleep(self._random.uniform(0.3, 2.5))
        await asyncio.to_thread(self._postgres.start)

    async def _hide_a_server(self) -> None:
        """Hide one of Discord's servers for a while."""
        self.counts["server outages"] += 1
        with self._noted("outage of a Discord server"):
            await server_outages.hide_a_server(self._ground, self._random)

    async def _poison(self) -> None:
        """Spoil one way with one toxic for some seconds; all pairs come in turn."""
        if not self._left:
            self._left = [(way, toxic) for way in self._ground.proxies for toxic in TOXICS]
            self._random.shuffle(self._left)
        name, toxic = self._left.pop()
        proxy, seconds = self._ground.proxies[name], self._random.uniform(0.5, 3.0)
        self.counts["network faults"] += 1
        with self._noted(_on_the_way(name)):
            if isinstance(toxic, str):
                await proxy.down()
                await asyncio.sleep(seconds)
                await proxy.up()
                return
            proxy.poison(toxic, share=self._random.choice((0.3, 0.6, 1.0)))
            await asyncio.sleep(seconds)
            proxy.heal()
