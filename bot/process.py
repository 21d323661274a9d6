"""The parts of a running bot: the worker, the janitor and the platforms over one inbox."""

import asyncio
import itertools
import logging
from asyncio import FIRST_COMPLETED
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import timedelta
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.chat.acceptor import place_of, without_text
from adapters.chat.access import Admission, ChannelAccess, Membership, Readers
from adapters.chat.attention import Attention, Deciding
from adapters.chat.base import ChatPlatform, SteppedDown
from adapters.chat.course_directory import CourseDirectory
from adapters.chat.delivery.janitor import Janitor, WaitingNotices
from adapters.chat.delivery.worker import Worker
from adapters.chat.front_desk import FrontDesk
from adapters.chat.incoming_message import PlatformClock
from adapters.chat.places import PlaceResolver, StaffStanding
from bot.build_discord import ChatServices, retention_of
from bot.health import DiskWatch
from bot.keys import Pseudonyms, Sealer
from bot.periodic import QueuePosts, RadarPosts, SourceRenewal, ingest_aside
from bot.platforms import PLATFORMS
from bot.services import HANDBOOK, Services
from core.domain.errors import ConfigurationError, StoreError, StoreRefused
from core.domain.telemetry import NO_METER, RESTARTED, Meter
from core.ingestion.changes import SourceChecks
from core.storage.access import Tenant
from core.storage.access_store import AccessStore, Roster, StaffStore
from core.storage.budgets import TokenBudgets, TokenLimits
from core.storage.channels import Conversations, Exchanges
from core.storage.inbox.base import IntakeLimits
from core.storage.inbox.store import Inbox
from core.storage.ingest_accounts import IngestAccounts
from core.teaching.help_requests import HelpRequests
from core.teaching.queue_cards import QueueCards
from core.teaching.radar_store import RadarStore

if TYPE_CHECKING:
    from bot.health import HealthSources

logger = logging.getLogger(__name__)


