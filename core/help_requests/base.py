"""What a student asks the staff of a course, since the bot's answer was none or not enough."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import NAMESPACE_URL, UUID, uuid5

from core.access.tenants import Tenant

LEASE = timedelta(minutes=30)
"""How long a request stays with the staff member who took it."""
_NAMESPACE = uuid5(NAMESPACE_URL, "urn:glossator:help")


class HelpReason(StrEnum):
    """Why the staff are asked."""

    NOT_COVERED = "not_covered"
    NOT_SURE = "not_sure"
    VOTED_DOWN = "voted_down"
    ASKED = "asked"


class HelpState(StrEnum):
    """OPEN, TAKEN for as long as a lease lasts, and at last ANSWERED or DISMISSED."""

    OPEN = "open"
    TAKEN = "taken"
    ANSWERED = "answered"
    DISMISSED = "dismissed"

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        return self in (HelpState.ANSWERED, HelpState.DISMISSED)


@dataclass(frozen=True, slots=True)
class HelpRequest:
    """A question that waits for the staff of a course in the asker's tenant."""

    help_id: UUID
    course_id: str
    tenant: Tenant
    """The asker's: its staff answer."""
    key: str
    """The event that asked the question, with which the way back to the asker is kept."""
    channel: str
    thread: str | None
    asked_by: str
    """A pseudonym."""
    request_id: UUID
    """The bot's turn."""
    reason: HelpReason
    opened_at: datetime
    locale: str | None = None
    """In which the asker is answered."""
    state: HelpState = HelpState.OPEN
    taken_by: str | None = None
    taken_until: datetime | None = None
    answer_id: UUID | None = None
    closed_at: datetime | None = None

    def at(self, moment: datetime) -> HelpState:
        """Return the state at a moment: a lease that ran out leaves the request open."""
        if self.state is HelpState.TAKEN and not self._is_held(moment):
            return HelpState.OPEN
        return self.state

    def _is_held(self, moment: datetime) -> bool:
        return self.taken_until is not None and self.taken_until > moment


def help_id_for(request_id: UUID) -> UUID:
    """Return the id of the request about one turn of the bot: pressed twice, it is one."""
    return uuid5(_NAMESPACE, str(request_id))


@dataclass(frozen=True, slots=True)
class Counts:
    """How many requests of a course wait in the tenants that it is granted to."""

    by_state: Mapping[HelpState, int]
    oldest: datetime | None = None

    @property
    def waiting(self) -> int:
        """How many are open, or taken."""
        return sum(count for state, count in self.by_state.items() if not state.is_over)


@dataclass(frozen=True, slots=True)
class QueueChannel:
    """A channel in which the staff of a course see what waits for them."""

    course_id: str
    platform: str
    workspace: str
    channel: str
    enterprise: str | None = None
    locale: str | None = None


@dataclass(frozen=True, slots=True)
class QueueCard:
    """A request as such a channel shows it; plain text, in the channel's language."""

    help_id: UUID
    question: str
    status: str
    said: str
    """What the bot answered; empty: nothing that may be shown."""
    is_open: bool
    """Whether staff can do something about it."""


@dataclass(frozen=True, slots=True)
class CardDue:
    """A card that does not show what it has to; for a while no other process sees to it."""

    help_id: UUID
    channel: QueueChannel
    request: HelpRequest | None
    """None: it is no more, and neither is its card to be; or it is just being changed."""
    message: str | None
    """The message to change; None: there is none that is known."""
    posted_since: datetime | None
    """From when on another process may have posted it that died before it said so; None: none."""
