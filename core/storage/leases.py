"""What one process at a time may do: taken for a while, held by renewing, shared out fairly."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Function, Text, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.models import now
from core.storage.database import Base, UtcDateTime, insert_into, write

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite

_KEPT = timedelta(hours=1)
"""How long what has run out stays in the table."""
_NOBODY = ""
_BEAT, _LONGEST_BEAT = 0.25, 2.0
"""The part of a lease, and the seconds at most, after which it is to be renewed."""
_MISSED = 2
"""After so many beats without a word, no one counts on a process any more."""
_BREAK = 0.25
"""The part of a lease that a process may stand still in the middle of a transaction."""


class LeaseRow(Base):
    """Something that a process has until a moment, or a process that lives until then.

    The row of a process that has not yet come back has no holder.
    """

    __tablename__ = "leases"

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    holder: Mapped[str] = mapped_column(Text)
    until: Mapped[datetime] = mapped_column(UtcDateTime)


@dataclass(frozen=True, slots=True)
class LeaseShare:
    """What a process has of that which its group shares out."""

    held: frozenset[str]
    too_large: bool
    """Whether it is to let go of one, since another process has at least two fewer."""


class Leases:
    """One process's leases; every method is a transaction, and raises StoreError if it fails.

    The clock is the database's, so that the clocks of several machines need not agree.
    """

    def __init__(
        self, engine: AsyncEngine, holder: str, seconds: float, longest_beat: float = _LONGEST_BEAT
    ) -> None:
        """Prepare to use the table.

        Args:
            holder: This process, unlike any other one.
            seconds: How long a lease that is not renewed keeps others away.
            longest_beat: Seconds between two renewals at most.
        """
        self._engine = engine
        self._holder = holder
        self.seconds = seconds
        self.beat = min(seconds * _BEAT, longest_beat)
        """Seconds after which to renew."""
        self._awaited = timedelta(seconds=self.beat * _MISSED)
        self._free_since = dict[str, datetime]()

    async def share(self, group: str, names: Sequence[str]) -> LeaseShare:
        """Renew what is held of a group's names, take what is free up to a fair share.

        A caller is a member of the group for two beats. Shares differ by one at most,
        as soon as those who have too much have let go of it. They do so for members that have
        called this again; and what stays free for two beats is taken by anybody. So a process
        that dies as often as it starts takes nothing away from those that live.
        """
        return await write(self._engine, lambda db: self._share(db, group, names))

    async def take(self, name: str, seconds: float) -> bool:
        """Take a name for so long unless a user has it, this process included."""

        def take(db: Connection) -> bool:
            moment = self._moment(db)
            until = moment + timedelta(seconds=seconds)
            upsert = self._upsert(name, until, LeaseRow.until <= moment)
            return db.execute(upsert.returning(LeaseRow.name)).first() is not None

        return await write(self._engine, take)

    async def release(self, group: str, name: str) -> None:
        """Let others have a name of a group at once; one that is not held stays as it is."""
        ours = (LeaseRow.name == _key(group, name), LeaseRow.holder == self._holder)
        free = update(LeaseRow).where(*ours).values(holder=_NOBODY)
        await write(self._engine, lambda db: db.execute(free.values(until=self._moment(db))))

    async def leave(self, group: str) -> None:
        """Release all that is held of a group, and be no member of it any more."""
        ours = LeaseRow.holder == self._holder
        held = update(LeaseRow).where(ours, LeaseRow.name.startswith(_key(group, "")))
        member = delete(LeaseRow).where(LeaseRow.name == _member(group, self._holder))

        def leave(db: Connection) -> None:
            db.execute(member)
            db.execute(held.values(holder=_NOBODY, until=self._moment(db)))

        await write(self._engine, leave)

    def _moment(self, db: Connection) -> datetime:
        """Return the database's time; a file is on the machine of all its processes."""
        if db.dialect.name == "sqlite":
            return now()
        clock = func.clock_timestamp(type_=UtcDateTime())
        moment, _ = db.execute(select(clock, _idle(self.seconds * _BREAK))).one()
        return moment

    def _share(self, db: Connection, group: str, names: Sequence[str]) -> LeaseShare:
        moment = self._moment(db)
        until = moment + timedelta(seconds=self.seconds)
        keys = {_key(group, name): name for name in names}
        self._add_missing(db, sorted(keys), moment)
        self._renew(db, [*keys], until)
        self._stay_member(db, group, moment + self._awaited)
        holders = _holders(db, [*keys], moment)
        members = _members(db, group, moment)
        sizes = _sizes(members, holders.values())
        free = [key for key in keys if key not in holders]
        most = max(self._wanted(sizes, len(keys)), self._left_over(free, moment))
        taken = self._take_free(db, free, most, moment, until)
        ours = {key for key, holder in holders.items() if holder == self._holder} | taken
        _forget_old(db, moment)
        return LeaseShare(
            held=frozenset(keys[key] for key in ours),
            too_large=not free and self._is_to_let_go(sizes, members),
        )

    def _wanted(self, sizes: Mapping[str, int], names: int) -> int:
        """Return how many more this process may take: its part, or one if no one has fewer."""
        ours, part = sizes[self._holder], names // len(sizes)
        return part - ours if ours < part else int(ours == min(sizes.values()))

    def _left_over(self, free: Sequence[str], moment: datetime) -> int:
        """Return how many names no one took although this process has long seen them free."""
        self._free_since = {key: self._free_since.get(key, moment) for key in free}
        return sum(moment - since >= self._awaited for since in self._free_since.values())

    def _is_to_let_go(self, sizes: Mapping[str, int], members: Mapping[str, bool]) -> bool:
        """Return whether this process is the first of the fullest, and others have too few."""
        most = max(sizes.values())
        first = min(holder for holder, size in sizes.items() if size == most)
        takers = [size for holder, size in sizes.items() if members[holder]]
        return first == self._holder and most - min(takers, default=most) > 1

    def _add_missing(self, db: Connection, keys: Sequence[str], moment: datetime) -> None:
        known = set(db.scalars(select(LeaseRow.name).where(LeaseRow.name.in_(keys))))
        new = [
            {"name": key, "holder": _NOBODY, "until": moment} for key in keys if key not in known
        ]
        if new:
            db.execute(insert_into(self._engine, LeaseRow).values(new).on_conflict_do_nothing())

    def _renew(self, db: Connection, keys: Sequence[str], until: datetime) -> None:
        """Renew what is still held, also if it has run out meanwhile."""
        ours = (LeaseRow.holder == self._holder, LeaseRow.name.in_(keys))
        db.execute(update(LeaseRow).where(*ours).values(until=until))

    def _stay_member(self, db: Connection, group: str, until: datetime) -> None:
        name = _member(group, self._holder)
        db.execute(self._upsert(name, until, holder_at_first=_NOBODY))

    def _take_free(
        self, db: Connection, free: Sequence[str], most: int, moment: datetime, until: datetime
    ) -> set[str]:
        """Take free names; one that a user else is about to take, or to renew, is theirs.

        No one waits for anybody here: else two processes could wait for each other.
        """
        row = LeaseRow
        query = select(row.name).where(row.name.in_(free), row.until <= moment)
        query = query.order_by(row.name).limit(most).with_for_update(skip_locked=True)
        taken = set(db.scalars(query)) if free and most else set()
        if taken:
            ours = {"holder": self._holder, "until": until}
            db.execute(update(row).where(row.name.in_(taken)).values(ours))
        return taken

    def _upsert(
        self, name: str, until: datetime, condition: Any = None, holder_at_first: str | None = None
    ) -> "sqlite.Insert | postgresql.Insert":
        """Return the statement that gives us a name, known or not, if the condition holds."""
        insert = insert_into(self._engine, LeaseRow)
        ours = {"holder": self._holder, "until": until}
        first = ours if holder_at_first is None else ours | {"holder": holder_at_first}
        return insert.values(name=name, **first).on_conflict_do_update(
            index_elements=["name"], set_=ours, where=condition
        )


