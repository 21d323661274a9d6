"""What one process at a time may do: held by a lease in the database, or by a lock on a file."""

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import (
    Connection,
    Interval,
    Text,
    delete,
    extract,
    func,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.sql.functions import Function

from core.domain.errors import StoreError
from core.storage.database import Base, UtcDateTime, insert_into, reading, store_errors, write
from core.storage.privacy import BRIEFLY, Holder, Work, executing

if TYPE_CHECKING:
    from filelock import BaseFileLock

logger = logging.getLogger(__name__)


_NOBODY = ""
_BREAK = 0.25
"""The part of a lease that a process may stand still in the middle of a transaction."""


class LeaseRow(Base):
    """Something that a process holds until a moment."""

    __tablename__ = "leases"

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    holder: Mapped[str] = mapped_column(Text)
    until: Mapped[datetime] = mapped_column(UtcDateTime)


class Leases(Protocol):
    """One process's leases; methods raise StoreError when it is not known who holds what."""

    seconds: float
    """After so many without `hold`, another process may hold a name."""

    async def hold(self, name: str) -> bool:
        """Take a name, or renew it; return whether this process holds it now."""
        ...

    async def release(self, name: str) -> None:
        """Let others have a name at once; one that is not held stays as it is."""
        ...


def leases_of(engine: AsyncEngine, holder: str, seconds: float) -> Leases:
    """Return a process's leases over a database.

    Args:
        holder: This process, unlike any other one.
    """
    if engine.dialect.name == "sqlite":
        return FileLeases(f"{engine.url.database}", seconds)
    return TableLeases(engine, holder, seconds)


class TableLeases:
    """Leases in a table, for processes on any machine; the clock is the database's."""

    def __init__(self, engine: AsyncEngine, holder: str, seconds: float) -> None:
        """Prepare to use the table; arguments as of `leases_of`."""
        self._engine = engine
        self._holder = holder
        self.seconds = seconds

    async def hold(self, name: str) -> bool:
        """Take a name, or renew it; return whether this process holds it now."""

        def hold(db: Connection) -> bool:
            moment = self._moment(db)
            ours = {"holder": self._holder, "until": moment + timedelta(seconds=self.seconds)}
            free = or_(LeaseRow.until <= moment, LeaseRow.holder == self._holder)
            insert = insert_into(self._engine, LeaseRow).values(name=name, **ours)
            upsert = insert.on_conflict_do_update(index_elements=["name"], set_=ours, where=free)
            return db.execute(upsert.returning(LeaseRow.name)).first() is not None

        return await write(self._engine, hold)

    async def release(self, name: str) -> None:
        """Let others have a name at once; one that is not held stays as it is."""
        ours = (LeaseRow.name == name, LeaseRow.holder == self._holder)
        await write(
            self._engine,
            lambda db: db.execute(
                update(LeaseRow).where(*ours).values(holder=_NOBODY, until=self._moment(db))
            ),
        )

    def _moment(self, db: Connection) -> datetime:
        """Return the database's time; who stands still in the transaction soon loses its locks."""
        milliseconds = str(max(1, round(self.seconds * _BREAK * 1_000)))
        idle = func.set_config("idle_in_transaction_session_timeout", milliseconds, True)
        clock = func.clock_timestamp(type_=UtcDateTime())
        moment: datetime = db.execute(select(clock, idle)).one()[0]
        return moment


class FileLeases:
    """Locks on files beside a SQLite database, which the system releases when a process dies.

    So a bot that is started again after it was killed need not wait for its own lease to run out.
    """

    def __init__(self, beside: str, seconds: float) -> None:
        """Prepare to lock.

        Args:
            beside: The database's path; the files are named after it.
            seconds: For how long a look at a lock holds good.
        """
        self._beside = beside
        self._locks = dict[str, "BaseFileLock"]()
        self.seconds = seconds

    async def hold(self, name: str) -> bool:
        """Take a name, or keep it; return whether this process holds it now."""
        from filelock import FileLock, Timeout

        if name in self._locks:
            return True
        lock = FileLock(f"{self._beside}.{name.replace(':', '-')}.lock", blocking=False)
        with store_errors():
            try:
                lock.acquire()
            except Timeout:
                return False
        self._locks[name] = lock
        return True

    async def release(self, name: str) -> None:
        """Let others have a name at once; one that is not held stays as it is."""
        if (lock := self._locks.pop(name, None)) is not None:
            lock.release()


_KEPT = timedelta(minutes=1)
"""How long a window stays known after it has opened again, at least."""


class RateLimitWindowRow(Base):
    """A rate limit's window that a platform has closed."""

    __tablename__ = "closed_windows"

    window: Mapped[str] = mapped_column(Text, primary_key=True)
    until: Mapped[datetime] = mapped_column(UtcDateTime)


class RateLimitWindows(Holder):
    """Windows by name; asked before a call by every process that shares a database server.

    The server's clock is the one that counts: those of the processes' machines may differ.
    A database that is a file is meant for one bot, which knows of its own refusals: nothing is
    written or read then. Nor is a failing database in anybody's way: a call more is refused.
    """

    TABLES = (RateLimitWindowRow,)

    def __init__(self, engine: AsyncEngine) -> None:
        """Prepare to use the table."""
        self._engine = engine
        self._is_shared = engine.dialect.name != "sqlite"

    async def close(self, window: str, seconds: float) -> None:
        """Let no one use a window for so many seconds; one that is closed for longer stays so."""
        if not self._is_shared:
            return
        moment = _moment()
        until = moment + literal(timedelta(seconds=seconds), Interval)
        insert = insert_into(self._engine, RateLimitWindowRow).values(window=window, until=until)
        longer = {"until": func.greatest(RateLimitWindowRow.until, insert.excluded.until)}
        upsert = insert.on_conflict_do_update(index_elements=["window"], set_=longer)
        old = delete(RateLimitWindowRow).where(
            RateLimitWindowRow.until < moment - literal(_KEPT, Interval)
        )
        try:
            await write(self._engine, lambda db: (db.execute(old), db.execute(upsert)))
        except StoreError as error:
            logger.warning("other processes do not know that %s is closed: %s", window, error)

    async def seconds_left(self, *windows: str) -> float:
        """Return the seconds until all of these windows are open; 0.0: they are."""
        if not self._is_shared:
            return 0.0
        left = extract("epoch", func.max(RateLimitWindowRow.until) - _moment())
        asked = select(left).where(RateLimitWindowRow.window.in_(windows))
        try:
            async with reading(self._engine) as db:
                seconds = await db.scalar(asked)
        except StoreError as error:
            logger.debug("what is closed cannot be read: %s", error)
            return 0.0
        return 0.0 if seconds is None else max(0.0, float(seconds))

    def expired(self, moment: datetime, kept_for: timedelta | None) -> Iterable[Work]:
        """Delete all at once: they are few, and one that closes again meanwhile is spared."""
        row = RateLimitWindowRow
        yield executing(delete(row).where(row.until < moment - BRIEFLY))


def _moment() -> Function[datetime]:
    """Return the server's time at the moment of asking."""
    return func.clock_timestamp(type_=UtcDateTime())
