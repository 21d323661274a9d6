"""Sees every file of a folder: those that may be pages, and why the others are not."""

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from core.ingestion.account.generated import outputs_of, why_foreign
from core.ingestion.account.left_out import LeftOut, foreign, missed
from core.ingestion.formats.registry import suffix_of
from core.ingestion.sites.page_files import reading_order

_OF_VERSION_CONTROL = frozenset({".git", ".hg", ".svn"})
"""Folders; in a work tree or a submodule of git, `.git` is a file that leads to one."""
_OF_OUR_DATA = ("glossator.db", "pseudonym.key")
"""Files of which a data folder of ours has one, whatever it is called."""


@dataclass(frozen=True, slots=True)
class Survey:
    """Every file below a folder, once; paths are relative, with forward slashes."""

    folder: Path
    """Absolute, without symbolic links."""
    files: tuple[str, ...]
    """What may be a page, or a part of one, in natural order."""
    left_out: tuple[LeftOut, ...]


def survey(folder: Path) -> Survey:
    """Return all files below `folder`; symbolic links to folders are not followed.

    What a version control keeps there for itself is no file of the source, and neither is our data.
    """
    seen = _Walk(folder.resolve())
    seen.go()
    left_out = sorted(seen.left_out, key=lambda left: reading_order(left.path))
    return Survey(seen.root, tuple(sorted(seen.files, key=reading_order)), tuple(left_out))


def page_files(folder: Path, suffixes: Iterable[str]) -> list[str]:
    """Return the files below `folder` that may be pages and have one of `suffixes`, in order."""
    wanted = frozenset(suffixes)
    return [path for path in survey(folder).files if suffix_of(path) in wanted]


def files_below(root: Path) -> Iterator[Path]:
    """Yield the files below `root` that may be pages or parts of them."""
    return (root / path for path in survey(root).files)


@dataclass(slots=True)
class _Walk:
    root: Path
    files: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    foreign_folders: dict[str, str] = field(default_factory=dict)
    """Folders that hold no text of the course, with the reason."""

    def go(self) -> None:
        for parent, folders, files in os.walk(self.root, onerror=self._closed):
            at = Path(parent).relative_to(self.root).as_posix()
            at = "" if at == "." else at
            folders[:] = [name for name in folders if not _is_kept_by_tools(Path(parent, name))]
            files = [name for name in files if name not in _OF_VERSION_CONTROL]
            reason = self.foreign_folders.get(at)
            if reason is None:
                self.foreign_folders.update(outputs_of(self.root, at, files))
            for name in folders:
                self._see_folder(f"{at}/{name}" if at else name, reason)
            for name in files:
                self._see_file(f"{at}/{name}" if at else name, reason)

    def _closed(self, error: OSError) -> None:
        path = Path(str(error.filename)).relative_to(self.root).as_posix()
        # What a folder holds that cannot be opened is not known: it counts as one text.
        self.left_out.append(
            LeftOut(path, f"is a folder that cannot be opened: {error.strerror}", True)
        )

    def _see_folder(self, path: str, reason: str | None) -> None:
        place = self.root / path
        if os.path.islink(place):
            self._see_link(path, is_foreign=reason is not None)
            return
        reason = reason or self.foreign_folders.get(path) or why_foreign(place)
        if reason is not None:
            self.foreign_folders[path] = reason

    def _see_link(self, path: str, *, is_foreign: bool) -> None:
        if (self.root / path).resolve().is_relative_to(self.root):
            self.left_out.append(foreign(path, "is a link to a folder of this source"))
            return
        # What it leads to is not read and may be most of the course: it counts as one text.
        is_missed = not is_foreign and not path.rpartition("/")[2].startswith(".")
        self.left_out.append(LeftOut(path, "is a link to a folder elsewhere", is_missed))

    def _see_file(self, path: str, reason: str | None) -> None:
        if reason is not None:
            self.left_out.append(foreign(path, reason))
        elif path.rpartition("/")[2].startswith("."):
            self.left_out.append(foreign(path, "is a hidden file"))
        elif unfit := _unfit(self.root, self.root / path):
            self.left_out.append(missed(path, unfit))
        else:
            self.files.append(path)


def _is_kept_by_tools(folder: Path) -> bool:
    """Return whether a version control or we ourselves keep a folder next to the course."""
    is_ours = any(os.path.isfile(folder / name) for name in _OF_OUR_DATA)
    return is_ours or folder.name in _OF_VERSION_CONTROL


def _unfit(root: Path, path: Path) -> str | None:
    """Return why what has the name of a file cannot be read as one, or none."""
    try:
        status = path.stat()
        real = path.resolve() if path.is_symlink() else path
    except PermissionError as error:
        return f"cannot be opened: {error.strerror}"
    except (OSError, RuntimeError):  # also links that lead to each other
        return "is a link that leads nowhere"
    if not real.is_relative_to(root):
        return "is a link that leads out of the folder"
    return None if stat.S_ISREG(status.st_mode) else "is no regular file"
