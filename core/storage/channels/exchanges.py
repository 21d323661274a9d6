"""Who talks to whom in a thread, and until when: the bot keeps out of that, and of nothing else."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Text, and_, delete, select
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.storage.channels.store import Place
from core.storage.database import Base, UtcDateTime, insert_into, reading, write

LASTS = timedelta(minutes=5)
"""How long after its last message an exchange between people is over."""


class ExchangeRow(Base):
    """A person who talks to another one in a thread."""

    __tablename__ = "exchanges"

    platform: Mapped[str] = mapped_column(Text, primary_key=True)
    workspace: Mapped[str] = mapped_column(Text, primary_key=True)
    place: Mapped[str] = mapped_column(Text, primary_key=True)
    user_id: Mapped[str] = mapped_column(Text, primary_key=True)
    """A pseudonym."""
    until: Mapped[datetime] = mapped_column(UtcDateTime, index=True)


class Exchanges:
    """Exchanges between people; every method raises StoreError when the database fails."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def go_on(self, place: Place, user_ids: Iterable[str], said: datetime) -> None:
        """Keep that these people talk to each other, from the moment of their latest message."""
        values = [
            {**_key(place), "user_id": user_id, "until": said + LASTS}
            for user_id in sorted({*user_ids})
        ]
        insert = insert_into(self._engine, ExchangeRow).values(values)
        upsert = insert.on_conflict_do_update(
            index_elements=["platform", "workspace", "place", "user_id"],
            set_={"until": insert.excluded.until},
        )
        over = delete(ExchangeRow).where(ExchangeRow.until < said - LASTS)
        await write(self._engine, lambda db: (db.execute(over), db.execute(upsert)), urgent=True)

    async def holds(self, place: Place, user_id: str, said: datetime) -> bool:
        """Return whether what a person says at a moment is said to another one."""
        row = ExchangeRow
        query = select(row.until).where(_at(place), row.user_id == user_id)
        async with reading(self._engine) as db:
            until: datetime | None = await db.scalar(query)
        return until is not None and said < until

    async def leave(self, place: Place, user_id: str) -> None:
        """Keep that a person talks to the bot again."""
        gone = delete(ExchangeRow).where(_at(place), ExchangeRow.user_id == user_id)
        await write(self._engine, lambda db: db.execute(gone), urgent=True)

    async def forget_user(self, user_id: str) -> None:
        """Forget with whom a person talked."""
        gone = delete(ExchangeRow).where(ExchangeRow.user_id == user_id)
        await write(self._engine, lambda db: db.execute(gone))


def _key(place: Place) -> dict[str, str]:
    return {"platform": place.platform, "workspace": place.workspace, "place": place.place}


def _at(place: Place) -> ColumnElement[bool]:
    row = ExchangeRow
    return and_(
        row.platform == place.platform, row.workspace == place.workspace, row.place == place.place
    )
