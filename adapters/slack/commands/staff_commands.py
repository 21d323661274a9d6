"""`/course staff`: whom a workspace's admins name as staff."""

import html
import re

from adapters.access.standing import Presence
from adapters.features.staff.settings import StaffSettings
from adapters.slack.markup.text import escape
from adapters.slack.people import GROUPS_SCOPE, People
from core import i18n
from core.access.staff import NamedStaff, StaffKind
from core.errors import RequestError

STAFF = "staff"
_MENTION = re.compile(r"<(?:@|!subteam\^)(?P<id>[A-Z0-9]+)(?:\|[^<>]*)?>")
_OTHER_ENTITY = re.compile(r"<[#!]?(?P<what>[^<>|]*)(?:\|(?P<label>[^<>]*))?>")
_KINDS = {"S": StaffKind.GROUP, "U": StaffKind.PERSON, "W": StaffKind.PERSON}
_ID = re.compile(r"[SUW][A-Z0-9]{6,}")


class StaffCommands:
    """Names staff for the workspace, or for one course in it."""

    def __init__(self, staff: StaffSettings, people: People) -> None:
        self._staff = staff
        self._people = people

    async def done(self, who: Presence, words: list[str]) -> str:
        """Do what a command says, and return the reply to its user.

        Raises:
            RequestError: when it cannot be done.
            StoreError: when the database fails.
            DeliveryError: when Slack does not say who we are.
        """
        match [word.lower() for word in words[:1]], words[1:]:
            case ["add"], [whom, *course] if len(course) <= 1:
                return await self._added(who, _named(whom, course))
            case ["remove"], [whom, *course] if len(course) <= 1:
                return await self._staff.remove(who, _named(whom, course))
            case ["list"], []:
                return await self._listed(who)
            case _:
                return i18n.text("slack-how-to-name")

    async def _added(self, who: Presence, named: NamedStaff) -> str:
        await self._staff.admit_naming(who)
        team, enterprise = _place(who)
        if named.kind is StaffKind.PERSON:
            if await self._people.member(team, enterprise, named.id) is None:
                raise RequestError(user_message=i18n.text("slack-staff-no-member"))
            return await self._staff.add(who, named)
        if not await self._people.may_read_groups(team, enterprise):
            return f"{await self._staff.add(who, named)}\n{_no_groups_scope()}"
        if not await self._people.people_in(team, enterprise, named.id):
            raise RequestError(user_message=i18n.text("slack-staff-no-group"))
        return await self._staff.add(who, named)

    async def _listed(self, who: Presence) -> str:
        lines = await self._staff.lines(who)
        if await self._staff.groups(who) and not await self._people.may_read_groups(*_place(who)):
            lines = [*lines, _no_groups_scope()]
        return "\n".join(f"- {line}" for line in lines)


class Names:
    """Names groups and people without a mention, which would notify them."""

    def __init__(self, people: People) -> None:
        self._people = people

    async def shown(self, who: Presence, named: NamedStaff) -> str:
        """Return a name with its id; of those who have left, the id alone."""
        if named.kind is StaffKind.GROUP:
            handle = (await self._people.groups(*_place(who))).get(named.id, "")
            return _group(escape(handle), named.id) if handle else f"`{named.id}`"
        member = await self._people.member(*_place(who), named.id)
        name = member.name if member else ""
        return f"{escape(name)} (`{named.id}`)" if name else f"`{named.id}`"


def _no_groups_scope() -> str:
    return i18n.text("slack-staff-no-groups-scope", scope=GROUPS_SCOPE)


def _group(name: str, group_id: str) -> str:
    return i18n.text("slack-staff-group", name=name, id=group_id)


def unescaped(text: str) -> str:
    """Return what was typed after a command, each mention as the id of whom it names."""
    text = _OTHER_ENTITY.sub(_typed, _MENTION.sub(r" \g<id> ", text))
    return html.unescape(text)


def _typed(entity: re.Match[str]) -> str:
    return entity["label"] or entity["what"]


def _named(whom: str, course: list[str]) -> NamedStaff:
    """Return who is meant by a mention, or by an id as the list shows it."""
    if _ID.fullmatch(whom) is None:
        raise RequestError(user_message=i18n.text("slack-staff-no-mention"))
    return NamedStaff(_KINDS[whom[0]], whom, course[0] if course else None)


def _place(who: Presence) -> tuple[str, str | None]:
    """Return the ids of a workspace and of its organisation."""
    return who.location.workspace, who.organisation.workspace if who.organisation else None
