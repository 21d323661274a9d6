"""Ingests sources again by themselves: when their time has come, or their files have changed."""

import asyncio
import contextlib
import json
import logging
import os
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

from adapters.actions.queue import HelpCard
from adapters.actions.reports import RadarViews
from adapters.chat.access import ChannelAccess
from adapters.chat.base import ChatPlatform
from adapters.chat.delivery.worker import Pulse
from bot.course_tables import RenewedSource
from core.domain import now
from core.domain.errors import BotError, DeliveryError, StoreError
from core.domain.i18n import use_locale
from core.ingestion.changes import CLAIMED_FOR, SourceCheck, SourceChecks
from core.ingestion.sources.sources import origin_of
from core.storage.ingest_accounts import IngestAccounts
from core.storage.sessions import SessionStore
from core.teaching.help_requests import CardDue
from core.teaching.queue_cards import QueueCards
from core.teaching.radar import Radar
from core.teaching.radar_store import RadarChannel, RadarPost, RadarStore

logger = logging.getLogger(__name__)


_EVERY = 30.0
"""Seconds between two looks."""
_RETRY = timedelta(hours=1)
"""After a failure, if the source is not due before."""
_FAREWELL = 5.0
_MOST_FILES = 200_000

Ingest = Callable[[RenewedSource], Awaitable[str | None]]
"""Ingests a source, and returns why that did not succeed, or None."""


class SourceRenewal:
    """Looks for sources that are due; any number of processes may, and each is ingested once.

    A source is claimed in the database before it is ingested, and the claim is renewed while
    that lasts. A watched folder is ingested once its files have stayed the same between two looks.
    """

    def __init__(
        self,
        sources: Sequence[RenewedSource],
        checks: SourceChecks,
        accounts: IngestAccounts,
        ingest: Ingest,
        every: float = _EVERY,
    ) -> None:
        """Prepare to look."""
        self._sources = {(one.course_id, origin_of(one.name)): one for one in sources}
        self._checks = checks
        self._accounts = accounts
        self._ingest = ingest
        self._every = every
        self._looked = dict[tuple[str, str], str]()
        """The state of each watched folder at the last look."""
        self._taken = dict[tuple[str, str], str]()
        """The state of each watched folder that this process last ingested, or found ingested."""

    async def run(self) -> None:
        """Look again and again, until cancelled; without sources, wait for that."""
        while True:
            try:
                await self.look()
            except StoreError as error:
                logger.warning("which source is due cannot be read: %s", error)
            await asyncio.sleep(self._every)

    async def look(self) -> list[RenewedSource]:
        """Ingest the sources that are due, one after the other, and return them.

        Raises:
            StoreError: when the database fails.
        """
        if not self._sources:
            return []
        checks = await self._checks.all()
        ingested = {
            (course_id, account.source): account.ingested_at
            for course_id, accounts in (await self._accounts.all()).items()
            for account in accounts
        }
        done = []
        for key, source in self._sources.items():
            check = checks.get(key, SourceCheck())
            state = await self._state_to_take(key, source, check)
            moments = [one for one in (check.checked_at, ingested.get(key)) if one is not None]
            period = source.every
            if period is not None and check.problem is not None:
                period = min(period, _RETRY)
            is_due = period is not None and (not moments or max(moments) + period <= now())
            if (is_due or state is not None) and await self._checks.claim(*key, check):
                await self._take(key, source, state or check.seen)
                done.append(source)
        return done

    async def _state_to_take(
        self, key: tuple[str, str], source: RenewedSource, check: SourceCheck
    ) -> str | None:
        """Return the state of a watched folder that is to be ingested, or none."""
        if not source.is_watched:
            return None
        state = await asyncio.to_thread(state_of, Path(source.name))
        is_steady = self._looked.get(key) == state
        self._looked[key] = state
        if check.seen == state:
            self._taken[key] = state
        taken = self._taken.get(key, check.seen)
        return state if is_steady and state and state != taken else None

    async def _take(self, key: tuple[str, str], source: RenewedSource, state: str | None) -> None:
        """Ingest a source that was claimed, and note what came of it."""
        logger.info("ingesting %s of %s again", key[1], key[0])
        renewing = asyncio.create_task(self._keep(key))
        try:
            problem = await self._ingest(source)
        finally:
            renewing.cancel()
        if problem is not None:
            logger.warning("%s of %s was not ingested: %s", key[1], key[0], problem)
        if state is not None:
            self._taken[key] = state
        await self._checks.done(*key, problem=problem, seen=state)

    async def _keep(self, key: tuple[str, str]) -> None:
        """Renew a claim, until cancelled."""
        while True:
            await asyncio.sleep(CLAIMED_FOR.total_seconds() / 3)
            with contextlib.suppress(StoreError):
                await self._checks.renew(*key)


