"""Says which of our failures it is that a database or its driver raises."""

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import SQLAlchemyError

from core.disk.space import is_want_of_room
from core.errors import StoreDamaged, StoreDataError, StoreError, StoreRefused, StoreUnwritable

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
