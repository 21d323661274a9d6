"""Who does what staff do, and what they may see of it, checked with each press."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from adapters.access.course_directory import CourseDirectory
from adapters.access.location import Location
from adapters.access.standing import Presence, StaffStanding
from adapters.features.answer_actions import AnswerActions, Clicker, Declined
from adapters.intake.front_desk import FrontDesk
from core.access.reading import Reader
from core.access.tenants import Tenant
from core.errors import RequestError
from core.i18n import text
from core.models import ConversationTurn
from core.storage.sessions.rows import FORGOTTEN_USER
from core.storage.sessions.store import SessionStore


@dataclass(frozen=True, slots=True)
class Reviewer:
    """A user who wants to do what staff do, and where."""

    who: Presence
    user_id: str
    """Their pseudonym."""

    @property
    def location(self) -> Location:
        """Where they are."""
        return self.who.location


class StaffReview:
    """Checks what staff may see; methods raise Declined with what the clicker reads."""

    def __init__(
        self,
        desk: FrontDesk,
        actions: AnswerActions,
        standing: StaffStanding,
        directory: CourseDirectory,
        sessions: SessionStore,
    ) -> None:
        self._desk = desk
        self._actions = actions
        self._standing = standing
        self._directory = directory
        self._sessions = sessions

    async def courses_of(self, reviewer: Reviewer) -> list[str]:
        """Return the courses of which a reviewer is staff where they are.

        Raises:
            RequestError: when they are staff of none.
        """
        here = await self._desk.here(reviewer.location)
        courses = [
            course_id
            for course_id in await self._directory.courses(here.reader)
            if await self._standing.is_staff_of(reviewer.who, course_id)
        ]
        if not courses:
            raise RequestError(user_message=text("queue-for-staff"))
        return courses

    async def admit(self, reviewer: Reviewer, course_id: str) -> None:
        """Raise Declined unless a reviewer is staff of a course that may be read there."""
        here = await self._desk.here(reviewer.location)
        is_readable = await self._directory.mark(here.reader, course_id) is not None
        if not is_readable or not await self._standing.is_staff_of(reviewer.who, course_id):
            raise Declined(text("queue-for-staff"))

    async def turn(self, request_id: UUID) -> ConversationTurn:
        """Return the turn of a request; that of a forgotten user is the same as none."""
        turn = await self._sessions.turn_of(request_id)
        if turn is None or turn.user_id == FORGOTTEN_USER:
            raise Declined(text("help-gone"))
        return turn

    async def turn_seen(self, request_id: UUID, reviewer: Reviewer) -> ConversationTurn:
        """Return the turn of an answer that staff see in their tenant."""
        clicker = Clicker(reviewer.location, reviewer.user_id)
        turn = await self._actions.turn(request_id, clicker)
        await self.admit(reviewer, turn.agent_response.course_id)
        return turn

    async def tenants(self, location: Location) -> Sequence[Tenant]:
        """Return the tenants of a place; at a personal one those that the person shares."""
        return [*(await self._desk.here(location)).reader.tenants]

    async def tenant(self, location: Location, course_id: str) -> Tenant | None:
        """Return whose staff are asked: the tenant of the place, or one that the asker is in."""
        if location.tenant is not None:
            return location.tenant
        here = await self._desk.here(location)
        readers = (
            Reader(location.platform, frozenset({one})) for one in sorted(here.reader.tenants)
        )
        for reader in readers:
            if await self._directory.mark(reader, course_id) is not None:
                return next(iter(reader.tenants))
        return None
