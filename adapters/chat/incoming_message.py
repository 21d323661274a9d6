"""What a platform said, in no platform's words, before anybody decides about it."""

import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from uuid import UUID

from adapters.chat.access import Location
from adapters.chat.places import Presence
from adapters.chat.question_context import NO_PARTS, MessageParts
from core.domain import AgentRequest, ContextMode, ConversationTurn, UserContext, now
from core.domain.markdown import Code, fences_in, lines_of, offsets_of
from core.storage.access import MemberLookup, Tenant, no_member
from core.storage.channels import Place
from core.storage.inbox.base import Arrival, lane_for
from core.storage.inbox.store import Inbox

logger = logging.getLogger(__name__)


_QUOTED = re.compile(r"^ {0,3}>(?:>>)? ?(.*)$")
DIRECT_THREAD = "dm"
"""Stands for the thread in a direct message, which has none."""
TITLED = "titled"
"""In an edited question's address: the digest of what its conversation was called before."""
LocaleLookup = Callable[[], Awaitable[str | None]]
"""Returns a person's locale; None where it cannot be found out."""


async def no_locale() -> str | None:
    """Return that an asker's locale cannot be found out."""
    return None


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    """A message or command that may be a question."""

    key: str
    """As `Arrival.key`."""
    platform: str
    workspace: str
    channel: str
    places: tuple[str, ...]
    """Where rules may be set for, narrowest first: thread, channel, category, workspace."""
    position: int
    """As `Arrival.position`."""
    user: str
    """The asker's id on the platform."""
    text: str
    """Plain text, the quoted lines and the mention of the bot taken out."""
    address: Mapping[str, Any]
    """As `Arrival.address`."""
    message: str | None = None
    """The message's id; none for a command."""
    thread: str | None = None
    """The thread it was said in."""
    quote: str | None = None
    parts: MessageParts = NO_PARTS
    """What came with it, or with the message that it is about, apart from text."""
    explains: str | None = None
    """The id of the bot's own message that its quote was taken from."""
    section: str | None = None
    stands_alone: bool = False
    """As `AgentRequest.stands_alone`."""
    course: str | None = None
    """The course that is asked where the place has none, or the handbook, asked anywhere."""
    verified_answer: UUID | None = None
    """The answer of the staff that was chosen for it."""
    answers: str | None = None
    """The id of the bot's message that this one replies to."""
    addressed: bool = False
    """Whether it mentions the bot, replies to it, or is a command."""
    to_others: bool = False
    """Whether it mentions or replies to another user."""
    others: frozenset[str] = frozenset()
    """The people among these, by the platform's ids."""
    direct: bool = False
    personal: bool = False
    """As `Location.personal`."""
    pressed: bool = False
    """As `Arrival.pressed`."""
    begins: bool = False
    """Whether it is the first message of a forum's post, or of what may become a thread."""
    private: bool = False
    """Whether only the asker is to see the answer."""
    guest_in: str | None = None
    """As `Location.guest_in`."""
    member: MemberLookup = field(default=no_member, compare=False, repr=False)
    """Finds out who the asker is in the workspace."""
    organisation: str | None = None
    """The organisation that the workspace belongs to."""
    role_later: bool = False
    """Whether finding out takes so long that it waits until the answer is made, where it may."""
    outsider: bool = False
    """Whether a user of another organisation, or another app, said it."""
    locale: str | None = None
    """The asker's, where it came with what was said."""
    find_locale: LocaleLookup = field(default=no_locale, compare=False, repr=False)
    """Finds the asker's locale out where it did not."""
    sent_at: datetime | None = None
    listening_since: datetime | None = None
    """Of what was found in the history: since when the bot listens again; None: it was heard
    when it was said."""
    token: str | None = None
    token_expires_at: datetime | None = None

    async def localised(self) -> "IncomingMessage":
        """Return what was heard, with its asker's locale as far as it can be found out."""
        if self.locale is not None:
            return self
        return replace(self, locale=await self.find_locale())

    @property
    def location(self) -> Location:
        """Where it was said, and by whom."""
        return Location(
            self.platform, self.workspace, self.places, self.user, self.personal, self.guest_in
        )

    @property
    def presence(self) -> Presence:
        """The asker at the place, as far as it decides whether they are staff there."""
        organisation = Tenant(self.platform, self.organisation) if self.organisation else None
        return Presence(self.location, self.member, organisation)

    @property
    def command(self) -> bool:
        """Whether the platform waits for a response."""
        return self.token is not None

    @property
    def conversation(self) -> str | None:
        """The thread that it belongs to, as far as it is known."""
        if self.thread is not None:
            return self.thread
        if self.private:
            return self.key  # no one else sees it: a conversation of its own
        return DIRECT_THREAD if self.direct else self.message

    @property
    def lane(self) -> str:
        """As `Arrival.lane`."""
        thread = self.conversation or self.key
        return lane_for(self.platform, self.workspace, self.channel, thread)

    @property
    def place(self) -> Place | None:
        """Where people may talk to each other; none outside of threads."""
        if self.thread is None:
            return None
        return Place(self.platform, self.workspace, self.thread)

    def as_edit(self, edited_at: str, position: int) -> "IncomingMessage":
        """Return an edited message as an event of its own."""
        return replace(self, key=f"{self.key}:edit:{edited_at}", position=position)


