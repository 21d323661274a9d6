"""A circuit breaker: a service that keeps failing is left alone for a while."""

import logging
import random
import time
from collections import deque
from collections.abc import Callable

logger = logging.getLogger(__name__)

_JITTER = 1.25
"""An open breaker stays so for up to this many times its period: replicas come back apart."""


class CircuitBreaker:
    """Opens after failures in a row, and closes when a single probe succeeds.

    Every request asks `admits` first and tells its end by `succeeded` or `failed`. A probe
    that tells nothing, because no one waited for it, is followed by another a period later.
    """

    def __init__(
        self,
        name: str,
        *,
        threshold: int = 5,
        window: float = 60.0,
        open_for: float = 20.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start closed.

        Args:
            name: Of the service, for the log.
            threshold: Failures in a row that open it.
            window: Seconds that they lie within.
            open_for: Seconds before a probe is let through.
            clock: Tells seconds.
        """
        self._name = name
        self._window = window
        self._open_for = open_for
        self._clock = clock
        self._failures: deque[float] = deque(maxlen=threshold)
        self._probe_at: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether the service counts as down."""
        return self._probe_at is not None

    def admits(self) -> bool:
        """Return whether a request may be made now; while open, that is the probe."""
        if self._probe_at is None:
            return True
        if self._clock() < self._probe_at:
            return False
        self._wait()
        return True

    def succeeded(self) -> None:
        """Forget all failures, and close."""
        self._failures.clear()
        if self._probe_at is not None:
            self._probe_at = None
            logger.info("%s answers again", self._name)

    def failed(self) -> None:
        """Count a failure, and open when there were too many."""
        self._failures.append(self._clock())
        if self.is_open:
            self._wait()
        elif self._is_too_much():
            self._wait()
            # The failures were logged one by one, and each question from now on logs this.
            logger.info(
                "%s failed %d times in a row and is not asked for %.0f s",
                self._name,
                len(self._failures),
                self._open_for,
            )

    def _is_too_much(self) -> bool:
        full = len(self._failures) == self._failures.maxlen
        return full and self._failures[-1] - self._failures[0] <= self._window

    def _wait(self) -> None:
        self._probe_at = self._clock() + self._open_for * random.uniform(1.0, _JITTER)
