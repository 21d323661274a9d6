"""The pipeline of an answer: early stages, search, writing, checks, and the finished response.

1. Early stages (`core.answering.stages`), in the order that `Agent` was given them, before the
   book is searched: one may answer by itself, or say how the pipeline goes on.
2. The book is searched.
3. A model writes where it may be paid for, else the book's own words are shown.
4. Each claim is checked before it is shown, by the guards of the early stages too.
"""

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from core.answering.answer import Composition
from core.answering.carrying import carries, parts_of, shown_before
from core.answering.context import AnswerContext
from core.answering.drafting import Drafting
from core.answering.events import AnswerEvent, TextDelta, TextWithdrawn
from core.answering.tally import Emptiness
from core.errors import (
    GenerationError,
    ServiceError,
    StoreError,
    TokenLimitReached,
    UnknownSection,
    VectorIndexError,
)
from core.generation.base import GenerationTask, Generator, Passage, Search
from core.generation.times import DEFAULT_TIMES, AnswerTimes
from core.grounding.confidence import is_covered, located_of, outcome_of
from core.grounding.languages import is_in_another_language
from core.grounding.planted import planted_in
from core.grounding.support import SupportChecker
from core.i18n import current_language, in_language, text
from core.models import (
    EXPLAIN_QUOTE,
    EXTRACTIVE,
    NOBODY,
    AgentConfiguration,
    AgentResponse,
    AgentToolCall,
    Outcome,
    ResponseState,
    RetrievalToolInput,
    now,
)
from core.retrieval.evidence import Excerpt
from core.retrieval.retrieval import Retrieval
from core.retrieval.retriever import Retriever
from core.storage.budgets.pricing import Prices
from core.storage.budgets.reservations import Reservation
from core.storage.budgets.store import TokenBudgets

logger = logging.getLogger(__name__)


