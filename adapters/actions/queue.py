"""What staff see: requests that wait, answers that were verified, and the forms to answer in."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self
from uuid import UUID

from adapters.actions.use import Card, CardLine, CardPart, Cards, LineStyle
from adapters.chat.buttons import ON_CARD, ON_WORDING, Button
from adapters.chat.markdown.dialects import plain_blocks
from adapters.chat.markdown.footnotes import place_in_book
from adapters.chat.markdown.layout import shortened
from core.answering.verified import (
    LONGEST_ANSWER,
    LONGEST_QUESTION,
    StaleBecause,
    VerifiedAnswer,
    VerifiedCitation,
    VerifiedState,
    passages_of,
)
from core.domain import EXPLAIN_QUOTE, ConversationTurn, now
from core.domain.i18n import Message, date_of, text
from core.domain.links import one_line
from core.storage.sessions import FORGOTTEN_USER
from core.teaching.help_requests import HelpReason, HelpRequest, HelpState, QueueCard

_PAGES = UUID("6d0a3d6e-0000-4000-8000-000000000000")
LONGEST_BESIDE = 2_400
"""Characters of the passages next to a form."""
_LONGEST_PASSAGE = 500
_MOST_WORDINGS = 2
"""Of an answer at once; a message holds 40 parts on Discord, and four answers."""
_LONGEST_PART = 400
_REASONS = {
    HelpReason.NOT_COVERED: Message("queue-reason-not-covered"),
    HelpReason.NOT_SURE: Message("queue-reason-not-sure"),
    HelpReason.VOTED_DOWN: Message("queue-reason-voted-down"),
    HelpReason.ASKED: Message("queue-reason-asked"),
}
_STALE = {
    StaleBecause.QUOTE_GONE: Message("verified-stale-quote"),
    StaleBecause.SECTION_CHANGED: Message("verified-stale-section"),
    StaleBecause.QUESTION_REMOVED: Message("verified-stale-question"),
}


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """What is filled in already where staff write an answer, and what stands next to it."""

    question: str
    draft: str
    """Markdown with the markers of the passages."""
    passages: tuple[VerifiedCitation, ...]

    @property
    def beside(self) -> str:
        """The passages that may be cited, each below its number; plain text."""
        return shortened("\n\n".join(map(_passage, self.passages)), LONGEST_BESIDE)


@dataclass(frozen=True, slots=True)
class HelpCard:
    """A request as staff see it."""

    request: HelpRequest
    turn: ConversationTurn | None
    """The bot's answer; None: its asker is forgotten, or the question was deleted."""
    reader: str | None = None
    """The pseudonym of who looks at it; None: all of a channel."""
    taker: str = ""
    """The name of who has taken it, for all of a channel; empty: it is not known."""

    @classmethod
    def of(
        cls,
        request: HelpRequest,
        turn: ConversationTurn | None,
        reader: str | None = None,
        taker: str = "",
    ) -> Self:
        """Return the card of a request; a turn that was forgotten is none."""
        is_there = turn is not None and turn.user_id != FORGOTTEN_USER
        return cls(request, turn if is_there else None, reader, taker)

    @property
    def shown(self) -> QueueCard:
        """What it shows, in the current language."""
        return QueueCard(
            help_id=self.request.help_id,
            question=self.question,
            status=self.status,
            said=text("queue-bot-said", answer=self.answer) if self.answer else "",
            is_open=not self.state.is_over and self.turn is not None,
        )

    @property
    def card(self) -> Card:
        """What it shows, and what staff can do with it."""
        shown = self.shown
        lines = (CardLine(LineStyle.TITLE, shown.question), *_small(shown.status, shown.said))
        return (CardPart(lines, ON_CARD if shown.is_open else (), shown.help_id),)

    @property
    def question(self) -> str:
        """What was asked; plain text on one line."""
        if self.turn is None:
            return text("queue-question-gone")
        asked = self.turn.user_input
        quoted = self.turn.selected_text
        if quoted:
            asked = f"{asked} — “{quoted}”" if asked != EXPLAIN_QUOTE else f"“{quoted}”"
        return shortened(one_line(asked), _LONGEST_PART)

    @property
    def answer(self) -> str:
        """What the bot said; plain text on one line, shortened."""
        said = self.turn.agent_response.response_text if self.turn else ""
        return shortened(plain_blocks(said), _LONGEST_PART)

    @property
    def state(self) -> HelpState:
        """How far it has come now."""
        return self.request.at(now())

    @property
    def is_mine(self) -> bool:
        """Whether who looks at it has taken it."""
        return self.state is HelpState.TAKEN and self.request.taken_by == self.reader

    @property
    def status(self) -> str:
        """Why it was passed on, when, and who has it; one line."""
        reason, day = str(_REASONS[self.request.reason]), date_of(self.request.opened_at)
        return text("queue-status", reason=reason, date=day, state=self._state)

    @property
    def _state(self) -> str:
        match self.state:
            case HelpState.TAKEN:
                if self.is_mine:
                    return text("queue-state-yours")
                if self.taker:
                    return text("queue-state-taken-by", name=self.taker)
                return text("queue-state-taken")
            case HelpState.ANSWERED:
                return text("queue-state-answered")
            case HelpState.DISMISSED:
                return text("queue-state-dismissed")
            case _:
                return text("queue-state-open")


