"""What can go wrong on the way to Slack, on purpose."""

from dataclasses import dataclass

from tests.wire.faults import ArmedFaults, Behind, Drop, Duplicate, Lose, ServerError, Slow

__all__ = [
    "ApiFault",
    "Behind",
    "DeliveryFault",
    "Drop",
    "Duplicate",
    "Echo",
    "Faults",
    "Lose",
    "NoAck",
    "RateLimited",
    "Refused",
    "ServerError",
    "Slow",
]


@dataclass(frozen=True)
class RateLimited:
    """A 429 that closes the method, or the channel for posts, for whole seconds."""

    retry_after: int = 1


@dataclass(frozen=True)
class Refused:
    """A body that is not ok, such as `expired_trigger_id` or `internal_error`."""

    error: str
    applied: bool = False


@dataclass(frozen=True)
class NoAck:
    """The acknowledgement is lost on the way: an event is delivered again."""


@dataclass(frozen=True)
class Echo:
    """An event is delivered `times` times, each under an event_id of its own."""

    times: int = 2


ApiFault = RateLimited | ServerError | Drop | Slow | Refused
DeliveryFault = Duplicate | Echo | Lose | Behind | NoAck


class Faults(ArmedFaults[ApiFault | DeliveryFault]):
    """Faults that are armed; each strikes what its pattern names."""

    def api(
        self,
        fault: ApiFault,
        method: str = "",
        *,
        times: int | None = 1,
        probability: float = 1.0,
    ) -> None:
        """Let calls of a method meet a fault; `response_url` is one; `times` None: until `heal`."""
        self._arm(fault, method, times, probability)

    def delivery(
        self,
        fault: DeliveryFault,
        name: str = "",
        *,
        times: int | None = 1,
        probability: float = 1.0,
    ) -> None:
        """Let deliveries meet a fault; named by event type, command, or interaction type."""
        self._arm(fault, name, times, probability)

    def next_api(self, method: str) -> ApiFault | None:
        """Return the fault that a call meets."""
        fault = self._next(lambda one, name: isinstance(one, ApiFault) and name in ("", method))
        return fault if isinstance(fault, ApiFault) else None

    def next_delivery(self, name: str) -> DeliveryFault | None:
        """Return the fault that a delivery meets; asked once, before it is first sent."""
        return self._next_delivery(name, ack=False)

    def loses_ack(self, name: str) -> bool:
        """Tell whether the acknowledgement that is arriving gets lost."""
        return self._next_delivery(name, ack=True) is not None

    def _next_delivery(self, name: str, *, ack: bool) -> DeliveryFault | None:
        fault = self._next(
            lambda one, pattern: (
                isinstance(one, DeliveryFault)
                and isinstance(one, NoAck) is ack
                and pattern in ("", name)
            )
        )
        return fault if isinstance(fault, DeliveryFault) else None
