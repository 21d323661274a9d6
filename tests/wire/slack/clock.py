"""Slack's timestamps, which are its message ids, on the clock of the local platforms."""

import asyncio

from tests.wire.clock import Clock


class Timestamps:
    """Timestamps in strictly ascending order, as texts of seconds and microseconds."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = 0

    def next(self) -> str:
        """Return a fresh timestamp."""
        self._last = max(self._last + 1, int(self._clock.wall().timestamp() * 1_000_000))
        return f"{self._last // 1_000_000}.{self._last % 1_000_000:06}"


async def pause(clock: Clock, seconds: float) -> None:
    """Sleep until so many seconds have passed on a clock that tests may hurry along."""
    due = clock.now() + seconds
    while (left := due - clock.now()) > 0:  # noqa: ASYNC110 - time may be advanced
        await asyncio.sleep(min(left, 0.02))
