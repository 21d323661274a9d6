"""Takes in what was said while nobody listened, which Slack delivers again for minutes only."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from adapters.slack.events import Events
from adapters.slack.history import History
from adapters.slack.inbound import Origin
from adapters.slack.installations import Installations
from adapters.slack.workspaces import Workspaces
from core.errors import DeliveryError, StoreError
from core.installations.store import Installed
from core.models import now

logger = logging.getLogger(__name__)

FURTHEST_BACK = timedelta(hours=24)
_MARGIN = timedelta(seconds=30)
"""Events may be on their way when a moment is noted."""
_THREADS_BACK = timedelta(days=3)
"""How long after its last question a thread is looked into for another one."""
_NOTED_EVERY = 20.0
_AGAIN_IN = 10.0
"""Seconds before a look that failed is begun anew."""


class Cursors(Protocol):
    """Remembers how far Slack was heard; methods raise StoreError when the database fails."""

    async def note(self, moment: datetime) -> None:
        """Keep the moment up to which nothing was missed."""
        ...

    async def last(self) -> datetime | None:
        """Return the latest such moment; None before the first connection ever."""
        ...

    async def positions(self) -> Mapping[str, int]:
        """Return the position of the latest question by channel."""
        ...

    async def threads(self, workspace: str, since: datetime) -> Sequence[tuple[str, str]]:
        """Return the channel and first message of the threads somebody asked in since then."""
        ...


class CatchUp:
    """Looks through the history after each pause of the connection, and notes how far it came.

    What was heard before is known by its key. Of what the rules passed over at its time nothing
    is answered later.
    """

    def __init__(
        self,
        *,
        workspaces: Workspaces,
        installations: Installations,
        events: Events,
        cursors: Cursors,
        is_listening: Callable[[], Awaitable[bool]],
    ) -> None:
        """Prepare to look.

        Args:
            is_listening: Returns whether Slack could tell us something right now.
        """
        self._workspaces = workspaces
        self._installations = installations
        self._events = events
        self._cursors = cursors
        self._is_listening = is_listening
        self._begun: datetime | None = None
        self._wanted = asyncio.Event()

    def begin(self) -> None:
        """Have the history looked through: from now on everything is heard again."""
        self._begun = now()
        self._wanted.set()

    async def run(self) -> None:
        """Look when there was a pause, and note in between that there was none; never ends."""
        while True:
            try:
                async with asyncio.timeout(_NOTED_EVERY):
                    await self._wanted.wait()
            except TimeoutError:
                await self._note()
            else:
                self._wanted.clear()
                await self._look()

    async def _note(self) -> None:
        """Keep that everything was heard up to now, unless a look did not end well."""
        if self._begun is not None or not await self._is_listening():
            return
        try:
            await self._cursors.note(now())
        except StoreError as error:
            logger.warning("it cannot be noted how far Slack was heard: %s", error)

    async def _look(self) -> None:
        begun = self._begun
        if begun is None:
            return  # another pause was looked through since this look was put off
        try:
            last = await self._cursors.last()
            if last is not None:
                await self._look_through(max(last - _MARGIN, begun - FURTHEST_BACK), begun)
            await self._cursors.note(begun)
        except (StoreError, DeliveryError) as error:
            logger.warning("the history could not be read to its end: %s", error)
            asyncio.get_running_loop().call_later(_AGAIN_IN, self._wanted.set)
        else:
            if self._begun == begun:
                self._begun = None

    async def _look_through(self, since: datetime, begun: datetime) -> None:
        positions = await self._cursors.positions()
        count, failure = 0, None
        for place in await self._installations.places():
            try:
                count += await self._of_place(place, since, begun, positions)
            except DeliveryError as error:  # the others are not to wait for it
                logger.warning("the history of %s cannot be read: %s", place, error)
                failure = failure if error.permanent else error
        if failure is not None:
            raise failure
        logger.info("looked through %d messages for missed ones", count)

    async def _of_place(
        self, place: str, since: datetime, begun: datetime, positions: Mapping[str, int]
    ) -> int:
        installed = await self._installations.find(place, None)
        if installed is None or installed.place != place or place == installed.organisation:
            logger.info("the history of %s is not read", place)
            return 0
        return await self._of_workspace(installed, since, begun, positions)

    async def _of_workspace(
        self, installed: Installed, since: datetime, begun: datetime, positions: Mapping[str, int]
    ) -> int:
        """Take in what a workspace missed, and return how many messages there were.

        Channels in which somebody asked of late come first.
        """
        team, count = installed.place, 0
        history = History(self._workspaces, (team, installed.organisation))
        threads = defaultdict[str, set[str]](set)
        for channel_id, root in await self._cursors.threads(team, begun - _THREADS_BACK):
            threads[channel_id].add(root)
        channels = await history.channels()
        for channel in sorted(channels, key=lambda c: -positions.get(str(c["id"]), 0)):
            channel_id = str(channel["id"])
            origin = Origin(
                team=team,
                enterprise=installed.organisation,
                me=installed.bot_user,
                bot=installed.bot,
                shared=bool(channel.get("is_ext_shared")),
            )
            try:
                missed = await history.since(channel_id, since, threads[channel_id])
            except DeliveryError as error:
                if not error.permanent:
                    raise
                logger.warning("a channel's history cannot be read: %s", error)
                continue
            for message in missed:
                count += 1
                await self._events.missed({**message, "channel": channel_id}, origin, begun)
        return count
