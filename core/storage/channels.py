"""The SQL side of channels: what staff set for them, and the conversations in them."""

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from pydantic import ValidationError
from sqlalchemy import (
    JSON,
    ColumnElement,
    Connection,
    Executable,
    Text,
    and_,
    bindparam,
    delete,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.domain import AnswerLength, CourseId, Model, is_silent, now
from core.storage.database import Base, UtcDateTime, insert_into, reading, write
from core.storage.privacy import (
    BRIEFLY,
    Channel,
    Holder,
    PersonRows,
    Work,
    deleting,
    executing,
    in_direct,
)

logger = logging.getLogger(__name__)


class FollowUps(StrEnum):
    """When a thread that the bot opened is answered without a mention."""

    UNTIL_PEOPLE_TALK = "until-people-talk"
    """Whenever a message is meant for the bot; what people say to each other is left alone."""
    MENTION = "mention"
    """Never: every question has to mention the bot."""


class Askers(StrEnum):
    """Who is answered."""

    EVERYONE = "everyone"
    STAFF = "staff"


class Rules(Model):
    """What was set for a place; None: nothing was said, so the wider place counts."""

    course_id: CourseId | None = None
    excluded: bool | None = None
    """The bot says nothing here."""
    follow_ups: FollowUps | None = None
    askers: Askers | None = None
    answer_length: AnswerLength | None = None
    private: bool | None = None
    """Commands are answered to the asker alone, unless they say otherwise where staff set it."""
    auto_answer: bool | None = None
    """New posts of a forum, or new messages of a Slack channel, need no mention."""
    outsiders: bool | None = None
    """Slack: people of other organisations, and other apps, are answered."""

    def over(self, wider: "Rules") -> "Rules":
        """Return these rules, and the wider place's where nothing was said."""
        return wider.model_copy(update=self.said())

    def said(self) -> dict[str, Any]:
        """Return what these rules say, by name."""
        return self.model_dump(mode="python", exclude_none=True)


DEFAULTS = Rules(
    excluded=False,
    follow_ups=FollowUps.UNTIL_PEOPLE_TALK,
    askers=Askers.EVERYONE,
    private=False,
    auto_answer=False,
    outsiders=False,
)
"""What holds where no one said anything; the length of answers is then the course's."""


class OperatorRules(Rules):
    """What the operator's file says of a place, and what of it chat cannot change."""

    locked: frozenset[str] = frozenset()
    """The names of rules that are the file's alone, at this place and inside of it."""

    def said(self) -> dict[str, Any]:
        """Return what these rules say, by name, without what they lock."""
        return self.model_dump(mode="python", exclude_none=True, exclude={"locked"})


STRICT: Mapping[str, object] = {
    "excluded": True,
    "askers": Askers.STAFF,
    "outsiders": False,
    "private": True,
}
"""The restrictive value of each rule that has one: chat may always set it, and never lift it."""


def in_force(
    places: Sequence[str], chat: Mapping[str, Rules], file: Mapping[str, OperatorRules]
) -> Rules:
    """Return what holds in a place.

    The narrowest place that says something counts, and in one place chat before the file. What
    the file restricts chat does not loosen, there or inside; what the file locks is the file's
    to say alone. Either way chat may restrict.

    Args:
        places: Ids from the narrowest place to the widest, such as channel, category, guild.
        chat: What staff set, by place.
        file: What the operator's file says, by place.
    """
    widest_first = [
        (chat.get(place, Rules()), file.get(place, OperatorRules())) for place in reversed(places)
    ]
    return Rules(**{name: _rule_in_force(name, widest_first) for name in Rules.model_fields})


def bound_by(file: Mapping[str, OperatorRules], places: Iterable[str]) -> frozenset[str]:
    """Return the courses that the operator's file binds to any of some places."""
    said = (file[place].course_id for place in places if place in file)
    return frozenset(course_id for course_id in said if course_id is not None)


def is_kept_private(places: Sequence[str], file: Mapping[str, OperatorRules]) -> bool:
    """Return whether the operator's file lets no command be answered to all in a place.

    Args:
        places: As of `in_force`.
        file: What the operator's file says, by place.
    """
    said = (file[place].private for place in places if place in file)
    return next((private for private in said if private is not None), False)


def _rule_in_force(name: str, widest_first: Iterable[tuple[Rules, OperatorRules]]) -> object:
    """Return the value that one rule has in the narrowest of some places."""
    value = by_file = getattr(DEFAULTS, name)
    strict, restricted, locked = STRICT.get(name, _NONE), False, False
    for chat, file in widest_first:
        said = getattr(file, name)
        locked = locked or name in file.locked
        if said is not None:
            value, by_file, restricted = said, said, said == strict
        elif locked and value != strict:
            value = by_file
        set_here = getattr(chat, name)
        if set_here is not None and (set_here == strict or not (locked or restricted)):
            value = set_here
    return value


_NONE = object()
"""Equals no value: of a rule that has no restrictive one."""


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


class ChannelRules(Holder):
    """What staff set, by place; safe for any number of processes at once.

    What is set here holds here at once; other processes follow within two seconds.
    Every method raises StoreError when the database fails.
    """

    TABLES = (ChannelRulesRow,)

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

    async def forget_direct(self, direct: Channel) -> None:
        """Delete what is kept of direct messages, and of conversations in them."""
        await self.set(Place(direct.platform, direct.workspace, direct.channel), Rules())

    def rows_of(self, user_ids: Sequence[str], direct: Iterable[Channel]) -> Iterable[PersonRows]:
        """Return what is kept of direct messages with a person."""
        return [PersonRows(ChannelRulesRow, in_direct(ChannelRulesRow, direct))]

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


class Conversations(Holder):
    """The threads and direct messages in which the bot takes part.

    Every method raises StoreError when the database fails.
    """

    TABLES = (ConversationRow,)

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

    async def forget_direct(self, direct: Channel) -> None:
        """Delete what is kept of direct messages, and of conversations in them."""
        gone = delete(ConversationRow).where(in_direct(ConversationRow, [direct]))
        await write(self._engine, lambda db: db.execute(gone).rowcount)

    def rows_of(self, user_ids: Sequence[str], direct: Iterable[Channel]) -> Iterable[PersonRows]:
        """Return what is kept of direct messages with a person."""
        return [PersonRows(ConversationRow, in_direct(ConversationRow, direct))]

    def expired(self, moment: datetime, kept_for: timedelta | None) -> Iterable[Work]:
        """Delete which conversations are current; where staff paused the bot, it stays paused."""
        row = ConversationRow
        if kept_for is not None:
            yield deleting(row, row.last_activity < moment - kept_for, row.listening)


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


class Exchanges(Holder):
    """Exchanges between people; every method raises StoreError when the database fails."""

    TABLES = (ExchangeRow,)

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
        query = select(row.until).where(_exchanges_at(place), row.user_id == user_id)
        async with reading(self._engine) as db:
            until: datetime | None = await db.scalar(query)
        return until is not None and said < until

    async def leave(self, place: Place, user_id: str) -> None:
        """Keep that a person talks to the bot again."""
        gone = delete(ExchangeRow).where(_exchanges_at(place), ExchangeRow.user_id == user_id)
        await write(self._engine, lambda db: db.execute(gone), urgent=True)

    async def forget_user(self, user_id: str) -> int:
        """Forget with whom a person talked, and return in how many places."""
        gone = delete(ExchangeRow).where(ExchangeRow.user_id == user_id)
        return await write(self._engine, executing(gone))

    def expired(self, moment: datetime, kept_for: timedelta | None) -> Iterable[Work]:
        """Delete which people talked to each other."""
        yield deleting(ExchangeRow, ExchangeRow.until < moment - BRIEFLY)


def _key(place: Place) -> dict[str, str]:
    return {"platform": place.platform, "workspace": place.workspace, "place": place.place}


def _exchanges_at(place: Place) -> ColumnElement[bool]:
    row = ExchangeRow
    return and_(
        row.platform == place.platform, row.workspace == place.workspace, row.place == place.place
    )


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


class Panels(Holder):
    """What conversations stand next to.

    Methods raise StoreError when the database fails.
    """

    TABLES = (PanelRow,)

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

    async def forget_direct(self, direct: Channel) -> None:
        """Delete what is kept of direct messages, and of conversations in them."""
        gone = delete(PanelRow).where(in_direct(PanelRow, [direct]))
        await write(self._engine, lambda db: db.execute(gone).rowcount)

    def rows_of(self, user_ids: Sequence[str], direct: Iterable[Channel]) -> Iterable[PersonRows]:
        """Return what is kept of direct messages with a person."""
        return [PersonRows(PanelRow, in_direct(PanelRow, direct))]

    def expired(self, moment: datetime, kept_for: timedelta | None) -> Iterable[Work]:
        """Delete what conversations stand next to that no one looks at any more."""
        yield deleting(PanelRow, PanelRow.seen_at < moment - min(KEPT, kept_for or KEPT))
