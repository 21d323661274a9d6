"""What a search gives: the chunks, what to read of them, and how well they fit."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import NAMESPACE_URL, UUID, uuid5

from core.domain import (
    Chunk,
    ChunkState,
    EvidenceSignals,
    QuoteLocation,
    RetrievalContext,
    RetrievalToolOutput,
    RetrievedChunk,
    i18n,
    now,
)
from core.domain.sentences import count_tokens
from core.index.terms import TermStatistics, no_terms
from core.retrieval.evidence import Excerpt
from core.retrieval.ranking import BUILT_IN

_ALL = EvidenceSignals(best_score=1.0, coverage=1.0, document_share=1.0)


@dataclass(frozen=True, slots=True)
class RetrievedPart:
    """A part of a question that is answered by itself."""

    words: str
    """The asker's own."""
    question: str
    """What was searched for."""
    chunk_ids: tuple[UUID, ...]
    """Its part of the evidence, best first; empty: nothing was found."""
    before: str | None = None
    """What it leans on, of the same question; None: it stands alone."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """All that a search gave."""

    output: RetrievalToolOutput
    context: RetrievalContext | None
    """What the vector database was asked; none when it was not."""
    evidence: tuple[Excerpt, ...]
    """What a writer reads, best first."""
    signals: EvidenceSignals
    language: str = "en"
    generation: UUID | None = None
    quote_location: QuoteLocation | None = None
    quoted_chunks: tuple[RetrievedChunk, ...] = ()
    """The chunks that the quoted passage stands in."""
    without_quote: bool = False
    """Whether the question was searched by itself, since its quote is not from this book."""
    section: str | None = None
    """The heading of the section that alone was searched; none for the whole book."""
    in_order: bool = False
    """Whether the section's text itself was asked for: the evidence is in reading order."""
    missing_section: str | None = None
    """What was asked for by its number, and the book does not have."""
    documents: tuple[str, ...] = ()
    """Source files of all candidates, best first, each once."""
    near_sections: tuple[str, ...] = ()
    """Headings of the best chunks that have to do with the question, or sections with a number
    near the missing one, for saying where to look."""
    by_words: bool = False
    """Whether only words were compared, since the embedding model did not answer."""
    statistics: TermStatistics = field(default_factory=lambda: TermStatistics.count(()))
    """How rare the book's words are."""
    question: str = ""
    """The question as it was searched for; empty: as it was asked."""
    mended: tuple[str, ...] = ()
    """The book's words in it, instead of misspelt ones."""
    leans: bool = False
    """Whether what the question leans on was searched for, too."""
    parts: tuple[RetrievedPart, ...] = ()
    """The parts that are answered one by one; empty: the question is answered as a whole."""
    parts_left: int = 0
    """Parts that were not searched for, since there were too many."""
    embedding_model: str = ""
    encode_terms: Callable[[str], Sequence[int]] = no_terms
    """Gives the term ids of a text in the book's language."""

    @property
    def read_sections(self) -> tuple[str, ...]:
        """Headings of what a writer reads, best first, each once; empty where it reads nothing."""
        if not self.evidence:
            return ()
        if self.in_order and self.section is not None:
            return (self.section,)
        return self.near_sections

    @property
    def reads_one_language(self) -> bool:
        """Whether the search only finds questions in the book's own language."""
        return self.embedding_model == BUILT_IN


def passage_alone(course_id: str, passage: str) -> Retrieval:
    """Return a quoted passage as the only context, without asking the database."""
    name = uuid5(NAMESPACE_URL, f"urn:glossator:passage:{course_id}:{passage}")
    chunk = RetrievedChunk(
        chunk_id=name,
        course_id=course_id,
        document_id=name,
        generation=UUID(int=0),
        content_text=passage,
        source_file="quoted passage",
        page_title=i18n.text("answer-quoted-passage"),
        chunk_index=0,
        total_chunks=1,
        token_count=count_tokens(passage),
        char_start=0,
        char_end=len(passage),
        similarity_score=1.0,
    )
    return Retrieval(
        output=RetrievalToolOutput(
            retrieved_chunks=(chunk,),
            query_embedding=(),
            search_time_ms=0.0,
            total_candidates=0,
            success=True,
        ),
        context=None,
        evidence=(whole(chunk),),
        signals=EvidenceSignals(best_score=1.0, document_share=1.0),
    )


def from_section(
    name: str,
    paragraph: str | None,
    text: Sequence[Excerpt],
    took_ms: float,
    near: Sequence[str] = (),
) -> Retrieval:
    """Return a section that was asked for by name, in reading order, or that it is missing.

    Args:
        near: Headings of where to look when it is missing.
    """
    missing = name
    if paragraph is not None:
        missing = i18n.text("answer-paragraph", paragraph=paragraph, name=name)
    return Retrieval(
        output=RetrievalToolOutput(
            retrieved_chunks=tuple({e.chunk.chunk_id: e.chunk for e in text}.values()),
            query_embedding=(),
            search_time_ms=took_ms,
            total_candidates=len(text),
            success=True,
        ),
        context=None,
        evidence=tuple(text),
        signals=_ALL if text else EvidenceSignals(),
        section=name,
        in_order=True,
        missing_section=None if text else missing,
        documents=tuple(dict.fromkeys(e.chunk.source_file for e in text)),
        near_sections=() if text else tuple(near),
    )


def retrieved(chunk: Chunk, score: float, generation: UUID | None = None) -> RetrievedChunk:
    """Return the chunk as found, with its score; `generation`: the edition that shows it."""
    return RetrievedChunk.model_construct(
        **{**chunk.__dict__, "generation": generation or chunk.generation},
        similarity_score=score,
        retrieved_at=now(),
        state=ChunkState.RETRIEVED,
    )


class Usable(Mapping[UUID, RetrievedChunk]):
    """Chunks that may be used, by id; each is made what it is returned as once it is."""

    def __init__(self, chunks: Iterable[tuple[Chunk, float]], generation: UUID) -> None:
        """Take chunks with their scores, best first, of an edition."""
        self._scored = {chunk.chunk_id: (chunk, score) for chunk, score in chunks}
        self._generation = generation
        self._made: dict[UUID, RetrievedChunk] = {}

    def __getitem__(self, chunk_id: UUID) -> RetrievedChunk:
        if chunk_id not in self._made:
            self._made[chunk_id] = retrieved(*self._scored[chunk_id], self._generation)
        return self._made[chunk_id]

    def __contains__(self, chunk_id: object) -> bool:
        return chunk_id in self._scored

    def __iter__(self) -> Iterator[UUID]:
        return iter(self._scored)

    def __len__(self) -> int:
        return len(self._scored)


def whole(chunk: RetrievedChunk) -> Excerpt:
    """Return the whole chunk as an excerpt."""
    return Excerpt(chunk, 0, len(chunk.content_text), chunk.token_count)
