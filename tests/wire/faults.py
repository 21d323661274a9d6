"""What can go wrong on the way to every platform, on purpose: soon, or by a seeded chance."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

Fault = TypeVar("Fault")


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


@dataclass(frozen=True)
class Duplicate:
    """An event is sent `times` times instead of once, each time as if it were the first."""

    times: int = 2


@dataclass(frozen=True)
class Lose:
    """An event is never sent, whatever is replayed."""


@dataclass(frozen=True)
class Behind:
    """An event is sent after the next one named `event`, or after `seconds`."""

    event: str
    seconds: float = 2.0


@dataclass
class _Armed(Generic[Fault]):
    fault: Fault
    pattern: str
    times: int | None
    probability: float


class ArmedFaults(Generic[Fault]):
    """Faults that wait for what they strike, the oldest first."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)
        self._armed: list[_Armed[Fault]] = []

    def seed(self, seed: int) -> None:
        """Choose another course of chance."""
        self._random.seed(seed)

    def heal(self) -> None:
        """Forget all faults."""
        self._armed.clear()

    def _arm(self, fault: Fault, pattern: str, times: int | None, probability: float) -> None:
        """Let what a pattern names meet a fault; `times` None: until `heal`."""
        self._armed.append(_Armed(fault, pattern, times, probability))

    def _next(self, strikes: Callable[[Fault, str], bool]) -> Fault | None:
        """Return the fault that strikes now, given whether one with its pattern may."""
        for armed in self._armed:
            if not strikes(armed.fault, armed.pattern):
                continue
            if self._random.random() >= armed.probability:
                continue
            if armed.times is not None:
                armed.times -= 1
                if armed.times <= 0:
                    self._armed.remove(armed)
            return armed.fault
        return None