class Writing:
    """Lets the generator write while it works and may be paid for, else the fallback."""

    def __init__(
        self,
        *,
        retriever: Retriever,
        generator: Generator,
        fallback: Generator,
        checker: SupportChecker,
        budgets: TokenBudgets,
        prices: Prices,
        request_tokens: int | None,
        times: AnswerTimes = DEFAULT_TIMES,
    ) -> None:
        self.generator = generator
        self._retriever = retriever
        self._fallback = fallback
        self._checker = checker
        self._budgets = budgets
        self._prices = prices
        self._request_tokens = request_tokens
        self._times = times

    async def stream(
        self, turn: AnswerContext, retrieval: Retrieval
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Yield the claims that hold, as they are written, then the finished response."""
        writer = await self._writer(turn)
        streamed, emptiness = False, None
        try:
            async with aclosing(self._draft(turn, retrieval, writer)) as events:
                async for event in events:
                    streamed = streamed or isinstance(event, TextDelta)
                    yield event
            return
        except _EmptyDraft as empty:
            emptiness = empty.emptiness
            level = logging.INFO if emptiness is Emptiness.REFUSED else logging.WARNING
            logger.log(level, "%s failed, the fallback writes: %s", writer.name, emptiness)
        except GenerationError as error:
            if writer is self._fallback:
                raise
            logger.warning("%s failed, the fallback writes: %s", writer.name, error)
            too_dear = isinstance(error, TokenLimitReached)
            turn.notices.append(
                text("notice-too-dear") if too_dear else text("notice-model-failed")
            )
        if streamed:
            yield TextWithdrawn()
        draft = self._draft(turn, retrieval, self._fallback, instead_of=emptiness)
        async with aclosing(draft) as events:
            async for event in events:
                yield event

    def failed(self, turn: AnswerContext, error: ServiceError) -> AgentResponse:
        """Return the response that tells of a service that failed."""
        return turn.pending.advance(
            ResponseState.ERROR,
            outcome=Outcome.ERROR,
            response_text=error.user_message,
            error_message=error.user_message,
            retrieval_success=turn.clock.retrieval > 0,
            generated_at=now(),
            **turn.spent(self._prices),
            **turn.clock.times(),
        )

    def refused(self, turn: AnswerContext, error: UnknownSection) -> AgentResponse:
        """Return the response that keeps which sections come near the one asked for."""
        return turn.completed(
            Outcome.ABSTAINED,
            in_language(error.bare, current_language()),
            unknown_section=error.name,
            nearest_sections=error.nearest,
        )

    async def count(self, turn: AnswerContext) -> None:
        """Put what the turn used on the account of the user, the course and the day."""
        calls = turn.calls
        try:
            if calls:
                await self._count(turn)
        finally:
            if turn.reservation is not None:
                used = sum(call.query_tokens + call.response_tokens for call in calls)
                self._budgets.settle(turn.reservation, used)

    async def _count(self, turn: AnswerContext) -> None:
        calls = turn.calls
        try:
            await self._budgets.add(
                turn.request.user_id,
                turn.request.course_id,
                query_tokens=sum(call.query_tokens for call in calls),
                response_tokens=sum(call.response_tokens for call in calls),
                calls=len(calls),
            )
        except StoreError:
            logger.exception("the tokens used could not be counted")

    async def _writer(self, turn: AnswerContext) -> Generator:
        """Return who may write: the fallback when the course says so or a budget is spent."""
        if self.generator is self._fallback or turn.configuration.model_name == EXTRACTIVE:
            return self._fallback
        try:
            room = await self._budgets.reserve(turn.request.user_id, turn.request.course_id)
        except StoreError:
            logger.exception("the budgets could not be read")
            turn.notices.append(text("notice-not-counted"))
            return self._fallback  # nothing is spent that cannot be counted
        if isinstance(room, Reservation):
            turn.reservation = room
            return self.generator
        logger.info("the %s budget of course %s is spent", room, turn.request.course_id)
        turn.notices.append(text("notice-budget-spent"))
        return self._fallback

    async def _draft(
        self,
        turn: AnswerContext,
        retrieval: Retrieval,
        writer: Generator,
        instead_of: Emptiness | None = None,
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Yield one writer's answer, then the finished response.

        Args:
            instead_of: What came of another writer's draft.

        Raises:
            GenerationError: when the writer fails; what was yielded must be withdrawn.
            _EmptyDraft: when nothing of a model's draft can be shown; just so.
        """
        request, configuration, clock = turn.asked, turn.configuration, turn.clock
        by_model = writer is not self._fallback
        threshold = first(request.score_threshold, configuration.score_threshold)
        answerable = retrieval.signals.best_score >= threshold
        foreign = is_in_another_language(request.query_text, retrieval.language)
        if by_model and foreign:
            answerable = True  # only the model can look it up, in the book's language
        composition = Composition(retrieval)
        composition.tally.instead_of = instead_of
        asks_again = carries(turn, retrieval, composition, by_model=by_model) and by_model
        _check_quote(composition)
        streamed, author = False, NOBODY
        for delta in composition.open(request):
            streamed = clock.note_first_token()
            yield delta
        worthwhile = answerable and _is_promising(retrieval, configuration)
        if composition.quote_is_planted and request.query_text == EXPLAIN_QUOTE:
            worthwhile = False  # there is nothing to explain
        if composition.stands_in_book or worthwhile or asks_again:
            if by_model:
                composition.widen(await self._paragraphs(turn, retrieval))
            by_words = writer.name == EXTRACTIVE
            checker = None if by_words else self._checker.of_course(request.course_id)
            drafting = Drafting(writer, checker, composition, self._times, turn.may_show)
            author = _author(writer, turn)
            task = self._task(turn, retrieval, composition, writer)
            try:
                async with aclosing(drafting.write(task)) as deltas:
                    async for delta in deltas:
                        streamed = clock.note_first_token()
                        yield delta
            finally:
                turn.calls.extend((*drafting.calls, *drafting.judge_calls))
                author = drafting.calls[0].model if drafting.calls else author
                composition.told = drafting.told
            turn.dropped += composition.tally.dropped
            if by_model and (why := composition.tally.emptiness) is not None:
                raise _EmptyDraft(why)
        if author == EXTRACTIVE:  # a model says itself where the book does not answer
            answerable = answerable and (retrieval.leans or is_covered(retrieval.signals))
        fields = composition.finish(request, configuration, answerable=answerable)
        fields["notices"] = (*turn.notices, *fields["notices"])
        if instead_of is not None:  # what the model wrote in vain is counted
            fields["claims_written"] += turn.dropped
            fields["claims_dropped"] += turn.dropped
        response = turn.pending.advance(
            ResponseState.COMPLETED,
            model_name=author,
            shows_again=turn.seen_again,
            **fields,
            **turn.spent(self._prices),
            **clock.times(),
            generated_at=now(),
        )
        if streamed and response.outcome is Outcome.ABSTAINED:
            yield TextWithdrawn()
        yield response

    def _task(
        self, turn: AnswerContext, retrieval: Retrieval, composition: Composition, writer: Generator
    ) -> GenerationTask:
        request, configuration = turn.asked, turn.configuration
        by_model = writer is not self._fallback
        is_alone = composition.quote_is_planted or (retrieval.without_quote and not by_model)
        searchable = by_model and configuration.retrieval_enabled
        return GenerationTask(
            question=turn.request.query_text
            if by_model and turn.again
            else retrieval.question or request.query_text,
            again=turn.again.kind if turn.again else None,
            shown=shown_before(turn),
            evidence=composition.evidence,
            reads=composition.reads,
            parts=parts_of(retrieval, composition),
            history=turn.turns if by_model else turn.said_here,
            thread=request.thread_messages,
            section=retrieval.section,
            leans=retrieval.leans,
            in_order=retrieval.in_order,
            selected_text=None if is_alone else turn.quote,
            quote_location=None if composition.quote_is_planted else retrieval.quote_location,
            language=retrieval.language,
            statistics=retrieval.statistics,
            encode_terms=retrieval.encode_terms,
            planted_in=planted_in,
            search=self._search(turn, composition) if searchable else None,
            model=configuration.model_name,
            system_prompt="\n\n".join(
                filter(None, (configuration.system_prompt, *turn.instructions))
            )
            or None,
            length=request.answer_length or configuration.answer_length,
            temperature=configuration.temperature
            if request.temperature is None
            else request.temperature,
            max_tokens=configuration.max_tokens,
            context_window=configuration.context_window,
            token_limit=self._request_tokens,
            deadline=turn.clock.started + self._times.first_sentence if by_model else None,
        )

    async def _paragraphs(self, turn: AnswerContext, retrieval: Retrieval) -> Sequence[Excerpt]:
        """Return what a model reads of the evidence; the excerpts where there is no more."""
        room = min(turn.configuration.evidence_tokens, turn.configuration.context_window // 2)
        try:
            return await self._retriever.widened(turn.request.course_id, retrieval, room)
        except VectorIndexError as error:
            logger.warning("the paragraphs around the evidence could not be read: %s", error)
            return retrieval.evidence

    def _search(self, turn: AnswerContext, composition: Composition) -> Search:
        """Return the model's second look: the same course and, if one was asked for, section."""
        request = turn.request

        async def search(asked: RetrievalToolInput) -> Sequence[Passage]:
            section = request.section_filter or asked.section_filter
            bound = asked.model_copy(update={"section_filter": section})
            found = await self._retriever.retrieve(request.course_id, bound)
            turn.tool_calls.append(
                AgentToolCall(tool_name="retrieve", parameters=bound, result=found.output)
            )
            return composition.look_up(found)

        return search


class _EmptyDraft(Exception):
    """Nothing of a model's draft can be shown."""

    def __init__(self, emptiness: Emptiness) -> None:
        super().__init__(emptiness)
        self.emptiness = emptiness


def _check_quote(composition: Composition) -> None:
    """Take note when the quote, or something in the chunk that it stands in, was planted."""
    for chunk, part in composition.quoted_passages():
        if part.planted.spans:
            composition.leave_out(chunk)
        if part.planted.touches(part.start, part.end):
            composition.quote_is_planted = True


def _is_promising(retrieval: Retrieval, configuration: AgentConfiguration) -> bool:
    """Return whether an answer from this evidence may be told at all."""
    best = located_of(retrieval.signals)
    return outcome_of(best, configuration) is not Outcome.ABSTAINED


def _author(writer: Generator, turn: AnswerContext) -> str:
    """Return who wrote: the model that the course names, or the writer's own."""
    named = turn.configuration.model_name
    return writer.name if writer.name == EXTRACTIVE or named is None else named


def first(asked: float | None, configured: float) -> float:
    """Return what a request asks for, or else what its course has."""
    return configured if asked is None else asked
