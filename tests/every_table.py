"""Rows for every table of the program, with every kind of value that a column may have."""

from datetime import date, timedelta
from itertools import count
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import Connection, Table

from bot.backup_archive import MOMENTARY, kinds, tables
from tests.samples import EARLIER

ROWS = 3
_TEXTS = ("plain", "Ünïcode 🙂 „quoted“ \\ 'single' \"double\"", "two\nlines\tand a tab")


def fill(connection: Connection) -> None:
    """Put rows into every table, each with the rows that it refers to; the last has no options."""
    for table in tables():
        rows = [_row(table, n) for n in range(ROWS)]
        connection.execute(sa.insert(table), rows)


def contents(connection: Connection) -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows, as Python values."""
    return {
        table.name: [
            tuple(row) for row in connection.execute(sa.select(table).order_by(*table.primary_key))
        ]
        for table in tables()
    }


def names(connection: Connection) -> set[str]:
    """Return the tables that the migrations made, but those that no backup has."""
    found = set(sa.inspect(connection).get_table_names())
    return found - MOMENTARY - {"alembic_version"}


def _row(table: Table, n: int) -> dict[str, Any]:
    numbers = count()
    return {
        column.name: [{"collection": f"key-{n}", "format": 2, "chunks": n, "hidden": []}]
        if column.name == "segments"
        else None
        if column.nullable and n == ROWS - 1
        else _value(
            kinds(table)[column.name],
            n,
            0 if column.foreign_keys or column.name == "collection" else next(numbers),
        )
        for column in table.columns
    }


def _value(kind: str, n: int, position: int) -> Any:
    """Return the n-th value of a kind; a reference fits the n-th key, which comes first."""
    moment = EARLIER + timedelta(days=n, microseconds=position)
    values: dict[str, Any] = {
        "uuid": UUID(int=(1 << 100) + n),
        "bytes": bytes(range(n, 256)),
        "moment": moment,
        "date": date(2026, 3, 1) + timedelta(days=n),
        "json": [{"a": [None, 1.5, _TEXTS[n]]}, ["x"], {}][n],
        "boolean": n % 2 == 0,
        "integer": n + 1,
        "number": n / 3,
        "text": _TEXTS[n] if position else f"key-{n}",
    }
    return values[kind]
