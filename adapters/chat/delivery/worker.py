"""Takes events out of the inbox and sees to it that each is answered once."""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from adapters.chat.base import ChatAdapter, ready
from adapters.chat.delivery import delivery as settlement
from adapters.chat.delivery.delivery import Checked, Delivery, Withdraw
from adapters.chat.delivery.job_lease import JobLease, Reached, nothing, unstoppable_clock
from adapters.chat.earlier_answers import TwinWaits
from core.answering.agent import Agent
from core.domain import now
from core.domain.errors import DeliveryError, StoreError
from core.domain.i18n import use_locale
from core.domain.telemetry import CLAIMED, LEASE_LOST, NO_METER, REQUEST, WAITING, Meter
from core.storage.access import Tenant
from core.storage.budgets import TokenBudgets
from core.storage.inbox.base import Job, LeaseLost
from core.storage.inbox.store import Inbox
from core.storage.sessions import SessionStore

logger = logging.getLogger(__name__)


class Pulse:
    """Counts every round, and knows how long ago the last one was."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._beat_at = clock()

    def beat(self) -> None:
        """Note that a round begins."""
        self._beat_at = self._clock()

    @property
    def age(self) -> float:
        """Seconds since the last round began, or since there is a pulse at all."""
        return self._clock() - self._beat_at


STEPS = (
    "claimed",
    "turns forgotten",
    "unlinked",
    "opening",
    "posted",
    "posts kept",
    "opened",
    "streaming",
    "turn stored",
    "answer shown",
    "refusal shown",
    "reacted",
    "retracted",
    "ending",
    "settled",
    "finished",
    "released",
    "given up",
)
"""What `reached` is called with, roughly in this order; no job comes to all of them."""

_LONGEST_JOB = 180.0
"""Seconds after which a delivery that does not end is tried again."""
_POLL = 1.0
"""Seconds until the inbox is looked into again, also when no news comes."""
_GIVES_WAY = 1.0
"""Seconds at most that an answer is begun later because events are being accepted."""
_SLOW_TURN = 0.004
"""Seconds that the event loop may take for one turn before no more answers are begun."""
_UNFORESEEN_TRIES = 5
"""Failed tries after which an event that fails for no foreseen reason is apologised for."""
_ABANDONED_TRIES = 20
"""How many processes an event may take with it before its asker reads that it is too late."""
_LAST_TRIES = 5
"""How often that is tried before the event is given up."""


async def _nothing_asked(key: str) -> None:
    """Take nothing back."""


class Worker:
    """Answers events, many at a time; any number of workers may share an inbox."""

    def __init__(
        self,
        *,
        inbox: Inbox,
        agent: Agent,
        adapters: Mapping[str, ChatAdapter],
        sessions: SessionStore,
        budgets: TokenBudgets,
        checked: Checked,
        lease: float = 15.0,
        concurrency: int = 32,
        stale_after: timedelta = timedelta(minutes=30),
        reached: Reached = nothing,
        meter: Meter = NO_METER,
        withdraw: Withdraw = _nothing_asked,
    ) -> None:
        """Prepare to work.

        Args:
            adapters: By platform; events of other platforms are left to others.
            checked: As of `Delivery`.
            lease: Seconds after which the work of a process that died is taken over.
            concurrency: Events that are answered at the same time here.
            stale_after: The age at which a question is answered with an apology.
            reached: Called with each of STEPS.
            withdraw: As of `Delivery`.
        """
        self._withdraw = withdraw
        self._inbox = inbox
        self._agent = agent
        self._adapters = adapters
        self._sessions = sessions
        self._budgets = budgets
        self._checked = checked
        self._lease = lease
        self._concurrency = concurrency
        self._stale_after = stale_after
        self._reached = reached
        self._meter = meter
        self.pulse = Pulse()
        """Beats while the inbox is looked into."""
        self._deliveries: set[Delivery] = set()
        self._working: set[asyncio.Task[None]] = set()
        self._news = asyncio.Event()
        self._claiming = asyncio.Lock()
        self._is_draining = False

    async def run(self) -> None:
        """Answer what is in the inbox, until `drain` is called."""
        try:
            while not self._is_draining:
                self._news.clear()
                self.pulse.beat()
                async with self._claiming:
                    has_begun = not self._is_draining and await self._begin_next()
                if not has_begun:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(_POLL):
                            await self._news.wait()
        except asyncio.CancelledError:
            await self.drain(0)
            raise

    def wake(self) -> None:
        """Look into the inbox at once: something was accepted."""
        self._news.set()

    async def drain(self, within: float = 10.0) -> None:
        """Begin nothing more, and let others have what is not finished in time.

        Args:
            within: Seconds that running deliveries still have.
        """
        self._is_draining = True
        self.wake()
        async with self._claiming:
            working = {*self._working}
        if working:
            _, late = await asyncio.wait(working, timeout=within)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)

    async def stop(self, key: str, tenants: Sequence[Tenant]) -> bool:
        """End an answer that its asker does not want, wherever it is being written.

        Return whether it was still on its way.

        Args:
            tenants: Those whose answers may be ended.
        """
        was_waiting = await self._inbox.stop(key, tenants)
        for delivery in self._deliveries:
            if was_waiting and delivery.key == key:
                delivery.stop()
        return was_waiting

    async def _begin_next(self) -> bool:
        """Claim an event and begin to work on it; return whether there was one."""
        if len(self._working) >= self._concurrency:
            return False
        await self._give_way()
        claimed_at = unstoppable_clock()
        try:
            job = await self._inbox.claim(timedelta(seconds=self._lease), ready(self._adapters))
        except StoreError as error:
            logger.warning("the inbox cannot be read: %s", error)
            await asyncio.sleep(_POLL)
            return False
        if job is None:
            return False
        self._count_claim(job)
        lease = JobLease(
            self._inbox,
            job,
            lease=self._lease,
            claimed_at=claimed_at,
            reached=self._reached,
            meter=self._meter,
        )
        task = asyncio.create_task(self._work(lease))
        self._working.add(task)
        task.add_done_callback(self._worked)
        return True

    @property
    def in_flight(self) -> int:
        """How many events are being answered here."""
        return len(self._working)

    def _count_claim(self, job: Job) -> None:
        platform = job.arrival.platform
        self._meter.count(CLAIMED, platform)
        if job.fence == 1:  # else it has waited for another try, too
            waited = (now() - job.accepted_at).total_seconds()
            self._meter.time(WAITING, platform, seconds=waited)

    async def _give_way(self) -> None:
        """Let events be accepted first, while there are any: their askers wait for a sign.

        They wait too when the answers under way leave the event loop little time.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(_GIVES_WAY):
                await self._inbox.quiet()
                while await _turn_of_loop() > _SLOW_TURN:
                    await self._inbox.quiet()

    def _worked(self, task: asyncio.Task[None]) -> None:
        self._working.discard(task)
        self.wake()

    async def _work(self, lease: JobLease) -> None:
        """Deliver a job, whatever happens.

        1. Delivered: it is finished.
        2. Another worker holds it: what we posted unseen is looked for later.
        3. The platform, or something unforeseen, failed: it is tried again after a while, or
           given up when that is useless.
        4. We are to end: it is released, to be claimed by others at once.
        5. The database does not take our last word: the lease runs out, and it is claimed.
        """
        REQUEST.set(lease.job.arrival.key)  # of this task alone, and of those it begins
        try:
            await lease.reach("claimed")
            await self._deliver(lease)
        except LeaseLost as error:
            logger.warning("%s", error)
            self._meter.count(LEASE_LOST, lease.job.arrival.platform)
            await self._lost(lease.job)
            await self._adapters[lease.job.arrival.platform].ended(lease.job)
        except StoreError as error:
            logger.warning("%s is left to its lease: %s", lease.job.arrival.key, error)
        except asyncio.CancelledError:
            await self._release(lease)
            raise
        finally:
            lease.let_go()

    async def _release(self, lease: JobLease) -> None:
        if lease.is_settled:
            if lease.was_refused:
                await settlement.note_unsent(self._inbox, lease)
            return
        try:
            await self._inbox.release(lease.job)
            lease.ended("released")
        except LeaseLost:
            await self._lost(lease.job)
        except StoreError as error:
            logger.warning("%s is left to its lease: %s", lease.job.arrival.key, error)
        await lease.reach("released")

    async def _lost(self, job: Job) -> None:
        await settlement.lost(self._inbox, self._sessions, self._budgets, job)

    async def _deliver(self, lease: JobLease) -> None:
        job = lease.job
        key, arrival = job.arrival.key, job.arrival
        abandoned = job.fence - job.attempts
        if abandoned > _ABANDONED_TRIES + _LAST_TRIES:
            logger.error("%s was begun %d times and never ended", key, job.fence)
            await settlement.give_up(self._inbox, lease)
            await self._adapters[arrival.platform].ended(job)
            return
        delivery = Delivery(
            agent=self._agent,
            adapter=self._adapters[arrival.platform],
            sessions=self._sessions,
            inbox=self._inbox,
            lease=lease,
            checked=self._checked,
            withdraw=self._withdraw,
        )
        self._deliveries.add(delivery)
        try:
            stale_after = timedelta() if abandoned > _ABANDONED_TRIES else self._stale_after
            await self._try(lease, delivery, delivery.run(stale_after))
        finally:
            self._deliveries.discard(delivery)
        await self._adapters[arrival.platform].ended(lease.job)

    async def _try(
        self,
        lease: JobLease,
        delivery: Delivery,
        work: Coroutine[Any, Any, None],
        *,
        is_apology: bool = False,
    ) -> None:
        """Do the work of a delivery, and end the job or have it tried again.

        When the last try fails for no foreseen reason, an apology is sent in its place.
        """
        key = lease.job.arrival.key
        try:
            await lease.hold_during(_in_time(lease, work), delivery.stop)
        except LeaseLost:
            raise
        except TwinWaits as waiting:
            await settlement.put_back(self._inbox, lease, waiting.retry_in)
        except DeliveryError as error:
            await lease.hold_during(delivery.abandon(error), delivery.stop)
            await settlement.retry_later(self._inbox, lease, error)
        except Exception:
            logger.exception("%s failed in a way that nobody foresaw", key)
            is_last = lease.job.attempts + 1 >= _UNFORESEEN_TRIES
            if is_last and not is_apology and delivery.owes_apology:
                await self._try(lease, delivery, delivery.apologise(), is_apology=True)
                return
            unforeseen = DeliveryError("bug", permanent=is_last)
            await settlement.retry_later(self._inbox, lease, unforeseen)
        else:
            await settlement.finish(lease)


async def _in_time(lease: JobLease, work: Coroutine[Any, Any, None]) -> None:
    with use_locale(lease.job.arrival.locale):
        async with asyncio.timeout(_LONGEST_JOB) as lease.limit:
            await work


async def _turn_of_loop() -> float:
    """Return the seconds that the event loop takes to come back to where it was."""
    begin = time.monotonic()
    await asyncio.sleep(0)
    return time.monotonic() - begin
