"""The Protocols that every platform, and every way of answering, speaks."""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from adapters.chat.buttons import UUID_PATTERN
from adapters.chat.markdown.layout import shortened, utf16_length, visible
from core.domain import AgentRequest, AgentResponse
from core.domain.errors import BotError, DeliveryError
from core.domain.i18n import text as nearest_sections_text
from core.domain.links import one_line, prose_without_links
from core.storage.access import Tenant
from core.storage.inbox.base import Job, Posted, Twin
from core.teaching.help_requests import CardDue, QueueCard
from core.teaching.radar_store import RadarChannel, RadarPost

NAME = re.compile(rf"gl:(?P<kind>[wo]):(?P<request>{UUID_PATTERN}):(?P<number>[0-9])")
"""What the custom ids of these buttons look like."""


WITHIN, CHOICE = "w", "o"
"""What a button asks: the same question within a section, or a question of several."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """The sections that come nearest to a question which was refused, or what it may mean."""

    request_id: UUID
    sections: tuple[str, ...]
    """Their headings, best first; or the questions."""
    kind: str = WITHIN

    def buttons(self, longest: int) -> Iterator[tuple[str, str]]:
        """Yield the name of each button and what is written on it, at most so many units."""
        for number, section in enumerate(self.sections):
            label = visible(one_line(prose_without_links(section))).strip()
            if label:
                shown = shortened(label, longest - 2, count=utf16_length)
                yield f"gl:{self.kind}:{self.request_id}:{number}", shown

    @property
    def title(self) -> str:
        """What stands above the buttons; empty: the message itself says it."""
        return nearest_sections_text("card-ask-within") if self.kind == WITHIN else ""


def nearest_to(response: AgentResponse) -> Nearest | None:
    """Return the sections or questions that go with a response; None: there are none."""
    if response.choices:
        return Nearest(response.query_id, response.choices, CHOICE)
    sections = response.nearest_sections
    return Nearest(response.query_id, sections) if sections else None


def pressed_section(name: str) -> tuple[str, UUID, int] | None:
    """Return kind, answer and number of such a button, by its name; None: it is none."""
    match = NAME.fullmatch(name)
    if match is None:
        return None
    return match["kind"], UUID(match["request"]), int(match["number"])


class Reply(Protocol):
    """One answer on its way to one reader."""

    async def begin(self) -> None:
        """Show that an answer is being written; called at most once, first."""
        ...

    async def reading(self, headings: Sequence[str]) -> None:
        """Show which sections are read, best first; called at most once, before any text."""
        ...

    async def update(self, delta: str) -> None:
        """Show some more of the answer, right after what was shown before."""
        ...

    async def withdraw(self) -> None:
        """Take back all that was shown: it no longer holds, and other text may follow."""
        ...

    async def finish(self, response: AgentResponse) -> None:
        """Show the finished answer in place of all deltas; called once, last."""
        ...

    async def fail(self, error: BotError) -> None:
        """Show the reader that there is no answer; called once, last.

        Readers see `error.user_message`. Where the reader is the operator, as at a
        terminal, the error's own text may be shown instead.
        """
        ...


class PostKeeper(Protocol):
    """Remembers what was posted for a job, as long as its holder still holds it."""

    async def keep(self, posted: Posted) -> None:
        """Store what the platform has now.

        Raises:
            LeaseLost: another worker answers by now; nothing more may be posted.
        """
        ...

    def check(self) -> None:
        """Raise LeaseLost when the lease has run out by this machine's clock, without a query.

        To be called right before every call of the platform.
        """
        ...

    def mark_ambiguous(self) -> None:
        """Have `tidy` called later: a post may have been applied without our knowledge."""
        ...

    async def send_once(self, send: Callable[[], Awaitable[None]]) -> None:
        """End the job in the inbox, then send what the asker is shown at most once.

        For what cannot be found again on the platform, and so could be sent twice. `send` is
        called again while the platform refuses it for now: then nothing was shown.

        Raises:
            DeliveryError: what `send` raised last; Unclear when it may have been shown.
            LeaseLost: as `keep` does.
        """
        ...


@dataclass(frozen=True, slots=True)
class EarlierThread:
    """Where the same question was answered before, for who sees the new answer."""

    link: str
    asked_at: datetime


class PlatformReply(Protocol):
    """An answer in a chat platform, with its placeholder in place."""

    async def reading(self, headings: Sequence[str]) -> None:
        """Do as `Reply.reading` does."""
        ...

    async def update(self, delta: str) -> None:
        """Do as `Reply.update` does."""
        ...

    async def withdraw(self) -> None:
        """Do as `Reply.withdraw` does."""
        ...

    async def finish(self, response: AgentResponse, earlier: EarlierThread | None = None) -> None:
        """Do as `Reply.finish` does; `earlier` is shown below the answer."""
        ...

    async def leave(self) -> None:
        """Show nothing more: there is no answer, and `ChatAdapter.tell` does the rest."""
        ...

    @property
    def posted(self) -> Posted:
        """What the platform has of it so far."""
        ...


class ChatAdapter(Protocol):
    """One chat platform: lets events in, and opens the way back for their answers."""

    @property
    def platform(self) -> str:
        """The platform's name, as in `Arrival.platform`."""
        ...

    @property
    def is_ready(self) -> bool:
        """Whether it is known who the bot is there; before, no event is worth a try."""
        ...

    async def open(self, job: Job, keeper: PostKeeper) -> PlatformReply:
        """Return the way to the reader, its placeholder posted, or found from an earlier try.

        Every message id is given to `keeper` as soon as it is known. Posting again what may
        have been posted before never shows two messages.

        Raises:
            DeliveryError: when the platform does not take it; `permanent` when it never will.
            LeaseLost: as `keeper` does.
        """
        ...

    async def tell(
        self,
        job: Job,
        keeper: PostKeeper,
        sentence: str,
        link: str | None = None,
        nearest: Nearest | None = None,
    ) -> None:
        """Send the asker a sentence instead of an answer, alone where the platform can.

        Else it is a reply to their message; no thread is opened for it. What was shown of an
        answer is removed, or is replaced by the reply. What the
        platform cannot find again goes through `PostKeeper.send_once`.

        Args:
            link: An address of the platform's or the book's, which is shown after the sentence.
            nearest: Sections to ask within instead, shown as buttons.
            job: With what was posted by now; `arrival.refusal` is its sentence when the asker's
                command was acknowledged as one that is not answered.

        Raises:
            DeliveryError: as `open` does.
            LeaseLost: as `keeper` does.
        """
        ...

    async def notify(self, job: Job, sentence: str) -> None:
        """Send the asker a notice while the question waits, in the way that `tell` does; once.

        What it shows is gone, or the asker's alone, when the question is answered.

        Args:
            job: Held by no worker; `arrival.told_to_wait` is set.

        Raises:
            DeliveryError: when the platform does not take it.
        """
        ...

    async def complete(self, job: Job, request: AgentRequest) -> AgentRequest:
        """Return a request with what its event did not tell: what was said before, a quote.

        It takes a moment at most: what cannot be read by then is left out.
        """
        ...

    async def ended(self, job: Job) -> None:
        """Show that nothing is being done for a job any more, where the platform shows it.

        Called after every try to deliver it, whatever came of it; raises nothing.
        """
        ...

    async def retract(self, job: Job) -> None:
        """Remove from the platform what was posted for a job; what is gone is no error.

        Raises:
            DeliveryError: as `open` does.
        """
        ...

    async def abandon(self, job: Job, error: DeliveryError) -> None:
        """Tell the asker where that can be said that no answer comes, and remove the placeholder.

        Called once, where the place takes nothing for good, as after it was closed to us. What
        cannot be removed now is left to `tidy`.

        Args:
            error: What the platform refused last.

        Raises:
            DeliveryError: when it cannot be said anywhere.
        """
        ...

    async def react(self, job: Job) -> None:
        """Show a reaction on a job's message: an offer to answer it, or that thanks were read.

        Done again, it changes nothing.

        Raises:
            DeliveryError: as `open` does.
        """
        ...

    async def unreact(self, job: Job) -> None:
        """Remove the reaction of an offer; one that is gone, or whose message is, is no error.

        Raises:
            DeliveryError: as `open` does.
        """
        ...

    async def link(self, job: Job, twin: Twin) -> str | None:
        """Return a link to the answer of a question that was asked where a job's was.

        None when the platform gives none.
        """
        ...

    async def tidy(self, job: Job) -> None:
        """Remove the bot's messages that answer a job's question and are not in `job.posted`.

        Called some time after the answer, when a post may have been applied unseen. A
        platform that never shows the same post twice has nothing to do.

        Raises:
            DeliveryError: as `open` does.
        """
        ...


