"""The SQL side of access: the tenants that were met, and the courses granted to them."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from sqlalchemy import (
    Connection,
    ForeignKey,
    Text,
    and_,
    bindparam,
    delete,
    exists,
    func,
    select,
    text,
    update,
)
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.domain import now
from core.domain.errors import RequestError
from core.domain.i18n import Message
from core.storage.access import (
    MemberLookup,
    MetTenant,
    NamedStaff,
    Permits,
    StaffKind,
    Tenant,
    is_staff,
)
from core.storage.database import Base, UtcDateTime, insert_into, reading, write
from core.storage.privacy import ForgottenWorkspace, Holder, in_workspace

_FRESH = 2.0
"""Seconds for which what was read is taken to hold, though another process may change it."""


class TenantRow(Base):
    """A tenant that was met, and whether it is the operator's own."""

    __tablename__ = "tenants"

    platform: Mapped[str] = mapped_column(Text, primary_key=True)
    workspace: Mapped[str] = mapped_column(Text, primary_key=True)
    organisation: Mapped[str | None] = mapped_column(Text)
    home: Mapped[bool]
    met_at: Mapped[datetime] = mapped_column(UtcDateTime)


class CourseGrantRow(Base):
    """A course that a tenant may read although it does not own it."""

    __tablename__ = "course_grants"

    course_id: Mapped[str] = mapped_column(
        ForeignKey("courses.course_id", ondelete="CASCADE"), primary_key=True
    )
    platform: Mapped[str] = mapped_column(Text, primary_key=True)
    workspace: Mapped[str] = mapped_column(Text, primary_key=True)
    granted_at: Mapped[datetime] = mapped_column(UtcDateTime)


class AccessStore(Holder):
    """Tenants and grants, safe for any number of processes at once.

    What is changed here holds here at once; other processes follow within two seconds.
    Every method raises StoreError when the database fails.
    """

    TABLES = (TenantRow, CourseGrantRow)

    def __init__(self, engine: AsyncEngine, public: frozenset[str] = frozenset()) -> None:
        """Prepare to use the tables.

        Args:
            public: As `Permits.public`.
        """
        self._engine = engine
        self._public = public
        self._met = set[tuple[Tenant, Tenant | None]]()
        self._permits: Permits | None = None
        self._until = 0.0
        self._changes = 0

    async def permits(self) -> Permits:
        """Return what holds at this moment."""
        if self._permits is not None and time.monotonic() < self._until:
            return self._permits
        until, changes = time.monotonic() + _FRESH, self._changes
        async with reading(self._engine) as db:
            tenants = [_met(row) for row in await db.scalars(select(TenantRow))]
            grants = [_grant(row) for row in await db.scalars(select(CourseGrantRow))]
        permits = Permits(
            homes=frozenset(one.tenant for one in tenants if one.is_home),
            grants=frozenset(grants),
            organisations={one.tenant: one.organisation for one in tenants if one.organisation},
            public=self._public,
        )
        if changes == self._changes:
            self._permits, self._until = permits, until
            there = {one.tenant for one in tenants}  # another process may have deleted some
            self._met = {met for met in self._met if met[0] in there}
        return permits

    async def meet(self, tenant: Tenant, organisation: Tenant | None = None) -> MetTenant | None:
        """Keep that a tenant was met, and return it if it never was before.

        The first of its platform is the operator's own, for good.
        """
        if (tenant, organisation) in self._met:
            return None
        met = await write(
            self._engine, lambda db: _meet(db, self._engine, tenant, organisation), urgent=True
        )
        self._met.add((tenant, organisation))
        self._forget()
        return met

    async def make_home(self, tenant: Tenant, organisation: Tenant | None = None) -> None:
        """Keep that a tenant is the operator's own, whichever was met first."""
        await self.meet(tenant, organisation)
        row = TenantRow
        here = (row.platform == tenant.platform, row.workspace == tenant.workspace)
        home = update(row).where(*here, ~row.home).values(home=True)
        await write(self._engine, lambda db: db.execute(home))
        self._forget()

    def depart(self, tenant: Tenant) -> None:
        """Remember nothing of a tenant whose rows were deleted: it may come back."""
        self._met = {one for one in self._met if one[0] != tenant}
        self._forget()

    async def tenants(self) -> list[MetTenant]:
        """Return all tenants in the order in which they were met."""
        query = select(TenantRow).order_by(
            TenantRow.platform, TenantRow.met_at, TenantRow.workspace
        )
        async with reading(self._engine) as db:
            return [_met(row) for row in await db.scalars(query)]

    async def grant(self, course_id: str, tenant: Tenant) -> bool:
        """Let a tenant read a course, and return whether it was not granted before.

        Raises:
            StoreError: also when there is no such course.
        """
        values = {"course_id": course_id, "granted_at": now(), **_columns(tenant)}
        insert = insert_into(self._engine, CourseGrantRow).values(**values)
        once = insert.on_conflict_do_nothing().returning(CourseGrantRow.course_id)
        granted = await write(self._engine, lambda db: db.scalar(once))
        self._forget()
        return granted is not None

    async def revoke(self, course_id: str, tenant: Tenant) -> bool:
        """Take a grant back, and return whether there was one."""
        row = CourseGrantRow
        this = (row.platform == tenant.platform, row.workspace == tenant.workspace)
        gone = delete(row).where(row.course_id == course_id, *this).returning(row.course_id)
        revoked = await write(self._engine, lambda db: db.scalar(gone))
        self._forget()
        return revoked is not None

    async def grants(self) -> Mapping[str, Sequence[Tenant]]:
        """Return the tenants that each course is granted to."""
        found = defaultdict[str, list[Tenant]](list)
        async with reading(self._engine) as db:
            for course_id, tenant in map(_grant, await db.scalars(select(CourseGrantRow))):
                found[course_id].append(tenant)
        return {course_id: sorted(tenants) for course_id, tenants in found.items()}

    def forget_workspace(self, db: Connection, workspace: ForgottenWorkspace) -> None:
        """Delete a workspace's grants, and that it was met.

        The operator's own stays known: no workspace that comes later may take its place.
        """
        db.execute(delete(CourseGrantRow).where(in_workspace(CourseGrantRow, workspace)))
        db.execute(delete(TenantRow).where(in_workspace(TenantRow, workspace), ~TenantRow.home))

    def _forget(self) -> None:
        """Read the tables again when it is asked next."""
        self._changes += 1
        self._permits = None


