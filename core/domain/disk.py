"""How much room a file system has, and how a failure for want of room is recognised."""

import errno
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from core.domain.errors import IndexFull, NoRoom

MEGABYTE = 1_000_000
INDEX_RESERVE = 64 << 20
"""Bytes that stay free beyond what a collection of the embedded index is known to need.

Its engine maps files of 32 MB that are mostly holes. A write to a hole of a full disk is no
error that could be caught, so the disk must not become full while a collection is written.
"""
_WANT_OF_ROOM = frozenset({errno.ENOSPC, errno.EROFS, errno.EDQUOT})
_UNWRITABLE = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_READONLY_CANTINIT,
        sqlite3.SQLITE_READONLY_DIRECTORY,
        sqlite3.SQLITE_READONLY_DBMOVED,
        sqlite3.SQLITE_READONLY_RECOVERY,
        sqlite3.SQLITE_IOERR_WRITE,
        sqlite3.SQLITE_IOERR_SHMOPEN,
        sqlite3.SQLITE_IOERR_SHMSIZE,
        sqlite3.SQLITE_IOERR_SHMMAP,
        sqlite3.SQLITE_CANTOPEN,
    }
)
"""How SQLite calls a full disk, and one that is only for reading."""
_NAMED = tuple(f"(os error {number})" for number in sorted(_WANT_OF_ROOM))
"""How the embedded engine ends its sentences about such a failure."""
_SHARED_MEMORY = Path("/dev/shm")


@dataclass(frozen=True, slots=True)
class Space:
    """The room of a file system, in bytes."""

    total: int
    free: int
    """What an account without privileges may still use."""

    @property
    def share(self) -> float:
        """The free part of the whole, 0.0 to 1.0."""
        return self.free / self.total if self.total else 0.0


def space(folder: Path) -> Space:
    """Return the room where a folder is, or would be made.

    Raises:
        OSError: when its file system does not answer.
    """
    usage = shutil.disk_usage(nearest(folder))
    return Space(usage.total, usage.free)


def nearest(path: Path) -> Path:
    """Return the path, or the closest folder above it that exists."""
    return next(place for place in (path, *path.absolute().parents) if place.exists())


def is_writable(folder: Path) -> bool:
    """Return whether the account may write there; never on a read-only file system."""
    return os.access(folder, os.W_OK)


def is_read_only(folder: Path) -> bool:
    """Return whether the whole file system takes no writes, for every process."""
    if not hasattr(os, "statvfs"):
        return False
    return bool(os.statvfs(nearest(folder)).f_flag & os.ST_RDONLY)


def is_want_of_room(error: BaseException) -> bool:
    """Return whether a write failed because the disk is full, over quota or read-only."""
    if isinstance(error, OSError):
        return error.errno in _WANT_OF_ROOM
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", None) in _UNWRITABLE
    return any(named in str(error) for named in _NAMED)


def check_room(needs: Mapping[Path, int], purpose: str) -> None:
    """Return when every file system has the room that is needed on it.

    Args:
        needs: Bytes, by the folder that they are for; those of one file system add up.
        purpose: Begins the sentence, such as `The course biology`.

    Raises:
        NoRoom: naming the folder, what is needed and what is free.
    """
    wanted: dict[int, tuple[Path, int]] = {}
    for folder, needed in needs.items():
        device = nearest(folder).stat().st_dev
        first, sum_so_far = wanted.get(device, (folder, 0))
        wanted[device] = first, sum_so_far + needed
    for folder, needed in wanted.values():
        free = space(folder).free
        if free < needed:
            raise NoRoom(
                f"{purpose} needs about {megabytes(needed)} in {folder}, and only "
                f"{megabytes(free)} are free there: free some room, and try again."
            )


def check_index_room(folder: Path, needed: int) -> None:
    """Return when the embedded index may write `needed` bytes to a collection's folder.

    Raises:
        IndexFull: naming what is needed and what is free.
    """
    free = space(folder).free
    if free < needed:
        raise IndexFull(
            f"The disk of {folder.parent} is full: at least {megabytes(needed)} are needed, and "
            f"{megabytes(free)} are free. Free some room, and try again."
        )


def megabytes(size: int) -> str:
    """Return a number of bytes for people."""
    return f"{size / MEGABYTE:,.0f} MB" if size >= 10 * MEGABYTE else f"{size / MEGABYTE:.1f} MB"


def roomy_folder(needed: int) -> Path | None:
    """Return a folder for temporary files with this many bytes free; None: there is none."""
    folders = [_SHARED_MEMORY]
    with suppress(FileNotFoundError):  # it looks for one by writing, and all may be full
        folders.insert(0, Path(tempfile.gettempdir()))
    for folder in folders:
        if folder.is_dir() and is_writable(folder) and space(folder).free >= needed:
            return folder
    return None


def sync(path: Path) -> None:
    """Bring a file's content, or a folder's names, to the disk.

    Windows opens no folder, and needs none of it.

    Raises:
        OSError: when the disk does not take it.
    """
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
