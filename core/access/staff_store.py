"""The SQL side of staff: who was named by the admins of each tenant."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Text, and_, bindparam, delete, func, select
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.access.staff import NamedStaff, StaffKind
from core.access.tenants import Tenant
from core.errors import RequestError
from core.i18n import Message
from core.models import now
from core.storage.database import Base, UtcDateTime, insert_into, reading, write

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


class StaffStore:
    """Who was named, by tenant; safe for any number of processes at once.

    What is changed here holds here at once; other processes follow within two seconds.
    Every method raises StoreError when the database fails.
    """

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
        values = {**_columns(tenant, named), "user_id": user_id, "named_at": now()}
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


def _columns(tenant: Tenant, named: NamedStaff) -> dict[str, str]:
    course = named.course_id or _ALL_COURSES
    return {**_key(tenant), "kind": named.kind.value, "id": named.id, "course_id": course}


def _at(values: Mapping[str, str]) -> Any:
    return and_(*(getattr(StaffRow, name) == value for name, value in values.items()))


def _sorted(named: Iterable[NamedStaff]) -> list[NamedStaff]:
    return sorted(named, key=lambda one: one.order)


def _named(kind: str, staff_id: str, course_id: str) -> NamedStaff:
    return NamedStaff(StaffKind(kind), staff_id, course_id or None)
