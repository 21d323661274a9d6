"""Answers who is staff, from what the operator's file and a tenant's admins say."""

from collections.abc import Mapping, Sequence
from itertools import chain

from core.access.staff import MemberLookup, NamedStaff, StaffKind, is_staff
from core.access.staff_store import StaffStore
from core.access.tenants import Tenant

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
