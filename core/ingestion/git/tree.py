"""Writes the files of a commit into a folder: plain files alone, whatever the commit holds."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from core.errors import SourceUnavailable, UnsupportedDocument
from core.ingestion.account.left_out import LeftOut, missed
from core.ingestion.git.program import GitProgram

_MOST_FILES = 100_000
_DEEPEST = 60
_LONGEST_PART = 255
_PLAIN = frozenset({"100644", "100664", "100755"})
_LINK, _SUBMODULE = "120000", "160000"
_KEPT_ELSEWHERE = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True, slots=True)
class _Entry:
    mode: str
    name: str
    """Of the object, in hexadecimal."""
    size: int
    path: str


async def write_tree(
    git: GitProgram, repository: Path, tree: str, folder: Path, max_bytes: int
) -> list[LeftOut]:
    """Write the files of a tree below `folder`, which is new, and return those that are not.

    Links, submodules, files that are kept by Git LFS and files of more than `max_bytes` are left
    out; nothing is written outside of `folder`, and nothing but plain files.

    Raises:
        SourceUnavailable: the tree cannot be read.
        UnsupportedDocument: it has too many files, or too much in them.
    """
    listing = await git.run("ls-tree", "-r", "-z", "-l", "--full-tree", tree, repository=repository)
    wanted, left_out = list[_Entry](), list[LeftOut]()
    for number, entry in enumerate(_entries(listing)):
        if number >= _MOST_FILES:
            raise UnsupportedDocument(user_message=f"It has more than {_MOST_FILES:,} files.")
        unfit = _unfit(entry, max_bytes)
        if unfit is None:
            wanted.append(entry)
        else:
            left_out.append(unfit)
    if sum(entry.size for entry in wanted) > git.max_bytes:
        raise UnsupportedDocument(
            user_message=f"Its files have more than {git.max_bytes / 1e6:,.0f} MB together."
        )
    names = repository / "glossator-names"
    names.write_text("".join(f"{entry.name}\n" for entry in wanted))
    await asyncio.to_thread(folder.mkdir, parents=True)
    async with git.blobs(names, repository=repository) as stream:
        for entry in wanted:
            reason = await asyncio.to_thread(_write, folder, entry, await _blob(stream, entry))
            if reason is not None:
                left_out.append(missed(entry.path, reason))
    return left_out


def _entries(listing: Path) -> Iterator[_Entry]:
    """Yield what `git ls-tree -z -l` lists."""
    for line in listing.read_bytes().split(b"\0"):
        facts, _, path = line.partition(b"\t")
        parts = facts.split()
        if len(parts) == 4:
            mode, _, name, size = (part.decode("ascii", "replace") for part in parts)
            yield _Entry(mode, name, int(size) if size.isdigit() else 0, os.fsdecode(path))


def _unfit(entry: _Entry, max_bytes: int) -> LeftOut | None:
    """Return why an entry is not written, or none."""
    path = entry.path
    if entry.mode == _SUBMODULE:
        return LeftOut(path, "is a repository of its own (a submodule)", True)
    if entry.mode == _LINK:
        return missed(path, "is a link, which is not followed in a repository")
    parts = path.split("/")
    if entry.mode not in _PLAIN or len(parts) > _DEEPEST or not all(map(_is_plain, parts)):
        return missed(path, "has a name that is not written to the disk")
    if entry.size > max_bytes:
        return missed(path, f"is larger than {max_bytes / 1e6:.0f} MB")
    return None


def _is_plain(part: str) -> bool:
    is_control = part in {"", ".", ".."} or part.lower().rstrip(". ") == ".git"
    foreign_marks = "\\:" if os.name == "nt" else "\0"
    is_odd = any(mark in part for mark in foreign_marks) or len(os.fsencode(part)) > _LONGEST_PART
    return not is_control and not is_odd


async def _blob(stream: asyncio.StreamReader, entry: _Entry) -> bytes:
    try:
        header = (await stream.readuntil(b"\n")).split()
        if header != [entry.name.encode(), b"blob", str(entry.size).encode()]:
            raise SourceUnavailable(user_message="The repository is damaged.")
        data = await stream.readexactly(entry.size)
        await stream.readexactly(1)
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise SourceUnavailable(user_message="The repository is damaged.") from error
    return data


def _write(folder: Path, entry: _Entry, data: bytes) -> str | None:
    """Write a file, and return why it was not written, or none."""
    if data.startswith(_KEPT_ELSEWHERE) and len(data) < 1_024:
        return "is kept by Git LFS, from which nothing is fetched"
    place = folder.joinpath(*entry.path.split("/"))
    # Two entries may claim one name, on some disks also in other letters: the first one has it.
    with suppress(FileExistsError, NotADirectoryError, IsADirectoryError):
        place.parent.mkdir(parents=True, exist_ok=True)
        with open(place, "xb") as file:
            file.write(data)
        return None
    return "has the name of another file of the repository"
