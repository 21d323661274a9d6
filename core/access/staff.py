"""Who is staff: the one rule for every platform, without any database."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

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
