"""What staff set with `/course hints` and `/course policy`, in the same words everywhere."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from adapters.actions.use import Extent, Use
from adapters.chat.access import Location
from adapters.chat.course_directory import CourseDirectory
from adapters.chat.front_desk import FrontDesk
from adapters.chat.markdown.layout import visible
from adapters.chat.places import PlaceContext, Presence
from core.domain import PolicyMode
from core.domain.errors import RequestError
from core.domain.i18n import Message, text
from core.storage.access import NamedStaff, StaffKind, Tenant
from core.storage.access_store import Roster, StaffStore
from core.storage.channels import DEFAULTS, ChannelRules, OperatorRules, Place, Rules, in_force
from core.teaching.policy import AnswerPolicy, day
from core.teaching.policy_store import NewPolicy, PolicyStore

LONGEST_NAME = 80
LONGEST_TEXT = 3_000
"""Characters of an assignment, and of a solution; Slack takes no more in an input."""
_FORMS = ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M")


@dataclass(frozen=True, slots=True)
class AssignmentForm:
    """What staff fill in about an assignment, as they typed it."""

    name: str
    text: str
    sections: str = ""
    """Headings of the book, one a line."""
    until: str = ""
    solution: str = field(default="", repr=False)
    mode: PolicyMode = PolicyMode.HINTS


@dataclass(frozen=True, slots=True)
class PolicyForm:
    """What staff say of a place, as they typed it."""

    mode: PolicyMode
    section: str = ""
    valid_from: str = ""
    valid_until: str = ""


class PolicySettings:
    """Sets, lists and removes policies, for staff who were admitted before.

    Methods raise RequestError with what their user reads, and StoreError when the database
    fails.
    """

    def __init__(
        self,
        desk: FrontDesk,
        store: PolicyStore,
        *,
        described: Callable[[str], Sequence[AnswerPolicy]],
        zone_of: Callable[[str], ZoneInfo],
    ) -> None:
        """Put together what is needed.

        Args:
            described: Returns what the operator's file says of a course.
            zone_of: Returns a course's time zone.
        """
        self._desk = desk
        self._store = store
        self._described = described
        self._zone_of = zone_of

    async def course(self, who: Presence) -> str:
        """Return the course that answers where a user is; RequestError: there is none."""
        course_id = await self._desk.course_of(await self._desk.here(who.location))
        if course_id is None:
            raise RequestError(user_message=text("policy-no-course"))
        return course_id

    async def lines(self, who: Presence) -> list[str]:
        """Return the policies of the course that answers here, a line each."""
        course_id, tenant = await self.course(who), str(_tenant(who))
        zone = self._zone_of(course_id)
        set_here = await self._store.of(course_id)
        policies = [*self._described(course_id), *(p for p in set_here if p.tenant == tenant)]
        return [_line(one, zone) for one in policies] or [text("policy-list-empty")]

    async def removable(self, who: Presence) -> list[tuple[str, str]]:
        """Return the id and the line of each policy that was set in this tenant."""
        course_id, tenant = await self.course(who), str(_tenant(who))
        zone = self._zone_of(course_id)
        found = [one for one in await self._store.of(course_id) if one.tenant == tenant]
        return [(one.key, _line(one, zone)) for one in found]

    async def set_assignment(self, who: Presence, form: AssignmentForm) -> str:
        """Have questions that belong to an assignment answered by a mode."""
        course_id, tenant = await self.course(who), _tenant(who)
        if not form.name.strip() or not form.text.strip():
            raise RequestError(user_message=text("policy-assignment-needs"))
        policy = NewPolicy(
            course_id=course_id,
            platform=tenant.platform,
            workspace=tenant.workspace,
            mode=form.mode,
            valid_until=self._moment(course_id, form.until),
            name=" ".join(form.name.split())[:LONGEST_NAME],
            text=form.text.strip(),
            sections=tuple(one.strip() for one in form.sections.splitlines() if one.strip()),
            solution=form.solution.strip() or None,
        )
        await self._store.add(policy)
        return await self._done(who)

    async def set_place(self, who: Presence, place: Place | None, form: PolicyForm) -> str:
        """Have questions in a place, or about a section, answered by a mode.

        Args:
            place: None: wherever the tenant's people ask the course.
        """
        course_id, tenant = await self.course(who), _tenant(who)
        begins = self._moment(course_id, form.valid_from)
        ends = self._moment(course_id, form.valid_until)
        if begins is not None and ends is not None and ends <= begins:
            raise RequestError(user_message=text("policy-ends-before"))
        policy = NewPolicy(
            course_id=course_id,
            platform=tenant.platform,
            workspace=tenant.workspace,
            mode=form.mode,
            place=None if place is None else place.place,
            section=form.section.strip() or None,
            valid_from=begins,
            valid_until=ends,
        )
        await self._store.add(policy)
        return await self._done(who)

    async def holds_everywhere(self, who: Presence, key: str) -> bool:
        """Return whether a policy of this tenant, by its key, is for all of its places.

        Assignments are for all of them, and yet what any staff of the course set.
        """
        tenant = _tenant(who)
        found = await self._store.of(await self.course(who))
        named = [one for one in found if one.tenant == str(tenant) and one.key == key.strip()]
        return any(
            one.assignment is None and one.place in (None, tenant.workspace) for one in named
        )

    async def remove(self, who: Presence, key: str) -> str:
        """Remove a policy that was set in this tenant."""
        course_id = await self.course(who)
        if not await self._store.remove(course_id, str(_tenant(who)), key.strip()):
            raise RequestError(user_message=text("policy-unknown", key=visible(key)[:20]))
        return await self._done(who)

    async def _done(self, who: Presence) -> str:
        return "\n".join([text("policy-done"), *(f"- {line}" for line in await self.lines(who))])

    def _moment(self, course_id: str, typed: str) -> datetime | None:
        """Return a moment as staff typed it, in the course's time zone; None: none was."""
        if not typed.strip():
            return None
        for form in _FORMS:
            try:
                moment = datetime.strptime(typed.strip(), form)
            except ValueError:
                continue
            return moment.replace(tzinfo=self._zone_of(course_id)).astimezone(UTC)
        raise RequestError(user_message=text("policy-no-date", typed=visible(typed)[:40]))


