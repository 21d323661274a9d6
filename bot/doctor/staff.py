"""What `glossator doctor` says of staff: how many are named in each tenant, and for what."""

from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from bot.course_file import CourseFile
from bot.doctor.findings import Finding, failed, warning
from core.access.staff import NamedStaff, StaffKind
from core.access.staff_store import StaffStore
from core.access.store import AccessStore
from core.access.tenants import MetTenant, Tenant
from core.errors import BotError
from core.storage.channels.store import ChannelRules

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine

_COUNTED = {
    StaffKind.ROLE: ("role", "roles"),
    StaffKind.GROUP: ("user group", "user groups"),
    StaffKind.PERSON: ("person", "people"),
}
_UNNAMED = (
    "{tenants}: channels are set up there, and no staff are named, so that only the admins may "
    "change them: an admin names staff with '/course staff add', or you in the course file."
)
_TENANTS_NAMED = 4


async def check_staff(
    engine: "AsyncEngine", course_file: CourseFile, known: Collection[str]
) -> AsyncIterator[Finding]:
    """Count who is named in each tenant; warn of a course that is not there, and of no staff.

    Args:
        known: The ids of the courses that there are.
    """
    try:
        appointed = await StaffStore(engine).all()
        set_up = await ChannelRules(engine).workspaces()
        met = await AccessStore(engine).tenants()
    except BotError as error:
        yield failed("staff", error)
        return
    together = _together(course_file.staff, appointed)
    if unnamed := _without_staff([m for m in met if _key(m) in set_up], together):
        yield warning("staff", _UNNAMED.format(tenants=unnamed))
    for tenant, named in together.items():
        yield Finding("staff", f"{tenant}: {_counts(named)}")
        for course_id in sorted({one.course_id or "" for one in named} - {"", *known}):
            count = _counts([one for one in named if one.course_id == course_id])
            yield warning("staff", f"{tenant}: {count}, and there is no such course")


def _key(met: MetTenant) -> tuple[str, str]:
    return met.tenant.platform, met.tenant.workspace


def _without_staff(met: Iterable[MetTenant], named: Collection[Tenant]) -> str:
    """Return the tenants in which no staff are named, as a list; empty: there are none."""
    found = sorted(
        one.tenant for one in met if one.tenant not in named and one.organisation not in named
    )
    listed = [str(tenant) for tenant in found[:_TENANTS_NAMED]]
    more = len(found) - len(listed)
    return ", ".join([*listed, f"{more:,} more"] if more else listed)


def _together(*named: Mapping[Tenant, Sequence[NamedStaff]]) -> dict[Tenant, list[NamedStaff]]:
    tenants = sorted({tenant for source in named for tenant in source})
    return {
        tenant: list(dict.fromkeys(one for source in named for one in source.get(tenant, ())))
        for tenant in tenants
    }


def _counts(named: Iterable[NamedStaff]) -> str:
    """Return such as "2 roles, 1 person; for biology alone: 1 role"."""
    by_course = dict[str | None, Counter[StaffKind]]()
    for one in named:
        by_course.setdefault(one.course_id, Counter())[one.kind] += 1
    courses = sorted(by_course, key=lambda course_id: course_id or "")
    return "; ".join(
        f"for {course_id} alone: {_listed(by_course[course_id])}"
        if course_id
        else _listed(by_course[course_id])
        for course_id in courses
    )


def _listed(counts: Mapping[StaffKind, int]) -> str:
    counted = ((counts[kind], _COUNTED[kind][counts[kind] != 1]) for kind in StaffKind)
    return ", ".join(f"{count} {name}" for count, name in counted if count)