def _meet(
    db: Connection, engine: AsyncEngine, tenant: Tenant, organisation: Tenant | None
) -> MetTenant | None:
    if engine.dialect.name == "postgresql":
        # Two processes that meet their first tenants at once must not both find none before.
        db.execute(text("LOCK TABLE tenants IN SHARE ROW EXCLUSIVE MODE"))
    row, moment = TenantRow, now()
    is_first = not db.scalar(select(exists().where(row.platform == tenant.platform)))
    of = organisation.workspace if organisation is not None else None
    values = {"organisation": of, "home": is_first, "met_at": moment, **_columns(tenant)}
    insert = insert_into(engine, row).values(**values)
    known = {"organisation": of} if of is not None else {}
    if db.scalar(insert.on_conflict_do_nothing().returning(row.workspace)) is not None:
        return MetTenant(tenant, organisation, is_first, moment)
    if known:
        here = (row.platform == tenant.platform, row.workspace == tenant.workspace)
        db.execute(update(row).where(*here).values(**known))
    return None


def _columns(tenant: Tenant) -> dict[str, str]:
    return {"platform": tenant.platform, "workspace": tenant.workspace}


def _met(row: TenantRow) -> MetTenant:
    organisation = Tenant(row.platform, row.organisation) if row.organisation else None
    return MetTenant(Tenant(row.platform, row.workspace), organisation, row.home, row.met_at)


def _grant(row: CourseGrantRow) -> tuple[str, Tenant]:
    return row.course_id, Tenant(row.platform, row.workspace)


MOST_NAMED = 100
"""Roles, groups and people that the admins of a tenant may name."""
_KNOWN_FOR = 2.0
"""Seconds for which what was read is taken to hold, though another process may change it."""
_ALL_COURSES = ""


class StaffRow(Base):
    """A role, group or person that is staff of a tenant."""

    __tablename__ = "staff"

    platform: Mapped[str] = mapped_column(Text, primary_key=True)
    workspace: Mapped[str] = mapped_column(Text, primary_key=True)
    kind: Mapped[str] = mapped_column(Text, primary_key=True)
    id: Mapped[str] = mapped_column(Text, primary_key=True)
    course_id: Mapped[str] = mapped_column(Text, primary_key=True)
    """Empty: all courses."""
    user_id: Mapped[str | None] = mapped_column(Text, index=True)
    """A person's pseudonym."""
    named_at: Mapped[datetime] = mapped_column(UtcDateTime)


