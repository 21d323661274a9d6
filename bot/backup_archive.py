"""The file of a backup: a zip archive with checksums, renamed into place when it is complete."""

import hashlib
import json
import os
import secrets
import zipfile
import zlib
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final, Self
from uuid import UUID

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection, Table
from sqlalchemy.ext.asyncio import AsyncSession

from core.domain.disk import is_want_of_room, sync
from core.domain.errors import ConfigurationError, NoRoom, UnusableBackup
from core.index.base import FORMAT as POINTS_FORMAT
from core.index.base import (
    IndexedPoint,
    SparseVector,
    VectorIndex,
    check_format,
    to_payload,
    to_point,
)
from core.storage.database import UtcDateTime
from core.tables import METADATA

FORMAT = 1
"""Raise it when an older version could not restore what is written."""


class NewerBackup(ConfigurationError):
    """A backup cannot be restored by this version, as a newer one made it."""

    def __init__(self, program: str) -> None:
        super().__init__(
            f"The backup was made by a newer version of Glossator ({program}): install that "
            "version, and restore with it."
        )


@dataclass(frozen=True, slots=True)
class BackedUpTable:
    """A table, as it was at that moment."""

    name: str
    columns: dict[str, str]
    """What kind of value each holds, see `bot.backup_archive`; in their order."""
    rows: int


@dataclass(frozen=True, slots=True)
class BackedUpEdition:
    """A collection of the text of a course, as it was at that moment."""

    course_id: str
    generation: str
    collection: str
    dimensions: int
    chunks: int
    has_text: bool
    """Whether the chunks and their vectors are in the backup."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """When a backup was made, by which version, and what is in it."""

    program: str
    """The version that wrote it."""
    revision: str
    """Of the schema that the tables have."""
    made_at: datetime
    tables: tuple[BackedUpTable, ...]
    """Each after those that it refers to."""
    editions: tuple[BackedUpEdition, ...]
    keys: tuple[str, ...]
    format: int = field(default=FORMAT)

    def rows(self, table: str) -> int:
        """Return how many rows of a table there are."""
        return sum(one.rows for one in self.tables if one.name == table)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {**asdict(self), "made_at": self.made_at.astimezone(UTC).isoformat()}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Self:
        """Return what `to_json` gave.

        Raises:
            NewerBackup: when a newer version gave it, whatever that put into it.
        """
        if fields["format"] > FORMAT:
            raise NewerBackup(fields.get("program", "unknown"))
        return cls(
            **{
                **fields,
                "made_at": datetime.fromisoformat(fields["made_at"]),
                "tables": tuple(BackedUpTable(**table) for table in fields["tables"]),
                "editions": tuple(BackedUpEdition(**edition) for edition in fields["editions"]),
                "keys": tuple(fields["keys"]),
            }
        )


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


_DOCUMENTS = 50
_BATCH = 256


async def written(
    index: VectorIndex, collection: str, documents: Sequence[UUID]
) -> AsyncIterator[dict[str, Any]]:
    """Yield the points of documents of a collection.

    Raises:
        VectorIndexError: when the index fails, or no longer holds the collection.
    """
    for start in range(0, len(documents), _DOCUMENTS):
        for point in await index.points(collection, documents[start : start + _DOCUMENTS]):
            yield {
                "format": POINTS_FORMAT,
                "number": point.number,
                "payload": to_payload(point),
                "dense": b64encode(point.dense.astype("<f4").tobytes()).decode(),
                "terms": list(point.sparse.indices),
                "weights": list(point.sparse.values),
            }


async def fill(
    index: VectorIndex, collection: str, dimensions: int, lines: Iterable[dict[str, Any]]
) -> int:
    """Make a collection of such points, sealed, and return how many it holds.

    Raises:
        VectorIndexError: when the index fails, also by a format of a newer version.
        NoRoom: when its disk is full.
    """
    points = _checked(collection, lines)
    await index.create(collection, dimensions)
    count = 0
    for batch in _batches(points):
        await index.upsert(collection, batch)
        count += len(batch)
    await index.seal(collection, count)
    return count


def _checked(collection: str, lines: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for line in lines:
        check_format(collection, line["format"])
        yield line


def _batches(lines: Iterable[dict[str, Any]]) -> Iterator[list[IndexedPoint]]:
    batch: list[IndexedPoint] = []
    for line in lines:
        batch.append(_point(line))
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _point(line: dict[str, Any]) -> IndexedPoint:
    dense = np.frombuffer(b64decode(line["dense"]), "<f4")
    sparse = SparseVector(tuple(line["terms"]), tuple(line["weights"]))
    return to_point(line["payload"], dense.tolist(), sparse, line.get("number", 0))


MOMENTARY: Final = frozenset({"closed_windows", "exchanges", "leases"})
"""Tables whose rows are over within minutes: they are in no backup."""
_PAGE = 2_000
_ROWS_BATCH = 500

Cell = Any
Decoder = Callable[[Cell], Any]

_TYPES: dict[str, tuple[sa.types.TypeEngine[Any], Callable[[Any], Cell], Decoder]] = {
    "uuid": (sa.Uuid(), str, UUID),
    "bytes": (sa.LargeBinary(), lambda value: b64encode(value).decode(), b64decode),
    "moment": (UtcDateTime(), datetime.isoformat, datetime.fromisoformat),
    "date": (sa.Date(), date.isoformat, date.fromisoformat),
    "json": (sa.JSON(none_as_null=True), lambda value: value, lambda cell: cell),
    "boolean": (sa.Boolean(), bool, bool),
    "integer": (sa.BigInteger(), int, int),
    "number": (sa.Float(), float, float),
    "text": (sa.Text(), str, str),
}
"""How a kind of value is stored, written and read; None is None in each."""


def tables() -> list[Table]:
    """Return the tables that are backed up, each after those that it refers to."""
    return [table for table in METADATA.sorted_tables if table.name not in MOMENTARY]


def kinds(table: Table) -> dict[str, str]:
    """Return what kind of value each column holds."""
    return {column.name: _kind(column.type) for column in table.columns}


def _kind(type_: sa.types.TypeEngine[Any]) -> str:
    for kind, (known, _, _) in _TYPES.items():
        if isinstance(type_, type(known)):
            return kind
    if isinstance(type_, sa.Integer):
        return "integer"
    if isinstance(type_, sa.Numeric):
        return "number"
    if isinstance(type_, sa.String):
        return "text"
    raise TypeError(f"no kind for {type_!r}")


async def pages(db: AsyncSession, table: Table) -> AsyncIterator[list[list[Cell]]]:
    """Yield a table's rows in the order of its key, many at a time."""
    encoders = [_TYPES[kind][1] for kind in kinds(table).values()]
    query = sa.select(table).order_by(*table.primary_key).limit(_PAGE)
    for start in range(0, 1 << 62, _PAGE):
        rows = (await db.execute(query.offset(start))).all()
        if rows:
            yield [_converted(row, encoders) for row in rows]
        if len(rows) < _PAGE:
            return