def _tenant(who: Presence) -> Tenant:
    tenant = who.location.tenant
    if tenant is None:  # no one is admitted there
        raise RequestError("a policy of a personal place", user_message=text("policy-no-course"))
    return tenant


def _line(policy: AnswerPolicy, zone: ZoneInfo) -> str:
    """Return what a policy says, in one line."""
    parts = [f"`{policy.key}`", str(policy.mode.value)]
    if policy.assignment is not None:
        withheld = policy.assignment.solution is not None
        name = visible(policy.assignment.name)
        parts.append(
            text("policy-line-withheld", name=name)
            if withheld
            else text("policy-line-assignment", name=name)
        )
    if policy.place is not None:
        parts.append(text("policy-line-place", place=policy.place))
    if policy.section is not None:
        parts.append(text("policy-line-section", section=visible(policy.section)))
    if policy.valid_from is not None:
        parts.append(text("policy-line-from", moment=day(policy.valid_from, zone)))
    if policy.valid_until is not None:
        parts.append(text("policy-line-until", moment=day(policy.valid_until, zone)))
    return ", ".join(parts)


_NAMES = {
    "course_id": Message("settings-name-course"),
    "excluded": Message("settings-name-excluded"),
    "follow_ups": Message("settings-name-follow-ups"),
    "askers": Message("settings-name-askers"),
    "answer_length": Message("settings-name-length"),
    "private": Message("settings-name-private"),
}


