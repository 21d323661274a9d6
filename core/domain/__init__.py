"""The one vocabulary: every entity that crosses a room's border, with its rules.

All models are immutable and refuse unknown fields; all times are timezone-aware UTC.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Self
from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

from pydantic import Field, model_validator

from core.domain.fields import (
    CLOCK_SKEW,
    MAX_QUESTION,
    MAX_SELECTED_TEXT,
    MIN_QUESTION,
    MOST_CHOICES,
    STORED,
    Count,
    Course,
    CourseId,
    Milliseconds,
    Model,
    NonBlank,
    OfferedAnswer,
    PastTime,
    PolicyMode,
    Question,
    StaffCheck,
    Unit,
    UtcTime,
    WebUrl,
    course_id_like,
    cut_selected_text,
    is_on_site,
    is_web_url,
    now,
    well_formed,
)
from core.domain.request import (
    EXPLAIN_QUOTE,
    MAX_THREAD_MESSAGE,
    Again,
    AgentRequest,
    AnswerLength,
    ContextMode,
    QueryType,
    ThreadMessage,
    UnreadPart,
    UserContext,
    gist_of,
)
from core.domain.response import (
    CITATION_MARKER,
    EXTRACTIVE,
    NOBODY,
    STAFF,
    AgentConfiguration,
    AgentResponse,
    AgentToolCall,
    Citation,
    Outcome,
    ResponseState,
    source_urls,
)
from core.domain.retrieval import (
    Chunk,
    ChunkBlock,
    ChunkState,
    EvidenceSignals,
    QuoteLocation,
    QuoteStatus,
    RetrievalContext,
    RetrievalToolInput,
    RetrievalToolOutput,
    RetrievedChunk,
)

DIRECT_MESSAGE_SILENCE = timedelta(hours=8)
_SESSION_NAMESPACE = uuid5(NAMESPACE_URL, "urn:glossator:session")


class ConversationTurn(Model):
    """One question and its answer inside a session."""

    turn_number: Annotated[int, Field(ge=1)]
    request_id: UUID
    user_id: NonBlank
    """Who asked: a thread has many."""
    outcome: Outcome
    user_input: NonBlank
    selected_text: str | None = None
    section_filter: str | None = None
    """The section that alone was searched; none for the whole book."""
    retrieved_chunks: tuple[RetrievedChunk, ...] = ()
    agent_response: AgentResponse
    timestamp: PastTime = Field(default_factory=now)
    tool_calls: tuple[AgentToolCall, ...] = ()
    context_used: str = ""

    @property
    def question(self) -> str:
        """What was asked, worded to stand alone; of an answer wanted again, what it answers."""
        response = self.agent_response
        return response.shows_again or response.understood_as or self.user_input


class AgentSession(Model):
    """A conversation: a platform's thread, a direct message or a terminal chat."""

    session_id: UUID = Field(default_factory=uuid4)
    user_id: NonBlank
    """Who opened it."""
    course_id: CourseId
    created_at: UtcTime = Field(default_factory=now)
    last_activity: UtcTime
    current_turn: Count = 0
    """The number of the latest turn; 0 before the first."""
    message_count: Count = 0
    """Questions and answers together."""
    conversation_history: tuple[ConversationTurn, ...] = ()
    metadata: Mapping[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _history_has_no_gaps(self) -> Self:
        if self.last_activity < self.created_at:
            raise ValueError("last_activity must not lie before created_at")
        numbers = [turn.turn_number for turn in self.conversation_history]
        if numbers and numbers != list(range(numbers[0], numbers[0] + len(numbers))):
            raise ValueError("turn numbers must have no gaps")
        if numbers and numbers[-1] != self.current_turn:
            raise ValueError("current_turn is the latest turn's number")
        return self


def session_id_for(
    platform: str, workspace: str, channel: str, thread: str, *, part: int = 0
) -> UUID:
    """Return the id of a thread's session: two replicas compute the same one.

    `part` counts the sessions of a direct message without threads, which starts a new one
    after 8 hours of silence.
    """
    name = f"{platform}:{workspace}:{channel}:{thread}"
    return uuid5(_SESSION_NAMESPACE, f"{name}:{part}" if part else name)


def is_silent(last_activity: datetime, moment: datetime) -> bool:
    """Return whether a direct message has been silent for so long that it starts again."""
    return moment - last_activity >= DIRECT_MESSAGE_SILENCE


__all__ = [
    "CITATION_MARKER",
    "CLOCK_SKEW",
    "DIRECT_MESSAGE_SILENCE",
    "EXPLAIN_QUOTE",
    "EXTRACTIVE",
    "MAX_QUESTION",
    "MAX_SELECTED_TEXT",
    "MAX_THREAD_MESSAGE",
    "MIN_QUESTION",
    "MOST_CHOICES",
    "NOBODY",
    "STAFF",
    "STORED",
    "Again",
    "AgentConfiguration",
    "AgentRequest",
    "AgentResponse",
    "AgentSession",
    "AgentToolCall",
    "AnswerLength",
    "Chunk",
    "ChunkBlock",
    "ChunkState",
    "Citation",
    "ContextMode",
    "ConversationTurn",
    "Count",
    "Course",
    "CourseId",
    "EvidenceSignals",
    "Milliseconds",
    "Model",
    "NonBlank",
    "OfferedAnswer",
    "Outcome",
    "PastTime",
    "PolicyMode",
    "QueryType",
    "Question",
    "QuoteLocation",
    "QuoteStatus",
    "ResponseState",
    "RetrievalContext",
    "RetrievalToolInput",
    "RetrievalToolOutput",
    "RetrievedChunk",
    "StaffCheck",
    "ThreadMessage",
    "Unit",
    "UnreadPart",
    "UserContext",
    "UtcTime",
    "WebUrl",
    "course_id_like",
    "cut_selected_text",
    "gist_of",
    "is_on_site",
    "is_silent",
    "is_web_url",
    "now",
    "session_id_for",
    "source_urls",
    "well_formed",
]