def _key(group: str, name: str) -> str:
    return f"{group}:{name}"


def _member(group: str, holder: str) -> str:
    return f"{group}@{holder}"


def _idle(seconds: float) -> Function[str]:
    """Return the call by which a process that stands still soon loses what it has locked."""
    milliseconds = str(max(1, round(seconds * 1_000)))
    return func.set_config("idle_in_transaction_session_timeout", milliseconds, True)


def _holders(db: Connection, keys: Sequence[str], moment: datetime) -> dict[str, str]:
    """Return who has which names; free ones are left out."""
    query = select(LeaseRow.name, LeaseRow.holder)
    held = query.where(LeaseRow.name.in_(keys), LeaseRow.until > moment)
    return dict(db.execute(held).all())


def _members(db: Connection, group: str, moment: datetime) -> dict[str, bool]:
    """Return the processes that are alive, and whether each has come back since it joined."""
    prefix = _member(group, "")
    query = select(LeaseRow.name, LeaseRow.holder != _NOBODY)
    alive = query.where(LeaseRow.name.startswith(prefix), LeaseRow.until > moment)
    return {name.removeprefix(prefix): came_back for name, came_back in db.execute(alive)}


def _sizes(members: Iterable[str], holders: Iterable[str]) -> dict[str, int]:
    """Return how many names each member has; holders that are no members do not count."""
    sizes = dict.fromkeys(members, 0)
    for holder in holders:
        if holder in sizes:
            sizes[holder] += 1
    return sizes


def _forget_old(db: Connection, moment: datetime) -> None:
    """Delete what ran out long ago, of any group, unless another process is at it."""
    old = select(LeaseRow.name).where(LeaseRow.until < moment - _KEPT)
    found = old.with_for_update(skip_locked=True)
    db.execute(delete(LeaseRow).where(LeaseRow.name.in_(found)))
