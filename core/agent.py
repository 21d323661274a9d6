"""The agent: recall, retrieve, write, ground, remember; one path, two speeds."""

import logging
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from uuid import uuid4

from core.composition import Composition, TextDelta
from core.errors import RequestError, ServiceError, StoreError
from core.generation.base import GenerationTask, Generator
from core.grounding import wording
from core.grounding.confidence import confidence_of, outcome_of
from core.models import (
    EXPLAIN_QUOTE,
    AgentConfiguration,
    AgentRequest,
    AgentResponse,
    ContextMode,
    ConversationTurn,
    Outcome,
    ResponseState,
    RetrievalToolInput,
    now,
)
from core.retrieval.retrieval import Retrieval, passage_alone
from core.retrieval.retriever import Retriever
from core.sessions.store import SessionStore

logger = logging.getLogger(__name__)

AgentEvent = TextDelta | AgentResponse


@dataclass
class _Clock:
    """Milliseconds since the request was taken up, split by stage."""

    started: float = field(default_factory=time.perf_counter)
    retrieval: float = 0.0
    first_token: float | None = None

    def elapsed(self) -> float:
        return (time.perf_counter() - self.started) * 1_000

    def times(self) -> dict[str, float]:
        """Return the fields of an AgentResponse that tell them."""
        total = self.elapsed()
        return {
            "response_time_ms": total,
            "retrieval_time_ms": self.retrieval,
            "first_token_ms": total if self.first_token is None else self.first_token,
            "generation_time_ms": total - self.retrieval,
        }


