"""What a search asks for and finds."""

from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from typing import Annotated, NamedTuple, Self
from uuid import UUID

from pydantic import Field, model_validator

from core.domain.fields import (
    Count,
    CourseId,
    Milliseconds,
    Model,
    NonBlank,
    PastTime,
    Question,
    Quote,
    SectionName,
    Unit,
    WebUrl,
    now,
)


class ChunkState(StrEnum):
    """How far a chunk has come: RETRIEVED, then VALIDATED, then RETURNED."""

    RETRIEVED = "RETRIEVED"
    VALIDATED = "VALIDATED"
    RETURNED = "RETURNED"


class ChunkBlock(NamedTuple):
    """A part of a chunk that is more than prose."""

    kind: str
    """`list`, `ordered_list`, `entry` (a term or option with what is said of it), `table`,
    `formula` or `code`, also inside an entry; or what is no text that answers: `exercise`,
    `caption`, `navigation`, `boilerplate` or `front_matter`."""
    start: int
    end: int
    """Its span in the chunk's text."""


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
    """`page`, `slide`, `cell` or `line_start` and `line_end`, from 1; `second`; `untrusted`;
    `recognised`.

    `verified`, an ISO date: it is no passage of the book, but what the course's staff said.
    `asker`: it is what the asker wrote, quoted or pasted."""
    blocks: tuple[ChunkBlock, ...] = Field(default=(), exclude=True, repr=False)
    """In the order in which they begin; an ordered list, table, formula or code that fits
    is whole."""
    sentences: tuple[tuple[int, int], ...] = Field(default=(), exclude=True, repr=False)
    """The spans of its sentences in `content_text`; none in a passage that is no stored chunk."""
    sentence_vectors: bytes = Field(default=b"", exclude=True, repr=False)
    """One vector a sentence, see `core.providers.embeddings.base`; empty: there are none."""

    terms: tuple[int, ...] = Field(default=(), exclude=True, repr=False)
    """The ids of the words in it and its headings, as the index has them; empty: not known."""

    @property
    def is_trusted(self) -> bool:
        """Whether it is the course's own, and not what others can write."""
        return not self.metadata.get("untrusted")

    @property
    def is_askers(self) -> bool:
        """Whether it is no passage of the book, but what the asker wrote, quoted or pasted."""
        return bool(self.metadata.get("asker"))

    @property
    def is_recognised(self) -> bool:
        """Whether text of it was read from a picture of the page, as of a scan."""
        return bool(self.metadata.get("recognised"))

    @property
    def verified_on(self) -> date | None:
        """The day on which the course's staff said this; None: it is a passage of the book."""
        day = self.metadata.get("verified")
        return None if day is None else date.fromisoformat(str(day))

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

    def told(self) -> Self:
        """Return the chunk as an answer has it, without what only a search needs."""
        nothing = {"blocks": (), "sentences": (), "sentence_vectors": b"", "terms": ()}
        return self.model_copy(update=nothing)

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
    selected_text: Quote | None = None
    section_filter: SectionName | None = None


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
