"""Whether what is posted by itself, without any asker, may be seen where it goes."""

import logging
from collections.abc import Mapping, Sequence
from typing import Protocol

from adapters.access.course_directory import CourseDirectory
from adapters.access.location import Location
from adapters.access.readers import Readers

logger = logging.getLogger(__name__)


class CourseChannel(Protocol):
    """A channel that gets something about a course, by the platform's ids."""

    @property
    def course_id(self) -> str:
        """Return the course."""
        ...

    @property
    def platform(self) -> str:
        """Return the platform."""
        ...

    @property
    def workspace(self) -> str:
        """Return the server or workspace."""
        ...

    @property
    def channel(self) -> str:
        """Return the channel."""
        ...


class PlatformPlaces(Protocol):
    """A platform that knows what lies around a channel."""

    async def places_of(self, workspace: str, channel: str) -> Sequence[str]:
        """Return the places for which rules may be set, as `ChatPlatform.places_of` does."""
        ...


class ChannelAccess:
    """Asks each time: what a channel was chosen for may have been taken back since."""

    def __init__(
        self,
        readers: Readers,
        directory: CourseDirectory,
        platforms: Mapping[str, PlatformPlaces],
    ) -> None:
        """Ask by the places around a channel; `platforms` are by name."""
        self._readers = readers
        self._directory = directory
        self._platforms = platforms
        self._withheld = set[tuple[str, str, str, str]]()
        """Those of which the log says already that they get nothing."""

    async def may_read(self, to: CourseChannel) -> bool:
        """Return whether people of a channel may read its course; raises StoreError.

        A binding in the operator's file counts as it does for questions there: for the channel,
        for a category around it now, and for the whole tenant.
        """
        places = tuple(await self._platforms[to.platform].places_of(to.workspace, to.channel))
        reader = await self._readers.of(Location(to.platform, to.workspace, places, user=""))
        key = (to.course_id, to.platform, to.workspace, to.channel)
        if await self._directory.mark(reader, to.course_id) is not None:
            self._withheld.discard(key)
            return True
        if key not in self._withheld:
            self._withheld.add(key)
            tenant = f"{to.platform}:{to.workspace}"
            logger.warning("%s may not read %s: nothing of it is posted", tenant, to.course_id)
        return False
