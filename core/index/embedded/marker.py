"""The note next to a stored collection that says how it was written."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from core.errors import CollectionDamaged
from core.index.base import FORMAT
from core.index.points import check_format

_FILE = "glossator.json"
_REWRITTEN = frozenset({_FILE, "edge_config.json", "segment.json"})
OPTIMIZE_ABOVE = 20_000
"""Points; below, a full scan takes a few milliseconds and building a graph half a minute."""


@dataclass(frozen=True, slots=True)
class Marker:
    """What a reader must know before it opens a collection's folder."""

    dimensions: int
    points: int = 0
    """How many points it was sealed with; 0 while it is being built."""
    format: int = FORMAT
    files: dict[str, int] = field(default_factory=dict)
    """The size of each file as it was sealed, but for those that opening it rewrites."""


def write_marker(folder: Path, marker: Marker) -> None:
    """Put the marker into the folder, in place of an older one."""
    text = json.dumps(asdict(marker))
    (folder / _FILE).write_text(text, encoding="utf-8")


def sizes(folder: Path) -> dict[str, int]:
    """Return the size of each file of a collection that only its writing changes.

    A process that opens the collection rewrites small files, each under a name that begins with
    a dot until it takes the old one's place.
    """
    return {
        path.relative_to(folder).as_posix(): path.stat().st_size
        for path in folder.rglob("*")
        if not (path.name.startswith(".") or path.name in _REWRITTEN) and path.is_file()
    }


def is_whole(folder: Path, points: int) -> bool:
    """Return whether a sealed collection has so many points, and its files as they were sealed.

    Nothing is opened: that would take memory by the size of the collection.

    Raises:
        CollectionDamaged: when it has no readable marker.
    """
    marker = read_marker(folder)
    return marker.points == points and bool(marker.files) and marker.files == sizes(folder)


def has_marker(folder: Path) -> bool:
    """Return whether the folder is a collection's."""
    return (folder / _FILE).is_file()


def read_marker(folder: Path) -> Marker:
    """Return the folder's marker.

    Raises:
        CollectionDamaged: when there is none, or it is of another format.
    """
    try:
        fields = json.loads((folder / _FILE).read_text(encoding="utf-8"))
        check_format(folder.name, fields.get("format"))
        return Marker(**fields)
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise CollectionDamaged(
            f"{folder} is no readable collection ({error}): ingest the course again."
        ) from error
