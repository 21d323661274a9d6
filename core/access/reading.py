"""Which courses may be read where: the one rule, without any database or platform."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from core.access.tenants import Tenant
from core.models import Course

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
