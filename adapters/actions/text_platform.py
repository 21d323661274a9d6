"""A chat platform of nothing but lines: all that it needs is to hear them and to write them."""

import re
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from uuid import UUID

from adapters.actions.commands import Commands
from adapters.actions.presses import Presses
from adapters.actions.text_commands import TextCommands
from adapters.actions.use import (
    Cards,
    CoursesFound,
    Evidence,
    Extent,
    File,
    Form,
    Notice,
    QuestionTaken,
    Result,
    Terms,
    Use,
)
from adapters.chat.acceptor import Acceptor
from adapters.chat.access import Choice, choice_of
from adapters.chat.base import EarlierThread, Nearest, PlatformReply, PostKeeper, nearest_to
from adapters.chat.buttons import Button, buttons_under, custom_id, parsed
from adapters.chat.front_desk import FrontDesk, Received
from adapters.chat.incoming_message import IncomingMessage
from adapters.chat.markdown.footnotes import adds_to, exhibits, footnotes
from core.domain import AgentRequest, AgentResponse, now
from core.domain.errors import DeliveryError, RequestError
from core.domain.i18n import Message, text
from core.storage.access import NamedStaff, StaffKind, Tenant
from core.storage.channels import Place
from core.storage.inbox.base import Job, Posted, Twin
from core.teaching.help_requests import CardDue, QueueCard
from core.teaching.radar_store import RadarChannel, RadarPost

_COMMAND = re.compile(r"/(?P<name>\S+)\s*(?P<line>.*)", re.DOTALL)
_FIELD = re.compile(r"\s*(?P<name>[\w-]+)\s*[:=]\s*(?P<value>[^;]*)")
_LONGEST_LABEL = 80
_ABOUT_LATEST = {"stop": Button.STOP, "delete": Button.DELETE, "verify": Button.VERIFY}
TERMS = Terms(
    Message("slack-how-to-ask"),
    {
        Extent.CHANNEL: Message("staff-done-channel"),
        Extent.TENANT: Message("staff-done-workspace"),
    },
)


_MOST_KEPT = 1_000
"""Channels and users whose latest buttons, forms and answers are known; the oldest go first."""
_MOST_COURSES = 25


@dataclass(frozen=True, slots=True)
class _Shown:
    """What can be pressed."""

    buttons: Sequence[tuple[str, str]] = ()
    """Name and label of each, as they were numbered; a course's name holds its id."""
    alone: bool = False
    """Whether they stand below what one user alone was answered."""


@dataclass(slots=True)
class _Answer:
    """The latest answer in a channel, which may not be finished."""

    request_id: UUID
    message: str | None = None


Kept = TypeVar("Kept")


class _Latest(OrderedDict[tuple[str, str], Kept]):
    """What was kept last, by channel and user; an empty user stands for all."""

    def keep(self, channel: str, user: str, kept: Kept) -> None:
        """Keep something in place of what was before it."""
        self.pop((channel, user), None)
        self[channel, user] = kept
        while len(self) > _MOST_KEPT:
            self.popitem(last=False)

    def of(self, channel: str, user: str) -> Kept | None:
        """Return what is a user's in a channel, or else all users'."""
        return self.get((channel, user)) or self.get((channel, ""))

    def forget(self, user: str) -> None:
        """Drop what is a user's, in all channels."""
        for key in [key for key in self if key[1] == user]:
            del self[key]


class TextUse(Use):
    """A line that is a command, or that presses something."""

    terms = TERMS

    def __init__(self, chat: "TextPlatform", line: IncomingMessage) -> None:
        self._chat = chat
        self._line = line
        self.who, self.outsider = line.presence, line.outsider
        self.here = Place(line.platform, line.workspace, line.channel)
        self.at, self.position, self.direct = now(), line.position, line.direct
        self.form: Form | None = None
        """What it has opened."""

    def heard(
        self,
        question: str,
        *,
        quote: str | None = None,
        section: str | None = None,
        private: bool = False,
    ) -> IncomingMessage:
        """Return what is asked by it; raises RequestError where it cannot be answered alone."""
        asked = replace(self._line, text=question, quote=quote, section=section, addressed=True)
        return self._chat.alone(asked) if private else asked

    async def open(self, form: Form) -> bool:
        """Have the next `/send` fill the form in."""
        self.form = form
        return True

    async def address_to_share(self) -> Mapping[str, Any]:
        """Return the line, below which all see the answer."""
        return self._line.address

    async def show_card(self, due: CardDue, card: QueueCard) -> str:
        """Write a card into its channel."""
        return await self._chat.show_card(due, card)


