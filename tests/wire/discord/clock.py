"""Time that tests can hurry along, and Discord's ids, which tell the time."""

import time
from datetime import UTC, datetime, timedelta

_EPOCH_MS = 1_420_070_400_000


class Clock:
    """The server's only source of time."""

    def __init__(self) -> None:
        self._started = datetime.now(UTC)
        self._zero = time.monotonic()
        self._skipped = 0.0

    def now(self) -> float:
        """Return seconds since the clock was made; never goes back."""
        return time.monotonic() - self._zero + self._skipped

    def wall(self) -> datetime:
        """Return the date that goes with `now`."""
        return self._started + timedelta(seconds=self.now())

    def advance(self, seconds: float) -> None:
        """Let time pass at once: tokens, limits and windows age by `seconds`."""
        self._skipped += seconds


class Snowflakes:
    """Ids in strictly ascending order, each holding the millisecond of its making."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = 0

    def next(self) -> int:
        """Return a fresh id."""
        milliseconds = int(self._clock.wall().timestamp() * 1000) - _EPOCH_MS
        self._last = max(self._last + 1, milliseconds << 22)
        return self._last


def timestamp(moment: datetime) -> str:
    """Return a moment as Discord writes it."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