def state_of(path: Path) -> str:
    """Return a digest of the names, sizes and times of the files below a folder.

    Empty where there is nothing: a folder that is away for a while has not changed.
    """
    digest, count = blake2b(digest_size=16), 0
    for name, size, moment in _files(path):
        digest.update(f"{name}\0{size}\0{moment}\0".encode(errors="surrogateescape"))
        count += 1
    return digest.hexdigest() if count else ""


def _files(path: Path) -> Iterator[tuple[str, int, int]]:
    if path.is_file():
        status = path.stat()
        yield "", status.st_size, status.st_mtime_ns
        return
    seen = 0
    for parent, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            place = os.path.join(parent, name)
            seen += 1
            if name.startswith(".") or seen > _MOST_FILES:
                continue
            with contextlib.suppress(OSError):
                status = os.lstat(place)
                yield os.path.relpath(place, path), status.st_size, status.st_mtime_ns


async def ingest_aside(source: RenewedSource) -> str | None:
    """Ingest a source in a process of its own, so that answers do not wait for it.

    Returns:
        Why that did not succeed, in a sentence; None: it did.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "bot", "ingest", "--json"),
        *("--course", source.course_id, "--", source.name),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=_environment(),
    )
    try:
        said, complained = await process.communicate()
    except asyncio.CancelledError:
        process.terminate()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FAREWELL):
                await process.wait()
        if process.returncode is None:
            process.kill()
        raise
    if process.returncode == 0:
        _log_changes(source, said)
        return None
    lines = complained.decode(errors="replace").strip().splitlines()
    reason = lines[-1].removeprefix("glossator: ") if lines else ""
    return reason or f"it ended with exit code {process.returncode}"


def _log_changes(source: RenewedSource, said: bytes) -> None:
    with contextlib.suppress(ValueError):
        summary = json.loads(said)
        counts = ", ".join(
            f"{len(summary[word])} {word}" for word in ("added", "changed", "removed", "unchanged")
        )
        logger.info("%s: %s", source.course_id, counts)


def _environment() -> Mapping[str, str]:
    path = os.pathsep.join(folder or os.getcwd() for folder in sys.path)
    return {**os.environ, "PYTHONPATH": path}


_QUEUE_POSTS_EVERY = 2.0
"""Seconds between two looks."""


class QueuePosts:
    """Looks for cards that do not show how far their requests have come.

    Any number of processes may: a card is claimed in the database first. Where a process died
    after it posted, the next one finds the message, and changes that.
    """

    def __init__(
        self,
        cards: QueueCards,
        sessions: SessionStore,
        access: ChannelAccess,
        platforms: Mapping[str, ChatPlatform],
        every: float = _QUEUE_POSTS_EVERY,
    ) -> None:
        self._cards = cards
        self._sessions = sessions
        self._access = access
        self._platforms = platforms
        self._every = every
        self.pulse = Pulse()
        """Beats with every look."""

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            try:
                while await self.show_one():
                    pass
            except StoreError as error:
                logger.warning("what waits for the staff cannot be read: %s", error)
            await asyncio.sleep(self._every)

    async def show_one(self) -> bool:
        """See to a card, and return whether there was one to see to.

        Raises:
            StoreError: when the database fails.
        """
        self.pulse.beat()
        ready = [name for name, platform in self._platforms.items() if platform.is_ready]
        due = await self._cards.claim(ready)
        if due is None:
            return False
        try:
            with use_locale(due.channel.locale):
                await self._show(due)
        except StoreError:
            raise
        except DeliveryError as error:
            logger.warning("a question to the staff of %s: %s", due.channel.course_id, error)
            if error.permanent:
                await self._give_up(due)
        except BotError as error:
            logger.warning("a question to the staff of %s: %s", due.channel.course_id, error)
        return True

    async def _show(self, due: CardDue) -> None:
        platform, request = self._platforms[due.channel.platform], due.request
        if request is None or (due.message is None and request.at(now()).is_over):
            await platform.remove_card(due)
            await self._cards.drop(due)
            return
        if not await self._access.may_read(due.channel):
            return  # claimed for a while, and then looked at again
        card = HelpCard.of(request, await self._sessions.turn_of(request.request_id))
        message = await platform.show_card(due, card.shown)
        await self._cards.shown(due, message, card.state)

    async def _give_up(self, due: CardDue) -> None:
        """Leave a card alone that its platform does not take, or choose its channel no more."""
        place = due.channel
        if due.request is None:
            await self._cards.drop(due)
        elif due.message is not None:
            await self._cards.lose(due)
        else:
            await self._cards.drop(due)
            await self._cards.stop([place.course_id], place.platform, place.workspace)


_RADAR_POSTS_EVERY = 15.0
"""Seconds between two looks."""


class Announcer(Protocol):
    """A platform that can post into a channel of itself."""

    @property
    def is_ready(self) -> bool:
        """Whether it is known who the bot is there."""
        ...

    async def announce(self, channel: RadarChannel, post: RadarPost, key: str) -> None:
        """Post into a channel, unless a post with this key stands there already.

        Raises:
            DeliveryError: when the platform does not take it; `permanent` when it never will.
        """
        ...


class RadarPosts:
    """Looks for weeks that are due; any number of processes may, and each week is posted once.

    A channel is claimed in the database before it is posted into. Where a process died after it
    posted, the next one finds the post, and only keeps that it stands there. As long as a tenant
    may not read a course, it gets none of its weeks.
    """

    def __init__(
        self,
        radar: Radar,
        store: RadarStore,
        access: ChannelAccess,
        views: Mapping[str, RadarViews],
        announcers: Mapping[str, Announcer],
        every: float = _RADAR_POSTS_EVERY,
    ) -> None:
        """Prepare to look; `views` and `announcers` are by platform."""
        self._radar = radar
        self._store = store
        self._access = access
        self._views = views
        self._announcers = announcers
        self._every = every
        self.pulse = Pulse()
        """Beats with every look."""

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            try:
                while await self.post_one():
                    pass
            except StoreError as error:
                logger.warning("which radar is due cannot be read: %s", error)
            await asyncio.sleep(self._every)

    async def post_one(self) -> bool:
        """Post a week that is due, and return whether there was one.

        Raises:
            StoreError: when the database fails.
        """
        self.pulse.beat()
        platforms = [name for name, there in self._announcers.items() if there.is_ready]
        claimed = await self._store.claim(self._radar.week_due, platforms, self._access.may_read)
        if claimed is None:
            return False
        channel, week = claimed
        key = f"radar:{channel.course_id}:{week.isoformat()}"
        try:
            with use_locale(channel.locale):
                report = await self._radar.report(
                    channel.course_id, f"{channel.platform}:{channel.workspace}"
                )
                post = await self._views[channel.platform].post_of(report)
                await self._announcers[channel.platform].announce(channel, post, key)
        except DeliveryError as error:
            logger.warning("the radar of %s was not posted: %s", channel.course_id, error)
            if error.permanent:
                await self._store.stop(channel.course_id, channel.platform, channel.workspace)
            return True
        except StoreError:
            raise
        except BotError as error:
            logger.warning("the radar of %s cannot be made: %s", channel.course_id, error)
            return True
        await self._store.posted(channel, week)
        return True
