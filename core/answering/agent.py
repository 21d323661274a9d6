"""The agent: recall, answer, remember; one path, two speeds."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from uuid import uuid4

from core.answering.context import AgentEvent, Answerable, AnswerContext, EarlyStage, Spending
from core.answering.pipeline import JudgeOf, Pipeline
from core.answering.writers.base import DEFAULT_TIMES, AnswerTimes, Generator
from core.domain import (
    NOBODY,
    AgentConfiguration,
    AgentRequest,
    AgentResponse,
    ConversationTurn,
    Outcome,
    ResponseState,
    i18n,
)
from core.domain.errors import StoreError, StoreUnwritable, UnknownSection
from core.domain.telemetry import NO_METER, Meter, measure
from core.retrieval.retrieval import Retrieval
from core.retrieval.retriever import Retriever
from core.storage.budgets import Prices, TokenBudgets
from core.storage.sessions import SessionStore

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
        judge_of: JudgeOf,
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
            judge_of: Returns who judges the claims and answers of a course.
            fallback: Writes when `generator` fails or its budget is spent; needs no network.
            configuration: Gives a course's, by its id.
            request_tokens: What all model calls for one request may use together.
            times: How long a model may take.
            stages: Are asked in order before the book is searched; see `EarlyStage`.
        """
        self._sessions = sessions
        self._configuration = configuration
        self._meter = meter
        self._spending = Spending(budgets, prices)
        self._pipeline = Pipeline(
            retriever=retriever,
            generator=generator,
            fallback=fallback,
            judge_of=judge_of,
            spending=self._spending,
            request_tokens=request_tokens,
            times=times,
            stages=stages,
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

        That there is an answer comes first, unless the response is one of outcome `error` or the
        message asked nothing of the book; which sections are read comes before the first text. A
        request that was answered before, or meanwhile by another process, gets its stored answer:
        what is shown last is what is stored. A service that fails, other than the database, ends
        the turn with outcome `error`; that is stored like any other.

        Args:
            placed: Called after `Answerable` and before the turn is stored.

        Raises:
            RequestError: before anything is stored, when the asker has to change something.
            UnknownSection: when `section_filter` names none; where some come near, the request is
                kept as a turn, so that it can be asked again within one of them.
            ConfigurationError: when the course cannot be answered from at all.
            StoreError: when the database cannot be read: no turn could be stored either.
        """
        context = self._begin(request)
        async with self._searching(context) as searching:
            recalled = await self._sessions.recall(request, self._limit(context))
            if recalled.answered is not None:
                stored = recalled.answered.agent_response
                if stored.unknown_section is not None:
                    raise UnknownSection(stored.unknown_section, stored.nearest_sections)
                if not _answers_nothing(stored):
                    yield Answerable()
                yield stored
                return
            context.turns = [
                turn for turn in recalled.turns if not turn.agent_response.asks_nothing
            ]
            async with aclosing(self._take(context, searching, placed)) as events:
                async for event in events:
                    yield event

    async def rehearse(
        self, request: AgentRequest, turns: Sequence[ConversationTurn] = ()
    ) -> tuple[Retrieval, AgentResponse]:
        """Return what `stream` would answer from the book and from what, storing nothing.

        Args:
            turns: What was said before, oldest first; of many the last ones count.

        Raises:
            BotError: whatever goes wrong.
        """
        context = self._begin(request)
        context.turns = turns[-self._limit(context) :]
        context.retrieval = await self._pipeline.search(context)
        response = context.pending
        try:
            async for event in self._pipeline.answer(context):
                if isinstance(event, AgentResponse):
                    response = event
        finally:
            await self._spending.count(context)
        return context.retrieval, response

    def _begin(self, request: AgentRequest) -> AnswerContext:
        return AnswerContext(request, self._configuration(request.course_id), _pending(request))

    @staticmethod
    def _limit(context: AnswerContext) -> int:
        """Return how many turns before it a question is answered with."""
        return context.request.max_turns or context.configuration.max_turns

    @asynccontextmanager
    async def _searching(
        self, context: AnswerContext
    ) -> AsyncIterator[asyncio.Task[Retrieval] | None]:
        """Search while the store is asked, where nothing that was said before has a say in it."""
        if context.request.session_id is not None:
            yield None
            return
        searching = asyncio.create_task(self._pipeline.search(context))
        try:
            yield searching
        finally:
            searching.cancel()
            await asyncio.gather(searching, return_exceptions=True)

    async def _take(
        self,
        context: AnswerContext,
        searching: asyncio.Task[Retrieval] | None,
        placed: Placed,
    ) -> AsyncGenerator[AgentEvent, None]:
        """Yield the answer as it is written, store it, and count what it used."""
        response, answerable = context.pending, False
        try:
            async with aclosing(self._pipeline.run(context, searching)) as events:
                async for event in events:
                    if not answerable and not _answers_nothing(event):
                        answerable = True
                        yield Answerable()
                    if isinstance(event, AgentResponse):
                        response = event
                    else:
                        yield event
            stored = await self._remember(placed(context.request), response)
            measure(self._meter, response)
            for last in context.end_with(stored):  # another process may have been quicker
                yield last
        except UnknownSection as error:
            if error.nearest:
                await self._remember(context.request, self._pipeline.refused(context, error))
            raise
        finally:
            await self._spending.count(context)

    async def _remember(self, request: AgentRequest, response: AgentResponse) -> AgentResponse:
        """Return the answer that is stored, or this one with a notice when none can be."""
        if request.session_id is not None:
            response = response.model_copy(update={"conversation_id": request.session_id})
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


def _pending(request: AgentRequest) -> AgentResponse:
    """Return the answer before any of it is written."""
    return AgentResponse(
        query_id=request.request_id,
        query_text=request.query_text,
        response_text=i18n.text("notice-searching"),
        conversation_id=request.session_id or uuid4(),
        course_id=request.course_id,
        model_name=NOBODY,
        requested_at=request.created_at,
    ).advance(ResponseState.PROCESSING)


def _answers_nothing(event: AgentEvent) -> bool:
    """Return whether it is a response to what failed, or to what asked nothing of the book."""
    if not isinstance(event, AgentResponse):
        return False
    return event.outcome is Outcome.ERROR or event.asks_nothing
