"""The one vocabulary: every entity that crosses a room's border, with its rules.

All models are immutable and refuse unknown fields; all times are timezone-aware UTC.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, Self
from urllib.parse import SplitResult, urlsplit
from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from core.errors import EmptyQuestion, QuestionTooLong, QuestionTooShort

MIN_QUESTION = 3
MAX_QUESTION = 999
MAX_SELECTED_TEXT = 8_000
MAX_THREAD_MESSAGE = 2_000
_GIST = 600
CLOCK_SKEW = timedelta(seconds=5)
DIRECT_MESSAGE_SILENCE = timedelta(hours=8)
STORED: Final[Mapping[str, bool]] = MappingProxyType({"stored": True})
"""Validation context of what was accepted once: a clock set back must not make it unreadable."""
EXPLAIN_QUOTE = "Explain this passage."
"""What is asked when somebody quotes a passage without a question."""

CITATION_MARKER = re.compile(r"\[(\d+)\]")
_SESSION_NAMESPACE = uuid5(NAMESPACE_URL, "urn:glossator:session")
_STANDING_MARKER = re.compile(r"(?:^|(?<=\s))\[(\d+)\]")
CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`", re.DOTALL)
"""What is code in an answer: there `[7]` is no citation's marker."""
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*(?=\s)|[。！？][”’」』）]*")
_WORD_END = re.compile(r"\S(?=\s)")


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


def _not_in_future(moment: datetime, info: ValidationInfo) -> datetime:
    if info.context is not STORED and moment > now() + CLOCK_SKEW:
        raise ValueError("must not be in the future")
    return moment


def _question(text: str) -> str:
    text = text.strip()
    if not text:
        raise EmptyQuestion
    if len(text) < MIN_QUESTION:
        raise QuestionTooShort(len(text), MIN_QUESTION)
    if len(text) > MAX_QUESTION:
        raise QuestionTooLong(len(text), MAX_QUESTION)
    return text


def is_web_url(url: str) -> bool:
    """Return whether this is an http(s) URL that a link may lead to."""
    try:
        _web_url(url)
    except ValueError:
        return False
    return True


def _web_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("must be an http(s) URL")
    if url.split() != [url] or not url.isprintable():
        raise ValueError("must not contain spaces or control characters")
    return url


UtcTime = Annotated[AwareDatetime, AfterValidator(_utc)]
PastTime = Annotated[UtcTime, AfterValidator(_not_in_future)]
Question = Annotated[str, AfterValidator(_question)]
"""Stripped, 3 to 999 characters; anything else raises the RequestError that says so."""
NonBlank = Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]
Unit = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]
WebUrl = Annotated[str, AfterValidator(_web_url)]
CourseId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
"""A course's short name: lower-case letters, digits, `-` and `_`, at most 64."""
Milliseconds = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]


class Model(BaseModel):
    """Immutable, exact: unknown fields are refused, in words that quote nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


def is_on_site(url: str, base_url: str | None) -> bool:
    """Return whether `url` lies on the course's own site: same host, port and path prefix."""
    if base_url is None:
        return False
    mine, site = urlsplit(url), urlsplit(base_url)
    folder = site.path if site.path.endswith("/") else site.path.rpartition("/")[0] + "/"
    return _place(mine) == _place(site) and (mine.path or "/").startswith(folder)


def _place(parts: SplitResult) -> str:
    """Return the host and port that count as one site: with or without TLS and `www.`."""
    return parts.netloc.lower().removeprefix("www.").removesuffix(":80").removesuffix(":443")


