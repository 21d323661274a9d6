"""Discord's ids, which tell the time, and how it writes a moment."""

from datetime import UTC, datetime

from tests.wire.clock import Clock

_EPOCH_MS = 1_420_070_400_000


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
