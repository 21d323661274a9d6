"""Work that may take longer than a platform waits for the user who asked for it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from adapters.intake.acceptor import PATIENCE

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

_LAST_WORDS = 2.0
"""Seconds that work gets to end when the platform is closed."""


async def done_in_time(working: "asyncio.Task[Any]") -> bool:
    """Wait for a task, but never for long; return whether it is done."""
    await asyncio.wait({working}, timeout=PATIENCE)
    return working.done()


class BackgroundWork:
    """Keeps work that goes on after it was acknowledged to the platform."""

    def __init__(self) -> None:
        self._going_on = set[asyncio.Task[Any]]()

    async def in_time(
        self,
        work: Coroutine[Any, Any, Result],
        late: Callable[[Result], Awaitable[object]] | None = None,
    ) -> Result | None:
        """Return what some work comes to; None when it is slow and goes on by itself.

        Args:
            late: Called with what slow work has come to.
        """
        working = asyncio.create_task(work)
        if await done_in_time(working):
            return working.result()
        going_on = asyncio.create_task(_go_on(working, late))
        self._going_on.add(going_on)
        going_on.add_done_callback(self._ended)
        return None

    async def close(self) -> None:
        """Give what goes on a moment to end, then give it up."""
        if self._going_on:
            await asyncio.wait(self._going_on, timeout=_LAST_WORDS)
        for task in self._going_on:
            task.cancel()

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        """Report what is not awaited any more."""
        self._going_on.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("work behind an acknowledgement failed", exc_info=error)


async def _go_on(
    working: "asyncio.Task[Result]", late: Callable[[Result], Awaitable[object]] | None
) -> None:
    result = await working
    if late is not None:
        await late(result)
