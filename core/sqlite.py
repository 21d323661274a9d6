"""SQLite connections that take one trip to their thread for a statement."""

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Self

import aiosqlite

Rows = list[Any]


class Cursor:
    """The outcome of one statement, all of its rows fetched; as SQLAlchemy uses a cursor.

    The driver's own cursor goes to the thread and back four times: to be made, to execute, to
    fetch and to be closed. Each time, an event loop with much to do lets it wait for its turn.
    """

    arraysize = 1

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self._rows: Rows = []
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None

    async def __aenter__(self) -> Self:
        return self

    async def execute(self, sql: str, parameters: Sequence[Any] = ()) -> Self:
        """Execute a statement and fetch its rows."""
        return await self._run(lambda cursor: cursor.execute(sql, parameters))

    async def executemany(self, sql: str, parameters: Sequence[Sequence[Any]]) -> Self:
        """Execute a statement with each of the parameters."""
        return await self._run(lambda cursor: cursor.executemany(sql, parameters))

    async def fetchall(self) -> Rows:
        """Return the rows, once."""
        rows, self._rows = self._rows, []
        return rows

    async def close(self) -> None:
        """Do nothing: the statement is done."""

    async def _run(self, statement: Callable[[sqlite3.Cursor], object]) -> Self:
        await self._connection.in_thread(lambda raw: self._keep(raw.cursor(), statement))
        return self

    def _keep(self, cursor: sqlite3.Cursor, statement: Callable[[sqlite3.Cursor], object]) -> None:
        try:
            statement(cursor)
            self._rows = cursor.fetchall() if cursor.description else []
            self.description = cursor.description
            self.rowcount, self.lastrowid = cursor.rowcount, cursor.lastrowid
        finally:
            cursor.close()


class Connection(aiosqlite.Connection):
    """The driver's connection, with cursors of ours."""

    def cursor(self) -> Any:
        """Return a cursor; nothing happens in the thread yet."""
        return Cursor(self)

    async def in_thread(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Work with the raw connection in the thread that it belongs to."""
        await self._execute(work, self._conn)  # type: ignore[no-untyped-call]


def connection(database: str, **options: Any) -> Any:
    """Return a connection that is opened when it is awaited."""

    def connector() -> sqlite3.Connection:
        opened: sqlite3.Connection = sqlite3.connect(database, **options)
        return opened

    return Connection(connector, iter_chunk_size=64)
