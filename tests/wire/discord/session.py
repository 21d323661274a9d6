"""A gateway session: numbered events, kept so that they can be replayed."""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.wire.discord.errors import Json
from tests.wire.discord.faults import Behind, Duplicate, Faults, Lose
from tests.wire.discord.history import Dispatch
from tests.wire.discord.sight import Sight
from tests.wire.discord.state import Event
from tests.wire.discord.world import World

Send = Callable[[Json], None]


@dataclass
class _Held:
    name: str
    data: Json
    until: str
    timer: asyncio.TimerHandle


@dataclass(eq=False)
class Session:
    """One shard's stream of events, with a connection or waiting for one."""

    world: World
    faults: Faults
    sight: Sight
    send: Send | None = None
    """Writes to the connection; None while there is none."""
    id: str = field(default_factory=lambda: secrets.token_hex(16))
    sequence: int = 0
    log: list[Dispatch] = field(default_factory=list)
    left_at: float = 0.0
    ended: bool = False
    _held: list[_Held] = field(default_factory=list)

    def see(self, event: Event) -> None:
        """Dispatch an event of the world, if it is for this session."""
        self.ended = not self.resumable()
        if self.ended:
            return
        data = self.sight.rendered(event, self.world)
        if data is not None:
            self._under_faults(event.name, data)

    def dispatch(self, name: str, data: Json) -> None:
        """Number an event, keep it, and send it if there is a connection."""
        self.sequence += 1
        if name in self.world.odd_events:
            data = self.world.odd_events[name](data)
        sent = Dispatch(self.id, self.sequence, name, data, self.world.clock.now())
        self.log.append(sent)
        self.world.history.dispatches.append(sent)
        if self.send is not None:
            self.send(_frame(sent))

    def resume(self, send: Send, sequence: int) -> None:
        """Replay what came after `sequence` and go on from there.

        What opened the session is never replayed.
        """
        self.send = send
        for missed in self.log[max(sequence - self.faults.overlap, 1) :]:
            again = Dispatch(self.id, missed.sequence, missed.name, missed.data,
                             self.world.clock.now(), replayed=True)  # fmt: skip
            self.world.history.dispatches.append(again)
            send(_frame(missed))
        self.dispatch("RESUMED", {"_trace": []})

    def leave(self, *, for_good: bool) -> None:
        """Lose the connection."""
        self.send = None
        self.left_at = self.world.clock.now()
        self.ended |= for_good

    def resumable(self) -> bool:
        """Tell whether the session can be taken up again."""
        if self.ended:
            return False
        if self.send is not None:
            return True
        return self.world.clock.now() - self.left_at <= self.world.limits.resume_window

    def _under_faults(self, name: str, data: Json) -> None:
        fault = self.faults.next_gateway(name)
        match fault:
            case Lose():
                return
            case Behind(event, seconds):
                loop = asyncio.get_running_loop()
                held = _Held(name, data, event, loop.call_later(seconds, self._release_late))
                self._held.append(held)
                return
            case Duplicate(times):
                for _ in range(times):
                    self.dispatch(name, data)
            case _:
                self.dispatch(name, data)
        self._release(lambda held: held.until == name)

    def _release_late(self) -> None:
        now = asyncio.get_running_loop().time()
        self._release(lambda held: held.timer.when() <= now)

    def _release(self, due: Callable[[_Held], Any]) -> None:
        ready = [held for held in self._held if due(held)]
        for held in ready:
            self._held.remove(held)
            held.timer.cancel()
            self.dispatch(held.name, held.data)


def _frame(sent: Dispatch) -> Json:
    return {"op": 0, "t": sent.name, "s": sent.sequence, "d": sent.data}
