"""Who reads at a place: the tenants that count there, and what the operator's file binds."""

import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

from adapters.access.location import Location
from adapters.access.membership import Membership
from core.access.reading import Reader
from core.access.store import AccessStore
from core.access.tenants import MetTenant, Tenant
from core.storage.channels.rules import OperatorRules, bound_by

logger = logging.getLogger(__name__)

NEW_HOME = "%s is the first of its platform: it may read the courses that belong to no other"
NEW_BOUND = "%s has let the bot in; the course file binds it to a course"
NEW_TENANT = (
    "%s has let the bot in and may read no course yet; to let it read one: "
    "glossator courses grant COURSE %s"
)


class Readers:
    """Makes readers; raises StoreError when the database fails."""

    def __init__(
        self,
        access: AccessStore,
        *,
        described: Callable[[str], Mapping[str, OperatorRules]],
        with_courses: Callable[[str], Awaitable[Sequence[Tenant]]],
        membership: Membership,
        admitted: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        """Put together what is needed.

        Args:
            described: Returns what the operator's file says of a platform's places.
            with_courses: Returns the tenants of a platform that may read anything.
            membership: Tells which of them a person shares with the bot.
            admitted: The only workspaces of a platform that are answered; others: all are.
        """
        self._access = access
        self._described = described
        self._with_courses = with_courses
        self._membership = membership
        self._homes = set[Tenant]()
        self._admitted = {platform: ids for platform, ids in (admitted or {}).items() if ids}

    async def of(self, location: Location) -> Reader:
        """Return who reads at a place.

        Raises:
            MembershipUnknown: when it is personal, and the platform does not tell now.
        """
        if location.around is not None and not self.admits(location.around):
            return Reader(location.platform)
        tenant = location.tenant
        if tenant is None:
            return self._reader(location, await self._shared(location))
        return self._reader(location, frozenset({tenant}))

    def admits(self, tenant: Tenant) -> bool:
        """Return whether a tenant is answered at all."""
        allowed = self._admitted.get(tenant.platform)
        return allowed is None or tenant.workspace in allowed

    async def meet(self, tenant: Tenant, organisation: Tenant | None = None) -> bool:
        """Keep that a tenant was met, and return whether it never was before.

        The log says once what the operator can do for it.
        """
        if not self.admits(tenant):
            return False
        met: MetTenant | None = await self._access.meet(tenant, organisation)
        if met is not None and met.is_home:
            logger.info(NEW_HOME, tenant)
        elif met is not None and bound_by(self._described(tenant.platform), (tenant.workspace,)):
            logger.info(NEW_BOUND, tenant)
        elif met is not None:
            logger.warning(NEW_TENANT, tenant, tenant)
        return met is not None

    def depart(self, tenant: Tenant) -> None:
        """Remember nothing of a tenant that took the bot out."""
        self._homes.discard(tenant)
        self._access.depart(tenant)

    async def make_home(self, tenant: Tenant, organisation: Tenant | None = None) -> None:
        """Keep that a tenant is the operator's own, whichever was met first."""
        if tenant not in self._homes:
            await self._access.make_home(tenant, organisation)
            self._homes.add(tenant)

    def _reader(self, location: Location, tenants: frozenset[Tenant]) -> Reader:
        bound = bound_by(self._described(location.platform), location.places)
        return Reader(location.platform, tenants, bound)

    async def _shared(self, location: Location) -> frozenset[Tenant]:
        """Return the tenants with courses that a person shares with the bot."""
        found = await self._with_courses(location.platform)
        candidates = [tenant for tenant in found if self.admits(tenant)]
        return await self._membership.shared(location.user, candidates)
