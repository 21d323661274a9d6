"""The file of a backup: a zip archive with checksums, renamed into place when it is complete."""

import hashlib
import json
import os
import secrets
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from core.backup.manifest import Manifest
from core.disk.space import is_want_of_room
from core.disk.sync import sync
from core.errors import NoRoom, UnusableBackup

_MANIFEST, _SUM = "manifest.json", "manifest.sha256"
_DAMAGES = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    KeyError,
    TypeError,
)
"""How the library and our own reading fail on a damaged archive."""
_PART = 1 << 20


class ArchiveWriter:
    """Writes the members of a backup one after another."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._sums = dict[str, str]()

    @contextmanager
    def lines(self, name: str) -> Iterator[Callable[[Any], None]]:
        """Begin a member of JSON values, one a line, and give what adds one."""
        with self._member(name) as add:
            yield lambda value: add(_json(value) + b"\n")

    def data(self, name: str, content: bytes) -> None:
        """Write a member of bytes."""
        with self._member(name) as add:
            add(content)

    def finish(self, manifest: Manifest) -> None:
        """Write what the archive holds, and the sums that prove it."""
        text = json.dumps({**manifest.to_json(), "sums": self._sums}, indent=2).encode()
        self.data(_MANIFEST, text)
        self.data(_SUM, self._sums[_MANIFEST].encode())

    @contextmanager
    def _member(self, name: str) -> Iterator[Callable[[bytes], None]]:
        read = hashlib.sha256()

        def add(content: bytes) -> None:
            read.update(content)
            member.write(content)

        with self._archive.open(name, "w", force_zip64=True) as member:
            yield add
        self._sums[name] = read.hexdigest()


@contextmanager
def writing(path: Path) -> Iterator[ArchiveWriter]:
    """Write a backup; the file is there, its owner's alone, when the block ends well.

    Raises:
        NoRoom: when the disk is full.
        UnusableBackup: when it cannot be written there at all.
    """
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                    yield ArchiveWriter(archive)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, path)
            sync(path.parent)
        except BaseException:
            with suppress(OSError):
                part.unlink()
            raise
    except OSError as error:
        if is_want_of_room(error):
            raise NoRoom(f"The backup {path} cannot be written: {error.strerror}.") from error
        raise UnusableBackup(
            f"The backup {path} cannot be written: {error.strerror or error}."
        ) from error


class ArchiveReader:
    """Reads the members of a backup, whose sums have been checked."""

    def __init__(self, archive: zipfile.ZipFile, manifest: Manifest) -> None:
        self._archive = archive
        self.manifest = manifest

    def lines(self, name: str) -> Iterator[Any]:
        """Yield the JSON values of a member."""
        with self._archive.open(name) as member:
            for line in member:
                yield json.loads(line)

    def data(self, name: str) -> bytes:
        """Return the bytes of a member."""
        return self._archive.read(name)

    @classmethod
    def checked(cls, archive: zipfile.ZipFile) -> Self:
        """Return a reader, once every member matches its checksum."""
        text = archive.read(_MANIFEST)
        if hashlib.sha256(text).hexdigest() != archive.read(_SUM).decode():
            raise ValueError("the sum of the list of contents")
        fields = json.loads(text)
        sums = fields.pop("sums")
        if sorted([*sums, _MANIFEST, _SUM]) != sorted(archive.namelist()):
            raise ValueError("other members than were written")
        for name, expected in sums.items():
            if _sum_of(archive, name) != expected:
                raise ValueError(f"the sum of {name}")
        return cls(archive, Manifest.from_json(fields))


@contextmanager
def reading(path: Path) -> Iterator[ArchiveReader]:
    """Open a backup, once all of it has been checked.

    Raises:
        UnusableBackup: when it is missing, damaged or no backup.
    """
    try:
        archive = zipfile.ZipFile(path)
    except FileNotFoundError as error:
        raise UnusableBackup(f"There is no file {path}.") from error
    except _DAMAGES as error:
        raise UnusableBackup(f"{path} is no backup of Glossator's, or is damaged.") from error
    with archive:
        try:
            reader = ArchiveReader.checked(archive)
        except _DAMAGES as error:
            raise UnusableBackup(
                f"The backup {path} is damaged, and nothing was restored from it: take another one."
            ) from error
        yield reader


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _sum_of(archive: zipfile.ZipFile, name: str) -> str:
    read = hashlib.sha256()
    with archive.open(name) as member:
        while part := member.read(_PART):
            read.update(part)
    return read.hexdigest()
