"""What is stored of people and workspaces: counted, shown, deleted, and kept no longer.

Each store says it of its own tables, as a `Holder`; nothing else here knows a table.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any, ClassVar, Protocol
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    ColumnExpressionArgument,
    Connection,
    and_,
    delete,
    inspect,
    or_,
    select,
    tuple_,
)
from sqlalchemy.ext.asyncio import AsyncEngine

from core.domain import now
from core.storage.database import Base, reading, write

BATCH = 200
"""Rows of a table that are deleted in one go, so that no one waits long for the database."""
BRIEFLY = timedelta(hours=1)
"""How long it is known what was counted or closed in a minute; clocks may differ by some."""
_AT_ONCE = 500
"""Values in one statement; databases take some thousand at most."""

Json = dict[str, Any]
Work = Callable[[Connection], int]
"""Changes rows in a transaction, and returns how many."""


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel, by the platform's ids."""

    platform: str
    workspace: str
    channel: str


@dataclass(frozen=True, slots=True)
class ForgottenWorkspace:
    """A workspace, and who and what is known to have asked there."""

    platform: str
    workspace: str
    people: frozenset[str] = frozenset()
    """Pseudonyms; each belongs to one workspace."""
    requests: frozenset[UUID] = frozenset()

    def knowing(self, people: Iterable[str], requests: Iterable[UUID]) -> "ForgottenWorkspace":
        """Return it with further people and requests."""
        return replace(
            self, people=self.people.union(people), requests=self.requests.union(requests)
        )


@dataclass(frozen=True, slots=True)
class PersonRows:
    """The rows of a table that are about a person."""

    row: type[Base]
    condition: ColumnElement[bool]
    withheld: frozenset[str] = frozenset()
    """Columns that tell nothing of people, such as a sealed secret of the bot's."""
    of_others: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Columns with a pseudonym that may be another's, and which further columns are theirs then."""


@dataclass(frozen=True, slots=True)
class StoredAmounts:
    """How much is stored about a person."""

    questions: int = 0
    """With their answers."""
    waiting: int = 0
    """Questions that wait for their answer, and the addresses of answers given."""
    votes: int = 0
    passed_on: int = 0
    """Questions that went to staff, and wordings that are kept with what staff answered."""

    @property
    def anything(self) -> bool:
        """Whether there is anything to delete."""
        return bool(self.questions or self.waiting or self.votes or self.passed_on)

    def __add__(self, other: "StoredAmounts") -> "StoredAmounts":
        return StoredAmounts(
            self.questions + other.questions,
            self.waiting + other.waiting,
            self.votes + other.votes,
            self.passed_on + other.passed_on,
        )


class Holder:
    """A store that says what it holds of people and workspaces.

    By itself it holds the rows that name a person as `user_id`, and those that name a workspace.
    Methods that are not given a connection raise StoreError when the database fails.
    """

    TABLES: ClassVar[tuple[type[Base], ...]] = ()
    """All of its tables; no other store has any of them."""
    COUNTED_AS: ClassVar[str | None] = None
    """The field of StoredAmounts that its rows of a person count for; None: they are not told."""

    async def of_user(self, user_id: str) -> int:
        """Return how much is kept of a person, by a pseudonym."""
        return 0

    async def forget_user(self, user_id: str) -> int:
        """Delete what is kept of a person, by a pseudonym, and return how much it was."""
        return 0

    async def forget_direct(self, direct: Channel) -> None:
        """Delete what is kept of direct messages with a person who is forgotten."""

    def rows_of(self, user_ids: Sequence[str], direct: Iterable[Channel]) -> Iterable[PersonRows]:
        """Return the rows that are about a person.

        Args:
            direct: The direct messages with the person.
        """
        return [
            PersonRows(row, row.__table__.c.user_id.in_(user_ids))
            for row in self.TABLES
            if "user_id" in row.__table__.c
        ]

    def known_of(self, db: Connection, workspace: ForgottenWorkspace) -> ForgottenWorkspace:
        """Return people and requests of a workspace that this store knows, for all to forget."""
        return workspace

    def forget_workspace(self, db: Connection, workspace: ForgottenWorkspace) -> None:
        """Delete what is kept of a workspace."""
        for row in self.TABLES:
            if "workspace" in row.__table__.c:
                db.execute(delete(row).where(in_workspace(row, workspace)))

    def expired(self, moment: datetime, kept_for: timedelta | None) -> Iterable[Work]:
        """Return what deletes a batch each of that which no one needs at a moment.

        Args:
            kept_for: How old conversations may become; None: of any age.
        """
        return ()


