"""All that is known of one question on its way to its answer: the pipeline's one state."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Protocol

from core.answering.draft import AnswerDraft
from core.answering.verified import VerifiedAnswer
from core.answering.writers.base import (
    GenerationTask,
    ModelCall,
    Passage,
    Revision,
    Search,
    TaskPart,
    call_of,
)
from core.domain import (
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
    RetrievalToolInput,
    now,
)
from core.domain.errors import StoreError
from core.domain.i18n import text
from core.providers.base import ChatEnd
from core.retrieval.retrieval import Retrieval
from core.retrieval.retriever import Retriever
from core.storage.budgets import Prices, Reservation, TokenBudgets, Tokens

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answerable:
    """The request is not refused: that it is being answered may be shown to all who read it.

    It may come before anything is generated, so the answer may still fail or be stopped. Then what
    was shown since is removed or replaced, and the asker is notified instead.
    """


@dataclass(frozen=True, slots=True)
class SectionsFound:
    """The search is over, and these parts of the book are read now."""

    headings: tuple[str, ...]
    """Their headings, best first, each once; one at least."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Some more of the answer, in the order it is to be read."""

    text: str


@dataclass(frozen=True, slots=True)
class TextWithdrawn:
    """What was streamed of the answer so far no longer holds."""


AnswerEvent = TextDelta | TextWithdrawn | AgentResponse
"""Of the writing: text, text that is taken back, and last the finished answer."""
AgentEvent = Answerable | SectionsFound | AnswerEvent


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


class Spending:
    """Keeps the budgets of users, courses and days, and reckons costs."""

    def __init__(self, budgets: TokenBudgets, prices: Prices) -> None:
        self._budgets = budgets
        self._prices = prices

    async def allows(self, context: AnswerContext, *, quietly: bool = False) -> bool:
        """Return whether a model may be asked; room for it is reserved, and a notice says if not.

        Args:
            quietly: Without any notice: what is written does not depend on it.
        """
        if context.reservation is not None:
            return True
        request = context.request
        notices = [] if quietly else context.notices
        try:
            room = await self._budgets.reserve(request.user_id, request.course_id)
        except StoreError:
            logger.exception("the budgets could not be read")
            notices.append(text("notice-not-counted"))
            return False  # nothing is spent that cannot be counted
        if isinstance(room, Reservation):
            context.reservation = room
            return True
        logger.info("the %s budget of course %s is spent", room, request.course_id)
        notices.append(text("notice-budget-spent"))
        return False

    async def count(self, context: AnswerContext) -> None:
        """Put what was used on the account of the user, the course and the day."""
        used = sum(call.query_tokens + call.response_tokens for call in context.calls)
        try:
            if context.calls:
                await self._add(context)
        finally:
            if context.reservation is not None:
                self._budgets.settle(context.reservation, used)

    async def _add(self, context: AnswerContext) -> None:
        calls = context.calls
        try:
            await self._budgets.add(
                context.request.user_id,
                context.request.course_id,
                query_tokens=sum(call.query_tokens for call in calls),
                response_tokens=sum(call.response_tokens for call in calls),
                cached_tokens=sum(call.cached_tokens for call in calls),
                calls=len(calls),
                judging=_judging(calls),
            )
        except StoreError:
            logger.exception("the tokens used could not be counted")

    def fields(self, context: AnswerContext) -> dict[str, Any]:
        """Return the fields of an AgentResponse that tell what the models used."""
        query = sum(call.query_tokens for call in context.calls)
        response = sum(call.response_tokens for call in context.calls)
        return {
            "query_tokens": query,
            "response_tokens": response,
            "cached_tokens": sum(call.cached_tokens for call in context.calls),
            "tokens_used": query + response,
            "estimated_cost": self._cost(context),
            "tool_calls": tuple(context.tool_calls),
        }

    def _cost(self, context: AnswerContext) -> float | None:
        """Return what all calls cost, each at its model's price; None: not all are known."""
        costs = [
            self._prices.cost(c.model, c.query_tokens, c.response_tokens, c.service)
            for c in context.calls
        ]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if known and len(known) == len(costs) else None


def _judging(calls: Sequence[ModelCall]) -> Tokens:
    """Return what of some calls went into judging what others wrote."""
    judging = [call for call in calls if call.is_judging]
    return Tokens(
        sum(call.query_tokens for call in judging),
        sum(call.response_tokens for call in judging),
        len(judging),
    )


class EarlyStage(Protocol):
    """Looks at a question before the book is searched, such as for an answer that staff gave."""

    async def run(self, context: AnswerContext) -> AgentResponse | None:
        """Return the finished answer, by `context.completed`; None: the pipeline goes on.

        It may change how the pipeline goes on: `context.instructions` are sent to a model that
        writes, each of `context.guards` is asked before a sentence is shown, and `context.notices`
        stand below the answer. The turns before are in `context.turns`.

        Raises:
            RequestError: when the asker has to change something; nothing is stored.
            ServiceError: when what it needs is down: the turn ends with outcome `error`.
        """
        ...


