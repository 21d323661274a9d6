"""The one `Base` and engine recipe that every store and the migrations share."""

import asyncio
import json
import logging
import sqlite3
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    DateTime,
    Dialect,
    FromClause,
    MetaData,
    TypeDecorator,
    and_,
    event,
    false,
    or_,
    text,
)
from sqlalchemy import create_engine as create_sync_engine
from sqlalchemy.engine import URL, Engine, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase

from core.domain.disk import is_want_of_room
from core.domain.errors import (
    ConfigurationError,
    StoreDamaged,
    StoreDataError,
    StoreError,
    StoreRefused,
    StoreUnwritable,
)
from core.domain.telemetry import check_host, check_port

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite

    from core.storage.sqlite import Writer

logger = logging.getLogger(__name__)


_REFUSED = ("28", "3D")
"""How PostgreSQL's codes begin for a wrong user or password, and for an unknown database."""

_DATA_EXCEPTION = "22"
"""How PostgreSQL's codes begin for a value that it does not take."""

_DISK_FULL = "53100"
"""PostgreSQL's code for it."""

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""How SQLite calls a file that is broken, and one that is no database."""


@contextmanager
def store_errors() -> Iterator[None]:
    """Raise StoreError in place of whatever the database or its driver raises.

    What is said about a value that was not taken quotes it, and so stays out of the error.
    """
    try:
        yield
    except _failures() as error:
        cause = getattr(error, "orig", None) or error
        if _is_about_a_value(cause):
            raise StoreDataError(f"{type(cause).__name__}: a value that it cannot hold") from None
        reason = str(cause).partition("\n")[0]
        raise _failure_of(cause)(f"{type(cause).__name__}: {reason}") from error


def _failures() -> tuple[type[Exception], ...]:
    """Return how a database fails; SQLAlchemy lets the driver's errors through while it closes."""
    asyncpg = sys.modules.get("asyncpg")
    own = () if asyncpg is None else (asyncpg.InterfaceError, asyncpg.PostgresError)
    return (SQLAlchemyError, OSError, UnicodeEncodeError, *own)


def _is_about_a_value(cause: BaseException) -> bool:
    """Return whether a value was refused: by the server, or by the driver before that.

    A certificate that is not valid is a ValueError and an OSError; the driver of SQLite calls a
    closed connection a ValueError, which is then the cause of the cause.
    """
    if str(getattr(cause, "sqlstate", "")).startswith(_DATA_EXCEPTION):
        return True
    if isinstance(cause, OSError):
        return False
    return isinstance(cause, ValueError) or isinstance(cause.__cause__, UnicodeError)


def _failure_of(cause: BaseException) -> type[StoreError]:
    if str(getattr(cause, "sqlstate", "")).startswith(_REFUSED):
        return StoreRefused
    code = getattr(cause, "sqlite_errorcode", None)
    # The higher bits tell more of the same failure.
    is_damaged = code is not None and code & 0xFF in _DAMAGED
    if is_damaged:
        return StoreDamaged
    is_full = getattr(cause, "sqlstate", None) == _DISK_FULL or is_want_of_room(cause)
    return StoreUnwritable if is_full else StoreError


_POSTGRESQL = frozenset({"postgresql", "postgres", "postgresql+asyncpg"})
_SQLITE = frozenset({"sqlite", "sqlite+aiosqlite"})
_POSTGRESQL_OPTIONS = frozenset({"host", "port", "ssl", "sslmode"})
_SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")


def driver_url(url: str) -> URL:
    """Return the URL as the driver takes it; its dialect is `sqlite` or `postgresql`.

    Raises:
        ConfigurationError: when it cannot be used; the sentence never shows the password.
    """
    try:
        address = make_url(url)
    except (ArgumentError, ValueError):
        address = None
    if address is not None and address.drivername in _SQLITE:
        return _sqlite_url(address)
    if address is not None and address.drivername in _POSTGRESQL:
        return _postgresql_url(address)
    raise ConfigurationError(
        "GLOSSATOR_DATABASE__URL must look like sqlite:///folder/file.db "
        "or postgresql://user:password@host/name."
    )


