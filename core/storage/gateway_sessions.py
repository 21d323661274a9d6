"""Keeps the sessions of a platform's gateway, so that the next process can take them up."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import BigInteger, Connection, Text, bindparam, delete, select, update
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.models import now
from core.storage.database import Base, UtcDateTime, insert_into, reading, write

LEFT = ""
"""The holder of a session whose connection was ended on purpose."""


class GatewaySessionRow(Base):
    """A session, and the last event of it that needs no second delivery."""

    __tablename__ = "gateway_sessions"

    session_id: Mapped[str] = mapped_column(Text, primary_key=True)
    bot: Mapped[str] = mapped_column(Text)
    shard: Mapped[int]
    shards: Mapped[int]
    holder: Mapped[str] = mapped_column(Text)
    url: Mapped[str] = mapped_column(Text)
    sequence: Mapped[int] = mapped_column(BigInteger)
    noted_at: Mapped[datetime] = mapped_column(UtcDateTime)


@dataclass(frozen=True, slots=True)
class GatewaySession:
    """A session of one of a bot's shards."""

    session_id: str
    bot: str
    """The platform and the application's id."""
    shard: int
    shards: int
    """How many there were."""
    holder: str
    """The process that has the connection; LEFT: none."""
    url: str
    """Where the session is resumed."""
    sequence: int
    """The number of the last event of which everything is stored."""
    noted_at: datetime


class GatewaySessions:
    """The sessions of all bots; every method raises StoreError when the database fails."""

    def __init__(self, engine: AsyncEngine) -> None:
        """Prepare to use the table."""
        self._engine = engine

    async def begin(self, session: GatewaySession) -> None:
        """Keep a new session; one that is there stays as it is."""
        values = {name: getattr(session, name) for name in GatewaySession.__slots__}
        insert = insert_into(self._engine, GatewaySessionRow).values(values)
        await write(self._engine, lambda db: db.execute(insert.on_conflict_do_nothing()))

    async def note(self, sessions: Sequence[GatewaySession]) -> None:
        """Keep how far sessions have come, and who has them; one that was forgotten stays so."""
        if not sessions:
            return
        row = GatewaySessionRow.__table__
        noted = update(row).where(row.c.session_id == bindparam("known"))  # type: ignore[arg-type]
        moment = now()
        told = [
            {"known": s.session_id, "holder": s.holder, "sequence": s.sequence, "noted_at": moment}
            for s in sessions
        ]

        def write_all(db: Connection) -> None:
            db.execute(noted, told)

        await write(self._engine, write_all)

    async def of(self, bot: str) -> list[GatewaySession]:
        """Return a bot's sessions, those that were noted first before the others."""
        row = GatewaySessionRow
        query = select(row).where(row.bot == bot).order_by(row.noted_at, row.session_id)
        async with reading(self._engine) as db:
            return [_session(found) for found in await db.scalars(query)]

    async def forget(self, session_ids: Collection[str]) -> None:
        """Delete sessions."""
        gone = delete(GatewaySessionRow).where(GatewaySessionRow.session_id.in_(session_ids))
        await write(self._engine, lambda db: db.execute(gone))


def left(session: GatewaySession) -> GatewaySession:
    """Return a session as one that no process has."""
    return replace(session, holder=LEFT)


def _session(row: GatewaySessionRow) -> GatewaySession:
    return GatewaySession(**{name: getattr(row, name) for name in GatewaySession.__slots__})
