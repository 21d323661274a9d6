"""Who is staff where: the one decision that commands, buttons and questions ask for."""

from dataclasses import dataclass

from adapters.access.location import Location
from adapters.access.whereabouts import Whereabouts
from core.access.roster import Roster
from core.access.staff import MemberLookup
from core.access.tenants import Tenant
from core.storage.channels.rules import Rules


@dataclass(frozen=True, slots=True)
class Presence:
    """A user at a place, and what finds out who they are in its tenant."""

    location: Location
    member: MemberLookup
    organisation: Tenant | None = None
    """What the tenant belongs to; who is staff there is staff in all of its tenants."""

    @property
    def tenants(self) -> tuple[Tenant, ...]:
        """The tenants whose staff counts here; none at a personal place."""
        tenant = self.location.tenant
        if tenant is None:
            return ()
        return (tenant, self.organisation) if self.organisation else (tenant,)


class StaffStanding:
    """Decides who is staff; raises StoreError when the database fails."""

    def __init__(self, whereabouts: Whereabouts, roster: Roster) -> None:
        self._whereabouts = whereabouts
        self._roster = roster

    async def is_staff(self, who: Presence, rules: Rules | None = None) -> bool:
        """Return whether a user is staff at a place, for the course that answers there.

        Args:
            rules: What holds there, from who knows it already.

        Raises:
            RequestError: where the operator does not let the bot answer at all.
        """
        if not who.tenants:
            return False
        here = await self._whereabouts.here(who.location, rules)
        course_id = await self._whereabouts.course_of(here)
        return await self.is_staff_of(who, course_id)

    async def is_staff_of(self, who: Presence, course_id: str | None) -> bool:
        """Return whether a user is staff of a course in their tenant, wherever they are there."""
        return await self._roster.includes(who.tenants, who.member, course_id)