def insert(
    connection: Connection,
    table: BackedUpTable,
    rows: Iterable[Sequence[Cell]],
    keep: Callable[[dict[str, Any]], bool],
) -> int:
    """Insert those rows that are to be kept, and return how many these are."""
    # By what the backup says and not by today's models: its tables may be older ones.
    columns = {name: _TYPES[kind] for name, kind in table.columns.items()}
    target = sa.table(table.name, *(sa.column(name, known[0]) for name, known in columns.items()))
    decoders = [known[2] for known in columns.values()]
    decoded = (dict(zip(columns, _converted(row, decoders), strict=True)) for row in rows)
    count = 0
    for batch in _rows_batches(filter(keep, decoded)):
        connection.execute(sa.insert(target), batch)
        count += len(batch)
    return count


def is_filled(connection: Connection) -> bool:
    """Return whether any table holds what a restoration would replace."""
    there = set(sa.inspect(connection).get_table_names())
    wanted = (table for table in tables() if table.name in there and table.name != "key_ids")
    return any(
        connection.execute(sa.select(sa.literal(1)).select_from(t).limit(1)).first() for t in wanted
    )


def drop_all(connection: Connection) -> None:
    """Drop every table of the program, and the record of its migrations."""
    ours = {*METADATA.tables, "alembic_version"}
    there = sa.MetaData()
    # As they are there: those of an earlier version may be others, and refer to others.
    found = ours.intersection(sa.inspect(connection).get_table_names())
    there.reflect(connection, only=sorted(found))
    there.drop_all(connection)


def _converted(row: Sequence[Any], converters: Sequence[Callable[[Any], Any]]) -> list[Any]:
    return [
        None if value is None else convert(value)
        for value, convert in zip(row, converters, strict=True)
    ]


def _rows_batches(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _ROWS_BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
