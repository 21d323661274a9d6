"""Which courses may be read where: the one rule, without any database or platform."""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal, Self

from core.domain import Course

_NAME = re.compile(r"(?P<platform>[a-z]+):(?P<workspace>[A-Za-z0-9]+)")


@dataclass(frozen=True, order=True, slots=True)
class Tenant:
    """A guild or workspace, or an organisation that stands for all of its workspaces."""

    platform: str
    workspace: str
    """The platform's own id."""

    @classmethod
    def named(cls, name: str) -> Self:
        """Return the tenant of a name such as `slack:T0123` or `discord:42`.

        Raises:
            ValueError: when it is no such name.
        """
        match = _NAME.fullmatch(name)
        if match is None:
            raise ValueError("a tenant is written PLATFORM:ID, such as slack:T0123 or discord:42")
        return cls(**match.groupdict())

    def __str__(self) -> str:
        return f"{self.platform}:{self.workspace}"


@dataclass(frozen=True, slots=True)
class MetTenant:
    """A tenant that the installation knows."""

    tenant: Tenant
    organisation: Tenant | None
    """The organisation that the workspace belongs to, where there is one."""
    is_home: bool
    """Whether it is the operator's own, and may read the operator's courses."""
    met_at: datetime


TERMINAL = "console"
"""The platform of the operator's own terminal."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A user at a place, as far as it decides which courses they may read."""

    platform: str
    tenants: frozenset[Tenant] = frozenset()
    """The tenant of the place; in direct messages those that the person shares with the bot."""
    bound: frozenset[str] = frozenset()
    """The courses that the operator's file binds to the place, or to one around it."""


@dataclass(frozen=True, slots=True)
class Permits:
    """What the installation knows of its tenants at a moment."""

    homes: frozenset[Tenant] = frozenset()
    """The operator's own tenants: they may read what belongs to no other tenant."""
    grants: frozenset[tuple[str, Tenant]] = frozenset()
    """Courses by id, each with a tenant that may read it."""
    organisations: Mapping[Tenant, Tenant] = field(default_factory=dict)
    """The organisation of each workspace that has one."""
    public: frozenset[str] = frozenset()
    """Courses that everybody may read: the built-in handbook."""

    def standing_for(self, tenants: Iterable[Tenant]) -> frozenset[Tenant]:
        """Return tenants with the organisations that they belong to."""
        own = frozenset(tenants)
        return own | {self.organisations[one] for one in own if one in self.organisations}


def may_read(reader: Reader, course: Course, permits: Permits) -> bool:
    """Return whether a course may be named, searched, quoted and shown to a reader.

    It may where the tenant owns it or was granted it, where it is the operator's and so is the
    tenant, where the operator's file binds it, at the operator's terminal; the handbook always.
    """
    if reader.platform == TERMINAL or course.course_id in permits.public | reader.bound:
        return True
    tenants = permits.standing_for(reader.tenants)
    if course.tenant is None and is_home(reader, permits):
        return True
    return any(
        course.tenant == str(tenant) or (course.course_id, tenant) in permits.grants
        for tenant in tenants
    )


def is_home(reader: Reader, permits: Permits) -> bool:
    """Return whether a reader is in one of the operator's own tenants."""
    return not permits.standing_for(reader.tenants).isdisjoint(permits.homes)


def readable(reader: Reader, courses: Iterable[Course], permits: Permits) -> Iterator[Course]:
    """Yield those of the courses that a reader may read."""
    return (course for course in courses if may_read(reader, course, permits))


def owns(tenant: Tenant, course: Course, permits: Permits) -> bool:
    """Return whether a course is a tenant's own: its staff speak for it wherever it is read."""
    standing = permits.standing_for({tenant})
    if course.tenant is None:
        return not standing.isdisjoint(permits.homes)
    return any(course.tenant == str(one) for one in standing)


def speaks_to(
    staff_of: Tenant, course: Course, tenants: Iterable[Tenant], permits: Permits
) -> bool:
    """Return whether what a tenant's staff say of a course is shown to people of these tenants.

    That of the course's owner is shown to all who read it; that of others to their own alone.
    """
    theirs = permits.standing_for({staff_of})
    return owns(staff_of, course, permits) or not theirs.isdisjoint(permits.standing_for(tenants))


Role = Literal["staff", "student"]


class StaffKind(StrEnum):
    """What may be named as staff."""

    ROLE = "role"
    """A role of a Discord server: all who hold it."""
    GROUP = "group"
    """A user group of a Slack workspace: all who are in it."""
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class NamedStaff:
    """A role, group or person that was named as staff of a tenant."""

    kind: StaffKind
    id: str
    """The platform's own."""
    course_id: str | None = None
    """The only course that it is staff of; None: of all courses in the tenant."""

    @property
    def order(self) -> tuple[str, str, str]:
        """Where it stands in a list."""
        return (self.course_id or "", self.kind.value, self.id)

    def counts_for(self, course_id: str | None) -> bool:
        """Return whether it is staff where a course answers; None: where none does."""
        return self.course_id is None or self.course_id == course_id


@dataclass(frozen=True, slots=True)
class Member:
    """One of a tenant's own people: no guest, no outsider, no app and no webhook."""

    id: str
    is_admin: bool = False
    """Whether the platform lets them administer the whole tenant."""
    holds: frozenset[str] = frozenset()
    """The ids of the tenant's roles that they hold, or of its groups that they are in."""
    name: str = ""
    """As the platform shows it; never stored."""


MemberLookup = Callable[[frozenset[str]], Awaitable[Member | None]]
"""Finds out who a user is in a tenant, and which of these groups they are in.

None: no member of the tenant, or the platform does not say in time.
"""


async def no_member(_: frozenset[str]) -> None:
    """Return that the user is no member: for what no member of a tenant said or did."""


def is_staff(member: Member | None, named: Iterable[NamedStaff], course_id: str | None) -> bool:
    """Return whether a member is staff where a course answers; None: where none does."""
    if member is None:
        return False
    return member.is_admin or any(
        one.counts_for(course_id) and _is_of(member, one) for one in named
    )


def role_of(is_staff: bool | None) -> Role | None:
    """Return what a user is, by whether they are staff; None: that is not known."""
    if is_staff is None:
        return None
    return "staff" if is_staff else "student"


def _is_of(member: Member, named: NamedStaff) -> bool:
    if named.kind is StaffKind.PERSON:
        return named.id == member.id
    return named.id in member.holds
