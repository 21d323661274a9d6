"""The rows of all tables as JSON, the same from SQLite and from PostgreSQL, and back."""

from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import Connection, Table
from sqlalchemy.ext.asyncio import AsyncSession

from core.backup.manifest import BackedUpTable
from core.storage.database import UtcDateTime
from core.tables import METADATA

MOMENTARY: Final = frozenset({"closed_windows", "exchanges", "leases"})
"""Tables whose rows are over within minutes: they are in no backup."""
_PAGE = 2_000
_BATCH = 500

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
    for batch in _batches(filter(keep, decoded)):
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


def _batches(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