class SteppedDown(Exception):
    """A platform left its connection to other processes; built anew, it stands by for it."""


class ChatPlatform(ChatAdapter, Protocol):
    """A chat adapter with its connection."""

    async def is_connected(self) -> bool:
        """Return whether the platform could tell us something right now."""
        ...

    async def places_of(self, workspace: str, channel: str) -> Sequence[str]:
        """Return the places around a channel for which rules may be set, narrowest first.

        The channel is the first of them, and its workspace the last. What cannot be read now is
        missing in between.
        """
        ...

    async def announce(self, channel: RadarChannel, post: RadarPost, key: str) -> None:
        """Post into a channel, unless a post with this key stands there already.

        Raises:
            DeliveryError: when the platform does not take it; `permanent` when it never will.
        """
        ...

    async def show_card(self, due: CardDue, card: QueueCard) -> str:
        """Show a request in a channel of the staff, and return the id of the message.

        The message that shows it already is changed: `due.message`, or what is found of those
        posted since `due.posted_since`.

        Raises:
            DeliveryError: when the platform does not take it; `permanent` when it never will.
        """
        ...

    async def remove_card(self, due: CardDue) -> None:
        """Delete the message that shows a request; one that is gone is no error.

        Raises:
            DeliveryError: as `show_card` does.
        """
        ...

    async def is_member(self, tenant: Tenant, user: str) -> bool:
        """Return whether a user is a member of a tenant that the bot is in.

        Asked where no tenant stands around a place, as in direct messages of a platform that
        gives them none.

        Raises:
            DeliveryError: when the platform does not tell now.
        """
        ...

    async def run(self) -> None:
        """Stay connected and let events in, until `close`.

        Raises:
            ConfigurationError: when the platform refuses our credentials.
            SteppedDown: when another process does this now.
        """
        ...

    async def close(self) -> None:
        """Let no more events in; what is being accepted is finished before."""
        ...


def ready(adapters: Mapping[str, ChatAdapter]) -> list[str]:
    """Return the platforms whose events are worth a try."""
    return [name for name, adapter in adapters.items() if adapter.is_ready]


Json = Mapping[str, Any]

_NOTHING: Json = {}
_UNSTORABLE = re.compile("[\\0\\ud800-\\udfff]")


def mapping(value: object) -> Json:
    """Return an object; an empty one for anything else."""
    return value if isinstance(value, Mapping) else _NOTHING


def mappings(value: object) -> list[Json]:
    """Return the objects of a list; none for anything else."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def clean_text(value: object) -> str:
    """Return a text that can be stored and sent; an empty one for anything else."""
    return well_formed(value) if isinstance(value, str) else ""


def well_formed(value: str) -> str:
    """Return a text with a sign in place of each half character and of NUL, as JSON can hold."""
    return _UNSTORABLE.sub("\ufffd", value)
