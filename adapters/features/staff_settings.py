"""Who may use `/course`, and whom a tenant's admins name as staff by it, on every platform."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from adapters.access.standing import Presence
from adapters.channel_settings import ChannelSettings
from adapters.desk import FrontDesk
from core.access.roster import Roster
from core.access.staff import NamedStaff, StaffKind
from core.access.staff_store import StaffStore
from core.access.tenants import Tenant
from core.errors import RequestError

_FOR_STAFF = (
    "Staff of the course that answers here, and the admins of this {tenant}, can do that. "
    "Admins name staff with `/course staff add`."
)
_FOR_ADMINS = "What holds in the whole {tenant} is for its admins to set."
_TO_NAME = "Who is staff is for the admins of this {tenant} to say."
_NONE_NAMED = "Nobody is named as staff here. Admins name somebody with `/course staff add`."
_ADMINS_TOO = "The admins of this {tenant} are staff, too."
_OPERATORS = "Only the operator, in the course file, can take {name} out."
_GONE_COURSE = "a course that there is not"


@dataclass(frozen=True, slots=True)
class Words:
    """What a platform calls its things."""

    tenant: str
    """Such as "server"."""
    shown: Callable[[Presence, NamedStaff], Awaitable[str]]
    """Returns how a role, group or person is called in a tenant, without notifying anybody."""


class StaffSettings:
    """Names staff, and admits those who may use `/course`.

    Methods raise RequestError with what its user is told, and StoreError when the database
    fails.
    """

    def __init__(
        self,
        desk: FrontDesk,
        roster: Roster,
        store: StaffStore,
        settings: ChannelSettings,
        words: Words,
    ) -> None:
        self._desk = desk
        self._roster = roster
        self._store = store
        self._settings = settings
        self._words = words

    async def admit(self, who: Presence) -> None:
        """Raise RequestError unless somebody is staff at a place, or an admin."""
        if not await self._desk.is_staff(who):
            raise self._refusal(_FOR_STAFF)

    async def admit_admin(self, who: Presence) -> None:
        """Raise RequestError unless somebody is an admin of the whole tenant."""
        if not await self._is_admin(who):
            raise self._refusal(_FOR_ADMINS)

    async def admit_naming(self, who: Presence) -> None:
        """Raise RequestError unless somebody may say who is staff."""
        if not await self._is_admin(who):
            raise self._refusal(_TO_NAME)

    async def add(self, who: Presence, named: NamedStaff) -> str:
        """Name somebody as staff, and return what the admin is told."""
        await self.admit_naming(who)
        tenant = _tenant(who)
        if named.course_id is not None and not await self._is_known(who, named.course_id):
            sentence = await self._settings.unknown_course(who.location, named.course_id)
            raise RequestError(user_message=sentence)
        user_id = None
        if named.kind is StaffKind.PERSON:
            user_id = self._desk.pseudonym(tenant.platform, tenant.workspace, named.id)
        is_new = await self._store.add(tenant, named, user_id)
        name = await self._words.shown(who, named)
        return f"{name} is {'now' if is_new else 'already'} staff{_only(named)}."

    async def remove(self, who: Presence, named: NamedStaff) -> str:
        """Take somebody out, for one course or however they are named, and say so."""
        await self.admit_naming(who)
        name, tenant = await self._words.shown(who, named), _tenant(who)
        if await self._store.remove(tenant, named.id, named.course_id):
            told = f"{name} is no longer staff{_only(named)}."
        else:
            told = f"{name} was not named as staff{_only(named)}."
        if any(one.id == named.id for one in self._roster.described(tenant)):
            told += f" {_OPERATORS.format(name=name)}"
        return told

    async def lines(self, who: Presence) -> list[str]:
        """Return who is staff in a tenant, a line each, to somebody who is staff at a place."""
        await self.admit(who)
        operators, appointed = await self._named(who)
        lines = [f"{await self._line(who, one)} (by the operator)" for one in operators]
        lines += [await self._line(who, one) for one in appointed]
        return [*(lines or [_NONE_NAMED]), _ADMINS_TOO.format(tenant=self._words.tenant)]

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
        await self._desk.here(who.location)  # refuses where nobody is to be answered
        member = await who.member(frozenset())
        return member is not None and member.is_admin

    async def _is_known(self, who: Presence, course_id: str) -> bool:
        return await self._settings.unknown_course(who.location, course_id) is None

    async def _line(self, who: Presence, named: NamedStaff) -> str:
        name, course_id = await self._words.shown(who, named), named.course_id
        if course_id is None:
            return name
        known = await self._is_known(who, course_id)
        return f"{name}, for {course_id if known else _GONE_COURSE} only"

    def _refusal(self, sentence: str) -> RequestError:
        return RequestError(user_message=sentence.format(tenant=self._words.tenant))


def _tenant(who: Presence) -> Tenant:
    tenant = who.location.tenant
    if tenant is None:  # nobody is its admin, so that nobody comes so far
        raise RequestError("staff of a personal place", user_message=_NONE_NAMED)
    return tenant


def _only(named: NamedStaff) -> str:
    return f" for {named.course_id} only" if named.course_id else ""
