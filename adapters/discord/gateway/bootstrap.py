"""What a process asks of Discord before it connects."""

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import aiohttp
import discord

logger = logging.getLogger(__name__)

_SERVER_ERROR = 500
_TOO_MANY = 429
_PAUSES = (1.0, 2.0, 5.0, 10.0)
"""Seconds between two tries to reach Discord when we start."""

_LONGEST_LIMIT = 60.0
"""Seconds of a rate limit that are waited out."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How to connect."""

    url: str
    shards: int
    concurrency: int
    """Shards that may identify themselves at the same time."""


async def bootstrap(
    ask: Callable[[], Awaitable[tuple[int, str, Any]]], wanted: int | None, *, alone: bool
) -> Bootstrap:
    """Return how to connect, as soon as Discord lets us begin as many sessions as that takes.

    It allows a thousand a day, and who begins more loses the token: a bot that is started
    again and again would.

    Args:
        ask: Discord's answer about its gateway, as discord.py returns it.
        wanted: How many shards there are; None: as many as Discord recommends.
        alone: This process connects all shards.

    Raises:
        discord.HTTPException: when Discord refuses to tell.
    """
    while True:
        recommended, url, limits = await patiently(ask)
        shards = wanted or recommended
        if limits["remaining"] >= (shards if alone else 1):
            return Bootstrap(url, shards, limits["max_concurrency"])
        again_in = limits["reset_after"] / 1_000
        logger.warning(
            "%d of %d sessions with Discord are left for today, too few to connect; "
            "I wait for %d minutes. Look for what starts the bot again and again.",
            limits["remaining"],
            limits["total"],
            again_in / 60,
        )
        await asyncio.sleep(again_in)


async def patiently(request: Callable[[], Awaitable[Result]]) -> Result:
    """Make a request until Discord can be reached, and return what it answers.

    Raises:
        discord.HTTPException: when it is refused, not only unanswered.
        discord.RateLimited: when it would have to wait for more than a minute.
    """
    for pause in itertools.chain(_PAUSES, itertools.repeat(_PAUSES[-1])):
        try:
            return await request()
        except discord.HTTPException as error:
            if error.status < _SERVER_ERROR and error.status != _TOO_MANY:
                raise
            logger.warning("Discord answers %d; I try again in %.0f s", error.status, pause)
        except discord.RateLimited as error:
            if error.retry_after > _LONGEST_LIMIT:
                raise
            pause = max(pause, error.retry_after)
            logger.warning("Discord takes no more requests now; I try again in %.0f s", pause)
        except (discord.GatewayNotFound, aiohttp.ClientError, OSError) as error:
            name = type(error).__name__
            logger.warning("Discord cannot be reached (%s); I try again in %.0f s", name, pause)
        await asyncio.sleep(pause)
    raise AssertionError("the pauses never end")
