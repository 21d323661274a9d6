"""Reads who is staff from the course file: `[staff.TENANT]` and `[courses.ID.staff.TENANT]`."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from bot.platforms.registry import PLATFORMS
from core.access.staff import NamedStaff
from core.access.tenants import Tenant

if TYPE_CHECKING:
    from core.access.roster import Described


class StaffTable(BaseModel):
    """A `[staff."PLATFORM:ID"]` table: roles on Discord, groups in Slack, people in both."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    roles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    people: tuple[str, ...] = ()


def _tenant(written: str) -> str:
    platform, _, workspace = written.partition(":")
    if platform not in PLATFORMS:
        forms = " or ".join(f'"{name}:ID"' for name in PLATFORMS)
        raise ValueError(f"a tenant is written {forms}, with the quotation marks")
    tenant = PLATFORMS[platform].tenant
    if not tenant.fits(workspace):
        raise ValueError(f"after {platform}: comes {tenant.words}")
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
    kinds = PLATFORMS[tenant.platform].staff
    if key not in kinds:
        raise ValueError(f"{tenant} has no {key}: name its {' and '.join(kinds)}")
    _, form = kinds[key]
    for one in ids:
        if not form.fits(one):
            raise ValueError(f"in {key} of {tenant}, {one!r} is not {form.words}")
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
            kind, _ = PLATFORMS[platform].staff[key]
            yield from (NamedStaff(kind, one, course_id) for one in dict.fromkeys(ids))
