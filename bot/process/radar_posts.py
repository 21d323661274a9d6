"""Posts each course's week into the channel that its staff chose: once, whatever is killed."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Protocol

from adapters.access.channel_access import ChannelAccess
from adapters.delivery.heartbeat import Pulse
from adapters.features.radar_views import RadarViews
from core.errors import BotError, DeliveryError, StoreError
from core.i18n import use_locale
from core.radar.post import RadarChannel, RadarPost
from core.radar.report import Radar
from core.radar.store import RadarStore

logger = logging.getLogger(__name__)

_EVERY = 15.0
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
        every: float = _EVERY,
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
