"""What staff set with `/course hints` and `/course policy`, in the same words everywhere."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from adapters.access.standing import Presence
from adapters.intake.front_desk import FrontDesk
from adapters.markdown.visible import visible
from core.access.tenants import Tenant
from core.errors import RequestError
from core.i18n import text
from core.models import PolicyMode
from core.policies.places import day
from core.policies.policy import AnswerPolicy
from core.policies.store import NewPolicy, PolicyStore
from core.storage.channels.store import Place

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