def in_workspace(row: Any, workspace: ForgottenWorkspace) -> ColumnElement[bool]:
    """Return the condition that a row names a workspace."""
    return and_(row.platform == workspace.platform, row.workspace == workspace.workspace)


def in_direct(row: Any, direct: Iterable[Channel]) -> ColumnElement[bool]:
    """Return the condition that a row's place is direct messages, or a conversation in them."""
    return or_(
        tuple_(row.platform, row.workspace, row.place).in_(
            sorted((one.platform, one.workspace, one.channel) for one in direct)
        ),
        *(
            and_(
                row.platform == one.platform,
                row.workspace == one.workspace,
                row.place.startswith(f"{one.channel}:", autoescape=True),
            )
            for one in direct
        ),
    )


def batch_of(row: type[Base], *conditions: ColumnExpressionArgument[bool]) -> ColumnElement[bool]:
    """Return the condition that a row is in the next batch of those that meet some conditions."""
    key = inspect(row).primary_key
    return tuple_(*key).in_(select(*key).where(*conditions).limit(BATCH))


def executing(statement: Any) -> Work:
    """Return what executes a statement, and returns how many rows it met."""
    return lambda db: db.execute(statement).rowcount


def deleting(row: type[Base], *conditions: ColumnExpressionArgument[bool]) -> Work:
    """Return what deletes a batch of the rows that meet some conditions."""
    return executing(delete(row).where(batch_of(row, *conditions)))


def parts(values: Iterable[Any]) -> Iterable[list[Any]]:
    """Yield values in lists that fit into one statement each."""
    given = [*values]
    return (given[start : start + _AT_ONCE] for start in range(0, len(given), _AT_ONCE))


class PlacesOfPeople(Protocol):
    """Knows where people asked; methods raise StoreError when the database fails."""

    async def workspaces(self, platform: str) -> frozenset[str]:
        """Return the workspaces of a platform that something is kept of, left ones included."""
        ...

    async def direct_channels(self, user_ids: Sequence[str]) -> frozenset[Channel]:
        """Return the direct messages that a person asked in, by their pseudonyms."""
        ...


class PersonalData:
    """All that the stores hold of a person, by the person's pseudonyms.

    A person has a pseudonym a workspace. Methods raise StoreError when the database fails;
    what was deleted by then stays deleted, and calling again deletes the rest.
    """

    def __init__(self, holders: Sequence[Holder], places: PlacesOfPeople) -> None:
        """Prepare to count and delete.

        Args:
            holders: The first is where questions arrive: it forgets a person first, so that
                nothing new is written, and direct messages last, as it alone knows them.
        """
        self._holders = holders
        self._places = places

    async def workspaces(self, platform: str) -> frozenset[str]:
        """Return the workspaces of a platform that something is kept of, left ones included."""
        return await self._places.workspaces(platform)

    async def stored(self, user_ids: Sequence[str]) -> StoredAmounts:
        """Return how much there is."""
        total = StoredAmounts()
        for user_id in user_ids:
            for holder in self._holders:
                if (kind := holder.COUNTED_AS) is not None:
                    total += StoredAmounts(**{kind: await holder.of_user(user_id)})
        return total

    async def forget(self, user_ids: Sequence[str]) -> StoredAmounts:
        """Delete it all, answers under way included, and return how much it was."""
        direct = await self._places.direct_channels(user_ids)
        await self._forget_direct(direct)  # first: a second try would not know them any more
        total = StoredAmounts()
        for user_id in user_ids:
            for holder in self._holders:
                count = await holder.forget_user(user_id)
                if (kind := holder.COUNTED_AS) is not None:
                    total += StoredAmounts(**{kind: count})
        await self._forget_direct(direct)  # what came meanwhile
        return total

    async def _forget_direct(self, channels: Iterable[Channel]) -> None:
        for direct in channels:
            for holder in reversed(self._holders):
                await holder.forget_direct(direct)


