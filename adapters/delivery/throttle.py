"""How often a growing answer may be edited."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from core.errors import BotError, DeliveryError

Content = TypeVar("Content")


class Throttle(Generic[Content]):
    """Passes on the newest of many contents, and the last one without fail.

    The first content is passed on at once. What comes faster than the interval is left out,
    save for the newest, which follows when the interval is over, whatever waits meanwhile.
    Two edits are never under way at the same time.
    """

    def __init__(
        self,
        edit: Callable[[Content], Awaitable[None]],
        *,
        interval: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Prepare to pass contents on.

        Args:
            edit: Shows a content in place of the one before.
            interval: Seconds at least between the starts of two edits.
        """
        self._edit = edit
        self._interval = interval
        self._clock = clock
        self._sleep = sleep
        self._newest: list[Content] = []
        self._edited_at = -float("inf")
        self._passing: asyncio.Task[None] | None = None
        self._is_waiting = False
        self._is_held = False
        self._failure: BotError | None = None

    async def show(self, content: Content, *, after: float = 0.0) -> None:
        """Show the content soon, unless a newer one comes before; waits for no edit.

        An edit that fails for now is left out: the next one shows more anyway.

        Args:
            after: Seconds for which the content is held back; what follows waits neither for
                it nor for an interval after it.

        Raises:
            BotError: what an edit failed with, when no later one can succeed either.
        """
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        self._newest = [content]
        if self._is_held and self._passing is not None:
            self._passing.cancel()
        elif self._passing is not None and not self._passing.done():
            return
        self._is_held = after > 0
        self._passing = asyncio.create_task(self._pass_on(after))

    async def finish(self, content: Content) -> None:
        """Show the content at once, after the edit that is under way; nothing follows it.

        Raises:
            BotError: what showing it failed with; an earlier edit's failure is of no account.
        """
        await self.stop()
        await self._edit(content)

    async def stop(self) -> None:
        """Leave out what was not shown yet, and wait for the edit that is under way."""
        self._newest = []
        passing, self._passing = self._passing, None
        if passing is None:
            return
        if self._is_waiting:
            passing.cancel()
        await asyncio.wait({passing})

    async def _pass_on(self, after: float) -> None:
        await self._wait_until(self._clock() + after)
        while self._newest:
            await self._wait_until(self._edited_at + self._interval)
            if self._newest:
                await self._pass(self._newest.pop())

    async def _pass(self, content: Content) -> None:
        started, was_held, self._is_held = self._clock(), self._is_held, False
        if not was_held:
            self._edited_at = started
        try:
            await self._edit(content)
        except DeliveryError as error:
            if error.permanent:
                self._failure = error
            self._edited_at = started + (error.retry_after or 0.0)
        except BotError as error:  # for the caller that shows the next content
            self._failure = error

    async def _wait_until(self, moment: float) -> None:
        self._is_waiting = True
        try:
            while (wait := moment - self._clock()) > 0:
                await self._sleep(wait)
        finally:
            self._is_waiting = False
