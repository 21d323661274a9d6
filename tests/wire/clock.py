"""Time that tests can hurry along."""

import time
from datetime import UTC, datetime, timedelta


class Clock:
    """A server's only source of time."""

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