class TextPlatform:
    """A `ChatPlatform` whose commands, buttons and forms are lines.

    What can be pressed is numbered: `/press 2`. A form is sent as `/send name: value; name: value`.
    `/stop`, `/delete` and `/verify` are about the latest answer, one's own before another's.
    """

    platform: str
    is_ready = True
    writes_alone = True
    """Whether `write` can write to one user; else what only one may read is refused."""

    def __init__(
        self, desk: FrontDesk, intake: Acceptor, commands: Commands, presses: Presses
    ) -> None:
        self._desk = desk
        self._intake = intake
        self._commands = commands
        self._presses = presses
        self._text = TextCommands(
            commands, wide={"server": Extent.TENANT}, whom=self.whom, platform=self.platform
        )
        self._shown = _Latest[_Shown]()
        self._forms = _Latest[Form]()
        self._answers = _Latest[_Answer]()
        """By pseudonym."""

    def write(self, channel: str, text: str, user: str | None = None) -> None:
        """Write a text into a channel, or to one of its users alone."""
        raise NotImplementedError

    async def run(self) -> None:
        """Let lines in until `close`; each goes to `hear`."""
        raise NotImplementedError

    async def close(self) -> None:
        """Let no more lines in."""
        raise NotImplementedError

    async def is_connected(self) -> bool:
        """Return whether people can write."""
        raise NotImplementedError

    def whom(self, word: str, course: str | None) -> NamedStaff:
        """Return who is meant by a word; here people are called as they are known."""
        if not word.startswith("@"):
            raise RequestError(user_message=text("slack-how-to-name"))
        return NamedStaff(StaffKind.PERSON, word.removeprefix("@"), course)

    async def hear(self, line: IncomingMessage) -> None:
        """Take in a line: what begins with a slash does something, all else is said."""
        found = _COMMAND.match(line.text)
        if found is None:
            await self._intake.begin(line.channel, lambda: self._desk.receive(line))
            return
        name, rest = found["name"], found["line"]
        if (asked := self._text.question(name, rest)) is not None:
            asking = replace(
                line,
                text=asked.text,
                section=asked.section,
                course=asked.course,
                addressed=True,
            )
            await self._intake.begin(line.channel, lambda: self._asked(asking, asked.private))
            return
        use = TextUse(self, line)
        result = await self._done(name, rest, use)
        told, buttons = _told(result)
        if buttons:
            self._shown.keep(line.channel, line.user, _Shown(buttons, use.alone))
        if use.form is not None:
            self._forms.keep(line.channel, line.user, use.form)
            told = "\n".join([told, *_asked_for(use.form)]).strip()
        written = "\n".join([told, *_numbered(buttons)]).strip()
        for_all = isinstance(result, Notice) and result.for_all
        self.write(line.channel, written, None if for_all else line.user)

    async def _asked(self, asking: IncomingMessage, wished: bool | None) -> Received | None:
        """Have a command's question received, to be answered to whom it may be."""
        where = asking.location
        if await self._desk.answers_privately(where, wished, direct=asking.direct):
            try:
                asking = self.alone(asking)
            except RequestError as error:
                self.write(asking.channel, error.user_message, asking.user)
                return None
        return await self._desk.receive(asking)

    def alone(self, asked: IncomingMessage) -> IncomingMessage:
        """Return a question whose answer its asker alone reads.

        Raises:
            RequestError: where the platform cannot write to one user.
        """
        if not self.writes_alone and not asked.direct:
            raise RequestError(user_message=text("line-not-alone"))
        hidden = {"ephemeral": True, "asker": asked.user}
        return replace(asked, private=True, address={**asked.address, **hidden})

    async def _done(self, name: str, rest: str, use: TextUse) -> Result:
        channel, user = use.here.place, use.location.user
        if name == "press":
            shown = self._shown.of(channel, user) or _Shown()
            if not rest.isdecimal() or not 0 < int(rest) <= len(shown.buttons):
                return Notice(text("line-no-such-button"))
            pressed, _, course = shown.buttons[int(rest) - 1][0].partition("|")
            use.alone = shown.alone
            if (found := parsed(pressed)) is not None and found[0] is Button.FORGET_ME:
                self._forget(user, self._presses.clicker(use).user_id)
            return await self._presses.pressed(pressed, course or None, use)
        if name == "send" and (form := self._forms.pop((channel, user), None)) is not None:
            fields = {one["name"]: one["value"].strip() for one in _FIELD.finditer(rest)}
            given = {one.name: fields.get(one.name, one.value) for one in form.fields}
            return await self._presses.submit(form.button, form.name, given, use)
        if name in _ABOUT_LATEST:
            answer = self._answers.of(channel, self._presses.clicker(use).user_id)
            if answer is None:
                return Notice(text("line-no-such-button"))
            use.message = answer.message
            return await self._presses.press(_ABOUT_LATEST[name], answer.request_id, use)
        return await self._text.answer(name, rest, use)

    def _forget(self, user: str, pseudonym: str) -> None:
        self._shown.forget(user)
        self._forms.forget(user)
        self._answers.forget(pseudonym)

    # --- answers --------------------------------------------------------------------------

    def post(self, job: Job, shown: str) -> Posted:
        """Write a text that belongs to a job, unless it stands there; return its messages."""
        self.write(job.arrival.channel, shown, self.reader(job))
        return Posted((job.arrival.key,))

    def reader(self, job: Job) -> str | None:
        """Return the user who alone reads what is answered; None: all in the channel do."""
        address = job.arrival.address
        return str(address["asker"]) if address.get("ephemeral") else None

    async def open(self, job: Job, keeper: PostKeeper) -> PlatformReply:
        """Return the way to the reader; lines need no placeholder."""
        keeper.check()
        self.note(job, job.posted)
        await keeper.keep(job.posted)
        return TextReply(self, job, keeper)

    async def tell(
        self,
        job: Job,
        keeper: PostKeeper,
        sentence: str,
        link: str | None = None,
        nearest: Nearest | None = None,
    ) -> None:
        """Write a sentence instead of an answer, with what can be asked instead."""
        keeper.check()
        lines = [" ".join(filter(None, (sentence, link)))]
        await keeper.keep(self.post(job, "\n".join([*lines, *self.offered(job, (), nearest)])))

    def offered(
        self, job: Job, buttons: Sequence[Button], nearest: Nearest | None
    ) -> Iterator[str]:
        """Yield a line for each thing that can be pressed below an answer, or a sentence.

        What was offered before to whoever reads it cannot be pressed any more.
        """
        request, channel, reader = job.arrival.request, job.arrival.channel, self.reader(job)
        names = [] if nearest is None else [*nearest.buttons(_LONGEST_LABEL)]
        if request is not None:
            names += [(custom_id(one, request.request_id), one.label) for one in buttons]
        if (choice := choice_of(job.arrival)) is not None:
            names += _courses(choice)
        if names:
            for key in [] if reader else [key for key in self._shown if key[0] == channel]:
                del self._shown[key]
            self._shown.keep(channel, reader or "", _Shown(names, alone=reader is not None))
        return _numbered(names)

    def note(self, job: Job, posted: Posted) -> None:
        """Have what is said of the latest answer, such as `/stop`, be about this one."""
        if (request := job.arrival.request) is None:
            return
        answer = _Answer(request.request_id, next(iter(posted.messages), None))
        self._answers.keep(job.arrival.channel, job.arrival.user_id, answer)
        if self.reader(job) is None:
            self._answers.keep(job.arrival.channel, "", answer)

    async def notify(self, job: Job, sentence: str) -> None:
        """Write a notice while the question waits."""
        self.write(job.arrival.channel, sentence, self.reader(job))

    async def retract(self, job: Job) -> None:
        """Remove nothing: what was written stays."""

    async def complete(self, job: Job, request: AgentRequest) -> AgentRequest:
        """Return the request: a line comes with nothing else."""
        return request

    async def ended(self, job: Job) -> None:
        """Show nothing: nothing said that something is being done."""

    async def abandon(self, job: Job, error: DeliveryError) -> None:
        """Say nothing: a line is never closed."""

    async def react(self, job: Job) -> None:
        """Show nothing: a line has no reactions, so an offer is not seen."""

    async def unreact(self, job: Job) -> None:
        """Remove nothing."""

    async def link(self, job: Job, twin: Twin) -> str | None:
        """Return None: lines have no addresses."""
        return None

    async def tidy(self, job: Job) -> None:
        """Remove nothing: a post is never shown twice."""

    async def is_member(self, tenant: Tenant, user: str) -> bool:
        """Return False: a tenant stands around every place."""
        return False

    async def places_of(self, workspace: str, channel: str) -> Sequence[str]:
        """Return a channel and its workspace."""
        return channel, workspace

    async def announce(self, channel: RadarChannel, post: RadarPost, key: str) -> None:
        """Write the text of a report; a line shows no picture."""
        self.write(channel.channel, post.text)

    async def show_card(self, due: CardDue, card: QueueCard) -> str:
        """Write what waits, and again what became of it: lines do not change."""
        self.write(due.channel.channel, f"{card.question} {card.status}")
        return str(card.help_id)

    async def remove_card(self, due: CardDue) -> None:
        """Remove nothing: what was written stays."""


