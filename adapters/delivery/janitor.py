"""Removes what a crash may have left on a platform, and what is kept no longer."""

import asyncio
import logging
from collections.abc import Mapping
from datetime import timedelta

from adapters.attention.crowd import unlink_if_gone
from adapters.base import ChatAdapter, ready
from adapters.delivery.heartbeat import Pulse
from adapters.delivery.job_lease import Reached, nothing
from core.errors import DeliveryError, StoreError
from core.inbox.base import Job, Kind
from core.inbox.crowds import DOUBTFUL, LINKED_TO
from core.inbox.store import Inbox
from core.models import now
from core.privacy.retention import Retention
from core.telemetry.metering import HEALED, NO_METER, Meter

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