def apart_from_quotes(text: str) -> tuple[str, str | None]:
    """Return a message without its lines quoted by `>`, and these without their marks.

    In a fence such a line is code.
    """
    said, quoted = list[str](), list[str]()
    code = [range(fence.start, fence.end) for fence in _unquoted_fences(text)]
    written = lines_of(text)
    lines = zip(offsets_of(written), written, strict=False)
    for start, whole in lines:
        line = whole.rstrip("\r\n")
        match = None if any(start in one for one in code) else _QUOTED.match(line)
        if match is None:
            said.append(line)
            continue
        quoted.append(match[1])
        if line.lstrip().startswith(">>>"):
            quoted += (rest.rstrip("\r\n") for _, rest in lines)  # `>>>` quotes all that follows
    return "\n".join(said).strip(), "\n".join(quoted).strip() or None


def _unquoted_fences(text: str) -> Iterator[Code]:
    """Yield the fences that no `>` stands in front of."""
    for fence in fences_in(text):
        line = max(text.rfind(feed, 0, fence.start) for feed in "\r\n") + 1
        if ">" not in text[line : fence.start]:
            yield fence


TOLERATED = timedelta(minutes=1)
"""By which the clocks may differ; answers take time, and `Date` has whole seconds."""


class PlatformClock:
    """Knows how much this machine's clock lags a platform's; all of a process share one.

    Within what is tolerated there is no difference.
    """

    def __init__(self, platform: str, clock: Callable[[], datetime] = now) -> None:
        self._platform = platform
        self._clock = clock
        self.behind = timedelta()
        """What is added to this machine's time to get the platform's."""

    def note(self, date: str | None) -> None:
        """Learn from the `Date` of an answer that has just come; what cannot be read is ignored."""
        try:
            there = parsedate_to_datetime(date or "")
        except ValueError:
            return
        if there.tzinfo is None:
            return
        behind = there - self._clock()
        if abs(behind) <= TOLERATED:
            behind = timedelta()
        was_right, self.behind = not self.behind, behind
        if was_right and behind:
            logger.error("%s", self.warning)
        elif behind == timedelta() and not was_right:
            logger.warning("this machine's clock agrees with %s's again", self._platform)

    @property
    def warning(self) -> str | None:
        """What is wrong with this machine's clock; None: nothing that is known."""
        if not self.behind:
            return None
        minutes = abs(self.behind) / timedelta(minutes=1)
        side = "behind" if self.behind > timedelta() else "ahead of"
        return (
            f"this machine's clock is {minutes:.0f} minutes {side} {self._platform}'s: set it "
            "right, by NTP for example"
        )

    def now(self) -> datetime:
        """Return what the platform's clock shows."""
        return self.theirs(self._clock())

    def ours(self, moment: datetime) -> datetime:
        """Return what this machine's clock showed at a moment that the platform tells."""
        return moment - self.behind

    def theirs(self, moment: datetime) -> datetime:
        """Return what the platform's clock showed at a moment of this machine's."""
        return moment + self.behind


_EVERYWHERE = "*"
"""Stands where a cursor has its channel."""


class ReadCursor:
    """A platform's moment next to the cursors of its channels; methods raise StoreError."""

    def __init__(self, inbox: Inbox, platform: str) -> None:
        self._inbox = inbox
        self._platform = platform

    async def note(self, moment: datetime) -> None:
        """Keep the moment up to which nothing was missed."""
        milliseconds = int(moment.timestamp() * 1_000)
        await self._inbox.advance_cursor(self._platform, _EVERYWHERE, milliseconds)

    async def last(self) -> datetime | None:
        """Return the latest such moment; None before the first connection ever."""
        milliseconds = (await self._inbox.cursors(self._platform)).get(_EVERYWHERE)
        return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1_000, UTC)


def stored_request(private: Arrival, turn: ConversationTurn) -> AgentRequest:
    """Return a request that is answered by the stored answer of the turn."""
    quoted = ContextMode.SELECTED_TEXT if turn.selected_text else ContextMode.FULL_BOOK
    return AgentRequest(
        request_id=turn.request_id,
        course_id=turn.agent_response.course_id,
        query_text=turn.user_input,
        context_mode=quoted,
        selected_text=turn.selected_text,
        user_id=private.user_id,
        user_context=UserContext(
            platform=private.platform, workspace=private.workspace, channel=private.channel
        ),
    )
