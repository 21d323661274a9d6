"""One process of a bot holds Discord's gateway by a lease; the others stand by.

Each is logged in and answers what is in the inbox. Only the holder is told what people write, over
discord.py's own connections, one a shard. When the lease is free, as after the holder's death,
the next process takes it, connects, and reads in the channels what was said in between.

Two holders at a time do no harm, as the inbox takes each question once. So a holder whose database
is away stays connected until it learns that the lease is another's.
"""

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager
from math import inf
from typing import Any, TypeVar

import aiohttp
import discord
import yarl
from discord.gateway import DiscordWebSocket

from adapters.chat.base import SteppedDown
from adapters.chat.delivery.job_lease import unstoppable_clock
from adapters.discord.client import Client
from adapters.discord.inbound import PLATFORM
from adapters.discord.odd_events import close_sockets
from core.domain.errors import ConfigurationError, ServiceError, StoreError
from core.storage.leases import Leases

logger = logging.getLogger(__name__)

BAD_TOKEN = (
    "Discord refuses the token: copy it again from the developer portal, page Bot, "
    "into GLOSSATOR_DISCORD__TOKEN."
)
NO_INTENT = (
    "Discord refuses the message content intent: switch 'Message Content Intent' on in "
    "the developer portal, page Bot, or set GLOSSATOR_DISCORD__MESSAGE_CONTENT=false "
    "(then only commands, mentions and direct messages are answered)."
)
TOO_FEW_SHARDS = (
    "The bot is in too many servers for so few shards: set GLOSSATOR_DISCORD__SHARDS higher, "
    "or not at all, and Discord says how many it takes."
)
_AUTHENTICATION_FAILED, _TOO_FEW_SHARDS = 4004, 4011
_SERVER_ERROR, _TOO_MANY = 500, 429
_PAUSES = (1.0, 2.0, 5.0, 10.0)
"""Seconds between two tries to reach Discord when we start."""
_LONGEST_LIMIT = 60.0
"""Seconds of a rate limit that are waited out."""
_BEAT, _LONGEST_BEAT = 0.25, 1.0
"""The part of a lease, and the seconds at most, after which to look at it again."""
_MARGIN = 0.2
"""The part of a lease at whose end it is uncertain whether it is still ours."""
_FAREWELL = 0.5
"""Seconds that Discord gets to close its side, and the database to note that we leave."""
_LONGEST_AWAY = 60.0
"""Seconds after which we log in anew: discord.py's pauses between its tries grow to 17 minutes."""
_NOTED_EVERY = 15.0
"""Seconds between two notes of how far a shard has heard."""

Result = TypeVar("Result")


class ShardLiveness:
    """What the connections of this process's shards hear."""

    def __init__(self) -> None:
        self._met = set[int]()
        self._away = dict[int, float]()
        self._looks = itertools.count()
        self._unfinished = dict[int, set[int]]()
        self._noted = dict[int, float]()

    def met(self, shard_id: int) -> None:
        """Take note of a new connection that stands."""
        self._met.add(shard_id)
        self._away.pop(shard_id, None)

    def resumed(self, shard_id: int) -> None:
        """Take note of a connection that goes on where it was."""
        self._away.pop(shard_id, None)

    def lost(self, shard_id: int) -> None:
        """Take note of a connection that broke."""
        self._away.setdefault(shard_id, asyncio.get_running_loop().time())

    def away_for(self) -> float:
        """Return for how many seconds a shard has been without its connection, at most."""
        moment = asyncio.get_running_loop().time()
        return max((moment - since for since in self._away.values()), default=0.0)

    @contextmanager
    def catching_up(self, shard_id: int) -> Iterator[None]:
        """Take note that something said before is still to be taken in; then have that noted.

        A look back that fails leaves a gap, so that nothing is noted until a later one succeeds.
        That one makes up for all before it: each looks from the last moment that was noted, and
        none is noted meanwhile.
        """
        look = next(self._looks)
        self._unfinished.setdefault(shard_id, set()).add(look)
        yield
        later = {other for other in self._unfinished[shard_id] if other > look}
        self._unfinished[shard_id] = later
        self._noted.pop(shard_id, None)

    def is_whole(self, shards: Collection[int]) -> bool:
        """Return whether all of these shards are connected."""
        return self._met.issuperset(shards) and self._away.keys().isdisjoint(shards)

    def is_to_be_noted(self, shard_id: int) -> bool:
        """Return whether a shard has missed nothing until now, and that has not just been noted."""
        moment = asyncio.get_running_loop().time()
        last = self._noted.get(shard_id, -inf)
        if not self.is_whole([shard_id]) or self._unfinished.get(shard_id):
            return False
        if moment - last < _NOTED_EVERY:
            return False
        self._noted[shard_id] = moment
        return True


