"""What can go wrong on the way, on purpose: for the next calls, or by a seeded chance."""

import random
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class RateLimited:
    """A 429 that closes the bucket; `scope` is user, shared or global, the time in seconds."""

    retry_after: float = 0.2
    scope: str = "user"
    code: int = 0
    """20028 for the write limit of a channel."""


@dataclass(frozen=True)
class ServerError:
    """A 5xx, before the call did anything or after it was applied."""

    status: int = 502
    applied: bool = False


@dataclass(frozen=True)
class Drop:
    """The connection ends without an answer, before or after the call was applied."""

    applied: bool = False


@dataclass(frozen=True)
class Slow:
    """The answer comes late; applied at once, or only after the wait."""

    seconds: float
    applied: bool = False


RestFault = RateLimited | ServerError | Drop | Slow


@dataclass(frozen=True)
class NoHeartbeatAck:
    """A heartbeat is not acknowledged."""


@dataclass(frozen=True)
class Duplicate:
    """An event is sent `times` times instead of once, each time with a new sequence number."""

    times: int = 2


@dataclass(frozen=True)
class Lose:
    """An event is never sent, not even at a RESUME."""


@dataclass(frozen=True)
class Behind:
    """An event is sent after the next one named `event`, or after `seconds`."""

    event: str
    seconds: float = 2.0


GatewayFault = NoHeartbeatAck | Duplicate | Lose | Behind


@dataclass
class _Armed:
    fault: RestFault | GatewayFault
    pattern: str
    times: int | None
    probability: float


class Faults:
    """Faults that are armed; each strikes what its pattern matches."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)
        self._armed: list[_Armed] = []
        self.overlap = 0
        """How many events a RESUME replays that were received already."""

    def seed(self, seed: int) -> None:
        """Choose another course of chance."""
        self._random.seed(seed)

    def rest(
        self,
        fault: RestFault,
        route: str = "",
        *,
        times: int | None = 1,
        probability: float = 1.0,
    ) -> None:
        """Let REST calls meet a fault.

        `route` is a part of the method and template, such as `POST /channels` or
        `/callback`; `times` None: until `heal`.
        """
        self._armed.append(_Armed(fault, route, times, probability))

    def gateway(
        self,
        fault: GatewayFault,
        event: str = "",
        *,
        times: int | None = 1,
        probability: float = 1.0,
    ) -> None:
        """Let dispatches named `event` meet a fault; heartbeats for NoHeartbeatAck."""
        self._armed.append(_Armed(fault, event, times, probability))

    def heal(self) -> None:
        """Forget all faults."""
        self._armed.clear()
        self.overlap = 0

    def next_rest(self, route: str) -> RestFault | None:
        """Return the fault that a call meets."""
        armed = self._next(lambda a: isinstance(a.fault, RestFault) and a.pattern in route)
        return armed if isinstance(armed, RestFault) else None

    def next_gateway(self, event: str) -> GatewayFault | None:
        """Return the fault that a dispatch, or `HEARTBEAT`, meets."""
        armed = self._next(lambda a: isinstance(a.fault, GatewayFault) and _concerns(a, event))
        return armed if isinstance(armed, GatewayFault) else None

    def _next(self, matches: Callable[[_Armed], bool]) -> RestFault | GatewayFault | None:
        for armed in self._armed:
            if not matches(armed) or self._random.random() >= armed.probability:
                continue
            if armed.times is not None:
                armed.times -= 1
                if armed.times <= 0:
                    self._armed.remove(armed)
            return armed.fault
        return None


def _concerns(armed: _Armed, event: str) -> bool:
    if isinstance(armed.fault, NoHeartbeatAck):
        return event == "HEARTBEAT"
    return event != "HEARTBEAT" and armed.pattern in ("", event)
