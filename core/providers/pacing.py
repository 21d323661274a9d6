"""How long each piece of a reply may take."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable
from dataclasses import dataclass
from typing import TypeVar

from core.providers.base import TimeLimit
from core.providers.failures import ProviderFailure
from core.providers.wire import Delta

Result = TypeVar("Result")

_AFTERWORD = 1.0
"""Seconds that are waited for what a service says after the end of a reply."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds that a model may keep silent."""

    first_piece: float = 6.0
    silence: float = 3.0
    """Between pieces; a reply that is not streamed may take both together."""


async def paced(
    deltas: AsyncGenerator[Delta, None],
    model: str,
    timeouts: Timeouts,
    deadline: TimeLimit,
    *,
    streams: bool,
) -> AsyncGenerator[Delta, None]:
    """Yield pieces as long as each comes in time.

    Args:
        deltas: The pieces as they come.
        model: Whom to name when one does not come.
        timeouts: How long each may take.
        deadline: When the next comes too late, whatever the timeouts say.
        streams: Whether the reply comes in pieces at all.

    Raises:
        ProviderFailure: when a piece does not come in time.
    """
    limit, waited, is_finished = timeouts.first_piece, 0.0, False
    fair = timeouts.first_piece
    if not streams:
        limit += timeouts.silence
    while True:
        asked = time.monotonic()
        wait = _Wait(model, limit, deadline.moment - asked, waited)
        try:
            delta = await wait.until(anext(deltas, None), fair=fair - waited)
        except ProviderFailure:
            if is_finished:  # what only comes late is what it used, or that nothing follows
                return
            raise
        if delta is None:
            return
        waited += time.monotonic() - asked
        if delta.is_alive:
            limit, waited = timeouts.silence, 0.0
            fair = limit
        is_finished = is_finished or delta.finish is not None
        if is_finished:
            limit = min(limit, _AFTERWORD)
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
