"""How long each piece of a reply may take."""

import asyncio
import logging
import math
import random
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Self, TypeVar

from core.providers.base import Deadline, Speed, TimeLimit
from core.providers.capabilities import ProviderFailure
from core.providers.collected import Delta

logger = logging.getLogger(__name__)


Result = TypeVar("Result")

_AFTERWORD = 1.0
"""Seconds that are waited for what a service says after the end of a reply."""
_PATIENCE = 2.0
"""How much longer than it usually takes a model may keep silent."""
_TOKENS_A_PIECE = 4


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds that a model may keep silent."""

    first_piece: float = 6.0
    silence: float = 3.0
    """Between pieces; a reply that is not streamed may take both together."""
    is_fixed: bool = False
    """Whether a model that is known to be slow has no more time."""

    def for_prompt(self, tokens: int, speed: Speed | None) -> Self:
        """Return how long a model of that speed may keep silent that reads so many tokens."""
        if self.is_fixed or speed is None:
            return self
        silence = self.silence
        if speed.write_rate is not None:
            silence = max(silence, _PATIENCE * _TOKENS_A_PIECE / speed.write_rate)
        first = max(self.first_piece, _PATIENCE * speed.seconds(tokens))
        return replace(self, first_piece=first, silence=silence)


async def paced(
    deltas: AsyncGenerator[Delta, None],
    model: str,
    timeouts: Timeouts,
    deadline: TimeLimit,
    *,
    streams: bool,
    is_whole: Callable[[], bool] = lambda: False,
    is_over: Callable[[], bool] = lambda: False,
) -> AsyncGenerator[Delta, None]:
    """Yield pieces as long as each comes in time.

    Args:
        deltas: The pieces as they come.
        model: Whom to name when one does not come.
        timeouts: How long each may take.
        deadline: When the next comes too late, whatever the timeouts say.
        streams: Whether the reply comes in pieces at all.
        is_whole: Whether what came may be the whole reply, though the service has not said so.
        is_over: Whether it surely is, whatever comes now.

    Raises:
        ProviderFailure: when a piece does not come in time.
    """
    limit, waited, is_finished = timeouts.first_piece, 0.0, False
    fair = timeouts.first_piece
    if not streams:
        limit += timeouts.silence
    while True:
        asked = time.monotonic()
        if is_over():
            deadline = min(deadline, Deadline(asked + _AFTERWORD), key=lambda one: one.moment)
        is_said = is_finished or is_over() or is_whole()
        longest = min(limit, _AFTERWORD) if is_said else limit
        wait = _Wait(model, longest, deadline.moment - asked, waited)
        try:
            delta = await wait.until(anext(deltas, None), fair=fair - waited)
        except ProviderFailure:
            if is_said:  # what only comes late is what it used, or that nothing follows
                return
            raise
        if delta is None:
            return
        waited += time.monotonic() - asked
        if delta.is_alive:
            limit, waited = timeouts.silence, 0.0
            fair = limit
        is_finished = is_finished or delta.finish is not None
        yield delta


@dataclass(frozen=True, slots=True)
class _Wait:
    """How long we wait for the next piece, in seconds."""

    model: str
    limit: float
    """What the model may take by itself."""
    time_left: float
    """What is left of the time for the whole reply."""
    waited: float = 0.0
    """What the model has taken of its limit."""

    async def until(self, answer: Awaitable[Result], *, fair: float) -> Result:
        """Return an answer that comes in time; late is an outage if the time was `fair`."""
        seconds = min(self.limit - self.waited, self.time_left)
        try:
            async with asyncio.timeout(seconds):
                return await answer
        except TimeoutError:
            detail = self._told()
            raise ProviderFailure(detail, transient=True, outage=seconds >= fair) from None

    def _told(self) -> str:
        """Return which of the two limits has ended the wait."""
        if self.limit - self.waited <= self.time_left:
            return f"{self.model} said nothing for {self.limit:.1f} s"
        silence = self.waited + max(self.time_left, 0.0)
        return f"{self.model} ran out of time for its answer, silent for the last {silence:.1f} s"


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


_WORTH_A_TRY = 1.0
"""Seconds that another try needs to have a chance."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a failed request is tried again, and how long is waited for it."""

    retries: int = 1
    backoff: float = 0.3
    """Seconds before the first retry, doubled with each; the service may ask for others."""
    longest_wait: float = 60.0
    """A service that asks for more is not asked again."""

    def wait_after(self, failure: ProviderFailure, retries: int) -> float:
        """Return the seconds to wait when there were `retries` already."""
        if failure.retry_after is not None:
            return failure.retry_after
        return self.backoff * 2.0**retries * random.uniform(0.5, 1.5)


async def with_retries(
    attempt: Callable[[], Awaitable[Result]], patience: RetryPolicy, until: float = math.inf
) -> Result:
    """Return what `attempt` gives, trying again while that makes sense.

    Args:
        attempt: Makes one request.
        patience: How often and how long.
        until: The `time.monotonic()` after which no try is made.

    Raises:
        ProviderFailure: the last one.
    """
    retries = 0
    while True:
        try:
            return await attempt()
        except ProviderFailure as failure:
            wait = patience.wait_after(failure, retries)
            in_time = time.monotonic() + wait + _WORTH_A_TRY <= until
            patient = retries < patience.retries and wait <= patience.longest_wait
            if not (failure.transient and patient and in_time):
                raise
            logger.info("%s; trying again in %.1f s", failure, wait)
        retries += 1
        await asyncio.sleep(wait)