def _sqlite_url(address: URL) -> URL:
    if address.host or address.query or address.database in {None, "", ":memory:"}:
        raise ConfigurationError(
            "A SQLite URL must name a file and nothing else: sqlite:///folder/file.db, "
            "or sqlite:////folder/file.db from the root."
        )
    return address.set(drivername="sqlite+aiosqlite")


def _postgresql_url(address: URL) -> URL:
    if not address.database:
        raise ConfigurationError("The PostgreSQL URL must name a database: postgresql://host/name.")
    if unknown := sorted(address.query.keys() - _POSTGRESQL_OPTIONS):
        raise ConfigurationError(
            f"The PostgreSQL URL has an option that is not supported: {', '.join(unknown)}. "
            f"Possible are {', '.join(sorted(_POSTGRESQL_OPTIONS))}."
        )
    query = {"ssl" if name == "sslmode" else name: value for name, value in address.query.items()}
    if "ssl" in query and str(query["ssl"]).replace("_", "-") not in _SSL_MODES:
        raise ConfigurationError(
            "The PostgreSQL URL asks for an encryption that is not known: "
            f"sslmode is one of {', '.join(_SSL_MODES)}."
        )
    driver = address.set(drivername="postgresql+asyncpg", query=query)
    _check_servers(driver)
    return driver


def _check_servers(driver: URL) -> None:
    """Raise ConfigurationError when a host or a port of the URL cannot be one."""
    try:
        _, options = driver.get_dialect()().create_connect_args(driver)
        for host in _listed(options.get("host")):
            if not host.startswith("/"):  # the folder of a socket
                check_host(host)
        for port in _listed(options.get("port")):
            check_port(port)
    except ArgumentError:
        reason = "each host takes one port, which is a number"
    except ValueError as error:
        reason = str(error)
    else:
        return
    raise ConfigurationError(f"The PostgreSQL URL cannot be used: {reason}.")


def _listed(value: Any) -> list[Any]:
    """Return what stands for one server, or for each of several, as a list."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


Result = TypeVar("Result")
Synchronous = Literal["FULL", "NORMAL"]
"""Whether an acknowledged write survives a power cut (FULL) or only a crash (NORMAL)."""

CONNECT_TIMEOUT = 5.0
_IDLE_IN_TRANSACTION = 20_000
"""Milliseconds."""
BUSY_TIMEOUT = 30.0
"""Seconds a SQLite writer waits for its turn."""

_LOCKED_TRIES = 200
_LOCKED_WAIT = 0.01
"""Seconds between two tries at a database that is being turned to WAL."""

_SNAPSHOT: dict[str, dict[str, Any]] = {
    "sqlite": {"read_only": True},
    "postgresql": {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True},
}
_to_json = partial(json.dumps, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_COMMON: dict[str, Any] = {"hide_parameters": True, "json_serializer": _to_json}


class OfTenant(Protocol):
    """A guild, workspace or organisation, or what stands for one in direct messages."""

    @property
    def platform(self) -> str:
        """Its platform."""
        ...

    @property
    def workspace(self) -> str:
        """The platform's own id."""
        ...


def of_tenants(row: Any, tenants: Iterable[OfTenant]) -> ColumnElement[bool]:
    """Return the condition that a row belongs to one of these tenants; with none, none does."""
    each = (and_(row.platform == t.platform, row.workspace == t.workspace) for t in tenants)
    return or_(false(), *each)


