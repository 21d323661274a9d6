"""Removes what a crash may have left on a platform, and what is kept no longer."""

import asyncio
import logging
from collections.abc import Mapping
from datetime import timedelta

from adapters.chat.base import ChatAdapter, ready
from adapters.chat.delivery.job_lease import Reached, nothing
from adapters.chat.delivery.worker import Pulse
from adapters.chat.earlier_answers import unlink_if_gone
from core.domain import now
from core.domain.errors import DeliveryError, StoreError
from core.domain.i18n import text, use_locale
from core.domain.telemetry import HEALED, NO_METER, Meter
from core.storage.inbox.accepting import DOUBTFUL, LINKED_TO
from core.storage.inbox.base import Job, Kind
from core.storage.inbox.store import Inbox
from core.storage.privacy import Retention

logger = logging.getLogger(__name__)


STEPS = ("healing", "tidied", "healed")
"""What `reached` is called with, in this order."""

_LOOKING = 0.8
"""The part of its lease that a look may take, so that no other process looks at the same time."""
_LOOK_AGAIN_IN = timedelta(minutes=1)
_LOOKED_FOR = timedelta(days=1)
"""How long a platform may fail before its messages are not looked for any more."""
_PRUNED_EVERY = 3_600.0
"""Seconds after which it is looked again for what is too old."""


class Janitor:
    """Looks after events that have ended; any number of janitors may share an inbox."""

    def __init__(
        self,
        *,
        inbox: Inbox,
        adapters: Mapping[str, ChatAdapter],
        retention: Retention | None = None,
        every: float = 5.0,
        lease: float = 15.0,
        reached: Reached = nothing,
        meter: Meter = NO_METER,
    ) -> None:
        """Prepare to look.

        Args:
            adapters: By platform; events of other platforms are left to others.
            retention: Deletes what is too old; None: nothing is deleted.
            every: Seconds between two looks.
            lease: Seconds that one look may take, and after which another janitor tries.
            reached: Called with each of STEPS.
        """
        self._inbox = inbox
        self._adapters = adapters
        self._retention = retention
        self._every = every
        self._lease = lease
        self._reached = reached
        self._meter = meter
        self.pulse = Pulse()
        """Beats with every look."""
        self._pruned_at = -_PRUNED_EVERY

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            try:
                while await self.heal_one():
                    pass
                await self._prune()
            except StoreError as error:
                logger.warning("the janitor cannot use the database: %s", error)
            await asyncio.sleep(self._every)

    async def heal_one(self) -> bool:
        """Tidy up after one event; return whether there was one.

        Raises:
            StoreError: when the database fails.
        """
        self.pulse.beat()
        lease = timedelta(seconds=self._lease)
        job = await self._inbox.claim_healing(lease, ready(self._adapters))
        if job is None:
            return False
        await self._reach("healing")
        again_in = await self._tidy(job)
        await self._reach("tidied")
        await unlink_if_gone(self._inbox, job.arrival)
        await self._inbox.recovered(job, again_in)
        await self._reach("healed")
        self._meter.count(HEALED, job.arrival.platform)
        return True

    async def _tidy(self, job: Job) -> timedelta | None:
        """Remove what is too much, and return when to look again; None: never."""
        if not job.arrival.address:
            return None  # its user is forgotten, and all was removed
        if job.arrival.address.get(LINKED_TO) and not job.arrival.address.get(DOUBTFUL):
            return None  # nothing is too much: only its link is looked at
        try:
            async with asyncio.timeout(self._lease * _LOOKING):
                adapter = self._adapters[job.arrival.platform]
                is_offer = job.arrival.kind is Kind.OFFER
                await (adapter.unreact(job) if is_offer else adapter.tidy(job))
        except DeliveryError as error:
            useless, why = error.permanent, str(error)
        except TimeoutError:
            useless, why = False, "it took too long"
        except Exception:
            logger.exception("%s could not be tidied up", job.arrival.key)
            useless, why = False, "it failed in a way that nobody foresaw"
        else:
            return None
        if useless or now() - job.accepted_at > _LOOKED_FOR:
            logger.warning("%s may have left a message: %s", job.arrival.key, why)
            return None
        return _LOOK_AGAIN_IN

    async def _prune(self) -> None:
        """Delete a little of what is too old; when there is no more, look again in an hour."""
        moment = asyncio.get_running_loop().time()
        if self._retention is None or moment - self._pruned_at < _PRUNED_EVERY:
            return
        count = await self._retention.delete_some()
        if count:
            logger.info("%d old rows were deleted", count)
        else:
            self._pruned_at = moment

    async def _reach(self, step: str) -> None:
        if (waiting := self._reached(step)) is not None:
            await waiting


WAITING_STEPS = ("wait noted", "wait told")
"""What `reached` is called with, in this order."""
_EVERY = 1.0
"""Seconds between two looks."""
_LONGEST = 20.0
"""Seconds that telling may take."""


class WaitingNotices:
    """Looks for those who wait; any number of processes may, and each person is notified once.

    It is noted before it is sent: a process that dies in between has sent nothing.
    """

    def __init__(
        self,
        *,
        inbox: Inbox,
        adapters: Mapping[str, ChatAdapter],
        every: float = _EVERY,
        reached: Reached = nothing,
    ) -> None:
        """Prepare to look.

        Args:
            adapters: By platform; events of other platforms are left to others.
            every: Seconds between two looks.
            reached: Called with each of STEPS.
        """
        self._inbox = inbox
        self._adapters = adapters
        self._every = every
        self._reached = reached
        self.pulse = Pulse()
        """Beats with every look."""

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            try:
                while await self.tell_one():
                    pass
            except StoreError as error:
                logger.warning("who waits cannot be read: %s", error)
            await asyncio.sleep(self._every)

    async def tell_one(self) -> bool:
        """Notify one person; return whether there was one.

        Raises:
            StoreError: when the database fails.
        """
        self.pulse.beat()
        job = await self._inbox.tell_of_wait(ready(self._adapters))
        if job is None:
            return False
        await self._reach("wait noted")
        await self._tell(job)
        await self._reach("wait told")
        return True

    async def _tell(self, job: Job) -> None:
        adapter = self._adapters[job.arrival.platform]
        try:
            async with asyncio.timeout(_LONGEST):
                with use_locale(job.arrival.locale):
                    await adapter.notify(job, text("asking-still-waiting"))
        except (DeliveryError, TimeoutError) as error:
            logger.info("nobody is told that %s waits: %s", job.arrival.key, error)
        except Exception:
            logger.exception("that %s waits could not be told", job.arrival.key)

    async def _reach(self, step: str) -> None:
        if (waiting := self._reached(step)) is not None:
            await waiting
