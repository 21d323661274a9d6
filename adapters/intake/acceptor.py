"""Takes what a platform tells into the inbox: in order, and however often the database fails."""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Hashable
from weakref import WeakValueDictionary

from adapters.intake.front_desk import Received
from core.errors import StoreDataError, StoreError
from core.inbox.base import Acceptance
from core.telemetry.metering import ACCEPTING, BACKFILLED, NO_METER, Meter

logger = logging.getLogger(__name__)

PATIENCE = 1.5
"""Seconds that the database may take before an asker reads that it takes long."""
_PAUSES = (0.25, 0.5, 1.0, 2.0)
"""Seconds between two tries at a database that fails; the last one again and again."""
_UNEVEN = 0.25
"""Share by which a pause is longer or shorter, so that not all try at the same time."""
_TRIED_FOR = 3600.0
"""Seconds after which what still cannot be stored is given up."""
_LOST = (
    "the database has not taken an event in for an hour, which is given up (%s); a bot that is "
    "started again finds what was said in the last 24 hours"
)
_LAST_WORDS = 1.0
"""Seconds that what is being taken in gets when the platform is closed."""

Accepting = Callable[[], Awaitable[Received | None]]


class Acceptor:
    """Has events accepted, each after what was said before in the same place."""

    def __init__(self, wake: Callable[[], None], meter: Meter = NO_METER) -> None:
        """Prepare to take in.

        Args:
            wake: Tells the worker that there is something to do.
        """
        self._wake = wake
        self._meter = meter
        self._tasks = dict[asyncio.Task[Received | None], float]()
        """When each was begun, by the loop's clock; the oldest comes first."""
        self._order = WeakValueDictionary[Hashable, asyncio.Lock]()
        self.gave_up = False
        """Whether an event was lost, so that it cannot be said any more that all was heard."""
        self._is_closed = False

    @property
    def waiting(self) -> int:
        """How many events the database does not have yet."""
        return len(self._tasks)

    def begin(
        self, place: Hashable, accept: Accepting, *, missed: bool = False
    ) -> "asyncio.Task[Received | None]":
        """Begin to accept an event, and return the task that ends when the database has it.

        When the database fails, that is tried again. A notice meanwhile would not
        help the asker: what is not in the database cannot be promised. The task fails
        with a StoreError when it has not been possible for an hour, and at once with the
        StoreDataError of an event that the database cannot hold. After `close` it is cancelled.

        Args:
            place: Where it was said.
            accept: Has the desk accept it.
            missed: It was said while the bot was away, and has been found by a look back.
        """
        task = asyncio.create_task(self._measured(place, accept, missed))
        self._tasks[task] = asyncio.get_running_loop().time()
        task.add_done_callback(self._tasks.pop)
        if self._is_closed:
            task.cancel()
        return task

    async def close(self) -> None:
        """Give what is being taken in a moment to be finished, then give it up."""
        self._is_closed = True
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_LAST_WORDS)
        for task in self._tasks:
            task.cancel()

    async def _measured(self, place: Hashable, accept: Accepting, missed: bool) -> Received | None:
        """Have counted what is accepted, and how long it took, unless it had waited before."""
        begun = time.monotonic()
        received = await self._in_order(place, accept)
        if received is not None:
            platform = received.arrival.platform
            if not missed:
                self._meter.time(ACCEPTING, platform, seconds=time.monotonic() - begun)
            elif received.accepted.acceptance is Acceptance.NEW:
                self._meter.count(BACKFILLED, platform)
        return received

    async def _in_order(self, place: Hashable, accept: Accepting) -> Received | None:
        async with self._order.setdefault(place, asyncio.Lock()):
            return await self._accepted(accept)

    async def _accepted(self, accept: Accepting) -> Received | None:
        begun, tries = time.monotonic(), 0
        while True:
            try:
                received = await accept()
            except StoreDataError as error:
                logger.error("an event cannot be stored, which is given up (%s)", error)
                raise
            except StoreError as error:
                if time.monotonic() - begun > _TRIED_FOR:
                    self.gave_up = True
                    logger.error(_LOST, error)
                    raise
                log = logger.debug if tries else logger.warning
                log("an event waits for the database: %s", error)
                await asyncio.sleep(_pause(tries))
                tries += 1
            else:
                if received is not None:
                    self._wake()
                return received


def _pause(tries: int) -> float:
    """Return the seconds until the next try."""
    return _PAUSES[min(tries, len(_PAUSES) - 1)] * random.uniform(1 - _UNEVEN, 1 + _UNEVEN)
