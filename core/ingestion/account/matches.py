"""Says of every match of a glob that is no document why it is none."""

import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from core.ingestion.account.left_out import LeftOut, foreign, missed


def unread_matches(
    matches: Iterable[Path], files: Collection[Path], folder: Path
) -> tuple[LeftOut, ...]:
    """Return each match that is not read, with the reason, in order.

    Args:
        matches: what the glob matched, as it was matched.
        files: those that are read, links followed.
        folder: what the paths of the result are relative to.
    """
    return tuple(_unread(matches, files, folder))


def _unread(matches: Iterable[Path], files: Collection[Path], folder: Path) -> Iterator[LeftOut]:
    holding = {parent for file in files for parent in file.parents}
    seen = set[Path]()
    for match in matches:
        real = Path(os.path.realpath(match))
        name = _name(match, folder)
        if os.path.isdir(match):
            if real not in holding:
                yield LeftOut(name, "is a folder of which the glob matches no file", True)
        elif not os.path.exists(match):
            yield missed(name, "is a link that leads nowhere")
        elif not os.path.isfile(match):
            yield missed(name, "is no regular file")
        elif os.path.islink(match) or real in seen:
            yield foreign(name, f"is read as {_name(real, folder)}")
        else:
            seen.add(real)


def _name(match: Path, folder: Path) -> str:
    """Return the match relative to `folder`, links before its last part followed."""
    path = Path(os.path.realpath(match.parent), match.name)
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
