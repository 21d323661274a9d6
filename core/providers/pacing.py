"""How long each piece of a reply may take."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Self, TypeVar

from core.providers.base import Deadline, TimeLimit
from core.providers.failures import ProviderFailure
from core.providers.speed import Speed
from core.providers.wire import Delta

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