class Base(DeclarativeBase):
    """What all tables derive from; their classes end in `Row` and stay in their file."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class UtcDateTime(TypeDecorator[datetime]):
    """A moment that goes in and comes out timezone-aware, in UTC, on every database."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the moment in UTC; SQLite, which keeps no zone, gets it without one."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a stored moment needs a time zone")
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the stored moment in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def create_engine(
    url: str,
    *,
    synchronous: Synchronous = "FULL",
    pool_size: int = 5,
    statement_timeout: float | None = 30.0,
    enforce_foreign_keys: bool = True,
    needs_room: bool = True,
) -> AsyncEngine:
    """Return an engine for `url`; nothing is opened before its first use.

    Args:
        url: `sqlite:///path` or `postgresql://user:password@host/name`, also with
            `postgres://` or with the driver named (`+aiosqlite`, `+asyncpg`).
        synchronous: SQLite only.
        pool_size: Connections at most; further askers wait.
        statement_timeout: Seconds a PostgreSQL statement may take, None for no limit.
        enforce_foreign_keys: SQLite only; off while a migration rebuilds tables.
        needs_room: SQLite only; off where a file on a full or read-only disk is only read.

    Raises:
        ConfigurationError: for any other URL; the sentence never shows the password.
    """
    address = driver_url(url)
    pool: dict[str, Any] = {"pool_size": pool_size, "max_overflow": 0, "pool_timeout": BUSY_TIMEOUT}
    if address.get_backend_name() == "sqlite":
        creator = partial(_connect_sqlite, needs_room=needs_room)
        connect: dict[str, Any] = {"timeout": BUSY_TIMEOUT, "async_creator_fn": creator}
        engine = create_async_engine(address, **_COMMON, **pool, connect_args=connect)
        pragmas = _pragmas(synchronous, enforce_foreign_keys)
        _prepare_sqlite(engine, pragmas, needs_room=needs_room)
        return engine.execution_options(writer=_writer_beside(engine, pragmas))
    connect = {
        "timeout": CONNECT_TIMEOUT,
        "command_timeout": statement_timeout,
        "server_settings": {
            "application_name": "glossator",
            # A process that was stopped inside a transaction must not keep its locks.
            "idle_in_transaction_session_timeout": str(_IDLE_IN_TRANSACTION),
        },
    }
    return create_async_engine(address, **_COMMON, **pool, pool_pre_ping=True, connect_args=connect)


@asynccontextmanager
async def reserved(engine: AsyncEngine, connections: int = 3) -> AsyncIterator[AsyncEngine]:
    """Give an engine with connections of its own to the same database while the block lasts.

    SQLite has one writer, who knows what is urgent: there it is the same engine.
    """
    if engine.dialect.name == "sqlite":
        yield engine
        return
    url = engine.url.render_as_string(hide_password=False)
    beside = create_engine(url, pool_size=connections)
    try:
        yield beside
    finally:
        await dispose(beside)


async def _connect_sqlite(*address: Any, **options: Any) -> Any:
    """Connect as the dialect does, but leave no thread when that fails.

    The driver does not wait for its thread then, which answers an event loop that may be
    closed by that time.
    """
    from core.storage import sqlite

    connection = sqlite.connection(*address, **options)
    connection._thread.daemon = True
    try:
        return await connection
    except BaseException:
        await asyncio.to_thread(connection._thread.join)
        raise


def _pragmas(synchronous: Synchronous, foreign_keys: bool) -> Sequence[str]:
    return (
        f"PRAGMA busy_timeout={BUSY_TIMEOUT * 1000:.0f}",
        "PRAGMA journal_mode=WAL",
        f"PRAGMA synchronous={synchronous}",
        f"PRAGMA foreign_keys={'ON' if foreign_keys else 'OFF'}",
    )


def _prepare_sqlite(engine: AsyncEngine, pragmas: Sequence[str], *, needs_room: bool) -> None:
    configure = partial(_configure, pragmas, needs_room=needs_room)
    event.listen(engine.sync_engine, "connect", configure)

    @event.listens_for(engine.sync_engine, "begin")
    def begin(connection: Connection) -> None:
        # A reader that turned writer would fail at once; a writer that says so at the
        # start waits for its turn.
        reads = connection.get_execution_options().get("read_only", False)
        driver: Any = connection.connection.driver_connection
        driver.begin_with_next("BEGIN" if reads else "BEGIN IMMEDIATE")


