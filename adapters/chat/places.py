"""What holds where a user is: the rules, the reader, and the course that is meant there."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass

from adapters.chat.access import Location, Readers
from adapters.chat.course_directory import CourseDirectory
from core.domain.errors import RequestError
from core.domain.i18n import text
from core.storage.access import MemberLookup, Reader, Tenant
from core.storage.access_store import Roster
from core.storage.channels import ChannelRules, OperatorRules, Rules, in_force, is_kept_private

_MOST_CHOICES = 1_000
"""Courses between which a user is let choose: a platform that cannot list them lets them search."""
_MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class PlaceContext:
    """What holds where a user is, and who reads there."""

    rules: Rules
    reader: Reader
    personal: bool = False
    """As `Location.personal`."""


@dataclass(frozen=True, slots=True)
class CourseChoice:
    """The course that a question is for; without one, why, and what there is to choose from."""

    course_id: str | None = None
    refusal: str | None = None
    choices: tuple[tuple[str, str], ...] = ()
    """Id and title of each."""


class PlaceResolver:
    """Knows places; every method raises StoreError when the database fails."""

    def __init__(
        self,
        rules: ChannelRules,
        directory: CourseDirectory,
        readers: Readers,
        described: Callable[[str], Mapping[str, OperatorRules]],
    ) -> None:
        """Put together what is needed.

        Args:
            described: Returns what the operator's file says of a platform's places.
        """
        self._rules = rules
        self._directory = directory
        self._readers = readers
        self._described = described

    async def rules_at(self, location: Location) -> Rules:
        """Return what holds in a place."""
        chat = await self._rules.get(location.platform, location.workspace, location.places)
        return in_force(location.places, chat, self._described(location.platform))

    def keeps_private(self, location: Location) -> bool:
        """Return whether the operator's file lets no command be answered to all in a place."""
        return is_kept_private(location.places, self._described(location.platform))

    async def here(self, location: Location, rules: Rules | None = None) -> PlaceContext:
        """Return what holds in a place, and who reads there; its tenant is kept as met.

        Args:
            rules: What holds there, from who knows it already.

        Raises:
            MembershipUnknown: as `Readers.of` does.
            RequestError: where the operator does not let the bot answer at all.
        """
        if not self.admits(location):
            raise RequestError(user_message=text("asking-not-admitted"))
        if location.tenant is not None:
            await self._readers.meet(location.tenant)
        holds = rules if rules is not None else await self.rules_at(location)
        return PlaceContext(holds, await self._readers.of(location), location.personal)

    def admits(self, location: Location) -> bool:
        """Return whether the operator lets the bot answer in a place."""
        return location.around is None or self._readers.admits(location.around)

    async def course_of(self, here: PlaceContext) -> str | None:
        """Return the course that is asked in a place; None: none is set that may be read."""
        mark = await self._directory.mark(here.reader, here.rules.course_id)
        if mark is not None:
            return mark.course.course_id
        if here.rules.course_id is not None and not here.personal:
            return None  # staff have to choose again; in direct messages their owner is asked
        return await self._directory.only(here.reader)

    async def meant(
        self,
        here: PlaceContext,
        asked: str | None,
        *,
        direct: bool,
        bound: bool,
        is_staff: Callable[[], Awaitable[bool]],
    ) -> CourseChoice:
        """Return the course that a question is for.

        Args:
            asked: The course that the asker names, if any: it counts where none is set.
            direct: Whether the asker can be asked which course is meant.
            bound: Whether the place's own course counts, and not only the one that is asked.
            is_staff: Tells whether the asker is staff: they read how to set a course, students
                whom to ask.
        """
        course_id = await self.course_of(here) if bound else None
        if (
            course_id is None
            and (mark := await self._directory.mark(here.reader, asked)) is not None
        ):
            course_id = mark.course.course_id
        if course_id is not None:
            return CourseChoice(course_id)
        own = await self._directory.own(here.reader)
        if not own:
            tells = await is_staff()
            return CourseChoice(
                refusal=await self._none_yet(here) if tells else text("course-none-yet-tell")
            )
        if not direct:
            if not await is_staff():
                return CourseChoice(refusal=text("course-unset-tell"))
            return CourseChoice(refusal=_unbound(await self._directory.courses(here.reader)))
        titles = sorted((mark.course.title, course_id) for course_id, mark in own.items())
        choices = tuple((course_id, title) for title, course_id in titles[:_MOST_CHOICES])
        which = text("course-which")
        if len(titles) > len(choices):
            which = text("course-which-of-many", shown=len(choices), total=len(titles))
        return CourseChoice(refusal=which, choices=choices)

    async def _none_yet(self, here: PlaceContext) -> str:
        """Return how a place gets a course; it names none: which there are is the operator's."""
        if await self._directory.is_at_home(here.reader):
            return text("course-none-yet-ingest")
        return text("course-none-yet-grant", tenant=str(min(here.reader.tenants)))


def _unbound(courses: Collection[str]) -> str:
    """Return how a place is given one of the courses that may be read there."""
    named = ", ".join(sorted(courses)[:_MOST_NAMED])
    more = len(courses) - _MOST_NAMED
    if more > 0:
        return text("course-unset-of-many", named=named, more=more)
    return text("course-unset", named=named)


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

    def __init__(self, place_resolver: PlaceResolver, roster: Roster) -> None:
        self._place_resolver = place_resolver
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
        here = await self._place_resolver.here(who.location, rules)
        course_id = await self._place_resolver.course_of(here)
        return await self.is_staff_of(who, course_id)

    async def is_staff_of(self, who: Presence, course_id: str | None) -> bool:
        """Return whether a user is staff of a course in their tenant, wherever they are there."""
        return await self._roster.includes(who.tenants, who.member, course_id)
