"""The agent: recall, retrieve, write, ground, remember; one path, two speeds."""

import logging
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

from core.errors import RequestError, ServiceError
from core.generation.base import GenerationTask, Generator
from core.grounding import wording
from core.grounding.citations import CitationLedger, is_block
from core.grounding.confidence import confidence_of, outcome_of
from core.models import (
    AgentConfiguration,
    AgentRequest,
    AgentResponse,
    ChunkState,
    ContextMode,
    ConversationTurn,
    Outcome,
    QuoteLocation,
    QuoteStatus,
    ResponseState,
    RetrievalToolInput,
    RetrievedChunk,
    now,
)
from core.retrieval.retriever import Retrieval, Retriever
from core.sessions.store import SessionStore

logger = logging.getLogger(__name__)

_PASSAGE_NAMESPACE = uuid5(NAMESPACE_URL, "urn:glossator:passage")


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Some more of the answer, in the order it is to be read."""

    text: str


AgentEvent = TextDelta | AgentResponse


@dataclass
class _Draft:
    """An answer while it is being written."""

    ledger: CitationLedger
    text: str = ""

    def append(self, piece: str) -> str:
        """Add a sentence or block and return what was added, with what parts it."""
        glue = ""
        if self.text:
            tail = self.text.rsplit("\n\n", 1)[-1]
            glue = "\n\n" if is_block(piece) or is_block(tail) else " "
        self.text += glue + piece
        return glue + piece

    def paragraph(self, piece: str) -> str:
        """Add a paragraph of our own words."""
        glue = "\n\n" if self.text else ""
        self.text += glue + piece
        return glue + piece


@dataclass
class _Clock:
    """Milliseconds since the request was taken up, split by stage."""

    started: float = field(default_factory=time.perf_counter)
    retrieval: float = 0.0
    first_token: float = 0.0

    def elapsed(self) -> float:
        return (time.perf_counter() - self.started) * 1_000


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
        self._retriever = retriever
        self._generator = generator
        self._sessions = sessions
        self._configuration = configuration

    async def answer(self, request: AgentRequest) -> AgentResponse:
        """Return the finished answer; `stream` without the wait in between."""
        async with aclosing(self.stream(request)) as events:
            async for event in events:
                if isinstance(event, AgentResponse):
                    return event
        raise AssertionError("a stream ends with its response")

    async def stream(self, request: AgentRequest) -> AsyncGenerator[AgentEvent, None]:
        """Yield the answer as it is written, and last, once, the finished response.

        The same request is answered once: a second time its stored answer comes back. Every
        failure after the session was opened ends in a response with outcome `error`.

        Raises:
            RequestError: before anything is stored, when the asker has to change something.
        """
        clock = _Clock()
        configuration = self._configuration(request.course_id)
        session_id = request.session_id or uuid4()
        turns = await self._sessions.recent_turns(
            session_id, limit=request.max_turns or configuration.max_turns
        )
        stored = await self._sessions.turn_of(request.request_id)
        if stored is not None:
            yield stored.agent_response
            return
        pending = AgentResponse(
            query_id=request.request_id,
            query_text=request.query_text,
            response_text=wording.SEARCHING,
            conversation_id=session_id,
            course_id=request.course_id,
            model_name=self._generator.name,
            requested_at=request.created_at,
        ).advance(ResponseState.PROCESSING)
        response: AgentResponse | None = None
        try:
            async with aclosing(self._work(request, configuration, turns, pending, clock)) as work:
                async for event in work:
                    if isinstance(event, TextDelta):
                        clock.first_token = clock.first_token or clock.elapsed()
                        yield event
                    else:
                        response = event
        except RequestError:
            raise
        except ServiceError as error:
            logger.exception("the turn failed", extra={"request_id": str(request.request_id)})
            response = pending.advance(
                ResponseState.ERROR,
                outcome=Outcome.ERROR,
                response_text=error.user_message,
                error_message=error.user_message,
                retrieval_success=clock.retrieval > 0,
                generated_at=now(),
                response_time_ms=clock.elapsed(),
            )
        assert response is not None
        await self._remember(request, response)
        yield response

    async def _work(
        self,
        request: AgentRequest,
        configuration: AgentConfiguration,
        turns: Sequence[ConversationTurn],
        pending: AgentResponse,
        clock: _Clock,
    ) -> AsyncGenerator[AgentEvent, None]:
        """Retrieve, write and ground one answer."""
        retrieval = await self._retrieve(request, configuration, turns)
        clock.retrieval = max(clock.elapsed(), 1e-3)
        ledger = CitationLedger(retrieval.evidence)
        draft = _Draft(ledger)
        notices = _notices(request, retrieval)
        if (opening := _quote_opening(retrieval, ledger)) is not None:
            yield TextDelta(draft.paragraph(opening))
        threshold = (
            request.score_threshold
            if request.score_threshold is not None
            else configuration.score_threshold
        )
        confidence = confidence_of(retrieval.signals)
        outcome = outcome_of(retrieval.signals, confidence, threshold)
        located = bool(ledger.citations)
        if outcome is not Outcome.ABSTAINED or located:
            task = self._task(request, configuration, turns, retrieval)
            first = True
            async with aclosing(self._generator.generate(task)) as claims:
                async for claim in claims:
                    piece = ledger.admit(claim.text, claim.chunk_number, claim.quote)
                    if piece is None:
                        continue
                    added = draft.paragraph(piece) if first else draft.append(piece)
                    first = False
                    yield TextDelta(added)
        if not ledger.citations:
            outcome, confidence = Outcome.ABSTAINED, min(confidence, 0.1)
            text = wording.not_covered(retrieval.nearest_sections)
            draft.text = text
            yield TextDelta(text)
        elif located and outcome is Outcome.ABSTAINED:
            outcome = Outcome.PARTIAL
        elif located and retrieval.bare_quote:
            outcome = Outcome.ANSWERED
        yield pending.advance(
            ResponseState.COMPLETED,
            response_text=draft.text,
            outcome=outcome,
            retrieved_chunks=retrieval.output.retrieved_chunks,
            grounding_chunks=tuple(
                chunk.advance(ChunkState.VALIDATED).advance(ChunkState.RETURNED)
                for chunk in ledger.grounding_chunks
            ),
            citations=tuple(ledger.citations),
            sources=ledger.sources,
            confidence=confidence,
            context_used=_context_used(retrieval.evidence),
            generation=retrieval.generation,
            notices=notices,
            quote_location=retrieval.quote_location,
            response_time_ms=clock.elapsed(),
            retrieval_time_ms=clock.retrieval,
            first_token_ms=clock.first_token or clock.elapsed(),
            generation_time_ms=max(0.0, clock.elapsed() - clock.retrieval),
            generated_at=now(),
        )

    async def _retrieve(
        self,
        request: AgentRequest,
        configuration: AgentConfiguration,
        turns: Sequence[ConversationTurn],
    ) -> Retrieval:
        quoted = request.context_mode is ContextMode.SELECTED_TEXT
        if quoted and request.selected_text and not configuration.retrieval_enabled:
            return Retrieval.of_passage(_passage_chunk(request, request.selected_text))
        asked = RetrievalToolInput(
            query_text=request.query_text,
            top_k=request.top_k or configuration.top_k,
            selected_text=request.selected_text if quoted else None,
            section_filter=request.section_filter,
        )
        return await self._retriever.retrieve(
            request.course_id, asked, [turn.user_input for turn in turns]
        )

    def _task(
        self,
        request: AgentRequest,
        configuration: AgentConfiguration,
        turns: Sequence[ConversationTurn],
        retrieval: Retrieval,
    ) -> GenerationTask:
        temperature = request.temperature
        return GenerationTask(
            question=request.query_text,
            evidence=retrieval.evidence,
            history=turns,
            selected_text=request.selected_text,
            quote_location=retrieval.quote_location,
            language=retrieval.language,
            temperature=configuration.temperature if temperature is None else temperature,
            max_tokens=configuration.max_tokens,
        )

    async def _remember(self, request: AgentRequest, response: AgentResponse) -> None:
        await self._sessions.open_session(
            response.conversation_id,
            user_id=request.user_id,
            course_id=request.course_id,
            metadata=_session_metadata(request),
        )
        await self._sessions.append_turn(response.conversation_id, request, response)
        logger.info(
            "turn done",
            extra={
                "request_id": str(request.request_id),
                "session_id": str(response.conversation_id),
                "outcome": str(response.outcome),
                "milliseconds": round(response.response_time_ms),
            },
        )
