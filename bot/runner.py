"""`glossator run`: keeps the chat platforms and the worker going until it is told to stop."""

import asyncio
import logging
import signal
import sys
from asyncio import FIRST_COMPLETED
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta

from adapters.base import ChatPlatform
from adapters.desk import FrontDesk
from adapters.guide import Guide
from adapters.janitor import Janitor
from adapters.worker import Worker
from bot import slack
from bot.chats import ChatServices, retention_of
from bot.discord import discord_adapter
from bot.handbook import COURSE, ingest_handbook
from bot.secrets import Pseudonyms, Sealer
from bot.settings import Settings
from bot.wiring import Services, open_services, pseudonym_key, sealing_keys
from core.channels.store import ChannelRules, Conversations
from core.errors import ConfigurationError, IngestionBusy
from core.inbox.limits import Limits
from core.inbox.store import Inbox

logger = logging.getLogger(__name__)

DRAIN = 8.0
"""Seconds that answers under way get when the bot is told to stop; the whole takes ten."""
CLOSING = 1.5
"""Seconds that a platform gets to take leave."""
_SWITCH_INTERVAL = 0.0005
"""Seconds that a busy thread keeps the interpreter while another one waits for it.

The thread that writes to the database gives it up with every statement; beside a busy event loop
it would wait 5 ms for it each time, by Python's own setting, and so would the askers.
"""
NO_PLATFORM = (
    "No chat platform is set up: set GLOSSATOR_DISCORD__TOKEN (docs/discord.md says how to get "
    "one) or GLOSSATOR_SLACK__BOT_TOKEN (docs/slack.md), or ask at the terminal with "
    "'glossator chat'."
)


async def run_bot(settings: Settings, announce: Callable[[str], None]) -> None:
    """Answer on every platform that the settings name, until SIGTERM or SIGINT.

    Raises:
        ConfigurationError: when there is no platform, or one refuses our credentials.
    """
    if settings.discord.token is None and not slack.is_set_up(settings.slack):
        raise ConfigurationError(NO_PLATFORM)
    sys.setswitchinterval(_SWITCH_INTERVAL)
    stop = asyncio.Event()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):  # Windows: Ctrl-C interrupts instead
            asyncio.get_running_loop().add_signal_handler(signal_number, stop.set)
    async with open_services(settings, announce) as opened:
        try:
            await ingest_handbook(opened)
        except IngestionBusy:
            logger.info("another process ingests the handbook")
        known = await opened.catalogue.courses()
        opened.course_file.check_channels([course.course_id for course, _ in known])
        await opened.warm_up()
        announce("Starting; stop with Ctrl-C.")
        await Bot(opened).run_until(stop, announce)


class Bot:
    """The worker and the platforms over one set of services."""

    def __init__(self, opened: Services) -> None:
        settings = opened.settings
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
                desk=desk,
                rules=rules,
                guide=guide,
                wake=lambda: self.worker.wake(),
                stop=lambda key: self.worker.stop(key),
            )
        )
        adapters = {platform.platform: platform for platform in self._platforms}
        self.worker = Worker(
            inbox=self.inbox,
            agent=opened.agent(),
            adapters=adapters,
            sessions=opened.sessions,
            lease=limits.lease,
            concurrency=limits.in_flight,
            stale_after=timedelta(seconds=limits.stale_after),
        )
        self.janitor = Janitor(inbox=self.inbox, adapters=adapters, retention=retention_of(opened))

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
            await self.worker.drain(DRAIN)
            for platform in self._platforms:
                with suppress(TimeoutError):  # a dead network keeps nobody waiting
                    async with asyncio.timeout(CLOSING):
                        await platform.close()
        finally:
            for task in (stopping, *running):
                task.cancel()
            await asyncio.wait([stopping, *running])
        for task in ended:
            task.result()


def _platforms(chats: ChatServices) -> Sequence[ChatPlatform]:
    """Return every platform whose settings are there, over the same inbox."""
    settings = chats.opened.settings
    platforms = list[ChatPlatform]()
    if settings.discord.token is not None:
        platforms.append(discord_adapter(chats))
    if slack.is_set_up(settings.slack):
        platforms.append(slack.slack_adapter(chats))
    return platforms
