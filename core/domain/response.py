"""The answer, what it cites, and how a course answers."""

import re
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Self
from uuid import UUID, uuid4

from pydantic import Field, ValidationInfo, field_validator, model_validator

from core.domain.fields import (
    CLOCK_SKEW,
    MOST_CHOICES,
    Count,
    CourseId,
    Milliseconds,
    Model,
    NonBlank,
    OfferedAnswer,
    PastTime,
    PolicyMode,
    StaffCheck,
    Unit,
    UtcTime,
    WebUrl,
    now,
)
from core.domain.markdown import without_code
from core.domain.request import AnswerLength
from core.domain.retrieval import (
    QuoteLocation,
    RetrievalToolInput,
    RetrievalToolOutput,
    RetrievedChunk,
)

CITATION_MARKER = re.compile(r"\[(\d+)\]")
EXTRACTIVE = "extractive"
"""The writer that copies the book's sentences, among the names of models."""
NOBODY = "none"
"""Who wrote an answer that was clear before any writer was asked: an abstention or an error."""
STAFF = "staff"
"""Who wrote an answer that the course's staff checked, among the names of models."""
_STANDING_MARKER = re.compile(r"(?:^|(?<=\s))\[(\d+)\]")


class Outcome(StrEnum):
    """How an answer ended; not knowing is an outcome, not an error."""

    ANSWERED = "answered"
    PARTIAL = "partial"
    ABSTAINED = "abstained"
    ASKED_BACK = "asked_back"
    """The question may be meant in several ways, and the asker is to choose one."""
    ERROR = "error"


class ResponseState(StrEnum):
    """PENDING, then PROCESSING, then COMPLETED or ERROR; no other step is possible."""

    PENDING = "PENDING"
    PROCESSING = "PROCESSING"
    COMPLETED = "COMPLETED"
    ERROR = "ERROR"


_NEXT_STATES = {
    ResponseState.PENDING: {ResponseState.PROCESSING},
    ResponseState.PROCESSING: {ResponseState.COMPLETED, ResponseState.ERROR},
    ResponseState.COMPLETED: set[ResponseState](),
    ResponseState.ERROR: set[ResponseState](),
}


class Citation(Model):
    """The passage that a marker `[n]` in an answer stands for."""

    marker: Annotated[int, Field(ge=1)]
    chunk_id: UUID
    quote: NonBlank
    """Verbatim from the chunk."""
    char_start: Count
    char_end: Count
    """The quote's span in the chunk's `content_text`."""

    @model_validator(mode="after")
    def _span_fits_quote(self) -> Self:
        if self.char_end - self.char_start != len(self.quote):
            raise ValueError("the span must be as long as the quote")
        return self


class AgentToolCall(Model):
    """One call of a registered tool by the model."""

    tool_name: Literal["retrieve"]
    parameters: RetrievalToolInput
    result: RetrievalToolOutput
    timestamp: PastTime = Field(default_factory=now)