class Agent:
    """Answers requests from a course's text; knows no platform and no settings."""

    def __init__(
        self,
        *,
        retriever: Retriever,
        generator: Generator,
        sessions: SessionStore,
        configuration: Callable[[str], AgentConfiguration],
    ) -> None:
        """`configuration` gives a course's, by its id."""
        self._retriever = retriever
        self._generator = generator
        self._sessions = sessions
        self._configuration = configuration

    async def answer(self, request: AgentRequest) -> AgentResponse:
        """Return the finished answer; `stream` without the wait in between."""
        async with aclosing(self.stream(request)) as events:
            *_, response = [event async for event in events]
        assert isinstance(response, AgentResponse)
        return response

    async def stream(self, request: AgentRequest) -> AsyncGenerator[AgentEvent, None]:
        """Yield the answer as it is written, and last, once, the finished response.

        A request that was answered before gets its stored answer. A service that fails ends
        the turn with outcome `error`; that is stored like any other.

        Raises:
            RequestError: before anything is stored, when the asker has to change something.
            ConfigurationError: when the course cannot be answered from at all.
            StoreError: when the conversation cannot be read.
        """
        clock = _Clock()
        stored = await self._sessions.turn_of(request.request_id)
        if stored is not None and stored.agent_response.course_id == request.course_id:
            yield stored.agent_response
            return
        configuration = self._configuration(request.course_id)
        turns = await self._recall(request, configuration)
        pending = self._begin(request)
        try:
            earlier = [_what_was_asked(turn) for turn in turns]
            retrieval = await self._retrieve(request, configuration, earlier)
            clock.retrieval = clock.elapsed()
            writing = self._write(request, configuration, turns, retrieval, pending, clock)
            async with aclosing(writing) as events:
                async for event in events:
                    if isinstance(event, AgentResponse):
                        pending = event
                    else:
                        yield event
        except ServiceError as error:
            logger.exception("the turn failed")
            pending = _failed(pending, error, clock)
        try:
            await self._remember(request, pending)
        except StoreError:
            logger.exception("the turn could not be stored")
            pending = pending.model_copy(update={"notices": (*pending.notices, wording.NOT_STORED)})
        yield pending

    async def rehearse(
        self, request: AgentRequest, earlier: Sequence[str] = ()
    ) -> tuple[Retrieval, AgentResponse]:
        """Return what `stream` would answer and from what, without storing anything.

        Args:
            earlier: The user's questions before this one, oldest first.

        Raises:
            BotError: whatever goes wrong.
        """
        clock = _Clock()
        configuration = self._configuration(request.course_id)
        retrieval = await self._retrieve(request, configuration, earlier)
        clock.retrieval = clock.elapsed()
        response = self._begin(request)
        async for event in self._write(request, configuration, (), retrieval, response, clock):
            if isinstance(event, AgentResponse):
                response = event
        return retrieval, response

    async def _recall(
        self, request: AgentRequest, configuration: AgentConfiguration
    ) -> list[ConversationTurn]:
        """Return the latest turns of the session, oldest first."""
        if request.session_id is None:
            return []
        session = await self._sessions.get(request.session_id)
        if session is not None and session.course_id != request.course_id:
            raise RequestError(
                f"session {session.session_id} belongs to {session.course_id}",
                user_message="This conversation belongs to another course. Please start a new one.",
            )
        limit = request.max_turns or configuration.max_turns
        return await self._sessions.recent_turns(request.session_id, limit)

    def _begin(self, request: AgentRequest) -> AgentResponse:
        return AgentResponse(
            query_id=request.request_id,
            query_text=request.query_text,
            response_text=wording.SEARCHING,
            conversation_id=request.session_id or uuid4(),
            course_id=request.course_id,
            model_name=self._generator.name,
            requested_at=request.created_at,
        ).advance(ResponseState.PROCESSING)

    async def _retrieve(
        self, request: AgentRequest, configuration: AgentConfiguration, earlier: Sequence[str]
    ) -> Retrieval:
        quote = request.selected_text if _is_quoted(request) else None
        if not configuration.retrieval_enabled:
            if quote is None:
                raise RequestError(
                    "retrieval is off and there is no quote",
                    user_message="Please quote the passage that you ask about.",
                )
            return passage_alone(request.course_id, quote)
        asked = RetrievalToolInput(
            query_text=request.query_text,
            top_k=request.top_k or configuration.top_k,
            selected_text=quote,
            section_filter=request.section_filter,
        )
        return await self._retriever.retrieve(request.course_id, asked, earlier)

    async def _write(
        self,
        request: AgentRequest,
        configuration: AgentConfiguration,
        turns: Sequence[ConversationTurn],
        retrieval: Retrieval,
        pending: AgentResponse,
        clock: _Clock,
    ) -> AsyncGenerator[AgentEvent, None]:
        """Yield the claims that hold, as they are written, then the finished response."""
        confidence = confidence_of(retrieval.signals)
        threshold = _first(request.score_threshold, configuration.score_threshold)
        outcome = outcome_of(retrieval.signals, confidence, threshold)
        composition = Composition(retrieval)
        for delta in composition.open(request):
            clock.first_token = clock.first_token or clock.elapsed()
            yield delta
        if outcome is not Outcome.ABSTAINED or composition.stands_in_book:
            task = GenerationTask(
                question=request.query_text,
                evidence=composition.evidence,
                reads=composition.reads,
                history=turns,
                selected_text=request.selected_text if _is_quoted(request) else None,
                quote_location=retrieval.quote_location,
                language=retrieval.language,
                statistics=retrieval.statistics,
                encode_terms=retrieval.encode_terms,
                temperature=_first(request.temperature, configuration.temperature),
                max_tokens=configuration.max_tokens,
            )
            async with aclosing(self._generator.generate(task)) as claims:
                async for claim in claims:
                    if (added := composition.add(claim)) is not None:
                        clock.first_token = clock.first_token or clock.elapsed()
                        yield added
        fields = composition.finish(request, outcome, confidence)
        yield pending.advance(
            ResponseState.COMPLETED, **fields, **clock.times(), generated_at=now()
        )

    async def _remember(self, request: AgentRequest, response: AgentResponse) -> None:
        context = request.user_context.model_dump(
            include={"platform", "workspace", "channel", "thread"}, exclude_none=True
        )
        await self._sessions.open_session(
            response.conversation_id,
            user_id=request.user_id,
            course_id=request.course_id,
            metadata=context,
        )
        await self._sessions.append_turn(response.conversation_id, request, response)
        logger.info(
            "turn %s of session %s: %s in %.0f ms",
            request.request_id,
            response.conversation_id,
            response.outcome,
            response.response_time_ms,
        )


def _what_was_asked(turn: ConversationTurn) -> str:
    """Return a turn's question, or its quote where there was none."""
    bare = turn.user_input == EXPLAIN_QUOTE
    return turn.selected_text if bare and turn.selected_text else turn.user_input


def _is_quoted(request: AgentRequest) -> bool:
    return request.context_mode is ContextMode.SELECTED_TEXT


def _first(asked: float | None, configured: float) -> float:
    return configured if asked is None else asked


def _failed(pending: AgentResponse, error: ServiceError, clock: _Clock) -> AgentResponse:
    """Return the response that tells of a service that failed."""
    return pending.advance(
        ResponseState.ERROR,
        outcome=Outcome.ERROR,
        response_text=error.user_message,
        error_message=error.user_message,
        retrieval_success=clock.retrieval > 0,
        generated_at=now(),
        **clock.times(),
    )
