"""Pauses in work that would otherwise hold up the event loop."""

import asyncio
import time

_SLICE = 0.01
"""Seconds of work between two pauses."""


class Pauses:
    """Gives the event loop its turn once enough time has passed since the last pause."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    async def take_one_if_due(self) -> None:
        """Let other tasks run, unless they ran a moment ago."""
        if time.monotonic() - self._last >= _SLICE:
            await asyncio.sleep(0)
            self._last = time.monotonic()
