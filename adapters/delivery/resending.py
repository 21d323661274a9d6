"""Sends again what a platform certainly did not take; nothing is sent twice."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable

from core.errors import DeliveryError, Unclear

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
