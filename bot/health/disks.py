"""Watches the room on the disks that the bot writes to, and warns before there is none."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from bot.settings import DiskSettings, Settings
from core.disk.space import MEGABYTE, Space, is_read_only, megabytes, nearest, space
from core.errors import ConfigurationError, NoRoom
from core.storage.database_url import driver_url

logger = logging.getLogger(__name__)

_EVERY = 60.0
"""Seconds between two looks."""


class Level(IntEnum):
    """How much room a disk has, by the marks that are set."""

    ENOUGH = 0
    LOW = 1
    """To be looked after; all is stored as ever."""
    CRITICAL = 2
    """Not enough to go on, or the disk takes no writes at all."""


@dataclass(frozen=True, slots=True)
class Disk:
    """The file system of one of our folders, as it was found."""

    name: str
    """`data`, or `database` where that lies on another one."""
    folder: Path
    space: Space
    level: Level
    is_read_only: bool

    def __str__(self) -> str:
        """Say how it stands, as one sentence without its full stop."""
        if self.is_read_only:
            return f"{self.folder} is on a disk that is only for reading"
        free, share = megabytes(self.space.free), self.space.share
        return f"{free} are free in {self.folder}, {share:.0%} of the disk"


def disks(settings: Settings) -> list[Disk]:
    """Return the disks that are written to; one that does not answer is left out."""
    found = []
    for name, folder in _folders(settings).items():
        try:
            room, read_only = space(folder), is_read_only(folder)
        except OSError as error:
            logger.warning("the disk of %s does not answer: %s", folder, error.strerror)
            continue
        level = Level.CRITICAL if read_only else _level(room, settings.disk)
        found.append(Disk(name, folder, room, level, read_only))
    return found


def _level(room: Space, marks: DiskSettings) -> Level:
    free = room.free / MEGABYTE
    if free < marks.critical_megabytes:
        return Level.CRITICAL
    return Level.LOW if free < marks.low_megabytes else Level.ENOUGH


def _folders(settings: Settings) -> Mapping[str, Path]:
    folders = {"data": settings.data_dir.absolute()}
    try:
        address = driver_url(settings.database_url)
    except ConfigurationError:  # of which whatever opens the database tells
        return folders
    if address.get_backend_name() == "sqlite":
        database = Path(address.database or "").absolute().parent
        if nearest(database).stat().st_dev != nearest(settings.data_dir).stat().st_dev:
            folders["database"] = database
    return folders


class DiskWatch:
    """Looks at the disks of a running bot; see `disks`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._levels = dict[str, Level]()

    async def look(self) -> list[Disk]:
        """Return how the disks stand now; each change of level is logged once."""
        found = await asyncio.to_thread(disks, self._settings)
        for disk in found:
            before = self._levels.get(disk.name, Level.ENOUGH)
            self._levels[disk.name] = disk.level
            if disk.level > before:
                logger.warning("the disk is nearly full: %s", disk)
            elif disk.level < before:
                logger.info("the disk has more room again: %s", disk)
        return found

    async def check(self) -> None:
        """Return when every disk has room to go on.

        Raises:
            NoRoom: when one has not.
        """
        for disk in await self.look():
            if disk.level is Level.CRITICAL:
                raise NoRoom(str(disk))

    async def run(self) -> None:
        """Look again and again, for ever."""
        while True:
            await self.look()
            await asyncio.sleep(_EVERY)
