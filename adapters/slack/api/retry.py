"""Waits for Slack where nothing can be done without it: when a process begins."""

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from core.errors import DeliveryError

logger = logging.getLogger(__name__)

_PAUSES = (1, 2, 5, 10)
"""Seconds between two tries to reach Slack."""

Result = TypeVar("Result")


async def patiently(request: Callable[[], Awaitable[Result]]) -> Result:
    """Make a request until Slack answers it, and return the answer.

    Raises:
        DeliveryError: when Slack refuses it for good.
    """
    for pause in itertools.chain(_PAUSES, itertools.repeat(_PAUSES[-1])):
        try:
            return await request()
        except DeliveryError as error:
            if error.permanent:
                raise
            again_in = max(pause, error.retry_after or 0.0)
            logger.warning("%s; I try again in %.0f s", error, again_in)
        await asyncio.sleep(again_in)
    raise AssertionError("the pauses never end")