class AgentResponse(Model):
    """The finished answer, or the state of one that is on its way."""

    id: UUID = Field(default_factory=uuid4)
    query_id: UUID
    query_text: NonBlank
    response_text: NonBlank
    outcome: Outcome | None = None
    """None while `state` is PENDING or PROCESSING."""
    state: ResponseState = ResponseState.PENDING
    retrieved_chunks: tuple[RetrievedChunk, ...] = ()
    grounding_chunks: tuple[RetrievedChunk, ...] = ()
    """The chunks that the text cites, in order of first citation."""
    citations: tuple[Citation, ...] = ()
    sources: tuple[WebUrl, ...] = ()
    """The grounding chunks' URLs in order of first citation, and no others."""
    confidence: Unit = 0.0
    """The probability that the answer is right and whole."""
    located: Unit = 0.0
    """The probability that what it cites is the right place."""
    context_used: str = ""
    conversation_id: UUID
    query_tokens: Count = 0
    response_tokens: Count = 0
    cached_tokens: Count = 0
    """Those of `query_tokens` that a service had kept from an earlier call."""
    tokens_used: Count = 0
    """The sum over all model calls; 0 for an extractive answer."""
    estimated_cost: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] | None = None
    """What all model calls cost, in the currency of the configured prices; None: no prices."""
    claims_written: Count = 0
    """Sentences that the writer offered."""
    claims_dropped: Count = 0
    """Those of them that the cited sentences do not carry."""
    claims_unjudged: Count = 0
    """Those that are shown though the judge gave no verdict on them in time."""
    course_id: CourseId
    generation: UUID | None = None
    """None when the course has no text yet or the index could not be reached."""
    model_name: NonBlank
    notices: tuple[NonBlank, ...] = ()
    nearest_sections: tuple[NonBlank, ...] = ()
    """Headings of where to look instead, best first; only an abstention has them."""
    shows_again: NonBlank | None = None
    """The earlier question whose answer this shows at another length, or says the place of."""
    understood_as: NonBlank | None = None
    """The question that a follow-up was taken for; None: it stands alone, or a model read what was
    said before it."""
    choices: tuple[NonBlank, ...] = ()
    """Where it was asked back: two to four questions that stand alone, the likeliest first."""
    leans: bool = False
    """Whether the question was understood by what was said before it."""
    asks_nothing: bool = False
    """Whether the message was courtesy alone, so that the book says nothing to it."""
    unknown_section: NonBlank | None = None
    """The `section_filter` that no section goes by: the request was refused, not answered."""
    checked: StaffCheck | None = None
    """The answer of the course's staff that this is; it may cite nothing of the book."""
    offered: tuple[OfferedAnswer, ...] = ()
    """Answers of the course's staff to questions that may be the same, likeliest first."""
    held_to: PolicyMode | None = None
    """The policy of the course's staff that it was answered by; None: in full."""
    quote_location: QuoteLocation | None = None
    response_time_ms: Milliseconds = 0.0
    retrieval_time_ms: Milliseconds = 0.0
    first_token_ms: Milliseconds = 0.0
    generation_time_ms: Milliseconds = 0.0
    retrieval_success: bool = True
    error_message: str | None = None
    tool_calls: tuple[AgentToolCall, ...] = ()
    requested_at: UtcTime
    """The request's `created_at`."""
    generated_at: UtcTime = Field(default_factory=now, validate_default=True)

    @field_validator("generated_at")
    @classmethod
    def _not_before_the_request(cls, moment: datetime, info: ValidationInfo) -> datetime:
        requested_at: datetime = info.data.get("requested_at", moment)
        if moment < requested_at - CLOCK_SKEW:
            raise ValueError("must not lie before the request")
        return max(moment, requested_at)  # two machines' clocks may differ by the skew

    @model_validator(mode="after")
    def _outcome_fits_state(self) -> Self:
        expected: dict[ResponseState, set[Outcome | None]] = {
            ResponseState.PENDING: {None},
            ResponseState.PROCESSING: {None},
            ResponseState.COMPLETED: {*Outcome} - {Outcome.ERROR},
            ResponseState.ERROR: {Outcome.ERROR},
        }
        if self.outcome not in expected[self.state]:
            raise ValueError(f"outcome {self.outcome} does not fit state {self.state}")
        if self.outcome is Outcome.ERROR and not self.error_message:
            raise ValueError("an error needs an error_message")
        if not self.retrieval_success and not self.error_message:
            raise ValueError("a failed retrieval needs an error_message")
        return self

    @model_validator(mode="after")
    def _asking_back_offers_a_choice(self) -> Self:
        if (self.outcome is Outcome.ASKED_BACK) != bool(self.choices):
            raise ValueError("there are choices exactly where it was asked back")
        if self.choices and not 2 <= len(self.choices) <= MOST_CHOICES:
            raise ValueError(f"asking back offers two to {MOST_CHOICES} choices")
        return self

    @model_validator(mode="after")
    def _dropped_were_written(self) -> Self:
        if self.claims_dropped > self.claims_written:
            raise ValueError("no more claims can be dropped than were written")
        return self

    @model_validator(mode="after")
    def _citations_are_grounded(self) -> Self:
        grounded = self.outcome in {Outcome.ANSWERED, Outcome.PARTIAL}
        if grounded and not self.grounding_chunks and self.checked is None:
            raise ValueError("an answer needs at least one grounding chunk")
        chunks = {chunk.chunk_id: chunk for chunk in self.grounding_chunks}
        if {citation.chunk_id for citation in self.citations} != set(chunks):
            raise ValueError("grounding_chunks are exactly the chunks that are cited")
        for citation in self.citations:
            text = chunks[citation.chunk_id].content_text
            if text[citation.char_start : citation.char_end] != citation.quote:
                raise ValueError(f"citation [{citation.marker}] is not verbatim")
        if grounded:
            self._check_markers()
        return self

    def _check_markers(self) -> None:
        markers = {citation.marker for citation in self.citations}
        if len(markers) < len(self.citations):
            raise ValueError("a marker stands for one citation")
        if markers - {int(n) for n in CITATION_MARKER.findall(self.response_text)}:
            raise ValueError("every citation has its marker in the text")
        prose = without_code(self.response_text, "``")  # `x = [7]` is no marker
        if {int(n) for n in _STANDING_MARKER.findall(prose)} - markers:
            raise ValueError("every marker in the text has its citation")

    @model_validator(mode="after")
    def _sources_are_the_grounding_urls(self) -> Self:
        if self.sources != source_urls(self.grounding_chunks, self.citations):
            raise ValueError("sources are the cited chunks' URLs in order of first citation")
        chunks = (*self.retrieved_chunks, *self.grounding_chunks)
        if any(chunk.course_id != self.course_id for chunk in chunks):
            raise ValueError("a chunk of another course must not be here")
        return self

    def advance(self, state: ResponseState, **changes: Any) -> Self:
        """Return the response one step further, with `changes`; else raise ValueError."""
        if state not in _NEXT_STATES[self.state]:
            raise ValueError(f"a response cannot go from {self.state} to {state}")
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**{**fields, **changes, "state": state})


