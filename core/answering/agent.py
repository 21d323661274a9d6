"""The agent: recall, retrieve, write, ground, remember; one path, two speeds."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from uuid import uuid4

from core import i18n
from core.answering.context import AnswerContext, Clock
from core.answering.events import (
    AgentEvent,
    Answerable,
    SectionsFound,
    TextDelta,
    TextWithdrawn,
)
from core.answering.pipeline import Writing, first
from core.answering.stages import EarlyStage, run_early
from core.errors import (
    RequestError,
    ServiceError,
    StoreError,
    StoreUnwritable,
    UnknownSection,
)
from core.generation.base import Generator
from core.generation.times import DEFAULT_TIMES, AnswerTimes
from core.grounding.support import SupportChecker
from core.i18n import Message
from core.models import (
    EXPLAIN_QUOTE,
    NOBODY,
    AgentConfiguration,
    AgentRequest,
    AgentResponse,
    ConversationTurn,
    Outcome,
    ResponseState,
    RetrievalToolInput,
    gist_of,
)
from core.retrieval import in_parts
from core.retrieval.named_sections.references import asks_for_section_at_hand, read_references
from core.retrieval.retrieval import Retrieval, passage_alone
from core.retrieval.retriever import Retriever
from core.storage.budgets.pricing import Prices
from core.storage.budgets.store import TokenBudgets
from core.storage.sessions.store import SessionStore
from core.telemetry.answer_metrics import measure
from core.telemetry.metering import NO_METER, Meter

logger = logging.getLogger(__name__)

Placed = Callable[[AgentRequest], AgentRequest]
"""Returns a request as part of the conversation that its answer has begun meanwhile."""


def as_asked(request: AgentRequest) -> AgentRequest:
    """Return the request as it is: its answer begins no conversation that is not known yet."""
    return request


class Agent:
    """Answers requests from a course's text; knows no platform and no settings."""

    def __init__(
        self,
        *,
        retriever: Retriever,
        generator: Generator,
        fallback: Generator,
        checker: SupportChecker,
        sessions: SessionStore,
        budgets: TokenBudgets,
        prices: Prices,
        configuration: Callable[[str], AgentConfiguration],
        request_tokens: int | None = None,
        times: AnswerTimes = DEFAULT_TIMES,
        meter: Meter = NO_METER,
        stages: Sequence[EarlyStage] = (),
    ) -> None:
        """Put the stages together.

        Args:
            stages: Are asked in order before the book is searched; see `EarlyStage`.
            fallback: Writes when `generator` fails or its budget is spent; needs no network.
            configuration: Gives a course's, by its id.
            request_tokens: What all model calls for one request may use together.
            times: How long a model may take.
        """
        self._retriever = retriever
        self._sessions = sessions
        self._configuration = configuration
        self._meter = meter
        self._stages = stages
        self._writing = Writing(
            retriever=retriever,
            generator=generator,
            fallback=fallback,
            checker=checker,
            budgets=budgets,
            prices=prices,
            request_tokens=request_tokens,
            times=times,
        )

    async def answer(self, request: AgentRequest) -> AgentResponse:
        """Return the finished answer; `stream` without the wait in between."""
        async with aclosing(self.stream(request)) as events:
            *_, response = [event async for event in events]
        assert isinstance(response, AgentResponse)
        return response

    async def stream(
        self, request: AgentRequest, placed: Placed = as_asked
    ) -> AsyncGenerator[AgentEvent, None]:
        """Yield the answer as it is written, and last, once, the finished response.

        That there is an answer comes first, unless the response is one of outcome `error`; which
        sections are read comes before the first text. A request that was answered
        before, or meanwhile by another process, gets its stored answer: what is shown last is
        what is stored. A service that fails, other than the database, ends the turn with
        outcome `error`; that is stored like any other.

        Args:
            placed: Called after `Answerable` and before the turn is stored.

        Raises:
            RequestError: before anything is stored, when the asker has to change something.
            UnknownSection: when `section_filter` names none; where some come near, the request is
                kept as a turn, so that it can be asked again within one of them.
            ConfigurationError: when the course cannot be answered from at all.
            StoreError: when the database cannot be read: no turn could be stored either.
        """
        configuration = self._configuration(request.course_id)
        limit = request.max_turns or configuration.max_turns
        turn = AnswerContext(request, configuration, _begin(request), Clock())
        async with self._searching(turn) as search:
            recalled = await self._sessions.recall(request, limit)
            if recalled.answered is not None:
                stored = recalled.answered.agent_response
                if stored.unknown_section is not None:
                    raise UnknownSection(stored.unknown_section, stored.nearest_sections)
                if stored.outcome is not Outcome.ERROR:
                    yield Answerable()
                yield stored
                return
            turn.turns = recalled.turns
            async with aclosing(self._take(turn, search, placed)) as events:
                async for event in events:
                    yield event

    @asynccontextmanager
    async def _searching(
        self, turn: AnswerContext
    ) -> AsyncIterator[asyncio.Task[Retrieval] | None]:
        """Search while the store is asked, where nothing that was said before has a say in it."""
        if turn.request.session_id is not None:
            yield None
            return
        search = asyncio.create_task(self._retrieve(turn))
        try:
            yield search
        finally:
            search.cancel()
            await asyncio.gather(search, return_exceptions=True)

    async def _take(
        self, turn: AnswerContext, search: asyncio.Task[Retrieval] | None, placed: Placed
    ) -> AsyncGenerator[AgentEvent, None]:
        """Yield the answer as it is written, store it, and count what it used."""
        response, streamed, answerable = turn.pending, False, False
        try:
            async with aclosing(self._write(turn, search)) as events:
                async for event in events:
                    if isinstance(event, AgentResponse):
                        response = event
                    if not answerable and not _is_failure(event):
                        answerable = True
                        yield Answerable()
                    if not isinstance(event, AgentResponse):
                        streamed = isinstance(event, TextDelta)
                        yield event
            request = placed(turn.request)
            if request.session_id is not None:
                conversation = {"conversation_id": request.session_id}
                response = response.model_copy(update=conversation)
            stored = await self._remember(request, response)
            measure(self._meter, response)
            if streamed and stored.id != response.id:
                yield TextWithdrawn()  # somebody else was quicker, and what is stored is shown
            yield stored
        except UnknownSection as error:
            if error.nearest:
                await self._remember(turn.request, self._writing.refused(turn, error))
            raise
        finally:
            await self._writing.count(turn)

    async def _write(
        self, turn: AnswerContext, search: asyncio.Task[Retrieval] | None
    ) -> AsyncGenerator[AgentEvent, None]:
        """Yield the answer as it is written, and last the response.

        A service that fails is told in the response, but for the database: it could not keep
        that response, and another try may succeed.
        """
        streamed = False
        try:
            if (early := await run_early(self._stages, turn)) is not None:
                yield early
                return
            retrieval = await (search or self._retrieve(turn))
            if retrieval.nearest_sections:
                yield SectionsFound(retrieval.nearest_sections)
            async with aclosing(self._writing.stream(turn, retrieval)) as events:
                async for event in events:
                    streamed = isinstance(event, TextDelta)
                    yield event
        except StoreError:
            raise
        except ServiceError as error:
            logger.warning("the turn failed: %s: %s", type(error).__name__, error)
            if streamed:
                yield TextWithdrawn()
            yield self._writing.failed(turn, error)

    async def rehearse(
        self, request: AgentRequest, turns: Sequence[ConversationTurn] = ()
    ) -> tuple[Retrieval, AgentResponse]:
        """Return what `stream` would answer and from what, without storing anything.

        Args:
            turns: What was said before, oldest first; of many the last ones count.

        Raises:
            BotError: whatever goes wrong.
        """
        configuration = self._configuration(request.course_id)
        limit = request.max_turns or configuration.max_turns
        turn = AnswerContext(request, configuration, _begin(request), Clock(), turns[-limit:])
        retrieval = await self._retrieve(turn)
        response = turn.pending
        try:
            async for event in self._writing.stream(turn, retrieval):
                if isinstance(event, AgentResponse):
                    response = event
        finally:
            await self._writing.count(turn)
        return retrieval, response

    async def _retrieve(self, turn: AnswerContext) -> Retrieval:
        started = turn.clock.elapsed()
        retrieval = await self._find(turn)
        turn.clock.retrieval = turn.clock.elapsed() - started
        return retrieval

    async def _find(self, turn: AnswerContext) -> Retrieval:
        configuration = turn.configuration
        await self._notice_again(turn)
        request = turn.asked
        if not configuration.retrieval_enabled:
            if turn.quote is None:
                raise RequestError(
                    "retrieval is off and there is no quote",
                    user_message=Message("asking-quote-needed"),
                )
            return passage_alone(request.course_id, turn.quote)
        asked = RetrievalToolInput(
            query_text=request.query_text,
            top_k=request.top_k or configuration.top_k,
            selected_text=turn.quote,
            section_filter=request.section_filter,
        )
        before = gist_of(request.thread_messages)
        said = turn.said_here
        if request.section_filter is not None:
            said = [one for one in said if not asks_for_section_at_hand(one.user_input)]
        earlier = [*before, *(_what_was_asked(one) for one in said)]
        if turn.quote is None:
            named = read_references(
                request.query_text,
                alone=not earlier,
                before=[one.question for one in said] or before[-1:],
            )
            if named and (text := await self._retriever.read(request.course_id, asked, named)):
                return text
        cited = [c.source_file for one in said[-1:] for c in one.agent_response.grounding_chunks]
        mark = first(request.score_threshold, configuration.score_threshold)
        return await in_parts.retrieve(
            self._retriever, request.course_id, asked, earlier, cited, mark
        )

    async def _notice_again(self, turn: AnswerContext) -> None:
        """Take note when the answer before is wanted shorter or longer, or its place alone."""
        said = turn.said_here
        answered = {Outcome.ANSWERED, Outcome.PARTIAL}
        if not said or said[-1].outcome not in answered or turn.quote is not None:
            return
        asked, ask = turn.request, self._retriever.wanted_again
        if kind := asked.again or await ask(asked.course_id, asked.query_text):
            turn.see_again(kind)

    async def _remember(self, request: AgentRequest, response: AgentResponse) -> AgentResponse:
        """Return the answer that is stored, or this one with a notice when none can be."""
        context = request.user_context.model_dump(
            include={"platform", "workspace", "channel", "thread"}, exclude_none=True
        )
        try:
            turn = await self._sessions.remember(request, response, metadata=context)
        except StoreError as error:
            is_told = isinstance(error, StoreUnwritable)  # by the notice, and by who watches disks
            level = logging.INFO if is_told else logging.WARNING
            logger.log(level, "the turn could not be stored: %s", error)
            notices = (*response.notices, i18n.text("notice-not-stored"))
            return response.model_copy(update={"notices": notices})
        logger.info(
            "turn %s of session %s: %s by %s in %.0f ms, %d tokens, cost %s",
            request.request_id,
            response.conversation_id,
            response.outcome,
            response.model_name,
            response.response_time_ms,
            response.tokens_used,
            "unknown" if response.estimated_cost is None else f"{response.estimated_cost:.6f}",
        )
        return turn.agent_response


def _begin(request: AgentRequest) -> AgentResponse:
    """Return the answer before anybody has written a word of it."""
    return AgentResponse(
        query_id=request.request_id,
        query_text=request.query_text,
        response_text=i18n.text("notice-searching"),
        conversation_id=request.session_id or uuid4(),
        course_id=request.course_id,
        model_name=NOBODY,
        requested_at=request.created_at,
    ).advance(ResponseState.PROCESSING)


def _is_failure(event: AgentEvent) -> bool:
    return isinstance(event, AgentResponse) and event.outcome is Outcome.ERROR


def _what_was_asked(turn: ConversationTurn) -> str:
    """Return a turn's question, or its quote where there was none."""
    bare = turn.user_input == EXPLAIN_QUOTE
    return turn.selected_text if bare and turn.selected_text else turn.question