class StaffStore(Holder):
    """Who was named, by tenant; safe for any number of processes at once.

    What is changed here holds here at once; other processes follow within two seconds.
    Every method raises StoreError when the database fails.
    """

    TABLES = (StaffRow,)

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        row = StaffRow.__table__.c
        # Built once: it takes longer than it is executed.
        self._query = select(row.kind, row.id, row.course_id).where(
            row.platform == bindparam("platform"), row.workspace == bindparam("workspace")
        )
        self._known = dict[Tenant, tuple[float, tuple[NamedStaff, ...]]]()
        self._changes = 0

    async def of(self, tenant: Tenant) -> tuple[NamedStaff, ...]:
        """Return all who were named in a tenant."""
        until, named = self._known.get(tenant, (0.0, ()))
        if time.monotonic() < until:
            return named
        until, changes = time.monotonic() + _KNOWN_FOR, self._changes
        async with reading(self._engine) as db:
            found = await db.execute(self._query, _key(tenant))
            named = tuple(_sorted(_named(*row) for row in found))
        if changes == self._changes:
            self._known[tenant] = (until, named)
        return named

    async def add(self, tenant: Tenant, named: NamedStaff, user_id: str | None = None) -> bool:
        """Keep that a user is staff, and return whether they were not before.

        Args:
            user_id: A person's pseudonym, by which they find what is stored about them.

        Raises:
            RequestError: when so many are named that no more may be.
        """
        values = {**_staff_store_columns(tenant, named), "user_id": user_id, "named_at": now()}
        insert = insert_into(self._engine, StaffRow).values(**values)
        once = insert.on_conflict_do_nothing().returning(StaffRow.id)
        here = select(func.count()).select_from(StaffRow).where(_at(_key(tenant)))

        def added(db: Connection) -> bool:
            if db.scalar(once) is None:
                return False
            if (db.scalar(here) or 0) > MOST_NAMED:
                raise RequestError(user_message=Message("staff-too-many", {"most": MOST_NAMED}))
            return True

        return await self._changed(added)

    async def remove(self, tenant: Tenant, staff_id: str, course_id: str | None = None) -> bool:
        """Forget that a user is staff, and return whether they were.

        Args:
            course_id: The course for which alone they were named; None: however they were.
        """
        named = {**_key(tenant), "id": staff_id}
        if course_id is not None:
            named["course_id"] = course_id
        gone = delete(StaffRow).where(_at(named)).returning(StaffRow.id)
        return await self._changed(lambda db: bool(db.scalars(gone).all()))

    async def all(self) -> Mapping[Tenant, Sequence[NamedStaff]]:
        """Return all who were named in any tenant."""
        row, named = StaffRow, defaultdict[Tenant, list[NamedStaff]](list)
        query = select(row.platform, row.workspace, row.kind, row.id, row.course_id)
        async with reading(self._engine) as db:
            for platform, workspace, *one in await db.execute(query):
                named[Tenant(platform, workspace)].append(_named(*one))
        return {tenant: _sorted(named[tenant]) for tenant in sorted(named)}

    async def _changed(self, work: Callable[[Connection], bool]) -> bool:
        done = await write(self._engine, work, urgent=True)
        self._changes += 1
        self._known.clear()
        return done


def _key(tenant: Tenant) -> dict[str, str]:
    return {"platform": tenant.platform, "workspace": tenant.workspace}


def _staff_store_columns(tenant: Tenant, named: NamedStaff) -> dict[str, str]:
    course = named.course_id or _ALL_COURSES
    return {**_key(tenant), "kind": named.kind.value, "id": named.id, "course_id": course}


def _at(values: Mapping[str, str]) -> Any:
    return and_(*(getattr(StaffRow, name) == value for name, value in values.items()))


def _sorted(named: Iterable[NamedStaff]) -> list[NamedStaff]:
    return sorted(named, key=lambda one: one.order)


def _named(kind: str, staff_id: str, course_id: str) -> NamedStaff:
    return NamedStaff(StaffKind(kind), staff_id, course_id or None)


Described = Mapping[Tenant, Sequence[NamedStaff]]
"""Who the operator's file names."""


class Roster:
    """The one place that is asked who is staff; raises StoreError when the database fails."""

    def __init__(self, store: StaffStore, described: Described) -> None:
        self._store = store
        self._described = described

    def described(self, tenant: Tenant) -> Sequence[NamedStaff]:
        """Return who the operator's file names in a tenant: chat cannot remove them."""
        return self._described.get(tenant, ())

    async def includes(
        self, tenants: Sequence[Tenant], member: MemberLookup, course_id: str | None
    ) -> bool:
        """Return whether a user is staff where a course answers; None: where none does.

        Args:
            tenants: Those whose staff counts there; with none, no one is.
            member: Finds out who it is.
        """
        if not tenants:
            return False
        named = [one for one in await self._named(tenants) if one.counts_for(course_id)]
        groups = frozenset(one.id for one in named if one.kind is StaffKind.GROUP)
        return is_staff(await member(groups), named, course_id)

    async def _named(self, tenants: Sequence[Tenant]) -> list[NamedStaff]:
        told = [[*self.described(one), *await self._store.of(one)] for one in tenants]
        return [*chain.from_iterable(told)]
