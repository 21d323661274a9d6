"""The SQL side of panels: conversations that stand next to the channel their user looks at."""

from datetime import datetime, timedelta

from sqlalchemy import Text, and_, delete, or_
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.models import now
from core.storage.channels.store import Place
from core.storage.database import Base, UtcDateTime, insert_into, reading, write

KEPT = timedelta(days=30)
"""How long a conversation that is not looked at any more is known to stand next to a channel."""


class PanelRow(Base):
    """A conversation, and the channel that its user looks at meanwhile."""

    __tablename__ = "panels"

    platform: Mapped[str] = mapped_column(Text, primary_key=True)
    workspace: Mapped[str] = mapped_column(Text, primary_key=True)
    place: Mapped[str] = mapped_column(Text, primary_key=True)
    beside: Mapped[str] = mapped_column(Text)
    seen_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)


class Panels:
    """What conversations stand next to.

    Methods raise StoreError when the database fails.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def note(self, panel: Place, beside: str | None) -> None:
        """Keep the channel that a conversation stands next to; None: it stands by itself."""
        row = PanelRow
        values = {"beside": beside or "", "seen_at": now()}
        insert = insert_into(self._engine, row).values(
            platform=panel.platform, workspace=panel.workspace, place=panel.place, **values
        )
        key = ["platform", "workspace", "place"]
        upsert = insert.on_conflict_do_update(index_elements=key, set_=values)
        await write(self._engine, lambda db: db.execute(upsert).rowcount, urgent=True)

    async def beside(self, panel: Place) -> str | None:
        """Return the channel that a conversation stands next to; None: none that is known."""
        key = (panel.platform, panel.workspace, panel.place)
        async with reading(self._engine) as db:
            row = await db.get(PanelRow, key)
        return row.beside or None if row is not None else None

    async def knows(self, panel: Place) -> bool:
        """Return whether it is kept of a conversation what it stands next to, if only nothing."""
        async with reading(self._engine) as db:
            key = (panel.platform, panel.workspace, panel.place)
            return await db.get(PanelRow, key) is not None

    async def forget_in(self, direct: Place) -> None:
        """Delete what is kept of the conversations in direct messages."""
        row, place = PanelRow, direct.place
        here = and_(row.platform == direct.platform, row.workspace == direct.workspace)
        inside = or_(row.place == place, row.place.startswith(f"{place}:", autoescape=True))
        gone = delete(row).where(here, inside)
        await write(self._engine, lambda db: db.execute(gone).rowcount)
