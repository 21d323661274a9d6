"""What the files of the embedded vector engine need of a disk, to be filled and to be read.

The engine maps files of 32 MB that are mostly holes. A write to a hole of a full disk is no
error that could be caught: the system kills the process. So blocks are reserved before each
write. And it rewrites two small files whenever it opens a collection, so that where nothing
can be written, it gets a folder with links to the large files elsewhere.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from core.disk.space import (
    is_read_only,
    is_want_of_room,
    is_writable,
    megabytes,
    nearest,
    roomy_folder,
    space,
)
from core.disk.sparse import copy_sparse, hole, holes_take_room, reserve
from core.errors import IndexFull

OPTIMIZE_ABOVE = 20_000
"""Points; below, a full scan takes a few milliseconds and building a graph half a minute."""
_MAPPED = frozenset({".dat", ".mmap"})
_SMALL = 1 << 16
"""Bytes that a small file may grow by, and that opening a collection writes at most."""
_MARGIN = 1 << 20
_FRESH_IN_MEMORY = 48 << 20
"""What the engine reads of an empty collection's holes, where holes take room."""


@dataclass(frozen=True, slots=True)
class Growth:
    """How many bytes a write adds to the large files."""

    vectors: int
    payload: int
    terms: int

    @property
    def total(self) -> int:
        """All of them, with what goes into the small files."""
        return self.vectors + self.payload + self.terms + _MARGIN

    def of(self, path: Path) -> int:
        """Return what is added to one file, the last of its kind."""
        if path.parent.name == "vectors":
            return self.vectors
        if path.parent.name == "payload_storage":
            return self.payload
        return self.terms if path.parent.name == "store" else _SMALL


def fresh_size(folder: Path) -> int:
    """Return the bytes that a collection takes in a folder before anything is stored in it."""
    return _FRESH_IN_MEMORY if holes_take_room(nearest(folder)) else _MARGIN


def check_fresh(folder: Path) -> None:
    """Return when a new collection may be begun in a folder.

    Raises:
        IndexFull: when there is no room for one.
    """
    _check_free(folder, fresh_size(folder))


def make_room(folder: Path, growth: Growth) -> None:
    """Return when a collection's files have the blocks that the next write needs.

    Raises:
        IndexFull: when the disk has no room for it.
    """
    _check_free(folder, growth.total)
    try:
        beyond = sum(reserve(path, _growth_of(path, growth)) for path in _growing(folder))
    except OSError as error:
        if not is_want_of_room(error):
            raise
        raise _full(folder, growth.total) from error
    _check_free(folder, beyond + _SMALL)  # of files that the engine will begin by itself


def check_copy(folder: Path, copies: int) -> None:
    """Return when a collection can be written `copies` times more on its disk.

    Raises:
        IndexFull: when it cannot.
    """
    _check_free(folder, copies * _stored(folder) + _MARGIN)


def place_to_read(folder: Path) -> "tempfile.TemporaryDirectory[str] | None":
    """Return where to open a sealed collection that cannot be opened where it is.

    None: it can. Else a folder that stands for it until it is cleaned up.

    Raises:
        IndexFull: when no other file system has the room for that.
    """
    needed = _SMALL + (_filled_by_reading(folder) if holes_take_room(folder) else 0)
    if is_writable(folder) and space(folder).free >= needed:
        return None
    copied = [path for unit in _units(folder) if not _may_be_linked(unit) for path in _files(unit)]
    size = sum(path.stat().st_size - hole(path) for path in copied) + _MARGIN
    elsewhere = roomy_folder(size)
    if elsewhere is not None and holes_take_room(elsewhere):
        size += sum(map(hole, copied))
        elsewhere = roomy_folder(size)
    if elsewhere is None:
        raise IndexFull(
            f"The index in {folder} cannot be opened, because nothing can be written there: free "
            f"some room, or set TMPDIR to a folder with {megabytes(size)} free."
        )
    place = tempfile.TemporaryDirectory(prefix="glossator-index-", dir=elsewhere)
    try:
        _stand_in(folder, Path(place.name))
    except BaseException:
        place.cleanup()
        raise
    return place


def _stand_in(folder: Path, place: Path) -> None:
    """Give the engine what it rewrites as copies, and the rest as links where that will do."""
    for unit in _units(folder):
        target = place / unit.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        if _may_be_linked(unit):
            target.symlink_to(unit.absolute(), target_is_directory=True)
            continue
        for path in _files(unit):
            copy = place / path.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy_sparse(path, copy)
            copy.chmod(0o600)


def _units(folder: Path) -> Iterator[Path]:
    """Yield the files that are rewritten when a collection is opened, and the folders of others.

    The engine looks for the pages of its stores in their folders, and takes no link for one.
    """
    segments = [*folder.glob("segments/*")]
    yield from (path for parent in (folder, *segments) for path in _files_in(parent))
    yield from (path for segment in segments for path in segment.iterdir() if path.is_dir())


def _files_in(folder: Path) -> Iterator[Path]:
    found = folder.iterdir()
    return (path for path in found if not path.name.startswith(".") and path.is_file())


def _may_be_linked(unit: Path) -> bool:
    """Return whether the engine neither writes to the files nor fills their holes."""
    if unit.is_file() or is_read_only(unit) or not is_writable(unit):
        return False
    return not holes_take_room(unit) or not _filled_by_reading(unit)


def _is_filled(path: Path) -> bool:
    """Return whether opening a collection reads all of a file; it does so with most."""
    is_page = path.name.startswith("page_")
    return not (is_page and path.parent.name in {"payload_storage", "store"})


def _filled_by_reading(folder: Path) -> int:
    return sum(hole(path) for path in _files(folder) if _is_filled(path))


def _stored(folder: Path) -> int:
    return sum(path.stat().st_size - hole(path) for path in _files(folder))


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files, but for those that take the place of others in a moment."""
    found = (folder, *folder.rglob("*"))
    return (path for path in found if not path.name.startswith(".") and path.is_file())


def _growing(folder: Path) -> Iterator[Path]:
    return (path for path in _files(folder) if path.suffix in _MAPPED and hole(path))


def _growth_of(path: Path, growth: Growth) -> int:
    is_large = path.suffix == ".mmap" or path.name.startswith("page_")
    return growth.of(path) if is_large else _SMALL


def _check_free(folder: Path, needed: int) -> None:
    if space(folder).free < needed:
        raise _full(folder, needed)


def _full(folder: Path, needed: int) -> IndexFull:
    place = folder.parent
    return IndexFull(
        f"The disk of {place} is full: at least {megabytes(needed)} more are needed, and "
        f"{megabytes(space(folder).free)} are free. Free some room, and try again."
    )