def _writer_beside(engine: AsyncEngine, pragmas: Sequence[str]) -> "Writer":
    """Return what writes to the same file, until the engine is disposed of."""
    from core.storage.sqlite import Writer

    writing = create_sync_engine(
        engine.url.set(drivername="sqlite"),
        **_COMMON,
        pool_size=1,
        max_overflow=0,
        connect_args={"timeout": BUSY_TIMEOUT, "check_same_thread": False},
    )
    event.listen(writing, "connect", partial(_configure, pragmas))

    @event.listens_for(writing, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    writer = Writer(writing)
    event.listen(engine.sync_engine, "engine_disposed", lambda _: writer.close())
    return writer


def _configure(
    pragmas: Sequence[str], connection: Any, _: object, *, needs_room: bool = True
) -> None:
    connection.isolation_level = None  # the driver begins no transaction of its own
    cursor = connection.cursor()
    for pragma in pragmas:
        # Without room it was opened as it is, and cannot be turned to anything.
        if needs_room or "journal_mode" not in pragma:
            _execute_when_free(cursor, pragma)
    cursor.close()


def _execute_when_free(cursor: Any, pragma: str) -> None:
    """Execute a pragma; a fresh file that others turn to WAL is locked for a moment.

    SQLite reports that lock at once, whatever the busy timeout says.
    """
    for _ in range(_LOCKED_TRIES):
        try:
            cursor.execute(pragma)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            time.sleep(_LOCKED_WAIT)
        else:
            return
    cursor.execute(pragma)


async def dispose(engine: AsyncEngine) -> None:
    """Close an engine's connections; one that is broken is gone anyway."""
    try:
        with store_errors():
            await engine.dispose()
    except StoreError as error:
        logger.info("a connection was not closed in peace: %s", error)


@asynccontextmanager
async def reading(engine: AsyncEngine) -> AsyncIterator[AsyncSession]:
    """Open a transaction that sees one moment of the database and waits for no writer.

    Raises:
        StoreError: when the database fails.
    """
    with store_errors():
        async with AsyncSession(engine.execution_options(**_SNAPSHOT[engine.dialect.name])) as db:
            yield db


async def answers(engine: AsyncEngine) -> None:
    """Return when the database answers.

    Raises:
        StoreError: when it does not.
    """
    async with reading(engine) as db:
        await db.execute(text("SELECT 1"))


@asynccontextmanager
async def writing(engine: AsyncEngine) -> AsyncIterator[AsyncSession]:
    """Open a transaction that is committed at the end, or rolled back by an exception.

    On SQLite no one else writes before its end, however long the event loop takes to come
    back to it between two statements: where questions are answered, `write` is the way.

    Raises:
        StoreError: when the database fails; then nothing was written.
    """
    writer = _writer_of(engine)
    with store_errors():
        async with (
            nullcontext() if writer is None else writer.turn(),
            AsyncSession(engine, expire_on_commit=False) as db,
            db.begin(),
        ):
            yield db


async def write(
    engine: AsyncEngine, work: Callable[[Connection], Result], *, urgent: bool = False
) -> Result:
    """Do work in a transaction of its own, in one go, and return its result.

    Args:
        urgent: A user waits for it: on SQLite, which takes one writer at a time, it comes
            before what is not urgent.

    Raises:
        StoreError: when the database fails; then nothing was written.
    """
    writer = _writer_of(engine)
    with store_errors():
        if writer is not None:
            return await writer.write(work, urgent=urgent)
        async with engine.begin() as connection:
            return await connection.run_sync(work)


def _writer_of(engine: AsyncEngine) -> "Writer | None":
    """Return what writes to a SQLite file."""
    writer: Writer | None = engine.get_execution_options().get("writer")
    return writer


def insert_into(
    engine: AsyncEngine | Engine, row: type[Base] | FromClause
) -> "sqlite.Insert | postgresql.Insert":
    """Return an INSERT that knows ON CONFLICT, in the dialect of the database."""
    table: Any = row
    if engine.dialect.name == "sqlite":
        from sqlalchemy.dialects import sqlite

        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(table)
