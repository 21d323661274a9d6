"""The SQL side of channels: what staff set for them, and the conversations in them."""

import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from pydantic import ValidationError
from sqlalchemy import JSON, Connection, Executable, Text, and_, bindparam, delete, select, update
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.models import is_silent, now
from core.storage.channels.rules import Rules
from core.storage.database import Base, UtcDateTime, insert_into, reading, write

logger = logging.getLogger(__name__)

_KNOWN_FOR = 2.0
"""Seconds for which what was read is taken to hold, though another process may change it."""


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
    """Counts the sessions of a direct message, which starts again after 8 hours of silence."""
    listening: bool
    """Whether messages are taken as questions without a mention."""
    changed_at: datetime = field(default_factory=now, compare=False)
    """When that was last said, or in a direct message when the last question was asked."""


@dataclass(frozen=True, slots=True)
class _Known:
    rules: Mapping[str, Rules]
    until: float
    """By the monotonic clock."""


class ChannelRules:
    """What staff set, by place; safe for any number of processes at once.

    What is set here holds here at once; other processes follow within two seconds.
    Every method raises StoreError when the database fails.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        row = ChannelRulesRow.__table__.c
        # Built once: it takes longer than it is executed.
        self._query = select(row.place, row.rules).where(
            row.platform == bindparam("platform"), row.workspace == bindparam("workspace")
        )
        self._known = dict[tuple[str, str], _Known]()
        self._changes = 0

    async def get(self, platform: str, workspace: str, places: Iterable[str]) -> dict[str, Rules]:
        """Return what was set for each of these places; the others are left out."""
        rules = await self._of(platform, workspace)
        return {place: rules[place] for place in places if place in rules}

    async def set(self, place: Place, rules: Rules) -> None:
        """Set what holds in a place; rules that say nothing remove what was set."""
        said = rules.said()
        values = {"rules": said, "set_at": now()}
        insert = insert_into(self._engine, ChannelRulesRow).values(**asdict(place), **values)
        setting = insert.on_conflict_do_update(index_elements=_KEY, set_=values)
        removing = delete(ChannelRulesRow).where(_at(ChannelRulesRow, place))
        await _execute(self._engine, setting if said else removing)
        self._changes += 1
        self._known.clear()

    async def changed_at(
        self, platform: str, workspace: str, places: Iterable[str]
    ) -> datetime | None:
        """Return when something was set last for one of these places; None: nothing is set."""
        row = ChannelRulesRow
        here = (row.platform == platform, row.workspace == workspace, row.place.in_([*places]))
        async with reading(self._engine) as db:
            moments = await db.scalars(select(row.set_at).where(*here))
            return max(moments, default=None)

    async def workspaces(self) -> frozenset[tuple[str, str]]:
        """Return the platform and the workspace of all places for which something is set."""
        row = ChannelRulesRow
        async with reading(self._engine) as db:
            found = await db.execute(select(row.platform, row.workspace).distinct())
            return frozenset((platform, workspace) for platform, workspace in found)

    async def _of(self, platform: str, workspace: str) -> Mapping[str, Rules]:
        """Return all that is set in a workspace: it is asked for with every event."""
        known = self._known.get((platform, workspace))
        if known is not None and time.monotonic() < known.until:
            return known.rules
        until, changes = time.monotonic() + _KNOWN_FOR, self._changes
        async with reading(self._engine) as db:
            given = {"platform": platform, "workspace": workspace}
            found = await db.execute(self._query, given)
            rules = {place: _rules(place, said) for place, said in found}
        if changes == self._changes:
            self._known[platform, workspace] = _Known(rules, until)
        return rules


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
            query = select(row.part, row.listening, row.last_activity).where(_at(row, place))
            found = (await db.execute(query)).one_or_none()
        return Conversation(*found) if found is not None else None

    async def listen(self, place: Place, listening: bool = True) -> None:
        """Take messages there as questions without a mention from now on, or no longer."""
        moment = now()
        values = {"part": 0, "listening": listening, "last_activity": moment}
        insert = insert_into(self._engine, ConversationRow).values(**asdict(place), **values)
        changed = {"listening": listening, "last_activity": moment}
        listening_on = insert.on_conflict_do_update(index_elements=_KEY, set_=changed)
        await _execute(self._engine, listening_on)

    async def direct_message(self, place: Place, sent_at: datetime) -> int:
        """Return which part of a direct message an event of that time belongs to.

        The same event again, here or in another process, belongs to the same part.
        """
        values = {"part": 0, "listening": True, "last_activity": sent_at}
        insert = insert_into(self._engine, ConversationRow).values(**asdict(place), **values)
        row, here = ConversationRow, _at(ConversationRow, place)
        stored = select(row.part, row.last_activity).where(here).with_for_update()

        def go_on(db: Connection) -> int:
            db.execute(insert.on_conflict_do_nothing(index_elements=_KEY))
            before, last_activity = db.execute(stored).one()
            part: int = before + is_silent(last_activity, sent_at)
            latest = max(last_activity, sent_at)
            db.execute(update(row).where(here).values(part=part, last_activity=latest))
            return part

        return await write(self._engine, go_on, urgent=True)

    async def begin_again(self, place: Place) -> int:
        """Begin another part of a direct message, as about another course, and return it."""
        values = {"part": 1, "listening": True, "last_activity": now()}
        insert = insert_into(self._engine, ConversationRow).values(**asdict(place), **values)
        row = ConversationRow
        upsert = insert.on_conflict_do_update(index_elements=_KEY, set_={"part": row.part + 1})
        statement = upsert.returning(row.part)
        return await write(self._engine, lambda db: db.execute(statement).scalar_one(), urgent=True)

    async def forget(self, place: Place) -> None:
        """Forget that there was a conversation, as when its channel was deleted."""
        await _execute(self._engine, delete(ConversationRow).where(_at(ConversationRow, place)))

    async def changed_at(self, place: Place) -> datetime | None:
        """Return when a conversation fell silent or came back last; None: never."""
        row = ConversationRow
        async with reading(self._engine) as db:
            moment: datetime | None = await db.scalar(
                select(row.last_activity).where(_at(row, place))
            )
            return moment


_KEY = ["platform", "workspace", "place"]


async def _execute(engine: AsyncEngine, statement: Executable) -> None:
    """Execute a statement for which a user waits."""
    await write(engine, lambda db: db.execute(statement), urgent=True)


def _at(row: type[ChannelRulesRow] | type[ConversationRow], place: Place) -> Any:
    return and_(
        row.platform == place.platform, row.workspace == place.workspace, row.place == place.place
    )


def _rules(place: str, stored: dict[str, Any]) -> Rules:
    """Return stored rules; what a later version wrote and this one does not know is left out."""
    known = {name: value for name, value in stored.items() if name in Rules.model_fields}
    try:
        return Rules.model_validate(known)
    except ValidationError as error:
        unknown = {str(one["loc"][0]) for one in error.errors(include_input=False)}
    logger.warning(
        "in the rules of %s, %s has a value that this version does not know: it is left out",
        place,
        ", ".join(sorted(unknown)),
    )
    return Rules.model_validate({n: value for n, value in known.items() if n not in unknown})