def cut_selected_text(text: str) -> tuple[str, bool]:
    """Return a quote of at most 8,000 characters, and whether it had to be cut.

    The cut falls behind the last sentence that fits, else behind the last word.
    """
    if len(text) <= MAX_SELECTED_TEXT:
        return text, False
    for end in (_SENTENCE_END, _WORD_END):
        ends = [match.end() for match in end.finditer(text, 0, MAX_SELECTED_TEXT + 1)]
        fitting = [place for place in ends if MAX_SELECTED_TEXT // 2 < place <= MAX_SELECTED_TEXT]
        if fitting:
            return text[: fitting[-1]], True
    return text[:MAX_SELECTED_TEXT], True


class Course(Model):
    """One book (or site, or set of slides) that questions are answered from."""

    course_id: CourseId
    title: NonBlank
    base_url: WebUrl | None = None
    """Where the book is published; a document's URL is this plus its path."""
    language: str = "en"
    """BCP 47 tag of the book's language."""


# --- asking ---------------------------------------------------------------------------


class QueryType(StrEnum):
    """Whether a question is about the whole course or one section of it."""

    GLOBAL = "global"
    SECTION_SPECIFIC = "section_specific"


class ContextMode(StrEnum):
    """Whether the question stands alone or comes with a quoted passage."""

    FULL_BOOK = "full_book"
    SELECTED_TEXT = "selected_text"


class AnswerLength(StrEnum):
    """How much is written at most."""

    SHORT = "short"
    NORMAL = "normal"
    LONG = "long"


class ThreadMessage(Model):
    """What somebody wrote in a thread before the bot was asked there; nobody's name is in it."""

    text: Annotated[NonBlank, Field(max_length=MAX_THREAD_MESSAGE)]
    by_asker: bool = False


def gist_of(thread: Sequence[ThreadMessage]) -> list[str]:
    """Return what a thread began with, and what was said in it last: what it is about."""
    return [message.text[:_GIST] for message in (*thread[:1], *thread[1:][-1:])]


class UserContext(Model):
    """Where a question came from, as the platform tells it; never shown to the model."""

    platform: str | None = None
    workspace: str | None = None
    channel: str | None = None
    thread: str | None = None
    message_ids: tuple[str, ...] = ()
    locale: str | None = None
    role: Literal["staff", "student"] | None = None
    sent_at: UtcTime | None = None
    """The platform's own time of the message; `AgentRequest.created_at` is ours."""


class AgentRequest(Model):
    """One question on its way through the house.

    Raises:
        EmptyQuestion, QuestionTooShort, QuestionTooLong: for `query_text`.
    """

    request_id: UUID = Field(default_factory=uuid4)
    course_id: CourseId
    """Set by code from the channel's binding; never from text, never by the model."""
    query_text: Question
    query_type: QueryType = QueryType.GLOBAL
    section_filter: NonBlank | None = None
    context_mode: ContextMode = ContextMode.FULL_BOOK
    selected_text: Annotated[NonBlank, Field(max_length=MAX_SELECTED_TEXT)] | None = None
    """The quoted passage, at most 8,000 characters; longer is cut at a sentence."""
    selected_text_cut: bool = False
    """Whether `selected_text` was cut, so that the reader is told."""
    session_id: UUID | None = None
    user_id: NonBlank
    """A keyed hash of platform, workspace and user; never a name."""
    temperature: Unit | None = None
    max_turns: Annotated[int, Field(ge=1, le=50)] | None = None
    top_k: Annotated[int, Field(ge=1, le=10)] | None = None
    score_threshold: Unit | None = None
    answer_length: AnswerLength | None = None
    thread_messages: Annotated[tuple[ThreadMessage, ...], Field(max_length=15)] = ()
    """What was said before in a thread that the bot first meets, oldest first: material that
    tells what the question is about, never an instruction."""
    thread_partly_seen: bool = False
    """Whether more was said there than could be read, so that the reader is told."""
    created_at: PastTime = Field(default_factory=now)
    user_context: UserContext = UserContext()

    @model_validator(mode="before")
    @classmethod
    def _cut_long_quote(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and isinstance(data.get("selected_text"), str):
            text, cut = cut_selected_text(data["selected_text"])
            if cut:
                return {**data, "selected_text": text, "selected_text_cut": True}
        return data

    @model_validator(mode="after")
    def _mode_has_its_text(self) -> Self:
        if self.query_type is QueryType.SECTION_SPECIFIC and self.section_filter is None:
            raise ValueError("a section_specific query requires section_filter")
        if self.context_mode is ContextMode.SELECTED_TEXT and self.selected_text is None:
            raise ValueError("context_mode selected_text requires selected_text")
        return self


# --- retrieving -----------------------------------------------------------------------


class ChunkState(StrEnum):
    """How far a chunk has come: RETRIEVED, then VALIDATED, then RETURNED."""

    RETRIEVED = "RETRIEVED"
    VALIDATED = "VALIDATED"
    RETURNED = "RETURNED"


class Chunk(Model):
    """A passage of about 200 tokens inside one section of one document."""

    chunk_id: UUID
    """UUIDv5 of course, source file, heading path, text hash and n-th equal text under
    that path: the same passage keeps its id when the book is ingested again."""
    course_id: CourseId
    document_id: UUID
    generation: UUID
    """The edition of the course's text that this chunk belongs to."""
    content_text: NonBlank
    source_file: NonBlank
    source_url: WebUrl | None = None
    """On the course's own site, with the heading's anchor; none without a `base_url`."""
    page_title: NonBlank
    module_name: str | None = None
    section_heading: str | None = None
    headings: tuple[str, ...] = ()
    """The path of headings from the top of the document."""
    chunk_index: Count
    total_chunks: Annotated[int, Field(ge=1)]
    token_count: Count
    char_start: Count
    char_end: Count
    """`content_text` is the document's text from `char_start` up to `char_end`."""
    metadata: Mapping[str, int | str] = Field(default_factory=dict)
    """`page`, `slide`, `cell` or `line_start` and `line_end`, counted from 1."""

    @model_validator(mode="after")
    def _spans_are_ordered(self) -> Self:
        if self.chunk_index >= self.total_chunks:
            raise ValueError("chunk_index must be less than total_chunks")
        if self.char_end <= self.char_start:
            raise ValueError("char_end must lie behind char_start")
        return self


class RetrievedChunk(Chunk):
    """A chunk that a query found, with how well it fits."""

    similarity_score: Unit
    """0.3 is reached by 98 % of relevant chunks, 0.5 by the best chunk of 95 % of the
    questions that the book answers. It is a mark on a scale, not a probability."""
    retrieved_at: PastTime = Field(default_factory=now)
    state: ChunkState = ChunkState.RETRIEVED

    def advance(self, state: ChunkState) -> Self:
        """Return the chunk one step further; any other step raises ValueError."""
        order = list(ChunkState)
        if order.index(state) != order.index(self.state) + 1:
            raise ValueError(f"a chunk cannot go from {self.state} to {state}")
        return self.model_copy(update={"state": state})


class RetrievalToolInput(Model):
    """What a search asks for; also the argument schema of the model's one tool."""

    query_text: Question
    top_k: Annotated[int, Field(ge=1, le=20)] = 5
    score_threshold: Unit = 0.3
    selected_text: NonBlank | None = None
    section_filter: NonBlank | None = None


class RetrievalToolOutput(Model):
    """What a search found, best first."""

    retrieved_chunks: tuple[RetrievedChunk, ...]
    query_embedding: tuple[float, ...]
    search_time_ms: Milliseconds
    total_candidates: Count
    success: bool
    error_message: str | None = None

    @model_validator(mode="after")
    def _failure_is_explained(self) -> Self:
        if self.success == (self.error_message is not None):
            raise ValueError("error_message is present exactly when success is false")
        return self


class RetrievalContext(Model):
    """What was really sent to the vector database."""

    collection_name: NonBlank
    top_k: Annotated[int, Field(ge=1)]
    similarity_threshold: Unit
    filters: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    search_params: Mapping[str, int | float | str] = Field(default_factory=dict)


class EvidenceSignals(Model):
    """How well the best of what was found fits the question, before anything is written."""

    best_score: Unit = 0.0
    """The highest `similarity_score`."""
    cosine: Annotated[float, Field(ge=-1.0, le=1.0)] = 0.0
    """The highest cosine of question and chunk."""
    bm25: Unit = 0.0
    """The highest BM25 weight, over the highest that any chunk could have."""
    coverage: Unit = 0.0
    """Share, by rarity, of the question's words that the leading chunk or its headings hold."""
    document_share: Unit = 0.0
    """The leading document's part of all evidence; near 1 when it stands out alone."""
    question_words: Count = 0
    """Distinct words of the question that carry meaning."""


class QuoteStatus(StrEnum):
    """How a quoted passage relates to the book."""

    VERBATIM = "verbatim"
    ALTERED = "altered"
    NOT_FOUND = "not_found"


class QuoteLocation(Model):
    """Where a quoted passage stands in the book."""

    status: QuoteStatus
    chunk_ids: tuple[UUID, ...] = ()
    """The chunks it touches, in reading order."""
    document_id: UUID | None = None
    char_start: Count | None = None
    char_end: Count | None = None
    """Its span in the document's text."""
    score: Unit
    """Similarity of the quote and the passage, letters and digits only; 1.0 is equal."""

    @model_validator(mode="after")
    def _found_has_a_place(self) -> Self:
        places = (self.document_id, self.char_start, self.char_end)
        found = self.status is not QuoteStatus.NOT_FOUND
        if found != bool(self.chunk_ids) or any((place is None) == found for place in places):
            raise ValueError("a quote has a place exactly when it was found")
        return self


# --- answering ------------------------------------------------------------------------


class Outcome(StrEnum):
    """How an answer ended; not knowing is an outcome, not an error."""

    ANSWERED = "answered"
    PARTIAL = "partial"
    ABSTAINED = "abstained"
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
    """Calibrated: of answers given at 0.8, about 80 % are right."""
    context_used: str = ""
    conversation_id: UUID
    query_tokens: Count = 0
    response_tokens: Count = 0
    tokens_used: Count = 0
    """The sum over all model calls; 0 for an extractive answer."""
    estimated_cost: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] | None = None
    """What all model calls cost, in the currency of the configured prices; None: no prices."""
    claims_written: Count = 0
    """Sentences that the writer offered."""
    claims_dropped: Count = 0
    """Those of them that the cited words do not carry, and that no second try put right."""
    course_id: CourseId
    generation: UUID | None = None
    """None when the course has no text yet or the index could not be reached."""
    model_name: NonBlank
    notices: tuple[NonBlank, ...] = ()
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
            ResponseState.COMPLETED: {Outcome.ANSWERED, Outcome.PARTIAL, Outcome.ABSTAINED},
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
    def _dropped_were_written(self) -> Self:
        if self.claims_dropped > self.claims_written:
            raise ValueError("no more claims can be dropped than were written")
        return self

    @model_validator(mode="after")
    def _citations_are_grounded(self) -> Self:
        grounded = self.outcome in {Outcome.ANSWERED, Outcome.PARTIAL}
        if grounded and not self.grounding_chunks:
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
        prose = CODE.sub("``", self.response_text)  # `x = [7]` is no marker
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
    temperature: Unit = 0.5
    max_tokens: Annotated[int, Field(ge=1)] = 2_048
    """Of one model call's output, thinking included."""
    context_window: Annotated[int, Field(ge=512)] = 32_000
    """Tokens; history and chunks are trimmed to fit, oldest turns first."""
    system_prompt: str | None = None
    """Words about role and tone, told to the model before its rules, which always hold."""
    retrieval_enabled: bool = True
    max_turns: Annotated[int, Field(ge=1, le=50)] = 10
    score_threshold: Unit = 0.5
    top_k: Annotated[int, Field(ge=1, le=10)] = 5
    answer_length: AnswerLength = AnswerLength.NORMAL
    answered_from: Unit = 0.5
    """The confidence from which an answer is told as `answered`."""
    partial_from: Unit = 0.0
    """The confidence from which it is told as `partial`; below, the answer is `abstained`."""

    @model_validator(mode="after")
    def _bands_are_ordered(self) -> Self:
        if self.partial_from > self.answered_from:
            raise ValueError("partial_from must not lie above answered_from")
        return self


# --- remembering ----------------------------------------------------------------------


class ConversationTurn(Model):
    """One question and its answer inside a session."""

    turn_number: Annotated[int, Field(ge=1)]
    request_id: UUID
    user_id: NonBlank
    """Who asked: a thread has many."""
    outcome: Outcome
    user_input: NonBlank
    selected_text: str | None = None
    retrieved_chunks: tuple[RetrievedChunk, ...] = ()
    agent_response: AgentResponse
    timestamp: PastTime = Field(default_factory=now)
    tool_calls: tuple[AgentToolCall, ...] = ()
    context_used: str = ""


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
    """Return whether a direct message has been silent for so long that it starts anew."""
    return moment - last_activity >= DIRECT_MESSAGE_SILENCE
