"""The parts of a running bot: the worker, the janitor and the platforms over one inbox."""

import asyncio
from asyncio import FIRST_COMPLETED
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from adapters.base import ChatPlatform
from adapters.desk import FrontDesk
from adapters.guide import Guide
from adapters.janitor import Janitor
from adapters.worker import Worker
from bot import slack
from bot.chats import ChatServices, retention_of
from bot.discord import discord_adapter
from bot.handbook import COURSE
from bot.secrets import Pseudonyms, Sealer
from bot.settings import Settings
from bot.wiring import Services, pseudonym_key, sealing_keys
from core.budgets.store import Limits as TokenLimits
from core.budgets.store import TokenBudgets
from core.channels.store import ChannelRules, Conversations
from core.inbox.limits import Limits
from core.inbox.store import Inbox
from core.metering import NO_METER, Meter

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine

    from bot.watching import Watched

DRAIN = 7.0
"""Seconds that answers under way get when the bot is told to stop; the whole takes ten."""
HANDING_BACK = 0.5
"""Seconds to put the others back into the inbox; nobody waits longer for a silent database."""
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
        sealer = Sealer(sealing_keys(settings))
        limits = settings.inbox
        self.inbox = Inbox(
            opened.engine,
            seal=sealer.seal,
            unseal=sealer.unseal,
            limits=Limits(
                user_per_minute=limits.user_per_minute,
                channel_per_minute=limits.channel_per_minute,
                user_in_flight=limits.user_in_flight,
                channel_in_flight=limits.channel_in_flight,
                in_flight=limits.in_flight,
            ),
            holding=holding,
            meter=meter,
        )
        guide, rules = Guide(opened.catalogue), ChannelRules(opened.engine)
        desk = FrontDesk(
            inbox=self.inbox,
            rules=rules,
            conversations=Conversations(opened.engine),
            sessions=opened.sessions,
            pseudonyms=Pseudonyms(pseudonym_key(settings)),
            guide=guide,
            handbook=COURSE.course_id,
            described=lambda platform: opened.course_file.channels.get(platform, {}),
        )
        self._platforms = _platforms(
            ChatServices(
                opened=opened,
                inbox=self.inbox,
                holding=holding,
                desk=desk,
                rules=rules,
                guide=guide,
                wake=lambda: self.worker.wake(),
                stop=lambda key: self.worker.stop(key),
                meter=meter,
            )
        )
        adapters = {platform.platform: platform for platform in self._platforms}
        self.worker = Worker(
            inbox=self.inbox,
            agent=opened.agent(meter=meter),
            adapters=adapters,
            sessions=opened.sessions,
            budgets=TokenBudgets(opened.engine, limits=TokenLimits()),
            lease=limits.lease,
            concurrency=limits.in_flight,
            stale_after=timedelta(seconds=limits.stale_after),
            meter=meter,
        )
        self.janitor = Janitor(
            inbox=self.inbox, adapters=adapters, retention=retention_of(opened), meter=meter
        )

    def watched(self) -> "Watched":
        """Return what is looked at to tell how the bot fares."""
        from bot.watching import Watched

        return Watched(
            engine=self._opened.engine,
            index=self._opened.index,
            inbox=self.inbox,
            platforms={platform.platform: platform for platform in self._platforms},
            pulses={"worker": self.worker.pulse, "janitor": self.janitor.pulse},
            in_flight=lambda: self.worker.in_flight,
            breakers=self._opened.gemini.left_alone,
        )

    async def run_until(self, stop: asyncio.Event, announce: Callable[[str], None]) -> None:
        """Answer until `stop` is set, then finish or hand back what is under way.

        When a part fails, the others are stopped in the same way.

        Raises:
            ConfigurationError: when a platform refuses our credentials.
        """
        parts = [self.worker.run(), self.janitor.run(), *(p.run() for p in self._platforms)]
        running = [asyncio.ensure_future(part) for part in parts]
        stopping = asyncio.create_task(stop.wait())
        try:
            ended, _ = await asyncio.wait([stopping, *running], return_when=FIRST_COMPLETED)
            if stop.is_set():
                announce("Stopping; answers under way get a few seconds.")
            with suppress(TimeoutError):
                async with asyncio.timeout(DRAIN + HANDING_BACK):
                    await self.worker.drain(DRAIN)
            await asyncio.gather(*map(_close, self._platforms))
        finally:
            for task in (stopping, *running):
                task.cancel()
            await asyncio.wait([stopping, *running])
        for task in ended:
            task.result()


async def _close(platform: ChatPlatform) -> None:
    """Close a platform; a dead network keeps nobody waiting."""
    with suppress(TimeoutError):
        async with asyncio.timeout(CLOSING):
            await platform.close()


def platforms_of(settings: Settings) -> list[str]:
    """Return the names of the platforms that the settings name."""
    is_there = {
        "discord": settings.discord.token is not None,
        "slack": slack.is_set_up(settings.slack),
    }
    return [name for name, there in is_there.items() if there]


def _platforms(chats: ChatServices) -> Sequence[ChatPlatform]:
    """Return every platform whose settings are there, over the same inbox."""
    adapters: Mapping[str, Callable[[ChatServices], ChatPlatform]]
    adapters = {"discord": discord_adapter, "slack": slack.slack_adapter}
    return [adapters[name](chats) for name in platforms_of(chats.opened.settings)]
