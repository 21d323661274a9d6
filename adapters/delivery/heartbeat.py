"""Shows whether a loop that never ends still comes round."""

import time
from collections.abc import Callable


class Pulse:
    """Counts every round, and knows how long ago the last one was."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._beat_at = clock()

    def beat(self) -> None:
        """Note that a round begins."""
        self._beat_at = self._clock()

    @property
    def age(self) -> float:
        """Seconds since the last round began, or since there is a pulse at all."""
        return self._clock() - self._beat_at
