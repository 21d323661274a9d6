"""All that is known of one question on its way to its answer: the pipeline's one state."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from core.answering.events import TextDelta, TextWithdrawn
from core.generation.base import ModelCall, call_of
from core.models import (
    EXPLAIN_QUOTE,
    Again,
    AgentConfiguration,
    AgentRequest,
    AgentResponse,
    AgentToolCall,
    ContextMode,
    ConversationTurn,
    Outcome,
    ResponseState,
    now,
)
from core.providers.base import ChatEnd
from core.retrieval.retrieval import Retrieval
from core.storage.budgets.reservations import Reservation
from core.verified_answers.base import VerifiedAnswer


@dataclass
class Clock:
    """Milliseconds since the request was taken up, split by stage."""

    started: float = field(default_factory=time.monotonic)
    retrieval: float = 0.0
    first_token: float | None = None

    def elapsed(self) -> float:
        """Return the milliseconds so far."""
        return (time.monotonic() - self.started) * 1_000

    def note_first_token(self) -> None:
        """Remember when the first text came."""
        if self.first_token is None:
            self.first_token = self.elapsed()

    def times(self) -> dict[str, float]:
        """Return the fields of an AgentResponse that tell them."""
        total = self.elapsed()
        return {
            "response_time_ms": total,
            "retrieval_time_ms": self.retrieval,
            "first_token_ms": total if self.first_token is None else self.first_token,
            "generation_time_ms": total - self.retrieval,
        }


@dataclass(frozen=True, slots=True)
class ShownAgain:
    """An answer that is wanted again."""

    kind: Again
    turn: ConversationTurn
    """The question that it answers."""
    before: tuple[ConversationTurn, ...]
    """What was said before that."""
    since: tuple[ConversationTurn, ...]
    """The question itself, and all that was shown of its answer since."""


@dataclass
class AnswerContext:
    """One request on its way: what it asks, what was found and shown, what it has cost so far."""

    request: AgentRequest
    configuration: AgentConfiguration
    pending: AgentResponse
    clock: Clock = field(default_factory=Clock)
    turns: Sequence[ConversationTurn] = ()
    """What was said before, oldest first."""
    retrieval: Retrieval = field(init=False)
    """What was found; there once the book is searched."""
    shown: str = ""
    """What a reader sees of the answer so far."""
    calls: list[ModelCall] = field(default_factory=list)
    tool_calls: list[AgentToolCall] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    """Sentences below the answer, before its own."""
    instructions: list[str] = field(default_factory=list)
    """What a model is sent besides the course's own words; they never replace the rules."""
    said_by_staff: list[VerifiedAnswer] = field(default_factory=list)
    """Answers of the staff that a model may read, and cite, besides the book."""
    guards: list[Callable[[str], bool]] = field(default_factory=list)
    """Each returns whether a sentence of the answer may be shown, whichever writer wrote it."""
    held_back: list[str] = field(default_factory=list)
    """What an answer must not give away, such as an assignment; the judge is asked, and nothing of
    a model's answer is shown before."""
    in_vain: int = 0
    """Claims of a model whose answer came to nothing."""
    may_write: bool = False
    """Whether a model is to write the answer, budget permitting: it then reads all that is asked,
    and nothing is answered before it."""
    reservation: Reservation | None = None
    """What its budgets hold for it; None: no model may be asked."""
    understood: str | None = None
    """The question that it is taken for after what was said; None: it stands alone."""
    is_lost: bool = False
    """Whether nothing tells what it speaks of."""
    choices: tuple[str, ...] = ()
    """The questions that it may be, for the asker to choose; empty: it is answered."""
    again: ShownAgain | None = None
    """What it wants to see again; None: it asks something."""

    def show(self, text: str) -> Iterator[TextDelta | TextWithdrawn]:
        """Yield what makes `text` of what is shown: the rest of it, or all of it again.

        This is the one rule by which text is taken back: what does not go on from what is shown.
        """
        if not text.startswith(self.shown):
            self.shown = ""
            yield TextWithdrawn()
        if added := text[len(self.shown) :]:
            self.clock.note_first_token()
            self.shown = text
            yield TextDelta(added)

    def end_with(self, response: AgentResponse) -> Iterator[TextWithdrawn | AgentResponse]:
        """Yield the finished response, which stands for all that was shown."""
        if not response.response_text.startswith(self.shown):
            yield TextWithdrawn()
        yield response

    @property
    def asked(self) -> AgentRequest:
        """The request as it is searched for: as it was understood, or what is wanted again."""
        if self.again is None and self.understood is not None:
            return self.request.model_copy(update={"query_text": self.understood})
        if self.again is None:
            return self.request
        first = self.again.turn
        mode = ContextMode.SELECTED_TEXT if first.selected_text else ContextMode.FULL_BOOK
        return self.request.model_copy(
            update={
                "query_text": first.user_input,
                "selected_text": first.selected_text,
                "context_mode": mode,
            }
        )

    @property
    def seen_again(self) -> str | None:
        """The question that is answered again, or its quote where there was none."""
        if self.again is None:
            return None
        first = self.again.turn
        return (first.user_input == EXPLAIN_QUOTE and first.selected_text) or first.user_input

    def see_again(self, kind: Again) -> None:
        """Take the request for a wish to see the latest answer again, if there is its question."""
        said = self.said_here
        asked = [n for n, turn in enumerate(said) if turn.agent_response.shows_again is None]
        if asked:
            place = asked[-1]
            self.again = ShownAgain(kind, said[place], tuple(said[:place]), tuple(said[place:]))

    @property
    def mark(self) -> float:
        """The score of the best chunk from which there is an answer."""
        wished = self.asked.score_threshold
        return self.configuration.score_threshold if wished is None else wished

    @property
    def quote(self) -> str | None:
        """The passage that is asked about, if any."""
        quoted = self.asked.context_mode is ContextMode.SELECTED_TEXT
        return self.asked.selected_text if quoted else None

    @property
    def said_here(self) -> Sequence[ConversationTurn]:
        """The turns since this section alone is searched; all of them for the whole book.

        Those that a question which is answered again came after.
        """
        if self.again is not None:
            return self.again.before
        section = self.request.section_filter
        if section is None:
            return self.turns
        latest = takewhile(lambda turn: turn.section_filter == section, reversed(self.turns))
        return tuple(latest)[::-1]

    def note_judge(self, end: ChatEnd) -> None:
        """Count a call of a judging model."""
        self.calls.append(call_of(end, is_judging=True))

    def may_show(self, sentence: str) -> bool:
        """Return whether no guard holds a sentence of the answer back."""
        return all(guard(sentence) for guard in self.guards)

    def completed(self, outcome: Outcome, response_text: str, **fields: Any) -> AgentResponse:
        """Return the finished answer with its text; `fields` are further ones of the response.

        Its times are set, its notices are those of the context unless `fields` has others.
        """
        return self.pending.advance(
            ResponseState.COMPLETED,
            outcome=outcome,
            response_text=response_text,
            **{"notices": tuple(self.notices), **self.clock.times(), **fields},
            generated_at=now(),
        )