class GatewayHolder:
    """Keeps a client connected as long as this process holds the gateway."""

    def __init__(
        self,
        client: Client,
        leases: Leases,
        liveness: ShardLiveness,
        *,
        shards: int | None,
        clock: Callable[[], float] = unstoppable_clock,
    ) -> None:
        """Prepare to stand by.

        Args:
            leases: Keep the gateway for one process.
            liveness: What the client's connections hear.
            shards: How many there are; None: as many as Discord recommends.
            clock: Goes on while the process is stopped.
        """
        self._client = client
        self._leases = leases
        self._liveness = liveness
        self._shards = shards
        self._clock = clock
        self._holds = False
        self._is_known = True
        self._until = -inf
        logging.getLogger("discord.shard").addFilter(_no_error)

    @property
    def is_certain(self) -> bool:
        """Whether it is known who holds the gateway, as of less than a lease ago."""
        return self._clock() < self._until

    @property
    def is_whole(self) -> bool:
        """Whether what people write is heard: by all our shards, or by the process that holds."""
        count = self._client.shard_count or 1
        return self.is_certain and (not self._holds or self._liveness.is_whole(range(count)))

    async def run(self, token: str) -> None:
        """Log in, stand by, and hold the gateway from when it is free until the client is closed.

        Raises:
            ConfigurationError: when the token or an intent is refused; the sentence says what
                to change.
            ServiceError: when Discord refuses us for another reason.
            SteppedDown: when another process holds the gateway meanwhile, or Discord has not been
                heard for long.
        """
        try:
            await retry_forever(lambda: _log_in(self._client, token))
            await self._stand_by(f"{PLATFORM}:{self._client.application_id}")
        except discord.LoginFailure as error:
            raise ConfigurationError(BAD_TOKEN) from error
        except discord.PrivilegedIntentsRequired as error:
            raise ConfigurationError(NO_INTENT) from error
        except discord.ConnectionClosed as error:
            if error.code == _AUTHENTICATION_FAILED:
                raise ConfigurationError(BAD_TOKEN) from error
            if error.code == _TOO_FEW_SHARDS:
                raise ConfigurationError(TOO_FEW_SHARDS) from error
            raise ServiceError(f"Discord closed the connection with {error.code}") from error
        except discord.DiscordException as error:
            raise ServiceError(f"Discord does not let us in: {error}") from error

    async def _stand_by(self, gateway: str) -> None:
        beat = min(self._leases.seconds * _BEAT, _LONGEST_BEAT)
        try:
            await self._look(gateway)
            if not self._holds:
                logger.info("another process holds %s; this one stands by", gateway)
            while not self._holds and not self._is_ending:
                await asyncio.sleep(beat)
                await self._look(gateway)
            if self._holds:
                logger.info("this process holds %s", gateway)
                await self._stay_connected(gateway, beat)
        finally:
            closing = asyncio.ensure_future(self._client.close())  # before another one connects
            await asyncio.wait({closing}, timeout=_FAREWELL)
            await self._release(gateway)

    @property
    def _is_ending(self) -> bool:
        return self._client.unreadable.is_ending

    async def _look(self, gateway: str) -> None:
        """Take or renew the lease; while the database is away, all stays as it is."""
        before = self._clock()
        try:
            async with asyncio.timeout(self._leases.seconds):
                self._holds = await self._leases.hold(gateway)
        except (StoreError, TimeoutError) as error:
            level = logging.WARNING if self._is_known else logging.DEBUG
            logger.log(level, "who holds %s is not known: %r", gateway, error)
            self._is_known = False
        else:
            self._is_known = True
            self._until = before + self._leases.seconds * (1 - _MARGIN)

    async def _stay_connected(self, gateway: str, beat: float) -> None:
        connecting = asyncio.create_task(self._connect())
        try:
            while not (await asyncio.wait({connecting}, timeout=beat))[0]:
                if self._client.is_closed():  # in the middle of connecting its shards
                    return
                await self._look(gateway)
                if not self._holds:
                    logger.warning("another process holds %s by now; this one disconnects", gateway)
                    raise SteppedDown
                if self._liveness.away_for() > _LONGEST_AWAY:
                    logger.warning("Discord has not been heard for long; this process logs in anew")
                    raise SteppedDown
            if not self._is_ending:
                connecting.result()
        finally:
            while not connecting.done():  # `wait_for` may lose one, and discord.py tries for ever
                connecting.cancel()
                await asyncio.wait({connecting}, timeout=1.0)
            await close_sockets(self._client)

    async def _connect(self) -> None:
        """Connect all shards, and stay connected until the client is closed."""
        url, count = await bootstrap(self._client.http.get_bot_gateway, self._shards)
        # Where discord.py connects, also when it begins a session anew.
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(url)
        self._client.shard_count = count
        await self._client.connect()

    async def _release(self, gateway: str) -> None:
        if not self._holds:
            return
        self._holds, self._until = False, -inf
        try:
            async with asyncio.timeout(_FAREWELL):
                await self._leases.release(gateway)
        except (StoreError, TimeoutError) as error:
            logger.warning("%s is free only when our lease runs out: %r", gateway, error)


