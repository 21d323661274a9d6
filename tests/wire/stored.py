"""What stands in a bot's SQLite database, looked for in every column of every table."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path


def places_of(data: Path, *wanted: object) -> set[str]:
    """Return the columns, as `table.column`, in which any of these texts stands somewhere."""
    texts = [str(text).lower() for text in wanted]
    with closing(sqlite3.connect(data / "glossator.db")) as database:
        tables = [
            name
            for (name,) in database.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            )
        ]
        return {place for table in tables for place in _found(database, table, texts)}


def rows_of(data: Path, query: str, *values: object) -> list[tuple[object, ...]]:
    """Return what a query of the database finds."""
    with closing(sqlite3.connect(data / "glossator.db")) as database:
        return database.execute(query, values).fetchall()


def _found(database: sqlite3.Connection, table: str, texts: list[str]) -> Iterable[str]:
    rows = database.execute(f"SELECT * FROM {table}")
    columns = [column[0] for column in rows.description]
    for row in rows:
        for column, value in zip(columns, row, strict=True):
            text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
            if any(wanted in text.lower() for wanted in texts):
                yield f"{table}.{column}"
