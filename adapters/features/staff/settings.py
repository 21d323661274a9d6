"""Who may use `/course`, and whom a tenant's admins name as staff by it, on every platform."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from adapters.access.standing import Presence
from adapters.features.channel_settings import ChannelSettings
from adapters.intake.front_desk import FrontDesk
from core.access.roster import Roster
from core.access.staff import NamedStaff, StaffKind
from core.access.staff_store import StaffStore
from core.access.tenants import Tenant
from core.errors import RequestError
from core.i18n import Message, text
from core.storage.channels.store import Place


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
        tenant = _tenant(who)
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
        name, tenant = await self._words.shown(who, named), _tenant(who)
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


def _tenant(who: Presence) -> Tenant:
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
