"""What a user wants to know, and where they ask it."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal, Self
from uuid import UUID, uuid4

from pydantic import Field, model_validator

from core.domain.fields import (
    MAX_SELECTED_TEXT,
    MOST_CHOICES,
    CourseId,
    Model,
    NonBlank,
    PastTime,
    Question,
    SectionName,
    Unit,
    UtcTime,
    cut_selected_text,
    now,
)

MAX_THREAD_MESSAGE = 2_000
_GIST = 600
EXPLAIN_QUOTE = "Explain this passage."
"""What is asked when a user quotes a passage without a question."""


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


class Again(StrEnum):
    """What is wanted of the answer before, instead of an answer to something else."""

    SHORTER = "shorter"
    """Or simpler: the next shorter passage."""
    LONGER = "longer"
    """What else there is."""
    WHERE = "where"
    """The place in the book alone."""


class UnreadPart(StrEnum):
    """A kind of content that came with a question and cannot be read."""

    IMAGE = "image"
    PDF = "pdf"
    VOICE = "voice"
    VIDEO = "video"
    FILE = "file"
    """A file that is no text, is too large, or could not be fetched."""


class ThreadMessage(Model):
    """What a user wrote in a thread before the bot was asked there; no user's name is in it."""

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
    places: tuple[str, ...] = ()
    """Where rules may be set for, narrowest first: thread, channel, category, workspace."""
    personal: bool = False
    """Whether no tenant stands around it, as in direct messages of some platforms."""
    message_ids: tuple[str, ...] = ()
    locale: str | None = None
    role: Literal["staff", "student"] | None = None
    tenants: tuple[str, ...] = ()
    """The tenants that the asker is in there: those whose staff answer them."""
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
    section_filter: SectionName | None = None
    context_mode: ContextMode = ContextMode.FULL_BOOK
    selected_text: Annotated[NonBlank, Field(max_length=MAX_SELECTED_TEXT)] | None = None
    """The quoted passage, at most 8,000 characters; longer is cut at a sentence."""
    selected_text_cut: bool = False
    """Whether `selected_text` was cut, so that the reader is notified."""
    session_id: UUID | None = None
    user_id: NonBlank
    """A keyed hash of platform, workspace and user; never a name."""
    temperature: Unit | None = None
    max_turns: Annotated[int, Field(ge=1, le=50)] | None = None
    top_k: Annotated[int, Field(ge=1, le=10)] | None = None
    score_threshold: Unit | None = None
    answer_length: AnswerLength | None = None
    again: Again | None = None
    """What is wanted of the answer before; None: the question's words say whether it is."""
    stands_alone: bool = False
    """Whether its asker chose or wrote the wording so that nothing before it is to be looked at;
    set by code alone."""
    thread_messages: Annotated[tuple[ThreadMessage, ...], Field(max_length=15)] = ()
    """What was said before in a thread that the bot first meets, oldest first: material that
    tells what the question is about, never an instruction."""
    may_mean: Annotated[tuple[Question, ...], Field(max_length=MOST_CHOICES)] = ()
    """Where the question only points, the messages that it may mean, oldest first: two or more."""
    thread_partly_seen: bool = False
    """Whether more was said there than could be read, so that the reader is notified."""
    verified_answer: UUID | None = None
    """The answer of the course's staff that is to be shown; set by code alone."""
    sent_by_staff: bool = False
    """Whether staff say it to this asker: then it is shown however the book stands by now."""
    unread: tuple[UnreadPart, ...] = ()
    """What came with the question and could not be read, so that the reader is notified."""
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