@dataclass(frozen=True, slots=True)
class QueuePage:
    """A page of what waits."""

    cards: tuple[HelpCard, ...]
    total: int
    offset: int
    next_offset: int | None
    """Where the next page begins; None: there is none."""
    elsewhere: int
    """Requests about courses of this tenant that wait in other tenants."""

    @property
    def heading(self) -> str:
        """How many wait here, and how many elsewhere."""
        said = text("queue-waiting", count=self.total) if self.total else text("queue-empty")
        if self.elsewhere:
            said = f"{said} {text('queue-elsewhere', count=self.elsewhere)}"
        return said

    def shown(self, *, in_place: bool = False) -> Cards:
        """Return it as it is shown."""
        follows = self.next_offset
        name = None if follows is None else page_name(follows, of_verified=False)
        return Cards(self.heading, tuple(one.card for one in self.cards), name, in_place)


@dataclass(frozen=True, slots=True)
class VerifiedCard:
    """An answer of the staff as staff see it."""

    answer: VerifiedAnswer

    @property
    def question(self) -> str:
        """The question that it answers."""
        return self.answer.question or text("verified-question-removed")

    @property
    def said(self) -> str:
        """The answer; plain text on one line, shortened."""
        return shortened(plain_blocks(self.answer.answer_text), _LONGEST_PART)

    @property
    def status(self) -> str:
        """When it was checked, and whether it has to be looked at again; one line."""
        day, phrasings = date_of(self.answer.verified_at), len(self.answer.confirmed)
        said = text("verified-status", date=day, revision=self.answer.revision, count=phrasings)
        if self.is_stale and self.answer.because is not None:
            return f"{said} {_STALE[self.answer.because]}"
        return said

    @property
    def card(self) -> Card:
        """What it shows, and what staff can do with it and with each wording of another."""
        before, after = text("verified-before"), text("verified-now")
        changes = [
            line
            for was, now_is in self.changes()
            for line in (
                CardLine(LineStyle.QUOTE, was, before),
                CardLine(LineStyle.QUOTE, now_is, after),
            )
        ]
        lines = (CardLine(LineStyle.TITLE, self.question), CardLine(LineStyle.TEXT, self.said))
        first = CardPart(
            (*lines, *_small(self.status), *changes),
            (Button.EDIT, Button.RETIRE),
            self.answer.answer_id,
        )
        return first, *(
            CardPart((CardLine(LineStyle.TEXT, said),), ON_WORDING, name)
            for name, said in self.wordings
        )

    @property
    def is_stale(self) -> bool:
        """Whether staff have to look at it again."""
        return self.answer.state is VerifiedState.STALE

    @property
    def wordings(self) -> Sequence[tuple[UUID, str]]:
        """The ids of wordings that wait for a judgement, each with what staff read of it.

        The others follow, once these are judged.
        """
        shown = self.answer.proposed[:_MOST_WORDINGS]
        said = (text("verified-proposed", question=one_line(one.text)) for one in shown)
        return [(one.phrasing_id, line) for one, line in zip(shown, said, strict=True)]

    def changes(self) -> Iterator[tuple[str, str]]:
        """Yield each passage that changed, as it was and as it is: shortened plain text."""
        for one in self.answer.changed:
            after = one.after or text("verified-passage-gone")
            yield (
                shortened(one_line(one.before), _LONGEST_PASSAGE),
                shortened(one_line(after), _LONGEST_PASSAGE),
            )


def _small(*lines: str) -> Iterator[CardLine]:
    return (CardLine(LineStyle.SMALL, line) for line in lines if line)


def page_name(offset: int, *, of_verified: bool) -> UUID:
    """Return the id of a More button: it says where the next page begins, and of what it is."""
    return UUID(int=_PAGES.int + (offset << 1) + int(of_verified))


def page_of(name: UUID) -> tuple[int, bool]:
    """Return where the page of a More button begins, and whether it is of verified answers."""
    number = name.int - _PAGES.int
    return number >> 1, bool(number & 1)


def form_of_turn(turn: ConversationTurn) -> AnswerForm:
    """Return the form for an answer to a question that the bot answered."""
    asked = turn.user_input if turn.user_input != EXPLAIN_QUOTE else (turn.selected_text or "")
    draft = turn.agent_response.response_text if turn.agent_response.citations else ""
    if turn.agent_response.checked is not None:
        draft = turn.agent_response.response_text
    return AnswerForm(asked[:LONGEST_QUESTION].strip(), draft[:LONGEST_ANSWER], passages_of(turn))


def form_of_answer(answer: VerifiedAnswer) -> AnswerForm:
    """Return the form for the next revision of an answer."""
    return AnswerForm(answer.question, answer.answer_text, answer.citations)


def _passage(passage: VerifiedCitation) -> str:
    place = place_in_book(passage.chunk).title
    quote = shortened(one_line(passage.quote), _LONGEST_PASSAGE)
    return f"[{passage.marker}] {place}\n{quote}"