_PAUSES = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""Seconds before a part is started again; the last one again and again."""
_STEADY = 300.0
"""Seconds after which a failure counts as the first one again."""
_REFUSED_PAUSE = 300.0
"""Seconds before credentials that were refused are tried again."""

Start = Callable[[], Awaitable[None]]
"""Runs a part until it is closed; called again, it begins afresh."""


class Supervisor:
    """Runs parts side by side."""

    def __init__(
        self, meter: Meter, refusable: Collection[str] = (), pauses: tuple[float, ...] = _PAUSES
    ) -> None:
        """Prepare to run parts.

        Args:
            refusable: The parts whose credentials may be refused, which only the operator can
                mend: one is tried again and again as long as another of them has its own.
            pauses: Seconds before the second, third ... start of a part.
        """
        self._meter = meter
        self._pauses = pauses
        self._refusable = frozenset(refusable)
        self._refused = dict[str, ConfigurationError]()

    async def keep(self, part: str, start: Start) -> None:
        """Run a part until it ends by itself; one that fails is started again after a pause.

        Raises:
            ConfigurationError: when every part that can be refused was.
        """
        pauses = self._growing()
        clock = asyncio.get_running_loop().time
        while True:
            begun = clock()
            try:
                await start()
                return
            except ConfigurationError as error:
                self._refuse(part, error)
                pause = _REFUSED_PAUSE
            except Exception as error:
                if clock() - begun > _STEADY:
                    pauses = self._growing()
                pause = next(pauses)
                logger.error(
                    "the part %s failed, %s; it is started again in %.0f s",
                    *(part, place_of(error), pause),
                    exc_info=without_text(error),
                )
            self._meter.count(RESTARTED, part)
            await asyncio.sleep(pause)
            self._refused.pop(part, None)

    def _refuse(self, part: str, error: ConfigurationError) -> None:
        """Note that a part was refused; raises the error when no other one is left."""
        self._refused[part] = error
        if part not in self._refusable or self._refused.keys() >= self._refusable:
            raise error
        logger.error("%s is not answered until this is put right: %s", part, error)

    def _growing(self) -> Iterator[float]:
        return chain(self._pauses, repeat(self._pauses[-1]))


DRAIN = 7.0
"""Seconds that answers under way get when the bot is asked to stop; the whole takes ten."""
HANDING_BACK = 0.5
"""Seconds to put the others back into the inbox; no one waits longer for a silent database."""
CLOSING = 1.5
"""Seconds that the platforms get to take leave, all at the same time."""


class Bot:
    """The worker and the platforms over one set of services."""

    def __init__(self, opened: Services, holding: "AsyncEngine", meter: Meter = NO_METER) -> None:
        """Put the parts together; nothing is connected yet.

        Args:
            holding: Connections for claims and renewals alone.
        """
        settings = opened.settings
        self._opened = opened
        sealer = Sealer(opened.keys.sealing)
        limits = settings.inbox
        self.inbox = Inbox(
            opened.engine,
            seal=sealer.seal,
            unseal=sealer.unseal,
            limits=IntakeLimits(
                user_per_minute=limits.user_per_minute,
                user_wait=timedelta(minutes=limits.user_wait_minutes),
                channel_per_minute=limits.channel_per_minute,
                user_in_flight=limits.user_in_flight,
                channel_in_flight=limits.channel_in_flight,
                in_flight=limits.in_flight,
                longest_wait=timedelta(seconds=limits.stale_after),
            ),
            holding=holding,
            meter=meter,
        )
        access = AccessStore(opened.engine, public=frozenset({HANDBOOK.course_id}))
        directory = CourseDirectory(opened.catalogue, access, handbook=HANDBOOK.course_id)
        rules, described = opened.rules, opened.course_file.rules_of
        readers = Readers(
            access,
            described=described,
            with_courses=directory.tenants_with_courses,
            membership=Membership(self._is_member),
            admitted={name: settings.platform(name).admitted for name in PLATFORMS},
        )
        staff = StaffStore(opened.engine)
        roster = Roster(staff, opened.course_file.staff)
        place_resolver = PlaceResolver(rules, directory, readers, described)
        self._clocks = {name: PlatformClock(name) for name in PLATFORMS}
        conversations = Conversations(opened.engine)
        standing = StaffStanding(place_resolver, roster)
        desk = FrontDesk(
            inbox=self.inbox,
            rules=rules,
            conversations=conversations,
            sessions=opened.sessions,
            pseudonyms=Pseudonyms(opened.keys.pseudonym),
            place_resolver=place_resolver,
            standing=standing,
            attention=Attention(
                inbox=self.inbox,
                conversations=conversations,
                exchanges=Exchanges(opened.engine),
                sessions=opened.sessions,
                deciding=Deciding(opened.local),
            ),
            handbook=HANDBOOK.course_id,
            clocks=self._clocks,
        )
        chats = ChatServices(
            opened=opened,
            inbox=self.inbox,
            holding=holding,
            desk=desk,
            readers=readers,
            standing=standing,
            rules=rules,
            staff=staff,
            roster=roster,
            directory=directory,
            wake=lambda: self.worker.wake(),
            stop=lambda key, tenants: self.worker.stop(key, tenants),
            meter=meter,
            clocks=self._clocks,
        )
        self._build = _platforms(chats)
        self._platforms = {name: build() for name, build in self._build.items()}
        adapters: Mapping[str, ChatPlatform] = self._platforms  # as they are, built again or not
        self._supervisor = Supervisor(meter, self._platforms.keys())
        self.worker = Worker(
            inbox=self.inbox,
            agent=opened.agent(meter=meter),
            adapters=adapters,
            sessions=opened.sessions,
            budgets=TokenBudgets(opened.engine, limits=TokenLimits()),
            checked=Admission(directory, readers).checked,
            lease=limits.lease,
            concurrency=limits.in_flight,
            stale_after=timedelta(seconds=limits.stale_after),
            meter=meter,
            withdraw=HelpRequests(opened.engine).withdraw,
        )
        self.janitor = Janitor(
            inbox=self.inbox, adapters=adapters, retention=retention_of(opened), meter=meter
        )

        access_there = ChannelAccess(readers, directory, adapters)
        self.radar_posts = RadarPosts(
            opened.radar,
            RadarStore(opened.engine),
            access_there,
            {name: chats.radar_views(name) for name in self._platforms},
            adapters,
        )
        self.source_renewal = SourceRenewal(
            [
                one
                for course in opened.course_file.tables
                for one in opened.course_file.renewed(course)
            ],
            SourceChecks(opened.engine, opened.origins),
            IngestAccounts(opened.engine, opened.origins),
            ingest_aside,
        )
        self.queue_posts = QueuePosts(
            QueueCards(opened.engine), opened.sessions, access_there, adapters
        )
        self.waiting = WaitingNotices(inbox=self.inbox, adapters=adapters)
        self.disks = DiskWatch(settings)

    async def _is_member(self, tenant: Tenant, user: str) -> bool:
        """Return whether a user is a member of a tenant, where its platform can tell."""
        platform = self._platforms.get(tenant.platform)
        return platform is not None and await platform.is_member(tenant, user)

    def watched(self) -> "HealthSources":
        """Return what is looked at to tell how the bot fares."""
        from bot.health import HealthSources

        return HealthSources(
            engine=self._opened.engine,
            index=self._opened.index,
            inbox=self.inbox,
            disks=self.disks,
            platforms=self._platforms,
            pulses={"worker": self.worker.pulse, "janitor": self.janitor.pulse},
            in_flight=lambda: self.worker.in_flight,
            breakers=self._opened.models.left_alone,
            clocks=self._clocks,
        )

    async def run_until(self, stop: asyncio.Event, announce: Callable[[str], None]) -> None:
        """Answer until `stop` is set, then finish or hand back what is under way.

        A part that fails is started again, and the others go on meanwhile.

        Raises:
            ConfigurationError: when every platform refuses our credentials.
        """
        keep = self._supervisor.keep
        parts = [keep("worker", self.worker.run), keep("janitor", self.janitor.run)]
        parts += [keep("waiting", self.waiting.run), keep("disk", self.disks.run)]
        parts += [keep("radar", self.radar_posts.run), keep("queue", self.queue_posts.run)]
        parts += [keep("sources", self.source_renewal.run)]
        parts += [keep(name, partial(self._run, name)) for name in self._platforms]
        running = [asyncio.ensure_future(part) for part in parts]
        stopping = asyncio.create_task(stop.wait())
        try:
            ended, _ = await asyncio.wait([stopping, *running], return_when=FIRST_COMPLETED)
            if stop.is_set():
                announce("Stopping; answers under way get a few seconds.")
            with suppress(TimeoutError):
                async with asyncio.timeout(DRAIN + HANDING_BACK):
                    await self.worker.drain(DRAIN)
            await asyncio.gather(*map(_close, self._platforms.values()))
        finally:
            for task in (stopping, *running):
                task.cancel()
            await asyncio.wait([stopping, *running])
        for task in ended:
            task.result()

    async def _run(self, name: str) -> None:
        """Run a platform until it is closed; one that fails is built again for its next start."""
        while True:
            try:
                await self._platforms[name].run()
                return
            except SteppedDown:
                await self._build_again(name)
            except Exception:
                await self._build_again(name)
                raise

    async def _build_again(self, name: str) -> None:
        await _close(self._platforms[name])
        self._platforms[name] = self._build[name]()


async def _close(platform: ChatPlatform) -> None:
    """Close a platform; a dead network keeps no one waiting, and neither does a broken part."""
    try:
        async with asyncio.timeout(CLOSING):
            await platform.close()
    except TimeoutError:
        logger.info("%s was not closed in time", platform.platform)
    except Exception as error:
        detail = without_text(error)
        logger.error("%s cannot be closed, %s", platform.platform, place_of(error), exc_info=detail)


def _platforms(chats: ChatServices) -> Mapping[str, Callable[[], ChatPlatform]]:
    """Return what builds each platform whose settings are there, over the same inbox."""
    return {name: partial(_built, name, chats) for name in chats.opened.settings.platforms()}


def _built(name: str, chats: ChatServices) -> ChatPlatform:
    build: Callable[[ChatServices], ChatPlatform] = resolve_name(PLATFORMS[name].adapter)
    return build(chats)


Result = TypeVar("Result")

WRONG_DATABASE = "The database refuses us ({reason}): set GLOSSATOR_DATABASE__URL to another."
_STARTUP_PAUSES = (0.5, 1.0, 2.0, 3.0)
"""Seconds between two tries: few, as everybody waits for us once the database is there."""


_SAID_EVERY = 5.0
"""Seconds: a start that takes longer is told of, so that nobody takes it for a failure."""


class Starting:
    """What a start is doing at the moment; it is told again and again while that takes long."""

    def __init__(
        self,
        announce: Callable[[str], None],
        show: Callable[[str], None] = lambda _: None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        """Prepare to tell.

        Args:
            announce: Is called with a line about what takes long from the outset.
            show: Is called with what is done, whenever that changes.
            progress: Is called with a line now and then, if there is something new, and with an
                empty one at the end; None: `announce` is.
        """
        self._announce = announce
        self._show = show
        self._progress = progress or (lambda line: announce(line) if line else None)
        self._doing = ""

    def begin(self, doing: str) -> None:
        """Note what is done from now on, such as `reading the handbook, 12 of 25 pages`."""
        self._doing = doing
        self._show(doing)

    def announce(self, work: str) -> None:
        """Tell of work that is known to take seconds."""
        self.begin(work.rstrip(" ."))
        self._announce(work)

    def read(self, stage: str, done: int, total: int) -> None:
        """Note how far the handbook is."""
        doing, unit = _READING.get(stage, (stage, "chunks"))
        self.begin(f"{doing} the handbook, {done} of {total} {unit}")

    @asynccontextmanager
    async def told(self) -> AsyncIterator[None]:
        """Tell every few seconds what is done if that is new, until the block is left."""

        said = ""

        async def tell() -> None:
            nonlocal said
            while True:
                await asyncio.sleep(_SAID_EVERY)
                if said != self._doing:
                    said = self._doing
                    self._progress(f"Starting: {said} ...")

        telling = asyncio.create_task(tell())
        try:
            yield
        finally:
            telling.cancel()
            if said:
                self._progress("")


_READING = {"reading": ("reading", "pages"), "embedding": ("embedding", "chunks")}


class StoppedWhileStarting(Exception):
    """The bot was asked to stop before it had begun."""


async def once_there(
    engine: AsyncEngine, step: Callable[[], Awaitable[Result]], stop: asyncio.Event
) -> Result:
    """Return what a step of the start gives, as soon as the database's server can be reached.

    Raises:
        StoreError: when the database is a file: no one but the operator can mend that.
        ConfigurationError: when the database does not let us in.
        StoppedWhileStarting: when `stop` is set before.
    """
    for pause in itertools.chain(_STARTUP_PAUSES, itertools.repeat(_STARTUP_PAUSES[-1])):
        try:
            return await step()
        except StoreRefused as error:
            raise ConfigurationError(WRONG_DATABASE.format(reason=error)) from error
        except StoreError as error:
            if engine.dialect.name == "sqlite":
                raise
            logger.warning("waiting for the database; I try again in %.1f s: %s", pause, error)
        with suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await stop.wait()
            raise StoppedWhileStarting
    raise AssertionError("the pauses never end")


@contextmanager
def nobody_runs(engine: AsyncEngine) -> Iterator[None]:
    """Keep 'glossator run' off a SQLite database while the block lasts.

    Raises:
        ConfigurationError: when one answers from it.
    """
    if engine.dialect.name != "sqlite":
        yield
        return
    from filelock import FileLock, Timeout

    lock = FileLock(_run_lock(engine), blocking=False)
    try:
        Path(lock.lock_file).parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout as error:
        raise ConfigurationError(
            "A 'glossator run' answers from this database: stop it, and restore again."
        ) from error
    try:
        yield
    finally:
        lock.release()


def _run_lock(engine: AsyncEngine) -> str:
    return f"{engine.url.database}.run.lock"


@asynccontextmanager
async def is_only_process(engine: AsyncEngine) -> AsyncIterator[None]:
    """Warn when another process is in such a block with the same SQLite database."""
    if engine.dialect.name != "sqlite":
        yield
        return
    from filelock import FileLock, Timeout

    lock = FileLock(_run_lock(engine), blocking=False)
    try:
        lock.acquire()
    except Timeout:
        logger.warning(
            "another 'glossator run' answers from the same SQLite database: stop one of the two, "
            "or set GLOSSATOR_DATABASE__URL to a PostgreSQL database"
        )
    try:
        yield
    finally:
        lock.release()
