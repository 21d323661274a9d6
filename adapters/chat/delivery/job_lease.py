"""Holds a job for as long as it takes, and says at once when it is held no more."""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

from core.domain import now
from core.domain.errors import DeliveryError, StoreError, Unclear
from core.domain.telemetry import AMBIGUOUS, DELIVERING, ENDED, NO_METER, Meter
from core.storage.inbox.base import Job, LeaseLost, Posted, Settlement
from core.storage.inbox.store import Inbox

logger = logging.getLogger(__name__)


_LONGEST_BACKOFF = 60.0


def backoff(attempts: int, retry_after: float | None) -> float:
    """Return the seconds to wait after some failed attempts and one more."""
    if retry_after is not None:
        return retry_after + random.uniform(0.0, 0.5)
    wait: float = min(_LONGEST_BACKOFF, 2.0**attempts)
    return wait * random.uniform(0.5, 1.0)


async def send_until_taken(
    send: Callable[[], Awaitable[object]],
    *,
    within: float,
    note: Callable[[bool], None] = lambda _: None,
) -> None:
    """Send, and send again after each refusal, as long as the platform takes it later.

    Args:
        within: Seconds after which no other try begins.
        note: Called with True when the platform certainly has nothing, False before each try.

    Raises:
        Unclear: when it may have been sent.
        DeliveryError: when it was not: the refusal is permanent, or the time is over.
    """
    clock, attempts = asyncio.get_running_loop().time, 0
    until = clock() + within
    while True:
        note(False)
        try:
            await send()
        except Unclear:
            raise
        except DeliveryError as error:
            note(True)
            wait = backoff(attempts, error.retry_after)
            if error.permanent or clock() + wait > until:
                raise
            logger.info("sent again in %.1f s: %s", wait, error)
        else:
            return
        attempts += 1
        await asyncio.sleep(wait)


Result = TypeVar("Result")
Reached = Callable[[str], Awaitable[None] | None]
"""Called with the name of each step, when it is reached; tests end the process there."""

DONE = "done"
"""What became of a job that was delivered."""
_BEAT = 0.25
"""The part of a lease after which it is renewed, or tried again when there is no answer."""
_SHORTEST_BEAT = 0.02
"""The part of a lease that lies between two tries at least, however little of it is left."""
_MOST_RENEWALS = 2
"""How many may be under way at the same time."""
_MARGIN = 0.2
"""The part of a lease at whose end nothing new is begun: a call takes its time."""
_LONGEST_SENDING = 300.0
"""Seconds for which what is sent once is sent again after refusals."""
_LONGEST_TRY = 120.0
"""Seconds that the last of these tries may take."""
_RETRY_STORE = 0.5
"""Seconds between two tries at a database that fails."""


def nothing(step: str) -> None:
    """Take no notice of a step."""


def unstoppable_clock() -> float:
    """Return seconds that go by even while the process is stopped or the machine sleeps."""
    boottime = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boottime is None else time.clock_gettime(boottime)


def noticed(task: asyncio.Task[Any]) -> None:
    """Take note of a failure that is not awaited any more, as the job was lost or cancelled."""
    if not task.cancelled():
        task.exception()