class PersonalExport:
    """Everything that the database holds of a person, by the person's pseudonyms."""

    def __init__(
        self, engine: AsyncEngine, holders: Sequence[Holder], places: PlacesOfPeople
    ) -> None:
        self._engine = engine
        self._holders = holders
        self._places = places

    async def of(self, user_ids: Sequence[str]) -> Json:
        """Return all rows of one moment that are about a person, by table, oldest first.

        Tables without such a row are there, too. What others asked is not: of a conversation
        that another user began there are the person's own turns only.

        Raises:
            StoreError: when the database fails.
        """
        tables: dict[str, list[Json]] = {}
        direct = await self._places.direct_channels(user_ids)
        async with reading(self._engine) as db:
            for holder in self._holders:
                for own in holder.rows_of(user_ids, direct):
                    key = inspect(own.row).primary_key
                    found = await db.scalars(select(own.row).where(own.condition).order_by(*key))
                    name = own.row.__tablename__
                    tables[name] = [_shown(one, own, user_ids) for one in found]
        return {
            "exported_at": now().isoformat(),
            "pseudonyms": list(user_ids),
            "stored": tables,
        }


def _shown(row: Base, own: PersonRows, user_ids: Sequence[str]) -> Json:
    """Return a row without the pseudonyms of others, nor the words that were another's."""
    hidden = set(own.withheld)
    for name, theirs in own.of_others.items():
        user_id = getattr(row, name)
        if user_id is not None and user_id not in user_ids:
            hidden.update((name, *theirs))
    names = (column.name for column in row.__table__.columns)
    return {name: _plain(getattr(row, name)) for name in names if name not in hidden}


def _plain(value: Any) -> Any:
    """Return a column's value as JSON has it."""
    if isinstance(value, date | datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value


class WorkspaceData:
    """All that the stores hold of a workspace; its tokens are the platform's to delete."""

    def __init__(self, engine: AsyncEngine, holders: Sequence[Holder]) -> None:
        self._engine = engine
        self._holders = holders

    async def forget(self, platform: str, workspace: str) -> int:
        """Delete it all, answers under way included; return how many questions there were.

        Its grants go as well; a course that it owns stays its own, and is closed to others.
        A worker that holds one has lost it. Nothing of another workspace is touched: not the
        rules of a channel that both see, nor what a user did who is in both.

        Raises:
            StoreError: when the database fails; then nothing was deleted.
        """
        return await write(
            self._engine, partial(self._forget, ForgottenWorkspace(platform, workspace))
        )

    def _forget(self, workspace: ForgottenWorkspace, db: Connection) -> int:
        for holder in self._holders:
            workspace = holder.known_of(db, workspace)
        for holder in reversed(self._holders):
            holder.forget_workspace(db, workspace)
        return len(workspace.requests)


class Retention:
    """Deletes conversations, votes and events that no one needs any more."""

    def __init__(
        self, engine: AsyncEngine, holders: Sequence[Holder], *, kept_for: timedelta | None
    ) -> None:
        """Prepare to delete.

        Args:
            kept_for: How old what is kept may become; None: of any age.
        """
        self._engine = engine
        self._holders = holders
        self._kept_for = kept_for

    async def delete_some(self, moment: datetime | None = None) -> int:
        """Delete a batch of each table, and return how many rows that were; 0: there is no more.

        Raises:
            StoreError: when the database fails; what was deleted by then stays deleted.
        """
        moment = moment or now()
        deleted = 0
        for holder in self._holders:
            for work in holder.expired(moment, self._kept_for):
                deleted += await write(self._engine, work)
        return deleted
