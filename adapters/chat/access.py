"""Who reads at a place: the tenants that count there, and what the operator's file binds."""

import asyncio
import logging
import math
import re
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol
from uuid import UUID

from adapters.chat.buttons import UUID_PATTERN
from adapters.chat.course_directory import CourseDirectory
from adapters.chat.markdown.layout import visible
from core.domain.errors import DeliveryError, ServiceError
from core.domain.i18n import text
from core.storage.access import MetTenant, Reader, Tenant
from core.storage.access_store import AccessStore
from core.storage.channels import OperatorRules, bound_by
from core.storage.inbox.base import Arrival, Job, Settlement

logger = logging.getLogger(__name__)


_NO_TENANT = "@me"
"""What stands for the workspace of Discord's direct messages."""


@dataclass(frozen=True, slots=True)
class Location:
    """A user at a place, by the platform's ids."""

    platform: str
    workspace: str
    places: tuple[str, ...]
    """Where rules may be set for, narrowest first: thread, channel, category, workspace."""
    user: str
    personal: bool = False
    """Whether no tenant stands around it: the tenants that the person shares with the bot count."""

    guest_in: str | None = None
    """The server around a personal place, which has not let the bot in."""

    @property
    def tenant(self) -> Tenant | None:
        """The tenant that it belongs to; none for a personal place."""
        return None if self.personal else Tenant(self.platform, self.workspace)

    @property
    def around(self) -> Tenant | None:
        """The tenant that it is in, though it may have let no bot in; none for direct messages."""
        return Tenant(self.platform, self.guest_in) if self.guest_in else self.tenant


def address_with(address: Mapping[str, Any], location: Location) -> dict[str, Any]:
    """Return an arrival's address from which `location_of` tells the location again."""
    guest = {} if location.guest_in is None else {"guest_in": location.guest_in}
    return {**address, "places": [*location.places], "personal": location.personal, **guest}


def location_of(arrival: Arrival) -> Location:
    """Return where an event came from.

    Older rows do not tell the places around its channel; Discord's direct messages are known
    by their workspace.
    """
    row = {name: getattr(arrival, name) for name in ("platform", "workspace", "channel", "address")}
    return location_in(row)


def location_in(row: Mapping[str, Any]) -> Location:
    """Return where an event came from, by its columns in the inbox."""
    workspace, address = str(row["workspace"]), row["address"]
    around = address.get("places") or dict.fromkeys((str(row["channel"]), workspace))
    return Location(
        platform=str(row["platform"]),
        workspace=workspace,
        places=tuple(str(place) for place in around if place),
        user=str(address.get("asker") or ""),
        personal=bool(address.get("personal", workspace == _NO_TENANT)),
        guest_in=address.get("guest_in"),
    )


IsMember = Callable[[Tenant, str], Awaitable[bool]]
"""Returns whether a person is a member of a tenant; raises DeliveryError when it cannot tell."""

MOST_ASKED = 40
"""Tenants that the platform is asked about at once: Discord takes 50 requests a second."""
_FRESH = 300.0
"""Seconds for which an answer is good enough."""
_MOST_KNOWN = 10_000
_PATIENCE = 1.2
"""Seconds for all answers together: Discord waits three for a command's acknowledgement."""


class MembershipUnknown(ServiceError):
    """The platform does not tell now which tenants a person shares with the bot."""


class Membership:
    """Remembers for some minutes who is a member where."""

    def __init__(self, is_member: IsMember) -> None:
        self._is_member = is_member
        self._known = dict[tuple[Tenant, str], tuple[float, bool]]()

    async def shared(self, user: str, tenants: Sequence[Tenant]) -> frozenset[Tenant]:
        """Return those of the tenants that a person is a member of.

        Raises:
            MembershipUnknown: when no tenant is known to be shared, and the platform does not
                answer soon, or there are too many to ask about at once; calling again asks on.
        """
        answers = {tenant: self._noted(tenant, user) for tenant in tenants}
        unknown = [tenant for tenant, answer in answers.items() if answer is None]
        asked = unknown[:MOST_ASKED]
        if len(unknown) > len(asked):
            logger.warning("%d of %d tenants are asked about now", len(asked), len(unknown))
        told = await asyncio.gather(*(self._told(tenant, user) for tenant in asked))
        answers.update(zip(asked, told, strict=True))
        shared = {tenant for tenant, answer in answers.items() if answer}
        if not shared and None in answers.values():
            raise MembershipUnknown("it is not known which tenants a person shares with the bot")
        return frozenset(shared)

    def _noted(self, tenant: Tenant, user: str) -> bool | None:
        """Return whether a person is a member, as was found out lately; None: it was not."""
        asked_at, known = self._known.get((tenant, user), (-math.inf, False))
        return known if time.monotonic() - asked_at < _FRESH else None

    async def _told(self, tenant: Tenant, user: str) -> bool | None:
        """Return whether a person is a member, as the platform says; None: not in time."""
        try:
            async with asyncio.timeout(_PATIENCE):
                answer = await self._is_member(tenant, user)
        except (DeliveryError, TimeoutError) as error:
            logger.info("%s does not tell who is a member: %s", tenant, error or "not in time")
            return None
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[tenant, user] = (time.monotonic(), answer)
        return answer


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


