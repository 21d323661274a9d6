"""A chat platform of nothing but lines: all that it needs is to hear them and to write them."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from adapters.actions.commands import Commands
from adapters.actions.presses import Presses
from adapters.actions.text_commands import TextCommands
from adapters.actions.use import (
    Cards,
    CoursesFound,
    Evidence,
    Extent,
    Form,
    Notice,
    QuestionTaken,
    Result,
    Terms,
    Use,
)
from adapters.chat.acceptor import Acceptor
from adapters.chat.access import Location
from adapters.chat.base import EarlierThread, Nearest, PlatformReply, PostKeeper, nearest_to
from adapters.chat.buttons import Button, buttons_under, custom_id
from adapters.chat.front_desk import FrontDesk
from adapters.chat.incoming_message import IncomingMessage
from adapters.chat.markdown.footnotes import adds_to, exhibits, footnotes
from adapters.chat.places import Presence
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
TERMS = Terms(
    Message("slack-how-to-ask"),
    {
        Extent.CHANNEL: Message("staff-done-channel"),
        Extent.TENANT: Message("staff-done-workspace"),
    },
)


@dataclass(slots=True)
class _Shown:
    """What a reader can press, and the form that they can fill in."""

    buttons: list[tuple[str, str]] = field(default_factory=list)
    """Name and label of each, as they were numbered; a course's name holds its id."""
    form: Form | None = None


class TextUse(Use):
    """A line that is a command, or that presses something."""

    terms = TERMS

    def __init__(self, line: IncomingMessage, shown: _Shown) -> None:
        self._line = line
        self._shown = shown
        location = Location(line.platform, line.workspace, line.places, line.user)
        self.who = Presence(location, line.member)
        self.here = Place(line.platform, line.workspace, line.channel)
        self.at, self.position, self.direct = now(), line.position, line.direct

    def heard(
        self,
        question: str,
        *,
        quote: str | None = None,
        section: str | None = None,
        private: bool = False,
    ) -> IncomingMessage:
        """Return what is asked by it."""
        return replace(
            self._line, text=question, quote=quote, section=section, private=private, addressed=True
        )

    async def open(self, form: Form) -> bool:
        """Have the next `/send` fill the form in."""
        self._shown.form = form
        return True


class TextPlatform:
    """A `ChatPlatform` whose commands, buttons and forms are lines.

    What can be pressed is numbered: `/press 2`. A form is sent as `/send name: value; name: value`.
    """

    platform: str
    is_ready = True

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
        self._shown = dict[tuple[str, str], _Shown]()

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
            await self._intake.begin(line.channel, lambda: self._desk.receive(asking))
            return
        shown = self._shown.get((line.channel, line.user)) or self._shown.get((line.channel, ""))
        use = TextUse(line, shown or _Shown())
        result = await self._done(name, rest, use, shown or _Shown())
        told, buttons = _told(result)
        mine = self._shown[line.channel, line.user] = _Shown(buttons, use._shown.form)
        if mine.form is not None and name != "send":
            told = "\n".join([told, *_asked_for(mine.form)]).strip()
        self.write(line.channel, "\n".join([told, *_numbered(buttons)]).strip(), line.user)

    async def _done(self, name: str, rest: str, use: TextUse, shown: _Shown) -> Result:
        if name == "press" and rest.isdecimal() and 0 < int(rest) <= len(shown.buttons):
            pressed, _, course = shown.buttons[int(rest) - 1][0].partition("|")
            return await self._presses.pressed(pressed, course or None, use)
        if name == "send" and shown.form is not None:
            form, shown.form = shown.form, None
            fields = {one["name"]: one["value"].strip() for one in _FIELD.finditer(rest)}
            given = {one.name: fields.get(one.name, one.value) for one in form.fields}
            return await self._presses.submit(form.button, form.name, given, use)
        return await self._text.answer(name, rest, use)

    # --- answers --------------------------------------------------------------------------

    def post(self, job: Job, shown: str) -> Posted:
        """Write a text that belongs to a job, unless it stands there; return its messages."""
        self.write(job.arrival.channel, shown)
        return Posted((job.arrival.key,))

    async def open(self, job: Job, keeper: PostKeeper) -> PlatformReply:
        """Return the way to the reader; lines need no placeholder."""
        keeper.check()
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
        """Yield a line for each thing that can be pressed below an answer."""
        request = job.arrival.request
        names = [] if nearest is None else [*nearest.buttons(_LONGEST_LABEL)]
        if request is not None:
            names += [(custom_id(one, request.request_id), one.label) for one in buttons]
        self._shown[job.arrival.channel, ""] = _Shown(names)
        return _numbered(names)

    async def notify(self, job: Job, sentence: str) -> None:
        """Write a notice while the question waits."""
        self.write(job.arrival.channel, sentence)

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
        under = buttons_under(response, quoted=False, private=False, has_evidence=adds_to(response))
        offered = self._chat.offered(self._job, [*under], nearest_to(response))
        lines = [response.response_text, *places, *offered]
        self.posted = self._chat.post(self._job, "\n".join(lines))
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
        case Notice(markdown, buttons, name):
            return markdown, [(custom_id(one, name), one.label) for one in buttons]
        case CoursesFound(sentence, choice):
            return sentence, [(f"{choice.name}|{name}", title) for name, title in choice.courses]
        case Evidence(response):
            return "\n".join(_passages(response)) or text("answer-no-evidence"), []
        case Cards():
            return _cards(result)
        case QuestionTaken(received):
            return received.arrival.refusal or "", []
    return "", []


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
