"""The parts of a running bot: the worker, the janitor and the platforms over one inbox."""

import asyncio
import logging
from asyncio import FIRST_COMPLETED
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from adapters.access.admission import Admission
from adapters.access.channel_access import ChannelAccess
from adapters.access.course_directory import CourseDirectory
from adapters.access.membership import Membership
from adapters.access.readers import Readers
from adapters.access.standing import StaffStanding
from adapters.access.whereabouts import Whereabouts
from adapters.attention.attention import Attention
from adapters.attention.deciding import Deciding
from adapters.base import ChatPlatform, SteppedDown
from adapters.delivery.janitor import Janitor
from adapters.delivery.waiting import WaitingNotices
from adapters.delivery.worker import Worker
from adapters.intake.front_desk import FrontDesk
from adapters.intake.platform_clock import PlatformClock
from adapters.intake.unreadable import place_of, without_text
from bot.handbook import COURSE
from bot.health.disks import DiskWatch
from bot.keyring.sealing import Pseudonyms, Sealer
from bot.platforms.registry import PLATFORMS
from bot.platforms.services import ChatServices, retention_of
from bot.process.queue_posts import QueuePosts
from bot.process.radar_posts import RadarPosts
from bot.process.source_renewal import SourceRenewal, ingest_aside
from bot.process.supervision import Supervisor
from bot.services import Services
from core.access.roster import Roster
from core.access.staff_store import StaffStore
from core.access.store import AccessStore
from core.access.tenants import Tenant
from core.help_requests.cards import QueueCards
from core.help_requests.store import HelpRequests
from core.inbox.limits import IntakeLimits
from core.inbox.store import Inbox
from core.ingestion.changes.checks import SourceChecks
from core.radar.store import RadarStore
from core.storage.budgets.store import TokenBudgets, TokenLimits
from core.storage.channels.exchanges import Exchanges
from core.storage.channels.store import ChannelRules, Conversations
from core.storage.ingest_accounts import IngestAccounts
from core.telemetry.metering import NO_METER, Meter

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine

    from bot.health.health import HealthSources

logger = logging.getLogger(__name__)

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
        access = AccessStore(opened.engine, public=frozenset({COURSE.course_id}))
        directory = CourseDirectory(opened.catalogue, access, handbook=COURSE.course_id)
        rules, described = ChannelRules(opened.engine), opened.course_file.rules_of
        readers = Readers(
            access,
            described=described,
            with_courses=directory.tenants_with_courses,
            membership=Membership(self._is_member),
            admitted={name: settings.platform(name).admitted for name in PLATFORMS},
        )
        staff = StaffStore(opened.engine)
        roster = Roster(staff, opened.course_file.staff)
        whereabouts = Whereabouts(rules, directory, readers, described)
        self._clocks = {name: PlatformClock(name) for name in PLATFORMS}
        conversations = Conversations(opened.engine)
        standing = StaffStanding(whereabouts, roster)
        desk = FrontDesk(
            inbox=self.inbox,
            rules=rules,
            conversations=conversations,
            sessions=opened.sessions,
            pseudonyms=Pseudonyms(opened.keys.pseudonym),
            whereabouts=whereabouts,
            standing=standing,
            attention=Attention(
                inbox=self.inbox,
                conversations=conversations,
                exchanges=Exchanges(opened.engine),
                sessions=opened.sessions,
                deciding=Deciding(opened.local),
            ),
            handbook=COURSE.course_id,
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
        from bot.health.health import HealthSources

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
