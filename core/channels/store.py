"""The SQL side of channels: what staff set for them, and the conversations in them."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Text, and_, bindparam, delete, select, update
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.channels.rules import Rules
from core.database import Base, UtcDateTime, insert_into, reading, writing
from core.models import is_silent, now


class ChannelRulesRow(Base):
    """What staff set for a channel, category or workspace."""

    __tablename__ = "channel_rules"

    platform: Mapped[str] = mapped_column(Text, primary_key=True)
    workspace: Mapped[str] = mapped_column(Text, primary_key=True)
    place: Mapped[str] = mapped_column(Text, primary_key=True)
    rules: Mapped[dict[str, Any]] = mapped_column(JSON)
    set_at: Mapped[datetime] = mapped_column(UtcDateTime)


class ConversationRow(Base):
    """A thread or direct message in which the bot takes part."""

    __tablename__ = "conversations"

    platform: Mapped[str] = mapped_column(Text, primary_key=True)
    workspace: Mapped[str] = mapped_column(Text, primary_key=True)
    place: Mapped[str] = mapped_column(Text, primary_key=True)
    part: Mapped[int]
    listening: Mapped[bool]
    last_activity: Mapped[datetime] = mapped_column(UtcDateTime, index=True)


@dataclass(frozen=True, slots=True)
class Place:
    """A channel, category, thread or workspace, by the platform's ids."""

    platform: str
    workspace: str
    place: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """A thread or direct message in which the bot takes part."""

    part: int
    """Counts the sessions of a direct message, which starts anew after 8 hours of silence."""
    listening: bool
    """Whether messages are taken as questions without a mention."""


class ChannelRules:
    """What staff set, by place; safe for any number of processes at once.

    Every method raises StoreError when the database fails.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        row = ChannelRulesRow.__table__.c
        # Built once: it takes longer than it is executed.
        self._query = select(row.place, row.rules).where(
            row.platform == bindparam("platform"),
            row.workspace == bindparam("workspace"),
            row.place.in_(bindparam("places", expanding=True)),
        )

    async def get(self, platform: str, workspace: str, places: Iterable[str]) -> dict[str, Rules]:
        """Return what was set for each of these places; the others are left out."""
        given = {"platform": platform, "workspace": workspace, "places": [*places]}
        async with reading(self._engine) as db:
            found = await db.execute(self._query, given)
            return {place: _rules(rules) for place, rules in found}

    async def set(self, place: Place, rules: Rules) -> None:
        """Set what holds in a place; rules that say nothing remove what was set."""
        said = rules.said()
        async with writing(self._engine) as db:
            if not said:
                await db.execute(delete(ChannelRulesRow).where(_at(ChannelRulesRow, place)))
                return
            values = {"rules": said, "set_at": now()}
            insert = insert_into(self._engine, ChannelRulesRow).values(**asdict(place), **values)
            await db.execute(insert.on_conflict_do_update(index_elements=_KEY, set_=values))


class Conversations:
    """The threads and direct messages in which the bot takes part.

    Every method raises StoreError when the database fails.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def get(self, place: Place) -> Conversation | None:
        """Return the conversation in a place, or None where the bot takes no part."""
        row = ConversationRow
        async with reading(self._engine) as db:
            query = select(row.part, row.listening).where(_at(row, place))
            found = (await db.execute(query)).one_or_none()
        return Conversation(*found) if found is not None else None

    async def listen(self, place: Place, listening: bool = True) -> None:
        """Take messages there as questions without a mention from now on, or no longer."""
        moment = now()
        values = {"part": 0, "listening": listening, "last_activity": moment}
        insert = insert_into(self._engine, ConversationRow).values(**asdict(place), **values)
        changed = {"listening": listening, "last_activity": moment}
        async with writing(self._engine) as db:
            await db.execute(insert.on_conflict_do_update(index_elements=_KEY, set_=changed))

    async def direct_message(self, place: Place, sent_at: datetime) -> int:
        """Return which part of a direct message an event of that time belongs to.

        The same event again, here or in another process, belongs to the same part.
        """
        values = {"part": 0, "listening": True, "last_activity": sent_at}
        insert = insert_into(self._engine, ConversationRow).values(**asdict(place), **values)
        here = _at(ConversationRow, place)
        async with writing(self._engine) as db:
            await db.execute(insert.on_conflict_do_nothing(index_elements=_KEY))
            row = (await db.scalars(select(ConversationRow).where(here).with_for_update())).one()
            part = row.part + is_silent(row.last_activity, sent_at)
            latest = max(row.last_activity, sent_at)
            await db.execute(
                update(ConversationRow).where(here).values(part=part, last_activity=latest)
            )
            return part

    async def forget(self, place: Place) -> None:
        """Forget that there was a conversation, as when its channel was deleted."""
        async with writing(self._engine) as db:
            await db.execute(delete(ConversationRow).where(_at(ConversationRow, place)))


_KEY = ["platform", "workspace", "place"]


def _at(row: type[ChannelRulesRow] | type[ConversationRow], place: Place) -> Any:
    return and_(
        row.platform == place.platform, row.workspace == place.workspace, row.place == place.place
    )


def _rules(stored: dict[str, Any]) -> Rules:
    """Return stored rules; what a later version wrote and this one does not know is left out."""
    return Rules.model_validate({k: v for k, v in stored.items() if k in Rules.model_fields})
