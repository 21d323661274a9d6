"""Decides which shards this process connects: all of them, or those that it holds a lease of."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Coroutine
from contextlib import suppress
from math import inf
from typing import Any, TypeVar

from adapters.delivery.job_lease import unstoppable_clock
from adapters.discord.gateway.connections import Gateway
from core.errors import StoreError
from core.storage.leases import Leases, LeaseShare

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

IDENTIFY_EVERY = 5.0
"""Seconds between two shards' identifying themselves, by Discord's rule."""
_BETWEEN_TURNS = IDENTIFY_EVERY + 1.0
"""Seconds; the way to Discord may be longer for one process than for the next."""
_MARGIN = 0.2
"""The part of a lease at whose end we believe it is over: closing takes its time."""
_RETRY = 0.5
"""Seconds between two looks whether it is a shard's turn."""
_FAREWELL = 0.5
"""Seconds that the database gets to take note that we leave."""


class AllShards:
    """Every shard, in this process, whatever other processes do."""

    def __init__(self, gateway: Gateway, count: int, concurrency: int) -> None:
        """Prepare for so many shards, of which so many may identify themselves together."""
        self._gateway = gateway
        self._count = count
        self._concurrency = concurrency
        self._next = dict[int, float]()
        self._order = defaultdict[int, asyncio.Lock](asyncio.Lock)
        self.is_certain = False

    async def run(self) -> None:
        """Begin all connections."""
        for shard_id in range(self._count):
            self._gateway.begin(shard_id)
        self.is_certain = True

    async def turn(self, shard_id: int) -> None:
        """Return when a shard may identify itself next to the others of this process.

        What another process does at the same time Discord tells by an invalid session.
        """
        bucket, clock = shard_id % self._concurrency, asyncio.get_running_loop().time
        async with self._order[bucket]:
            await asyncio.sleep(max(0.0, self._next.get(bucket, 0.0) - clock()))
            self._next[bucket] = clock() + IDENTIFY_EVERY

    async def leave(self) -> None:
        """Publish nothing: no process waits for these shards."""


class SharedShards:
    """A fair share of the shards, held by leases; no shard is connected without one.

    By our own clock a lease ends before the database says so, and runs on while the process is
    stopped: a process that could not renew in time closes its own before others open theirs.
    """

    def __init__(
        self,
        gateway: Gateway,
        leases: Leases,
        bot: str,
        *,
        count: int,
        concurrency: int,
        clock: Callable[[], float] = unstoppable_clock,
    ) -> None:
        """Prepare to share.

        Args:
            bot: What tells this bot from others that use the same database.
            count: How many shards there are.
            concurrency: How many may identify themselves together.
        """
        self._gateway = gateway
        self._leases = leases
        self._bot = bot
        self._group = f"{bot}:{count}"
        self._names = [str(shard_id) for shard_id in range(count)]
        self._concurrency = concurrency
        self._clock = clock
        self._until = -float("inf")

    @property
    def is_certain(self) -> bool:
        """Whether the leases have not run out by our own clock."""
        return self._clock() < self._until

    async def run(self) -> None:
        """Hold a fair share, and be connected for exactly that.

        At first others only see that we are there: processes that start together share
        from the start, and need not hand over.
        """
        come_round = self._join
        while True:
            try:
                await self._meanwhile(come_round())
                come_round = self._come_round
            except StoreError as error:
                logger.warning("Discord's shards cannot be shared out: %s", error)
            await self._meanwhile(asyncio.sleep(self._leases.beat))

    async def turn(self, shard_id: int) -> None:
        """Return when a shard may identify itself, among those of all processes."""
        while True:
            with suppress(StoreError):  # without a database nothing is ours for long
                if await self._leases.take(self._turn("identify", shard_id), _BETWEEN_TURNS):
                    return
            await asyncio.sleep(_RETRY)

    async def leave(self) -> None:
        """Let others have our shards at once, if the database can be reached."""
        self._until = -float("inf")
        try:
            async with asyncio.timeout(_FAREWELL):
                await self._leases.leave(self._group)
        except (StoreError, TimeoutError) as error:
            logger.warning("Discord's shards are free only when our leases run out: %r", error)

    def _turn(self, purpose: str, shard_id: int) -> str:
        """Return the name of what shards of the same kind do one after the other."""
        return f"{self._bot}:{purpose}:{shard_id % self._concurrency}"

    async def _join(self) -> None:
        await self._leases.share(self._group, [])

    async def _come_round(self) -> None:
        before = self._clock()
        share = await self._leases.share(self._group, self._names)
        self._until = before + self._leases.seconds * (1 - _MARGIN)
        if not self.is_certain:
            return  # the answer took as long as the leases
        await self._connect_exactly(share)
        if share.too_large:
            await self._let_go_of_one()

    async def _connect_exactly(self, share: LeaseShare) -> None:
        held = {int(name) for name in share.held}
        if lost := self._gateway.running - held:
            logger.info("another process has shards %s", sorted(lost))
            await self._gateway.end(*lost)
        if not self.is_certain:
            return  # ending them took as long as the leases
        for shard_id in sorted(held - self._gateway.running):
            logger.info("this process has shard %d", shard_id)
            self._gateway.begin(shard_id)

    async def _let_go_of_one(self) -> None:
        """End one connection, and then let another process have that shard.

        Not sooner than it may identify itself there: it would only be silent for longer.
        """
        shard_id = max(self._gateway.running)
        if not await self._leases.take(self._turn("hand-over", shard_id), _BETWEEN_TURNS):
            return
        if not self.is_certain:
            return  # the answer took as long as the leases: it has been ended
        logger.info("shard %d is handed over to another process", shard_id)
        await self._gateway.end(shard_id)
        await self._leases.release(self._group, str(shard_id))

    async def _meanwhile(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Wait for something; when the leases run out before that, end all connections."""
        waiting = asyncio.create_task(coroutine)
        try:
            while not waiting.done():
                left = max(0.0, self._until - self._clock()) if self._gateway.running else inf
                await asyncio.wait({waiting}, timeout=min(left, self._leases.beat))
                if not self.is_certain and (running := self._gateway.running):
                    logger.warning("the leases of shards %s have run out", sorted(running))
                    await self._gateway.end(*running)
            return waiting.result()
        finally:
            waiting.cancel()