class Admission:
    """Lets no answer out from a course that may not be read any more.

    Raises StoreError when the database fails, and DeliveryError when the platform does not tell
    now who shares which tenant.
    """

    def __init__(self, directory: CourseDirectory, readers: Readers) -> None:
        self._directory = directory
        self._readers = readers

    async def checked(self, job: Job) -> Job:
        """Return a job as it may be answered now: with a refusal where its course is gone."""
        arrival = job.arrival
        if arrival.request is None and arrival.pending is None:
            return job
        try:
            reader = await self._readers.of(location_of(arrival))
        except MembershipUnknown as error:
            raise DeliveryError(str(error)) from error
        if arrival.request is not None:
            is_readable = await self._directory.mark(reader, arrival.request.course_id) is not None
            return job if is_readable else replace(job, arrival=_refused(arrival))
        known = await self._directory.own(reader)
        choices = [choice for choice in arrival.address["choices"] if choice[0] in known]
        if not choices:
            return replace(job, arrival=_refused(arrival))
        address = {**arrival.address, "choices": choices}
        return replace(job, arrival=replace(arrival, address=address))


def _refused(arrival: Arrival) -> Arrival:
    return replace(
        arrival,
        request=None,
        pending=None,
        refusal=text("course-gone"),
        settles=Settlement.REFUSED,
    )


class CourseChannel(Protocol):
    """A channel that gets something about a course, by the platform's ids."""

    @property
    def course_id(self) -> str:
        """Return the course."""
        ...

    @property
    def platform(self) -> str:
        """Return the platform."""
        ...

    @property
    def workspace(self) -> str:
        """Return the server or workspace."""
        ...

    @property
    def channel(self) -> str:
        """Return the channel."""
        ...


class PlatformPlaces(Protocol):
    """A platform that knows what lies around a channel."""

    async def places_of(self, workspace: str, channel: str) -> Sequence[str]:
        """Return the places for which rules may be set, as `ChatPlatform.places_of` does."""
        ...


class ChannelAccess:
    """Asks each time: what a channel was chosen for may have been taken back since."""

    def __init__(
        self,
        readers: Readers,
        directory: CourseDirectory,
        platforms: Mapping[str, PlatformPlaces],
    ) -> None:
        """Ask by the places around a channel; `platforms` are by name."""
        self._readers = readers
        self._directory = directory
        self._platforms = platforms
        self._withheld = set[tuple[str, str, str, str]]()
        """Those of which the log says already that they get nothing."""

    async def may_read(self, to: CourseChannel) -> bool:
        """Return whether people of a channel may read its course; raises StoreError.

        A binding in the operator's file counts as it does for questions there: for the channel,
        for a category around it now, and for the whole tenant.
        """
        places = tuple(await self._platforms[to.platform].places_of(to.workspace, to.channel))
        reader = await self._readers.of(Location(to.platform, to.workspace, places, user=""))
        key = (to.course_id, to.platform, to.workspace, to.channel)
        if await self._directory.mark(reader, to.course_id) is not None:
            self._withheld.discard(key)
            return True
        if key not in self._withheld:
            self._withheld.add(key)
            tenant = f"{to.platform}:{to.workspace}"
            logger.warning("%s may not read %s: nothing of it is posted", tenant, to.course_id)
        return False


NAME = re.compile(rf"gl:course:(?P<request>{UUID_PATTERN})")
"""What the custom ids of all menus look like."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A menu of courses for a question that waits."""

    request_id: UUID
    courses: tuple[tuple[str, str], ...]
    """Id and title of each."""
    is_found: bool = False
    """Whether these are what was found for a word, among more."""

    @property
    def name(self) -> str:
        """The menu's name, which finds its way back after a restart."""
        return f"gl:course:{self.request_id}"


def choice_of(arrival: Arrival) -> Choice | None:
    """Return the menu that goes with the refusal of an arrival; None: there is none."""
    if arrival.pending is None:
        return None
    courses = tuple(
        (str(course_id), visible(str(title))) for course_id, title in arrival.address["choices"]
    )
    return Choice(arrival.pending.request_id, courses)


def request_in(name: str) -> UUID | None:
    """Return the question that a menu belongs to, by its name; None: it is no such menu."""
    match = NAME.fullmatch(name)
    return UUID(match["request"]) if match is not None else None
