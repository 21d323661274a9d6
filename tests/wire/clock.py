"""Time that tests can hurry along."""

import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime


class Clock:
    """A server's only source of time."""

    def __init__(self) -> None:
        self._started = datetime.now(UTC)
        self._zero = time.monotonic()
        self._skipped = 0.0
        self.ahead = timedelta()
        """By how much the date is later than that of the machine that the bot runs on."""

    def now(self) -> float:
        """Return seconds since the clock was made; never goes back."""
        return time.monotonic() - self._zero + self._skipped

    def wall(self) -> datetime:
        """Return the date that goes with `now`."""
        return self._started + timedelta(seconds=self.now()) + self.ahead

    def date(self) -> str:
        """Return the `Date` of an answer, which takes no notice of what was skipped."""
        return format_datetime(datetime.now(UTC) + self.ahead, usegmt=True)

    def advance(self, seconds: float) -> None:
        """Let time pass at once: tokens, limits and windows age by `seconds`."""
        self._skipped += seconds
