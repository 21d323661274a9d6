"""Files with holes: what is really stored of them, and how a hole is given its blocks."""

import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

_BLOCK = 512
_MOUNTS = Path("/proc/self/mountinfo")
_IN_MEMORY = frozenset({"tmpfs", "ramfs"})
_CANNOT = frozenset({errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS, errno.ENODEV})
"""How file systems refuse to reserve blocks, or to tell of holes."""


def hole(path: Path) -> int:
    """Return how many bytes of a file have no blocks yet."""
    status = path.stat()
    stored: int = getattr(status, "st_blocks", status.st_size) * _BLOCK
    return max(0, status.st_size - stored)


def holes_take_room(folder: Path) -> bool:
    """Return whether reading a hole through a memory map gives it blocks, as on a tmpfs.

    Trying it would kill the process where there is no room: such a read is a bus error.
    """
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # no Linux
        return False
    device = folder.stat().st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    kinds = (line.partition(" - ")[2].split(" ")[0] for line in mounts if f" {number} " in line)
    return not _IN_MEMORY.isdisjoint(kinds)


def reserve(path: Path, size: int) -> int:
    """Give blocks to the `size` bytes after a file's last data; return how many did not fit.

    The file keeps its length. Where blocks cannot be reserved, nothing happens.

    Raises:
        OSError: when the disk is full.
    """
    if not hasattr(os, "posix_fallocate"):
        return 0
    with path.open("rb+") as file:
        length = os.fstat(file.fileno()).st_size
        end = max((stop for _, stop in _extents(file.fileno(), length)), default=0)
        inside = min(size, length - end)
        try:
            if inside > 0:
                os.posix_fallocate(file.fileno(), end, inside)
        except OSError as error:
            if error.errno not in _CANNOT:
                raise
        return size - inside


def copy_sparse(source: Path, target: Path) -> None:
    """Copy a file's data, and leave its holes unfilled."""
    with source.open("rb") as old, target.open("wb") as new:
        length = os.fstat(old.fileno()).st_size
        for start, stop in _extents(old.fileno(), length):
            old.seek(start)
            new.seek(start)
            left = stop - start
            while left > 0 and (part := old.read(min(left, 1 << 20))):
                new.write(part)
                left -= len(part)
        new.truncate(length)
    shutil.copymode(source, target)


def _extents(handle: int, length: int) -> Iterator[tuple[int, int]]:
    """Yield where a file has data; all of it where the system does not tell."""
    if not hasattr(os, "SEEK_DATA"):
        yield 0, length
        return
    start = 0
    while start < length:
        try:
            start = os.lseek(handle, start, os.SEEK_DATA)
            stop = os.lseek(handle, start, os.SEEK_HOLE)
        except OSError as error:
            if error.errno in _CANNOT:
                yield 0, length
            elif error.errno != errno.ENXIO:  # which means that no data follows
                raise
            return
        yield start, stop
        start = stop
