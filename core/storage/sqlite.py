"""SQLite connections that take few trips to their thread, and the thread that writes."""

import asyncio
import itertools
import shutil
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from queue import PriorityQueue
from tempfile import TemporaryDirectory
from typing import Any, Self, TypeVar

import aiosqlite
import sqlalchemy

from core.domain.disk import MEGABYTE, is_read_only, is_want_of_room, megabytes, roomy_folder

Result = TypeVar("Result")
Rows = list[Any]

_Turn = tuple[bool, int, Callable[[], Any], "Future[Any]"]
"""Whether it is patient, its number, what is to be done, and what comes of it."""


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
    """The driver's connection, with our own cursors; it begins and ends without extra trips."""

    _begin: str | None = None
    """What the next statement has to execute before itself."""
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

    async def in_thread(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Work with the raw connection in the thread that it belongs to."""
        await self._execute(work, self._conn)  # type: ignore[no-untyped-call]

    def _is_open(self) -> bool:
        self._begin = None
        return self._may_be_open or self.in_transaction


class Writer:
    """Does one transaction after the other in a thread of its own, those in a hurry first.

    SQLite has one writer at a time and lets the others poll for their turn; a queue is fair.
    Between two statements, and between two transactions, it waits for no event loop.
    """

    def __init__(self, engine: sqlalchemy.Engine) -> None:
        """Prepare to write; nothing is opened before the first turn."""
        self._engine = engine
        self._turns = PriorityQueue[_Turn]()
        self._numbers = itertools.count()
        self._thread: ThreadPoolExecutor | None = None

    async def write(
        self, work: Callable[[sqlalchemy.Connection], Result], *, urgent: bool
    ) -> Result:
        """Do work in a transaction of its own, and return its result.

        Cancelled before its commit, it leaves nothing.
        """
        is_given_up = threading.Event()
        written = self._enqueue(lambda: self._transact(work, is_given_up), urgent=urgent)
        try:
            return await asyncio.wrap_future(written)
        except asyncio.CancelledError:
            is_given_up.set()
            raise

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Let another connection write until the block is left; nothing else is written then."""
        loop = asyncio.get_running_loop()
        granted, is_left = asyncio.Event(), threading.Event()

        def lend() -> None:
            loop.call_soon_threadsafe(granted.set)
            is_left.wait()

        lent = self._enqueue(lend, urgent=False)
        try:
            await granted.wait()
            yield
        finally:
            is_left.set()
            lent.cancel()  # when it had not come to its turn

    def close(self) -> None:
        """End the thread when it has done what waits, and close its connection."""
        if self._thread is not None:
            self._thread.shutdown()
            self._thread = None
        self._engine.dispose()

    def _enqueue(self, work: Callable[[], Result], *, urgent: bool) -> "Future[Result]":
        outcome = Future[Result]()
        self._turns.put((not urgent, next(self._numbers), work, outcome))
        if self._thread is None:
            self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sqlite-writer")
        self._thread.submit(self._take_turn)
        return outcome

    def _take_turn(self) -> None:
        """Do what comes first, unless no one waits for it any more."""
        _, _, work, outcome = self._turns.get()
        if not outcome.set_running_or_notify_cancel():
            return
        try:
            outcome.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            outcome.set_exception(error)

    def _transact(
        self, work: Callable[[sqlalchemy.Connection], Result], is_given_up: threading.Event
    ) -> Result:
        with self._engine.connect() as connection, connection.begin() as transaction:
            result = work(connection)
            if is_given_up.is_set():
                transaction.rollback()
            return result


def connection(database: str, *, needs_room: bool = True, **options: Any) -> Any:
    """Return a connection that is opened when it is awaited.

    Args:
        needs_room: Whether it fails where the file cannot be written; else it reads then.
    """

    def connector() -> sqlite3.Connection:
        opened: sqlite3.Connection = sqlite3.connect(database, **options)
        if needs_room:
            return opened
        try:
            opened.execute("PRAGMA journal_mode=WAL")
            opened.execute("SELECT 1 FROM sqlite_master")
        except sqlite3.OperationalError as error:
            opened.close()
            if not is_want_of_room(error):
                raise
            return _open_as_it_is(Path(database), **options)
        return opened

    return Connection(connector, iter_chunk_size=64)


def _open_as_it_is(file: Path, **options: Any) -> sqlite3.Connection:
    """Open a database whose disk takes no writes, not even of what readers coordinate by.

    What stands in its log of writes can be read only where the file that leads to it is there;
    else both are copied to where there is room.
    """
    log, index = (file.with_name(f"{file.name}{end}") for end in ("-wal", "-shm"))
    if not log.exists() or not log.stat().st_size:
        return _connect(f"{file.absolute().as_uri()}?immutable=1", **options)
    if index.exists() and is_read_only(file):
        return _connect(f"{file.absolute().as_uri()}?mode=ro", **options)
    size = file.stat().st_size + log.stat().st_size
    elsewhere = roomy_folder(2 * size + MEGABYTE)
    if elsewhere is None:
        raise sqlite3.OperationalError(
            f"{file} has writes in its log that cannot be read on a full disk: free "
            f"{megabytes(size)}, or set TMPDIR to a folder with as much"
        )
    copy = Path(_copies(elsewhere).name) / file.name
    if not copy.exists():
        for path in (log, file):
            shutil.copyfile(path, copy.with_name(path.name))
    return _connect(copy.absolute().as_uri(), **options)


def _connect(address: str, **options: Any) -> sqlite3.Connection:
    opened: sqlite3.Connection = sqlite3.connect(address, uri=True, **options)
    return opened


@cache
def _copies(folder: Path) -> "TemporaryDirectory[str]":
    """Return this process's own folder for copies; it goes with the process."""
    return TemporaryDirectory(prefix="glossator-database-", dir=folder)
