"""`glossator courses owner`, `grant`, `revoke` and `tenants`: who may read which course."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.markdown.printable import on_one_line
from bot.cli.context import services
from bot.cli.courses import check_known
from bot.cli.exits import Exit, UsageError
from bot.course_file import CourseFile
from bot.handbook import COURSE
from bot.platforms.registry import PLATFORMS
from bot.services import Services
from core.access.reading import Reader, readable
from core.access.store import AccessStore
from core.access.tenants import MetTenant, Tenant
from core.storage.catalogue import Catalogue
from core.storage.channels.rules import bound_by

OPERATOR = "operator"
_NOT_MET = (
    "{tenant} has not let the bot in yet, as far as is known: this holds from when it does. If it "
    "has, the id is wrong: compare it with those that 'glossator courses tenants' lists."
)
_OTHERWISE = "it owns it, is the operator's own, or the course file binds it."
HOW_TO_GRANT = "glossator courses grant {course} {tenant}"


@dataclass(frozen=True, slots=True)
class TenantAccess:
    """A tenant, and the ids of the courses that it may read."""

    met: MetTenant
    courses: Sequence[str]
    grantable: str
    """What can be granted to it: the only course that there is, else COURSE."""

    @property
    def waits(self) -> bool:
        """Whether it let the bot in and may read nothing."""
        return not self.met.is_home and not self.courses


async def standings(
    access: AccessStore, catalogue: Catalogue, course_file: CourseFile
) -> list[TenantAccess]:
    """Return all tenants that were met, each with the courses that it may read anywhere."""
    permits, courses = await access.permits(), [one for one, _ in await catalogue.courses()]
    own = [course for course in courses if course.course_id != COURSE.course_id]
    grantable = own[0].course_id if len(own) == 1 else "COURSE"
    return [
        TenantAccess(
            one,
            [c.course_id for c in readable(_reader(one.tenant, course_file), own, permits)],
            grantable,
        )
        for one in await access.tenants()
    ]


def _reader(tenant: Tenant, course_file: CourseFile) -> Reader:
    """Return who reads in the whole of a tenant."""
    bound = bound_by(course_file.rules_of(tenant.platform), (tenant.workspace,))
    return Reader(tenant.platform, frozenset({tenant}), bound)


async def set_owner(course_id: str, owner: str) -> int:
    """Give a course to a tenant, or to the operator."""
    tenant = None if owner == OPERATOR else tenant_named(owner)
    async with services() as opened:
        await _check(opened, course_id)
        await opened.catalogue.set_owner(course_id, str(tenant) if tenant else None)
        access = AccessStore(opened.engine)
        is_met = tenant is None or tenant in {one.tenant for one in await access.tenants()}
    print(f"{course_id} belongs to {tenant or 'the operator'}.")
    if not is_met:
        print(_NOT_MET.format(tenant=tenant))
    return Exit.OK


async def grant(course_id: str, name: str) -> int:
    """Let a tenant read a course."""
    tenant = tenant_named(name)
    async with services() as opened:
        await _check(opened, course_id)
        access = AccessStore(opened.engine)
        is_new = await access.grant(course_id, tenant)
        is_met = tenant in {one.tenant for one in await access.tenants()}
    print(f"{tenant} may read {course_id}{'' if is_new else ' already'}.")
    if not is_met:
        print(_NOT_MET.format(tenant=tenant))
    return Exit.OK


async def revoke(course_id: str, name: str) -> int:
    """Take a grant back."""
    tenant = tenant_named(name)
    async with services() as opened:
        await _check(opened, course_id)
        access = AccessStore(opened.engine)
        was_granted = await access.revoke(course_id, tenant)
        course = await opened.catalogue.course(course_id)
        reader = _reader(tenant, opened.course_file)
        is_open = course is not None and any(readable(reader, [course], await access.permits()))
    if was_granted:
        print(f"The grant of {course_id} to {tenant} is taken back.")
    else:
        print(f"{tenant} has no grant of {course_id}.")
    if is_open:
        print(f"{tenant} may read it all the same: {_OTHERWISE}")
    return Exit.OK


async def list_tenants(*, as_json: bool) -> int:
    """Print the tenants that were met, and what each may read."""
    async with services() as opened:
        found = await standings(AccessStore(opened.engine), opened.catalogue, opened.course_file)
    if as_json:
        print(json.dumps([_json(one) for one in found], indent=2))
        return Exit.OK
    for one in found:
        print(on_one_line(line_of(one)))
    if not found:
        print("No server or workspace has let the bot in yet.")
    return Exit.OK


def line_of(one: TenantAccess) -> str:
    """Return what is said of a tenant in one line."""
    tenant = one.met.tenant
    if one.waits:
        how = HOW_TO_GRANT.format(course=one.grantable, tenant=tenant)
        return f"{tenant}  (may read no course yet: run '{how}')"
    reads = ", ".join(one.courses) or "nothing yet: there is no course"
    home = "the operator's own, " if one.met.is_home else ""
    return f"{tenant}  ({home}since {one.met.met_at:%Y-%m-%d}, reads {reads})"


def tenant_named(name: str) -> Tenant:
    """Return the tenant of a name.

    Raises:
        UsageError: when it is none of a platform's.
    """
    try:
        tenant = Tenant.named(name)
    except ValueError as error:
        raise UsageError(f"{name}: {error}.") from error
    if tenant.platform not in PLATFORMS:
        known = ", ".join(PLATFORMS)
        raise UsageError(f"{name}: there is no platform {tenant.platform}, only {known}.")
    if not PLATFORMS[tenant.platform].named_tenant.fits(tenant.workspace):
        forms = ", ".join(platform.named_tenant.words for platform in PLATFORMS.values())
        raise UsageError(f"{name}: {forms}.")
    return tenant


async def _check(opened: Services, course_id: str) -> None:
    if course_id == COURSE.course_id:
        raise UsageError("Everybody may read the handbook.")
    await check_known(opened, course_id)


def _json(one: TenantAccess) -> dict[str, object]:
    met = one.met
    return {
        "tenant": str(met.tenant),
        "organisation": str(met.organisation) if met.organisation else None,
        "home": met.is_home,
        "met_at": met.met_at.isoformat(),
        "courses": [*one.courses],
        "waits": one.waits,
    }
