"""Finds the answer to the same question that was asked in the channel a moment before."""

import asyncio

from core.inbox.base import Job
from core.inbox.crowds import Twin
from core.inbox.store import Inbox

_LOOK_AGAIN = 0.5
"""Seconds between two looks at an answer that is on its way."""
_PATIENCE = 45.0
"""Seconds after which a question of a crowd gets an answer of its own."""


async def answered_twin(inbox: Inbox, job: Job) -> Twin | None:
    """Return the same question of a moment before, once it is answered; None: answer this one.

    Raises:
        StoreError: when the database fails.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + _PATIENCE
    while loop.time() < until:
        twin = await inbox.first_of_crowd(job)
        if twin is None:
            return None
        if not twin.waits:
            return twin if twin.answered and twin.messages else None
        await asyncio.sleep(_LOOK_AGAIN)
    return None
