"""The SQL side of the keys: which ones a database was used with, by ids that tell nothing."""

from datetime import datetime

from sqlalchemy import Text, delete, select
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.models import now
from core.storage.database import Base, UtcDateTime, insert_into, reading, write


class KeyIdRow(Base):
    """The id of the key that was in use last, by what the key is for."""

    __tablename__ = "key_ids"

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    key_id: Mapped[str] = mapped_column(Text)
    noted_at: Mapped[datetime] = mapped_column(UtcDateTime)


class KeyIds:
    """The ids of the keys of one database.

    Every method raises StoreError when the database fails.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def all(self) -> dict[str, str]:
        """Return the ids, by what each key is for."""
        async with reading(self._engine) as db:
            rows = await db.execute(select(KeyIdRow.name, KeyIdRow.key_id))
            return {row.name: row.key_id for row in rows}

    async def note(self, name: str, key_id: str) -> None:
        """Keep an id, in place of an earlier one."""
        values = {"key_id": key_id, "noted_at": now()}
        insert = insert_into(self._engine, KeyIdRow).values(name=name, **values)
        upsert = insert.on_conflict_do_update(index_elements=["name"], set_=values)
        await write(self._engine, lambda db: db.execute(upsert).rowcount)

    async def forget(self, name: str) -> bool:
        """Delete an id; return whether there was one."""
        gone = delete(KeyIdRow).where(KeyIdRow.name == name).returning(KeyIdRow.name)
        return await write(self._engine, lambda db: db.scalar(gone)) is not None