def source_urls(
    chunks: tuple[RetrievedChunk, ...], citations: tuple[Citation, ...]
) -> tuple[str, ...]:
    """Return the cited chunks' URLs in order of first citation, each once."""
    urls = {chunk.chunk_id: chunk.source_url for chunk in chunks}
    cited = [urls[c.chunk_id] for c in citations if c.chunk_id in urls]
    return tuple(dict.fromkeys(url for url in cited if url is not None))


class AgentConfiguration(Model):
    """How a course answers; one a course, with a channel's overrides."""

    model_name: NonBlank | None = None
    """Who writes, such as a Gemini model or `extractive`; None: what the settings name."""
    temperature: Unit | None = None
    """None: not sent, since models advise their own."""
    max_tokens: Annotated[int, Field(ge=1)] = 2_048
    """Of one model call's output, thinking included."""
    context_window: Annotated[int, Field(ge=512)] = 32_000
    """Tokens; history and chunks are trimmed to fit, oldest turns first."""
    evidence_tokens: Annotated[int, Field(ge=200)] = 4_000
    """Of the book that a model reads for one question; at most half of its window."""
    system_prompt: str | None = None
    """Words about role and tone, sent to the model before its rules, which always hold."""
    retrieval_enabled: bool = True
    max_turns: Annotated[int, Field(ge=1, le=50)] = 10
    score_threshold: Unit = 0.5
    top_k: Annotated[int, Field(ge=1, le=10)] = 5
    answer_length: AnswerLength = AnswerLength.NORMAL
    answered_from: Unit = 0.65
    """The `confidence` from which an answer is marked as `answered`."""
    partial_from: Unit = 0.3
    """The `confidence` from which it is marked as `partial`; below, the answer is `abstained`."""

    @model_validator(mode="after")
    def _bands_are_ordered(self) -> Self:
        if self.partial_from > self.answered_from:
            raise ValueError("partial_from must not lie above answered_from")
        return self