def _no_error(record: logging.LogRecord) -> bool:
    """Have discord.py warn of a connection that it begins again: it logs an error's traceback."""
    if record.levelno >= logging.ERROR and record.exc_info and record.exc_info[0] is not None:
        record.msg = f"{record.msg} ({record.exc_info[0].__name__})"
        record.levelno, record.levelname = logging.WARNING, logging.getLevelName(logging.WARNING)
        record.exc_info = None
    return True


async def bootstrap(
    ask: Callable[[], Awaitable[tuple[int, str, Any]]], wanted: int | None
) -> tuple[str, int]:
    """Return the gateway's address and the number of shards, once they may all be connected.

    Discord allows a thousand sessions a day, and who begins more loses the token: a bot that is
    started again and again would.

    Args:
        ask: Discord's answer about its gateway, as discord.py returns it.
        wanted: How many shards there are; None: as many as Discord recommends.

    Raises:
        discord.HTTPException: when Discord refuses to tell.
    """
    while True:
        recommended, url, limits = await retry_forever(ask)
        shards = wanted or recommended
        if limits["remaining"] >= shards:
            return url, shards
        again_in = limits["reset_after"] / 1_000
        logger.warning(
            "%d of %d sessions with Discord are left for today, too few to connect; "
            "I wait for %d minutes. Look for what starts the bot again and again.",
            limits["remaining"],
            limits["total"],
            again_in / 60,
        )
        await asyncio.sleep(again_in)


async def retry_forever(request: Callable[[], Awaitable[Result]]) -> Result:
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


async def _log_in(client: Client, token: str) -> None:
    try:
        await client.login(token)
    except BaseException:
        # The next try opens connections of its own.
        await client.http.close()
        client.http.connector = discord.utils.MISSING
        raise
