"""Takes what a platform tells into the inbox: in order, and however often the database fails."""

import asyncio
import logging
import random
import re
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from adapters.chat.front_desk import Received
from core.domain.errors import BotError, StoreDataError, StoreError
from core.domain.telemetry import ACCEPTING, BACKFILLED, NO_METER, UNREADABLE, Meter
from core.storage.inbox.base import Acceptance

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


Result = TypeVar("Result")

_DEADLINE_LAST_WORDS = 2.0
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
            await asyncio.wait(self._going_on, timeout=_DEADLINE_LAST_WORDS)
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


OTHER = "other"
"""Stands in the metrics for every type of event that is not known."""
_NAME = re.compile(r"[\w.:/-]{1,64}", re.ASCII)


class UnreadableEvent(ValueError):
    """A payload lacks what it cannot be read without; the text names the field, not its value."""


class Unreadable:
    """Notes the events of one platform that cannot be read.

    Once the platform ends, whatever fails is taken for our own end, as of a connection that was
    closed: nothing is noted and nothing is passed over, so that the next start finds it.
    """

    is_ending = False

    def __init__(self, platform: str, events: Collection[str], meter: Meter) -> None:
        """Prepare to note.

        Args:
            events: The types of events that have a count of their own.
        """
        self._platform = platform
        self._events = frozenset(events)
        self._meter = meter

    def end(self) -> None:
        """Blame no event any more: connections are about to be closed."""
        self.is_ending = True

    def note(self, event: object, event_id: object, error: Exception) -> None:
        """Log and count an event; nothing of what it says is logged.

        Args:
            event: Its type, as the platform says it.
            event_id: What the platform knows it by.
        """
        kind = _shown(event)
        if self.is_ending:
            logger.info("an event of %s was not taken in before the end: %s", self._platform, kind)
            return
        self._meter.count(UNREADABLE, self._platform, kind if kind in self._events else OTHER)
        logger.error(
            "an event of %s cannot be read and is passed over: %s %s, %s",
            *(self._platform, kind, _shown(event_id), place_of(error)),
            exc_info=without_text(error),
        )

    @contextmanager
    def contained(self, event: object, event_id: object) -> Iterator[None]:
        """Let no failure out of the block that is for good, whatever it is.

        Those that the product names may be over later; they are raised, and so is all that fails
        once the platform ends.
        """
        try:
            yield
        except StoreDataError as error:  # no database will ever hold it
            self.note(event, event_id, error)
        except BotError:
            raise
        except Exception as error:
            if self.is_ending:
                raise
            self.note(event, event_id, error)


def without_text(error: BaseException) -> Exception:
    """Return an error with the traceback of another, whose text may quote what people wrote."""
    return UnreadableEvent(type(error).__name__).with_traceback(error.__traceback__)


def place_of(error: BaseException) -> str:
    """Return an error's class and the line that raised it."""
    frames = extract_tb(error.__traceback__)
    line = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{line}"


def _shown(value: object) -> str:
    """Return a type or an id as it may be logged; text of any other form may be anything."""
    text = str(value) if isinstance(value, str | int) else ""
    return text if _NAME.fullmatch(text) else "?"
