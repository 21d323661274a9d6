"""When a request to a model is tried again, and after how long."""

import asyncio
import logging
import math
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from core.providers.failures import ProviderFailure

logger = logging.getLogger(__name__)

_WORTH_A_TRY = 1.0
"""Seconds that another try needs to have a chance."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a failed request is tried again, and how long is waited for it."""

    retries: int = 1
    backoff: float = 0.3
    """Seconds before the first retry, doubled with each; the service may ask for others."""
    longest_wait: float = 60.0
    """A service that asks for more is not asked again."""

    def wait_after(self, failure: ProviderFailure, retries: int) -> float:
        """Return the seconds to wait when there were `retries` already."""
        if failure.retry_after is not None:
            return failure.retry_after
        return self.backoff * 2.0**retries * random.uniform(0.5, 1.5)


async def with_retries(
    attempt: Callable[[], Awaitable[Result]], patience: RetryPolicy, until: float = math.inf
) -> Result:
    """Return what `attempt` gives, trying again while that makes sense.

    Args:
        attempt: Makes one request.
        patience: How often and how long.
        until: The `time.monotonic()` after which no try is made.

    Raises:
        ProviderFailure: the last one.
    """
    retries = 0
    while True:
        try:
            return await attempt()
        except ProviderFailure as failure:
            wait = patience.wait_after(failure, retries)
            in_time = time.monotonic() + wait + _WORTH_A_TRY <= until
            patient = retries < patience.retries and wait <= patience.longest_wait
            if not (failure.transient and patient and in_time):
                raise
            logger.info("%s; trying again in %.1f s", failure, wait)
        retries += 1
        await asyncio.sleep(wait)