class JobLease:
    """A job that this process holds; it is the PostKeeper of the job's reply.

    By our own clock the lease ends a little before the database says so. A process that was
    stopped for long therefore notices before it posts anything, and what it writes to the
    database nevertheless is refused by the fence.
    """

    def __init__(
        self,
        inbox: Inbox,
        job: Job,
        *,
        lease: float,
        claimed_at: float,
        reached: Reached = nothing,
        meter: Meter = NO_METER,
        clock: Callable[[], float] = unstoppable_clock,
    ) -> None:
        """Begin to hold a job.

        Args:
            lease: Seconds for which it was claimed.
            claimed_at: What `clock` said before it was claimed.
        """
        self.job = job
        self.doubtful = False
        self.settlement = Settlement.ANSWERED
        """What the job is settled as when it ends."""
        self.linked_to: str | None = None
        """The key of the question to whose answer the asker is shown a link instead."""
        self.is_settled = False
        """Whether the inbox is done with it: no other process will take it over."""
        self.was_refused = False
        """Whether what was to be sent once was certainly not sent so far."""
        self.limit: asyncio.Timeout | None = None
        """Ends the delivery; it is put off when what follows is sent once."""
        self.posted = job.posted
        """What the platform has by now, as far as we kept it."""
        self._inbox = inbox
        self._lease = lease
        self._reached = reached
        self._meter = meter
        self._clock = clock
        self._until = claimed_at + lease * (1 - _MARGIN)

    def check(self) -> None:
        """Raise LeaseLost when the lease has run out by this machine's clock, without a query."""
        if not self.is_settled and self._clock() >= self._until:
            raise LeaseLost(f"the lease of {self.job.arrival.key} has run out")

    def mark_ambiguous(self) -> None:
        """Have the janitor look for messages of this job when it has ended."""
        self.doubtful = True
        self._meter.count(AMBIGUOUS, self.job.arrival.platform)

    async def settle(self) -> None:
        """End the job in the inbox as its `settlement`; from then on no other process can hold it.

        Raises:
            LeaseLost: when another worker holds the job.
        """
        if self.is_settled:
            return
        await self.reach("ending")
        end = partial(
            self._inbox.finish,
            self.job,
            self.settlement,
            doubtful=self.doubtful,
            linked_to=self.linked_to,
        )
        await self.persist(end)
        self.is_settled = True
        await self.reach("settled")

    async def send_once(self, send: Callable[[], Awaitable[None]]) -> None:
        """Settle the job, and send until the platform takes it, for some minutes at most.

        Raises:
            DeliveryError: what `send` raised last; `was_refused` says whether nothing was shown.
            LeaseLost: when another worker holds the job.
        """
        await self.settle()
        if self.limit is not None and not self.limit.expired():
            latest = _LONGEST_SENDING + _LONGEST_TRY
            self.limit.reschedule(asyncio.get_running_loop().time() + latest)
        await send_until_taken(send, within=_LONGEST_SENDING, note=self._note_refusal)

    def _note_refusal(self, was_refused: bool) -> None:
        self.was_refused = was_refused

    def ended(self, outcome: str) -> None:
        """Have it counted how the work on this job ended: `done`, `released` and the like."""
        platform = self.job.arrival.platform
        self._meter.count(ENDED, platform, outcome)
        if outcome == DONE:
            seconds = (now() - self.job.accepted_at).total_seconds()
            self._meter.time(DELIVERING, platform, seconds=seconds)

    async def keep(self, posted: Posted) -> None:
        """Store what the platform has now; a database that fails is tried again.

        Raises:
            LeaseLost: when another worker holds the job, or we may not hold it any more.
        """
        await self.reach("posted")
        await self.persist(lambda: self._inbox.keep(self.job, posted))
        self.posted = posted
        await self.reach("posts kept")

    async def reach(self, step: str) -> None:
        """Notify the watcher that a step is reached."""
        if (waiting := self._reached(step)) is not None:
            await waiting

    async def persist(self, write: Callable[[], Awaitable[Result]]) -> Result:
        """Write until the database takes it.

        Raises:
            LeaseLost: when the lease ran out meanwhile.
        """
        while True:
            self.check()
            try:
                return await write()
            except StoreError as error:
                logger.warning("%s: the database fails: %s", self.job.arrival.key, error)
            await asyncio.sleep(min(_RETRY_STORE, self._lease / 10))

    def let_go(self) -> None:
        """Hold the job no more: whatever is still under way for it fails its next check."""
        self._until = -float("inf")

    async def hold_during(
        self, work: Coroutine[Any, Any, None], on_stop: Callable[[], None]
    ) -> None:
        """Do the work while renewing the lease; the work is cancelled when it is lost.

        Args:
            on_stop: Called once when the asker, by way of another process, wants no answer.

        Raises:
            LeaseLost: when the lease was lost.
        """
        task = asyncio.create_task(work)
        task.add_done_callback(noticed)
        renewals = list[asyncio.Task[bool]]()
        try:
            while not task.done():
                waited = await asyncio.wait(
                    {task, *renewals},
                    timeout=None if self.is_settled else self._until_next_beat(),
                    return_when=asyncio.FIRST_COMPLETED,
                )
                for renewal in [one for one in renewals if one in waited[0]]:
                    renewals.remove(renewal)
                    if not self.is_settled and renewal.result():
                        on_stop()
                if not waited[0] and not self.is_settled:
                    self._begin_renewal(renewals)
        finally:
            for renewal in renewals:
                renewal.cancel()
            if not task.done():
                self.let_go()
                task.cancel()
                await asyncio.wait({task})
        task.result()

    def _begin_renewal(self, renewals: list[asyncio.Task[bool]]) -> None:
        """Begin to renew in parallel to what has not been answered yet.

        That may be slow, and is not given up for it: its connection would be lost with it,
        and the next one would be slower still. Or it hangs, and does not keep this one waiting.
        """
        self.check()
        if renewals:
            logger.warning("the renewal of %s is not answered yet", self.job.arrival.key)
        if len(renewals) >= _MOST_RENEWALS:
            return
        renewal = asyncio.create_task(self._renew())
        renewal.add_done_callback(noticed)
        renewals.append(renewal)

    def _until_next_beat(self) -> float:
        """Return the seconds until the next renewal: a failed one leaves time for another."""
        left = self._until - self._clock()
        return max(min(self._lease * _BEAT, left / 2), self._lease * _SHORTEST_BEAT)

    async def _renew(self) -> bool:
        """Renew the lease, and return whether the asker stopped the job."""
        before = self._clock()
        try:
            stopped = await self._inbox.renew(self.job, timedelta(seconds=self._lease))
        except StoreError as error:
            logger.warning("%s could not be renewed: %s", self.job.arrival.key, error)
            return False
        self._until = max(self._until, before + self._lease * (1 - _MARGIN))
        return stopped