async def run_early(stages: Sequence[EarlyStage], context: AnswerContext) -> AgentResponse | None:
    """Return the answer of the first stage that has one; those after it are not asked."""
    for stage in stages:
        if (response := await stage.run(context)) is not None:
            return response
    return None


_SECOND_LOOK = 1_500
"""Tokens of what one more search of a model finds."""
_SMALL_WINDOW_SHARE = 8
"""In a small window it is this part of it."""


def carry_evidence(context: AnswerContext, draft: AnswerDraft) -> None:
    """Keep what the last answer cited within reach of a model, or of an answer shown again."""
    if context.turns and (context.again is not None or (draft.by_model and context.said_here)):
        draft.carry(context.turns[-1])


def _asker_texts(context: AnswerContext, draft: AnswerDraft) -> dict[str, Passage]:
    """Return what the asker gave that a model may cite: what was asked, quoted and pasted.

    What others asked in the same conversation is theirs: it is read, and never cited.
    """
    request = context.request
    own, quoted = text("answer-asker-message"), text("answer-asker-quote")
    given = {} if request.query_text == EXPLAIN_QUOTE else {request.query_text: own}
    has_place = context.retrieval.quote_location is not None
    if context.quote is not None and has_place and not draft.stands_in_book:
        given[context.quote] = quoted
    for turn in (one for one in context.turns if one.user_id == request.user_id):
        if turn.user_input != EXPLAIN_QUOTE:
            given.setdefault(turn.user_input, own)
        if turn.selected_text:
            given.setdefault(turn.selected_text, quoted)
    for message in request.thread_messages:
        if message.by_asker:
            given.setdefault(message.text, own)
    taken = {
        words: draft.material.take_given(words, place, request.course_id)
        for words, place in given.items()
    }
    return {words: passage for words, passage in taken.items() if passage is not None}


def task_of(
    context: AnswerContext,
    draft: AnswerDraft,
    *,
    search: Search | None,
    report: Callable[[ModelCall], None],
    token_limit: int | None,
    first_sentence: float,
    revision: Revision | None = None,
) -> GenerationTask:
    """Return the task of writing a draft.

    Args:
        search: The second look of a model; None: there is none.
        report: Called with each call of the writer's model.
        token_limit: What all calls for the question may use together.
        first_sentence: Seconds from the question on by which a model's first claim has to hold.
        revision: What a model is told of its first draft; None: this is the first.
    """
    request, configuration, retrieval = context.asked, context.configuration, context.retrieval
    by_model, again = draft.by_model, context.again
    is_alone = retrieval.without_quote and not by_model
    asker = _asker_texts(context, draft) if by_model else {}
    words = filter(None, (configuration.system_prompt, *context.instructions))
    wished = request.temperature
    return GenerationTask(
        question=context.request.query_text
        if by_model
        else retrieval.question or request.query_text,
        again=again.kind if again else None,
        shown=[one.agent_response.citations for one in again.since] if again else [],
        evidence=draft.material.chunks,
        reads=draft.material.reads,
        parts=_parts_of(context, draft),
        history=context.turns if by_model else context.said_here,
        thread=request.thread_messages,
        section=retrieval.section,
        leans=retrieval.leans and context.understood is None,
        in_order=retrieval.in_order,
        selected_text=None if is_alone else context.quote,
        quote_location=retrieval.quote_location,
        language=retrieval.language,
        statistics=retrieval.statistics,
        encode_terms=retrieval.encode_terms,
        asker=asker,
        revision=revision,
        search=search,
        model=configuration.model_name,
        system_prompt="\n\n".join(words) or None,
        length=request.answer_length or configuration.answer_length,
        temperature=configuration.temperature if wished is None else wished,
        max_tokens=configuration.max_tokens,
        context_window=configuration.context_window,
        report=report,
        token_limit=token_limit,
        deadline=context.clock.started + first_sentence if by_model and not revision else None,
    )


def second_look(retriever: Retriever, context: AnswerContext, draft: AnswerDraft) -> Search:
    """Return a model's search: in the same course and, if one was asked for, section.

    It finds whole paragraphs, as the first look does, so that no sentence is cut.
    """
    request = context.request
    room = min(_SECOND_LOOK, context.configuration.context_window // _SMALL_WINDOW_SHARE)

    async def search(asked: RetrievalToolInput) -> Sequence[Passage]:
        section = request.section_filter or asked.section_filter
        bound = asked.model_copy(update={"section_filter": section})
        found = await retriever.retrieve(request.course_id, bound)
        context.tool_calls.append(
            AgentToolCall(tool_name="retrieve", parameters=bound, result=found.output)
        )
        return draft.material.look_up(
            found, await retriever.widened(request.course_id, found, room)
        )

    return search


def _parts_of(context: AnswerContext, draft: AnswerDraft) -> list[TaskPart]:
    """Return the parts of a question, each with the numbers of its chunks."""
    numbers = {chunk.chunk_id: number for number, chunk in enumerate(draft.material.chunks)}
    return [
        TaskPart(one.words, one.question, tuple(numbers[i] for i in one.chunk_ids), one.before)
        for one in context.retrieval.parts
    ]