class ChannelSettings:
    """Reads and changes rules; raises StoreError when the database fails."""

    def __init__(
        self,
        desk: FrontDesk,
        rules: ChannelRules,
        directory: CourseDirectory,
        *,
        names: Mapping[str, Message],
        described: Callable[[str], Mapping[str, OperatorRules]],
    ) -> None:
        """Put together what is needed.

        Args:
            described: Returns what the operator's file says of a platform's places.
            names: What the platform calls the rules that are not the same everywhere.
        """
        self._desk = desk
        self._rules = rules
        self._directory = directory
        self._described = described
        self._names = {**_NAMES, **names}

    async def unknown_course(self, location: Location, course: str) -> str | None:
        """Return what is said to a user who names no course; None: there is such a course."""
        here = await self._desk.here(location)
        courses = await self._directory.courses(here.reader)
        if course in courses:
            return None
        if not courses:
            return text("course-unknown-none-yet")
        return text("course-unknown", known=", ".join(sorted(courses)))

    async def courses_like(self, location: Location, typed: str) -> list[tuple[str, str]]:
        """Return the id and title of the courses that fit what was typed so far."""
        here = await self._desk.here(location)
        known = sorted((await self._directory.courses(here.reader)).items())
        titles = [(course_id, mark.course.title) for course_id, mark in known]
        return [one for one in titles if typed.casefold() in " ".join(one).casefold()]

    async def change(self, place: Place, location: Location, changes: dict[str, Any]) -> None:
        """Change what is given for a place, and leave the rest as it is.

        Args:
            location: Where the command was given: the place, or one inside of it.

        Raises:
            RequestError: when the operator's file does not let one of the rules be changed;
                nothing is changed then.
        """
        before = await self._rules.get(place.platform, place.workspace, location.places)
        rules = before.get(place.place, Rules()).model_copy(update=changes)
        around = location.places[_index_of(place.place, location.places) :] or (place.place,)
        then = {**before, place.place: rules}
        held = in_force(around, then, self._described(place.platform))
        for name, value in changes.items():
            if value is not None and getattr(held, name) != value:
                raise RequestError(
                    user_message=text("settings-locked", name=self._names.get(name, name))
                )
        await self._rules.set(place, rules)

    async def lines(self, location: Location) -> list[str]:
        """Return what holds in a place, a line each."""
        here = await self._desk.here(location)
        lines = []
        for name, label in self._names.items():
            value = getattr(here.rules, name)
            default = getattr(DEFAULTS, name) == value
            told = await self._course(here) if name == "course_id" else _shown(value)
            lines.append(
                text("settings-line-default", label=label, value=told)
                if default
                else text("settings-line", label=label, value=told)
            )
        return lines

    async def _course(self, here: PlaceContext) -> str:
        """Return which course answers, and why when it was not chosen."""
        answering = await self._desk.course_of(here)
        if here.rules.course_id is not None:
            return answering or text("settings-course-gone")
        if not answering:
            return text("settings-course-none")
        return text("settings-course-only", course=answering)


def _index_of(place: str, places: tuple[str, ...]) -> int:
    """Return where a place stands among those around it; after them when it is none of them."""
    return places.index(place) if place in places else len(places)


def _shown(value: object) -> str:
    if value is None:
        return text("settings-as-course")
    if isinstance(value, bool):
        return text("settings-yes") if value else text("settings-no")
    return str(value)


@dataclass(frozen=True, slots=True)
class PlatformTerms:
    """What a platform calls its things."""

    tenant: Message
    """Such as "server"."""
    shown: Callable[[Presence, NamedStaff], Awaitable[str]]
    """Returns how a role, group or person is called in a tenant, without notifying anybody."""


