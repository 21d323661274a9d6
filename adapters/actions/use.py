"""What a platform hands to an action, and the few kinds of result that it shows of one."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, StrEnum
from typing import Any
from uuid import UUID

from adapters.chat.access import Choice, Location
from adapters.chat.buttons import NO_ID, Button
from adapters.chat.front_desk import Received
from adapters.chat.incoming_message import IncomingMessage
from adapters.chat.places import Presence
from core.domain import AgentResponse
from core.domain.errors import RequestError
from core.domain.i18n import Message
from core.storage.access import NamedStaff
from core.storage.channels import Place
from core.storage.inbox.base import Arrival
from core.teaching.help_requests import CardDue, QueueCard


class Declined(RequestError):
    """What a user cannot do; they read why."""

    def __init__(self, sentence: str) -> None:
        super().__init__(user_message=sentence)


@dataclass(frozen=True, slots=True)
class Clicker:
    """Who pressed a button, and where."""

    location: Location
    user_id: str
    """Their pseudonym there."""


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


@dataclass(frozen=True, slots=True)
class File:
    """A file for a user."""

    name: str
    data: bytes
    caption: str = ""
    """What stands above it where it is sent apart from the sentence it goes with."""
    is_all: bool = False
    """Whether the sentence says nothing without it."""


# --- results ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence or more for who did it, in Markdown."""

    markdown: str
    buttons: tuple[Button, ...] = ()
    name: UUID = NO_ID
    """What the buttons belong to."""
    file: File | None = None
    in_place: bool = False
    """Whether it replaces the message whose button was pressed."""
    for_all: bool = False
    """Whether everybody in the channel sees it."""


@dataclass(frozen=True, slots=True)
class QuestionTaken:
    """A question that is in the inbox; its answer follows."""

    received: Received


@dataclass(frozen=True, slots=True)
class Evidence:
    """The passages that an answer cites."""

    response: AgentResponse


@dataclass(frozen=True, slots=True)
class CoursesFound:
    """A menu of courses, in place of the message whose button was pressed."""

    sentence: str
    choice: Choice


class LineStyle(Enum):
    """How a line of a card is written."""

    TITLE = "title"
    TEXT = "text"
    SMALL = "small"
    QUOTE = "quote"
    """A passage below its label."""


@dataclass(frozen=True, slots=True)
class CardLine:
    """A line of a card; plain text of a book or a reader."""

    style: LineStyle
    text: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class CardPart:
    """Lines, and the buttons below them."""

    lines: tuple[CardLine, ...]
    buttons: tuple[Button, ...] = ()
    name: UUID = NO_ID
    """What the buttons belong to."""


Card = tuple[CardPart, ...]


@dataclass(frozen=True, slots=True)
class Cards:
    """A page of what staff look at."""

    heading: str
    cards: tuple[Card, ...]
    next_page: UUID | None = None
    """The id of the button that shows the next page; None: there is none."""
    in_place: bool = False
    """As `Notice.in_place`."""


Result = Notice | QuestionTaken | Evidence | CoursesFound | Cards | None
"""None: nothing is shown."""


# --- forms --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Field:
    """Something to be typed, or chosen where there are options."""

    name: str
    label: str
    longest: int = 0
    shortest: int = 0
    value: str = ""
    """What stands in it already."""
    is_long: bool = False
    required: bool = True
    unmarked: str = ""
    """The label where the platform does not say itself that it may stay empty."""
    options: Sequence[tuple[str, str]] = ()
    """Value and label of each."""


@dataclass(frozen=True, slots=True)
class Form:
    """What is to be filled in; it comes back to `Presses.submit` as its button and id."""

    button: Button
    name: UUID
    title: str
    fields: tuple[Field, ...]
    beside: str = ""
    """Plain text above the fields."""
    submit: str = ""
    """What the button that sends it says; empty: Send."""


# --- uses ---------------------------------------------------------------------------------


class Extent(StrEnum):
    """How wide a place is that staff set up."""

    CHANNEL = "channel"
    CATEGORY = "category"
    TENANT = "tenant"
    """The whole server or workspace, which is for its admins."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a platform calls places, and how it writes a list of settings."""

    how_to_ask: Message
    done: Mapping[Extent, Message]
    """That it is set, by how wide a place it is set for."""
    bullet: str = "- "


class Use(ABC):
    """A command, a press or a sent form, as a platform has read it.

    The methods with a body suit a platform that shows lines of text and nothing else.
    """

    terms: Terms
    who: Presence
    here: Place
    """The channel or thread in which it was done."""
    at: datetime
    """When, by the platform's clock."""
    position: int
    """As `Arrival.position`."""
    direct: bool = False
    """Whether no one else is there."""
    outsider: bool = False
    """Whether a guest of the place does it."""
    alone: bool = False
    """Whether the message whose button was pressed is seen by its user alone."""
    message: str | None = None
    """The id of that message."""

    @abstractmethod
    def heard(
        self,
        question: str,
        *,
        quote: str | None = None,
        section: str | None = None,
        private: bool = False,
    ) -> IncomingMessage:
        """Return what is asked by it."""

    async def open(self, form: Form) -> bool:
        """Show a form; return whether it is shown."""
        return False

    async def locale(self) -> str | None:
        """Return the locale of its user; None: it is not known."""
        return None

    async def user_name(self) -> str:
        """Return how its user is called; empty: it is not known."""
        return ""

    async def workspaces(self) -> Collection[str]:
        """Return the workspaces in which its user may have been met, besides those of events."""
        return {self.who.location.workspace}

    async def address_to_share(self) -> Mapping[str, Any]:
        """Return where a private answer is shown to all; raises Declined where it cannot be."""
        return {"channel": self.here.place, "message": None}

    def reply_address(self, original: Arrival, thread: str | None) -> Mapping[str, Any]:
        """Return where a reply of the staff goes, from the question's event and its thread."""
        return original.address

    async def to_be_staff(self, named: NamedStaff) -> str:
        """Return what is to be known of whom is named as staff; empty: nothing.

        Raises:
            RequestError: for whom can be no staff.
        """
        return ""

    async def note_on_groups(self) -> str:
        """Return why no one is staff by a group; empty: those in one are."""
        return ""

    async def show_card(self, due: CardDue, card: QueueCard) -> str:
        """Show a card as `ChatPlatform.show_card` does."""
        raise NotImplementedError

    def place_of(self, extent: Extent) -> Place | None:
        """Return the place around its user that an extent means; None: there is none."""
        if extent is Extent.TENANT:
            return Place(self.here.platform, self.here.workspace, self.here.workspace)
        return self.here if extent is Extent.CHANNEL else None

    @property
    def answer_message(self) -> str | None:
        """The same message as the inbox knows the messages of answers."""
        return self.message

    @property
    def not_to_set_up(self) -> str:
        """Why there is nothing for staff to set up where it was done; empty: there is."""
        return ""

    @property
    def enterprise(self) -> str | None:
        """The organisation around the workspace."""
        return self.who.organisation.workspace if self.who.organisation else None

    @property
    def location(self) -> Location:
        """Where its user is."""
        return self.who.location