class TextReply:
    """A `PlatformReply` that shows an answer when it is finished."""

    def __init__(self, chat: TextPlatform, job: Job, keeper: PostKeeper) -> None:
        self._chat = chat
        self._job = job
        self._keeper = keeper
        self.posted = job.posted

    async def reading(self, headings: Sequence[str]) -> None:
        """Show nothing yet."""

    async def update(self, delta: str) -> None:
        """Show nothing yet: a line cannot be changed."""

    async def withdraw(self) -> None:
        """Take nothing back: nothing was shown."""

    async def finish(self, response: AgentResponse, earlier: EarlierThread | None = None) -> None:
        """Write the answer, a line for each place that it cites, and what can be pressed."""
        self._keeper.check()
        places = [f"{note.numbers} {note.title}" for note in footnotes(response)]
        private = self._chat.reader(self._job) is not None
        under = buttons_under(
            response, quoted=False, private=private, has_evidence=adds_to(response)
        )
        offered = self._chat.offered(self._job, [*under], nearest_to(response))
        lines = [response.response_text, *places, *offered]
        self.posted = self._chat.post(self._job, "\n".join(lines))
        self._chat.note(self._job, self.posted)
        await self._keeper.keep(self.posted)

    async def leave(self) -> None:
        """Show nothing more."""


