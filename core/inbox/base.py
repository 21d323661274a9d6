"""What waits between a platform's event and its answer, in no platform's words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from core.errors import ServiceError
from core.inbox.audience import Settlement
from core.models import AgentRequest

_REQUEST_NAMESPACE = uuid5(NAMESPACE_URL, "urn:glossator:request")


class Kind(StrEnum):
    """What an event asks for."""

    ASK = "ask"
    REDO = "redo"
    """The question was edited: its answer is written again, where it stands."""
    FORGET = "forget"
    """The question was deleted: its turn is forgotten and its answer removed."""
    OFFER = "offer"
    """It may be a question: a reaction offers to answer, and becomes ASK when it is taken up."""
    THANK = "thank"
    """The bot was thanked, which gets a reaction."""
    REPLY = "reply"
    """Staff have answered a question: that is shown to its asker, whom it notifies."""

    @property
    def is_reaction(self) -> bool:
        """Whether a reaction is all that is shown."""
        return self in (Kind.OFFER, Kind.THANK)


class State(StrEnum):
    """How far an event has come; only WAITING ones are claimed, again when a lease ran out."""

    WAITING = "waiting"
    DONE = "done"
    UNDELIVERABLE = "undeliverable"
    """The platform refuses for good, or has refused for too long."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """One event that is to be answered, as an adapter understood it."""

    key: str
    """Identifies the event: delivered twice, or seen by two replicas, it has one key."""
    platform: str
    workspace: str
    channel: str
    """Where it was said; the channel that limits count, also for its threads."""
    lane: str
    """Events of one lane are answered one after the other."""
    position: int
    """The platform's own order inside the lane, such as a message's id."""
    user_id: str
    """The asker's pseudonym."""
    address: Mapping[str, Any]
    """What the platform's adapter needs to answer: JSON, no text of anybody's message."""
    kind: Kind = Kind.ASK
    about: str | None = None
    """For REDO and FORGET: the key of the event that asked the question."""
    request: AgentRequest | None = None
    """What to ask the agent; none for FORGET, and where `refusal` is the answer."""
    refusal: str | None = None
    """A safe sentence that is shown instead of an answer."""
    settles: Settlement = Settlement.REFUSED
    """What the event is settled as when its `refusal` was sent."""
    pending: AgentRequest | None = None
    """With a `refusal` that asks for its course: the question, kept until one is chosen."""
    token: str | None = None
    """A secret that answers this event; kept sealed, and only until `token_expires_at`."""
    token_expires_at: datetime | None = None
    sent_at: datetime | None = None
    """The platform's own time of the event; none: it came just now."""
    told_to_wait: bool = False
    """Whether its asker was notified, while it waited, that it does."""
    gist: str | None = None
    """The same for the same question where several people may ask it at once; None: it stands in
    a conversation, or is private."""
    pressed: bool = False
    """Whether a button asked it, which can be pressed again: a limit that stops it stores nothing.
    Not kept."""

    @property
    def locale(self) -> str | None:
        """The asker's locale, as far as it is known."""
        asked = self.request or self.pending
        return asked.user_context.locale if asked is not None else None


@dataclass(frozen=True, slots=True)
class DeletedEvent:
    """A message that was deleted, perhaps before its event came: what may be known of it."""

    key: str
    """The key that its event would have."""
    platform: str
    workspace: str
    """Empty where the platform does not say."""
    sent_at: datetime


class Acceptance(StrEnum):
    """What became of an arrival."""

    NEW = "new"
    KNOWN = "known"
    """Its key is there already: nothing was written."""
    LIMITED = "limited"
    """Too many of one user, who is to be notified."""
    PASSED_OVER = "passed over"
    """Too many of one user, who is notified in this minute already: nothing will be sent."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The receipt of an arrival, written when the database has it for sure."""

    acceptance: Acceptance


@dataclass(frozen=True, slots=True)
class Posted:
    """What of an answer the platform has already, by the platform's ids."""

    messages: tuple[str, ...] = ()
    """The message of each part, in order; the first is the placeholder."""
    thread: str | None = None
    """The thread in which the conversation goes on, once it is known."""


@dataclass(frozen=True, slots=True)
class Job:
    """An event that one worker holds, until its lease runs out."""

    arrival: Arrival
    fence: int
    """Rises with every claim; what is written with a lower one is refused."""
    lease_until: datetime
    accepted_at: datetime
    attempts: int = 0
    """Deliveries that failed before this one."""
    posted: Posted = field(default_factory=Posted)
    """What an earlier holder, or for REDO and FORGET the event it is about, has posted."""
    earlier_requests: tuple[UUID, ...] = ()
    """For REDO and FORGET: the requests whose turns are to be forgotten."""
    stopped: bool = False
    """The asker wants no answer any more."""

    @property
    def taken_over(self) -> bool:
        """Whether another worker held it before, and may have posted unknown messages."""
        return self.fence > 1


@dataclass(frozen=True, slots=True)
class Answered:
    """What a message of the bot's answers."""

    key: str
    platform: str
    workspace: str
    request_id: UUID
    user_id: str
    thread: str | None
    """The thread in which the conversation goes on."""
    session_id: UUID | None
    course_id: str | None
    address: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Backlog:
    """What is in the inbox at a moment."""

    waiting: int
    in_flight: int
    oldest: datetime | None
    """When the oldest event was accepted that is not answered yet."""


@dataclass(frozen=True, slots=True)
class Twin:
    """An event that asked the same, and how far its answer has come."""

    key: str
    request_id: UUID
    waits: bool
    """Whether its answer is still on its way."""
    answered: bool
    workspace: str
    channel: str
    thread: str | None
    messages: tuple[str, ...]
    """Those that show its answer, by the platform's ids."""
    address: Mapping[str, Any]
    asked_at: datetime


class LeaseLost(ServiceError):
    """Another worker holds the event now: the worker that gets this must stop at once."""


def lane_for(platform: str, workspace: str, channel: str, thread: str) -> str:
    """Return the lane of a thread's events."""
    return f"{platform}:{workspace}:{channel}:{thread}"


def request_id_for(key: str) -> UUID:
    """Return the request id of an event: two workers compute the same one."""
    return uuid5(_REQUEST_NAMESPACE, key)
