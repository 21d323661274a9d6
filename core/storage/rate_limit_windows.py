"""What the platforms take no calls of for a while, known to all processes of a database."""

import logging
from datetime import datetime, timedelta

from sqlalchemy import Interval, Text, delete, extract, func, literal, select
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.sql.functions import Function

from core.errors import StoreError
from core.storage.database import Base, UtcDateTime, insert_into, reading, write

logger = logging.getLogger(__name__)

_KEPT = timedelta(minutes=1)
"""How long a window stays known after it has opened again, at least."""


class RateLimitWindowRow(Base):
    """A rate limit's window that a platform has closed."""

    __tablename__ = "closed_windows"

    window: Mapped[str] = mapped_column(Text, primary_key=True)
    until: Mapped[datetime] = mapped_column(UtcDateTime)


class RateLimitWindows:
    """Windows by name; asked before a call by every process that shares a database server.

    The server's clock is the one that counts: those of the processes' machines may differ.
    A database that is a file is meant for one bot, which knows of its own refusals: nothing is
    written or read then. Nor is a failing database in anybody's way: a call more is refused.
    """

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


def _moment() -> Function[datetime]:
    """Return the server's time at the moment of asking."""
    return func.clock_timestamp(type_=UtcDateTime())