def _numbered(buttons: Collection[tuple[str, str]]) -> Iterator[str]:
    return (f"/press {number}  {label}" for number, (_, label) in enumerate(buttons, 1))


def _asked_for(form: Form) -> Iterator[str]:
    yield form.title
    if form.beside:
        yield form.beside
    for one in form.fields:
        options = ", ".join(value for value, _ in one.options)
        yield f"{one.name}: {one.label}" + (f" ({options})" if options else "")
    yield "/send " + "; ".join(f"{one.name}: {one.value or '…'}" for one in form.fields)


def _told(result: Result) -> tuple[str, list[tuple[str, str]]]:
    """Return what is written of a result, and what can be pressed below it."""
    match result:
        case Notice(markdown, buttons, name, file):
            said = [] if file is not None and file.is_all else [markdown]
            said += [] if file is None else [_lines_of(file)]
            return "\n".join(said), [(custom_id(one, name), one.label) for one in buttons]
        case CoursesFound(sentence, choice):
            return sentence, _courses(choice)
        case Evidence(response):
            return "\n".join(_passages(response)) or text("answer-no-evidence"), []
        case Cards():
            return _cards(result)
        case QuestionTaken(received):
            return received.arrival.refusal or "", []
    return "", []


def _courses(choice: Choice) -> list[tuple[str, str]]:
    """Return a button for each course, and one that finds more than there is room for."""
    listed = choice.courses[:_MOST_COURSES]
    found = [(f"{choice.name}|{name}", title) for name, title in listed]
    if len(choice.courses) > len(listed):
        found.append((custom_id(Button.FIND_COURSE, choice.request_id), Button.FIND_COURSE.label))
    return found


def _lines_of(file: File) -> str:
    """Return the text of a file, or what stands for a picture or a packed one."""
    try:
        return "\n".join(filter(None, (file.caption, file.data.decode())))
    except UnicodeDecodeError:
        return file.caption or file.name


def _passages(response: AgentResponse) -> Iterator[str]:
    for exhibit in exhibits(response):
        yield f"{exhibit.place.numbers} {exhibit.place.title}"
        for paragraph in exhibit.paragraphs:
            yield paragraph.table or "".join(one.text for one in paragraph.stretches)


def _cards(cards: Cards) -> tuple[str, list[tuple[str, str]]]:
    lines, buttons = [cards.heading] if cards.heading else [], list[tuple[str, str]]()
    for number, card in enumerate(cards.cards, 1):
        for part in card:
            for line in part.lines:
                lines.append(": ".join(filter(None, (line.label, line.text))))
            buttons += [(custom_id(b, part.name), f"{b.label} ({number})") for b in part.buttons]
    if cards.next_page is not None:
        buttons.append((custom_id(Button.MORE, cards.next_page), Button.MORE.label))
    return "\n".join(lines), buttons
