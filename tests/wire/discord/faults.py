"""What can go wrong on the way to Discord, on purpose."""

from dataclasses import dataclass

from tests.wire.faults import ArmedFaults, Behind, Drop, Duplicate, Lose, ServerError, Slow

__all__ = [
    "Behind",
    "Drop",
    "Duplicate",
    "Faults",
    "GatewayFault",
    "Lose",
    "NoHeartbeatAck",
    "RateLimited",
    "RestFault",
    "ServerError",
    "Slow",
]


@dataclass(frozen=True)
class RateLimited:
    """A 429 that closes the bucket; `scope` is user, shared or global, the time in seconds."""

    retry_after: float = 0.2
    scope: str = "user"
    code: int = 0
    """20028 for the write limit of a channel."""


@dataclass(frozen=True)
class NoHeartbeatAck:
    """A heartbeat is not acknowledged."""


RestFault = RateLimited | ServerError | Drop | Slow
GatewayFault = NoHeartbeatAck | Duplicate | Lose | Behind


class Faults(ArmedFaults[RestFault | GatewayFault]):
    """Faults that are armed; each strikes what its pattern matches."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self.overlap = 0
        """How many events a RESUME replays that were received already."""

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
        self._arm(fault, route, times, probability)

    def gateway(
        self,
        fault: GatewayFault,
        event: str = "",
        *,
        times: int | None = 1,
        probability: float = 1.0,
    ) -> None:
        """Let dispatches named `event` meet a fault; heartbeats for NoHeartbeatAck."""
        self._arm(fault, event, times, probability)

    def heal(self) -> None:
        """Forget all faults."""
        super().heal()
        self.overlap = 0

    def next_rest(self, route: str) -> RestFault | None:
        """Return the fault that a call meets."""
        fault = self._next(lambda one, part: isinstance(one, RestFault) and part in route)
        return fault if isinstance(fault, RestFault) else None

    def next_gateway(self, event: str) -> GatewayFault | None:
        """Return the fault that a dispatch, or `HEARTBEAT`, meets."""
        fault = self._next(lambda one, name: _concerns(one, name, event))
        return fault if isinstance(fault, GatewayFault) else None


def _concerns(fault: RestFault | GatewayFault, name: str, event: str) -> bool:
    if isinstance(fault, NoHeartbeatAck):
        return event == "HEARTBEAT"
    return isinstance(fault, GatewayFault) and event != "HEARTBEAT" and name in ("", event)
