"""Reads who is staff from the course file: `[staff.TENANT]` and `[courses.ID.staff.TENANT]`."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from core.access.staff import NamedStaff, StaffKind
from core.access.tenants import Tenant

if TYPE_CHECKING:
    from core.access.roster import Described

_TENANTS = {
    "discord": (r"\d{15,20}", "a server's id of 15 to 20 digits"),
    "slack": (r"[TE][A-Z0-9]{6,}", "a workspace's id, which begins with T, or an organisation's"),
}
_IDS = {
    ("discord", "roles"): (StaffKind.ROLE, r"\d{15,20}", "a role's id of 15 to 20 digits"),
    ("discord", "people"): (StaffKind.PERSON, r"\d{15,20}", "a user's id of 15 to 20 digits"),
    ("slack", "groups"): (StaffKind.GROUP, r"S[A-Z0-9]{6,}", "a group's id, which begins with S"),
    ("slack", "people"): (StaffKind.PERSON, r"[UW][A-Z0-9]{6,}", "a person's id: U or W first"),
}
"""What each platform may name, and how it is written."""


class StaffTable(BaseModel):
    """A `[staff."PLATFORM:ID"]` table: roles on Discord, groups in Slack, people in both."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    roles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    people: tuple[str, ...] = ()


def _tenant(written: str) -> str:
    platform, _, workspace = written.partition(":")
    if platform not in _TENANTS:
        raise ValueError('a tenant is written "discord:ID" or "slack:ID", with the quotation marks')
    pattern, form = _TENANTS[platform]
    if re.fullmatch(pattern, workspace) is None:
        raise ValueError(f"after {platform}: comes {form}")
    return written


def _fitting(tables: Mapping[str, StaffTable]) -> Mapping[str, StaffTable]:
    """Raise ValueError for the first id that its tenant cannot have."""
    for name, table in tables.items():
        tenant = Tenant.named(name)
        for key, ids in table:
            _check(tenant, key, ids)
    return tables


def _check(tenant: Tenant, key: str, ids: tuple[str, ...]) -> None:
    if not ids:
        return
    if (tenant.platform, key) not in _IDS:
        known = " and ".join(k for platform, k in _IDS if platform == tenant.platform)
        raise ValueError(f"{tenant} has no {key}: name its {known}")
    _, pattern, form = _IDS[tenant.platform, key]
    for one in ids:
        if re.fullmatch(pattern, one) is None:
            raise ValueError(f"in {key} of {tenant}, {one!r} is not {form}")
        if one == tenant.workspace:
            raise ValueError(f"in {key} of {tenant}, {one!r} is the role that everybody has")


StaffTables = Annotated[
    Mapping[Annotated[str, AfterValidator(_tenant)], StaffTable],
    Field(default_factory=dict),
    AfterValidator(_fitting),
]
"""Tables by tenant."""


def named_in(
    tables: Mapping[str, StaffTable], by_course: Mapping[str, Mapping[str, StaffTable]]
) -> "Described":
    """Return who is named, in all courses and in one of them, by tenant."""
    named = defaultdict[Tenant, list[NamedStaff]](list)
    for course_id, of_course in [(None, tables), *by_course.items()]:
        for name, table in of_course.items():
            tenant = Tenant.named(name)
            named[tenant] += _named(tenant.platform, table, course_id)
    return dict(named)


def _named(platform: str, table: StaffTable, course_id: str | None) -> Iterator[NamedStaff]:
    for key, ids in table:
        if ids:
            kind, _, _ = _IDS[platform, key]
            yield from (NamedStaff(kind, one, course_id) for one in dict.fromkeys(ids))
