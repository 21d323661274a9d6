"""Notifies askers who wait for long that their question is in the inbox: once, to them alone."""

import asyncio
import logging
from collections.abc import Mapping

from adapters.base import ChatAdapter, ready
from adapters.delivery.heartbeat import Pulse
from adapters.delivery.job_lease import Reached, nothing
from core.errors import DeliveryError, StoreError
from core.i18n import text, use_locale
from core.inbox.base import Job
from core.inbox.store import Inbox

logger = logging.getLogger(__name__)

STEPS = ("wait noted", "wait told")
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