class StaffSettings:
    """Names staff, and admits those who may use `/course`.

    Methods raise RequestError with a reply to the user, and StoreError when the database
    fails.
    """

    def __init__(
        self,
        desk: FrontDesk,
        roster: Roster,
        store: StaffStore,
        settings: ChannelSettings,
        words: PlatformTerms,
    ) -> None:
        self._desk = desk
        self._roster = roster
        self._store = store
        self._settings = settings
        self._words = words

    async def pause(self, who: Presence, place: Place) -> str:
        """Have the bot answer only who addresses it in a place, and return what is shown there."""
        await self.admit(who)
        await self._desk.pause(place)
        return text("speaking-paused")

    async def resume(self, who: Presence, place: Place) -> str:
        """End a pause in a place, and return what is shown there."""
        await self.admit(who)
        await self._desk.resume(place)
        return text("speaking-resumed")

    async def admit_at(self, use: Use, extent: Extent = Extent.CHANNEL) -> Place:
        """Return the place that is set up; raise RequestError unless its user may set it up."""
        if use.not_to_set_up:
            raise RequestError(user_message=use.not_to_set_up)
        place = use.place_of(extent)
        if place is None:
            raise RequestError(user_message=text("discord-no-category"))
        if extent is Extent.TENANT:
            await self.admit_admin(use.who)
            return place
        places = use.location.places
        wider = replace(use.location, places=places[_index_of(place.place, places) :] or places)
        await self.admit(replace(use.who, location=wider))
        return place

    async def admit(self, who: Presence) -> None:
        """Raise RequestError unless the user is staff at a place, or an admin."""
        if not await self._desk.is_staff(who):
            raise RequestError(user_message=text("staff-for-staff", tenant=self._words.tenant))

    async def admit_admin(self, who: Presence) -> None:
        """Raise RequestError unless the user is an admin of the whole tenant."""
        if not await self._is_admin(who):
            raise RequestError(user_message=text("staff-for-admins", tenant=self._words.tenant))

    async def admit_naming(self, who: Presence) -> None:
        """Raise RequestError unless the user may say who is staff."""
        if not await self._is_admin(who):
            raise RequestError(user_message=text("staff-to-name", tenant=self._words.tenant))

    async def add(self, who: Presence, named: NamedStaff) -> str:
        """Name a user or a group as staff, and return the reply to the admin."""
        await self.admit_naming(who)
        tenant = _settings_tenant(who)
        if named.course_id is not None and not await self._is_known(who, named.course_id):
            sentence = await self._settings.unknown_course(who.location, named.course_id)
            raise RequestError(user_message=sentence)
        user_id = None
        if named.kind is StaffKind.PERSON:
            user_id = self._desk.pseudonym(tenant.platform, tenant.workspace, named.id)
        is_new = await self._store.add(tenant, named, user_id)
        name = await self._words.shown(who, named)
        course = named.course_id
        if is_new:
            return (
                text("staff-now-for-course", name=name, course=course)
                if course
                else text("staff-now", name=name)
            )
        return (
            text("staff-already-for-course", name=name, course=course)
            if course
            else text("staff-already", name=name)
        )

    async def remove(self, who: Presence, named: NamedStaff) -> str:
        """Remove staff, for one course or however they are named, and return the reply."""
        await self.admit_naming(who)
        name, tenant = await self._words.shown(who, named), _settings_tenant(who)
        if await self._store.remove(tenant, named.id, named.course_id):
            told = _removed(name, named.course_id)
        else:
            told = _was_not_named(name, named.course_id)
        if any(one.id == named.id for one in self._roster.described(tenant)):
            told += f" {text('staff-by-operator-only', name=name)}"
        return told

    async def lines(self, who: Presence) -> list[str]:
        """Return who is staff in a tenant, a line each; only staff of a place may ask."""
        await self.admit(who)
        operators, appointed = await self._named(who)
        lines = [
            text("staff-line-by-operator", line=await self._line(who, one)) for one in operators
        ]
        lines += [await self._line(who, one) for one in appointed]
        return [
            *(lines or [text("staff-none-named")]),
            text("staff-admins-too", tenant=self._words.tenant),
        ]

    async def groups(self, who: Presence) -> frozenset[str]:
        """Return the ids of the groups that are named in a tenant."""
        operators, appointed = await self._named(who)
        named = [*operators, *appointed]
        return frozenset(one.id for one in named if one.kind is StaffKind.GROUP)

    async def _named(self, who: Presence) -> tuple[Sequence[NamedStaff], Sequence[NamedStaff]]:
        """Return who is named by the operator, and who by the admins."""
        operators = [one for tenant in who.tenants for one in self._roster.described(tenant)]
        appointed = [one for tenant in who.tenants for one in await self._store.of(tenant)]
        return operators, appointed

    async def _is_admin(self, who: Presence) -> bool:
        if not who.tenants:
            return False
        await self._desk.here(who.location)  # refuses where no one is to be answered
        member = await who.member(frozenset())
        return member is not None and member.is_admin

    async def _is_known(self, who: Presence, course_id: str) -> bool:
        return await self._settings.unknown_course(who.location, course_id) is None

    async def _line(self, who: Presence, named: NamedStaff) -> str:
        name, course_id = await self._words.shown(who, named), named.course_id
        if course_id is None:
            return name
        if await self._is_known(who, course_id):
            return text("staff-line-for-course", name=name, course=course_id)
        return text("staff-line-for-gone-course", name=name)


def _settings_tenant(who: Presence) -> Tenant:
    tenant = who.location.tenant
    if tenant is None:  # no one is its admin, so that no one comes so far
        raise RequestError("staff of a personal place", user_message=text("staff-none-named"))
    return tenant


def _removed(name: str, course: str | None) -> str:
    if course:
        return text("staff-no-longer-for-course", name=name, course=course)
    return text("staff-no-longer", name=name)


def _was_not_named(name: str, course: str | None) -> str:
    if course:
        return text("staff-was-not-for-course", name=name, course=course)
    return text("staff-was-not", name=name)
