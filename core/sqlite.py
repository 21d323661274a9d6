"""SQLite connections that take few trips to their thread, and the queue of their writers."""

import asyncio
import sqlite3
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Self

import aiosqlite
import sqlalchemy
from sqlalchemy.pool import StaticPool

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
        begin = self._connection.take_begin()
        await self._connection.in_thread(lambda raw: self._keep(raw.cursor(), begin, statement))
        return self

    def _keep(
        self,
        cursor: sqlite3.Cursor,
        begin: str | None,
        statement: Callable[[sqlite3.Cursor], object],
    ) -> None:
        try:
            if begin is not None:
                cursor.execute(begin)
            statement(cursor)
            self._rows = cursor.fetchall() if cursor.description else []
            self.description = cursor.description
            self.rowcount, self.lastrowid = cursor.rowcount, cursor.lastrowid
        finally:
            cursor.close()


class Connection(aiosqlite.Connection):
    """The driver's connection, with cursors of ours; it begins and ends without extra trips."""

    _begin: str | None = None
    """What the next statement has to execute before itself."""
    _engine: sqlalchemy.Engine | None = None
    """Speaks to this one connection, from its own thread."""
    _may_be_open = False
    """Whether a transaction may be open, or be opened by what the thread was given to do."""

    def cursor(self) -> Any:
        """Return a cursor; nothing happens in the thread yet."""
        return Cursor(self)

    def begin_with_next(self, begin: str) -> None:
        """Begin a transaction in the same trip as its first statement."""
        self._begin = begin

    def take_begin(self) -> str | None:
        """Return how the statement that is about to be executed has to begin, if at all."""
        begin, self._begin = self._begin, None
        self._may_be_open = self._may_be_open or begin is not None
        return begin

    async def commit(self) -> None:
        """Commit what was begun; a transaction without a statement was not."""
        if self._is_open():
            await super().commit()
            self._may_be_open = False

    async def rollback(self) -> None:
        """Roll back what was begun."""
        if self._is_open():
            await super().rollback()
            self._may_be_open = False

    async def transact(
        self, work: Callable[[sqlalchemy.Connection], Any], to_json: Callable[[Any], str]
    ) -> Any:
        """Do work in a transaction of its own, all of it in one trip, and return its result.

        Args:
            to_json: As the engine's `json_serializer`.
        """
        outcome = list[Any]()
        await self.in_thread(lambda raw: outcome.append(self._transacted(raw, work, to_json)))
        return outcome[0]

    def _transacted(
        self,
        raw: sqlite3.Connection,
        work: Callable[[sqlalchemy.Connection], Any],
        to_json: Callable[[Any], str],
    ) -> Any:
        if self._engine is None:
            self._engine = sqlalchemy.create_engine(
                "sqlite://",
                creator=lambda: raw,
                poolclass=StaticPool,
                hide_parameters=True,
                json_serializer=to_json,
            )
        with self._engine.connect() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            result = work(connection)
            connection.commit()
            return result

    async def in_thread(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Work with the raw connection in the thread that it belongs to."""
        await self._execute(work, self._conn)  # type: ignore[no-untyped-call]

    def _is_open(self) -> bool:
        self._begin = None
        return self._may_be_open or self.in_transaction


class WriterQueue:
    """Gives one writer after the other its turn, those in a hurry first."""

    def __init__(self) -> None:
        self._is_taken = False
        self._urgent = deque[asyncio.Future[None]]()
        self._patient = deque[asyncio.Future[None]]()

    @asynccontextmanager
    async def turn(self, *, urgent: bool) -> AsyncIterator[None]:
        """Wait for a turn, which lasts until the block is left."""
        await self._wait(self._urgent if urgent else self._patient)
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, queue: deque[asyncio.Future[None]]) -> None:
        if not self._is_taken:
            self._is_taken = True
            return
        turn = asyncio.get_running_loop().create_future()
        queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it had been given the turn already
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        for queue in (self._urgent, self._patient):
            while queue:
                turn = queue.popleft()
                if not turn.done():
                    turn.set_result(None)
                    return
        self._is_taken = False


def connection(database: str, **options: Any) -> Any:
    """Return a connection that is opened when it is awaited."""

    def connector() -> sqlite3.Connection:
        opened: sqlite3.Connection = sqlite3.connect(database, **options)
        return opened

    return Connection(connector, iter_chunk_size=64)
