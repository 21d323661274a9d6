"""Finds in a course what a question or a quoted passage is about."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import NAMESPACE_URL, UUID, uuid5

import numpy as np

from core.catalogue import Catalogue, Edition
from core.embeddings.base import Embedder, Vectors
from core.errors import ConfigurationError, VectorIndexError
from core.index.base import Candidate, SearchQuery, SparseVector, VectorIndex
from core.index.sparse import Bm25Encoder
from core.index.terms import TermStatistics
from core.models import (
    EXPLAIN_QUOTE,
    Chunk,
    ChunkState,
    Course,
    EvidenceSignals,
    QuoteLocation,
    QuoteStatus,
    RetrievalContext,
    RetrievalToolInput,
    RetrievalToolOutput,
    RetrievedChunk,
    is_on_site,
    now,
)
from core.retrieval.evidence import Excerpt, select_evidence
from core.retrieval.followups import depends_on_context, with_context
from core.retrieval.quotes import BookText
from core.retrieval.ranking import RankedChunk, rank
from core.retrieval.scoring import (
    ScoredChunk,
    ScoreScale,
    scale_for,
    score_leading,
    signals_of,
    term_weights,
)
from core.retrieval.sections import resolve_section
from core.text.tokens import count_tokens

logger = logging.getLogger(__name__)

T = TypeVar("T")

CANDIDATES = 100
_NEAREST = 3
_BOOKS_IN_MEMORY = 8
_NEIGHBOURS = 1


def _no_terms(text: str) -> Sequence[int]:
    return ()


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
    documents: tuple[str, ...] = ()
    """Source files of all candidates, best first, each once."""
    nearest_sections: tuple[str, ...] = ()
    """Headings of the best chunks, for saying where to look instead."""
    statistics: TermStatistics = field(default_factory=lambda: TermStatistics.count(()))
    """How rare the book's words are."""
    encode_terms: Callable[[str], Sequence[int]] = _no_terms
    """Gives the term ids of a text in the book's language."""


@dataclass(frozen=True, slots=True)
class _Shelf:
    """An edition, opened for reading."""

    course: Course
    edition: Edition
    terms: TermStatistics
    encoder: Bm25Encoder

    def terms_of(self, text: str) -> tuple[int, ...]:
        """Return the distinct term ids of a text."""
        return self.encoder.query(text).indices


class Retriever:
    """Searches the live edition of a course; safe for concurrent use."""

    def __init__(
        self,
        catalogue: Catalogue,
        index: VectorIndex,
        embedder: Embedder,
        encoder_for: Callable[[str], Bm25Encoder] = Bm25Encoder,
    ) -> None:
        """`encoder_for` takes a course's language."""
        self._catalogue = catalogue
        self._index = index
        self._embedder = embedder
        self._encoder_for = encoder_for
        self._scale: ScoreScale = scale_for(embedder.name)
        self._shelves: dict[UUID, _Shelf] = {}
        self._books: dict[UUID, BookText] = {}

    async def retrieve(
        self, course_id: str, asked: RetrievalToolInput, earlier: Sequence[str] = ()
    ) -> Retrieval:
        """Return what the course holds about the question.

        Args:
            earlier: The user's questions before this one, oldest first; they count when the
                question leans on them.

        Raises:
            UnknownSection: when `section_filter` names none of the course's sections.
            ConfigurationError: when the course has no text, or another model's vectors.
            EmbeddingError, VectorIndexError, StoreError: when a service fails.
        """
        started = time.perf_counter()
        shelf = await self._shelf(course_id)
        try:
            return await self._search(shelf, asked, earlier, started)
        except VectorIndexError:
            # The edition may have been replaced, and its collection dropped, in mid-search.
            fresh = await self._shelf(course_id)
            if fresh.edition.generation == shelf.edition.generation:
                raise
            return await self._search(fresh, asked, earlier, started)

    async def _shelf(self, course_id: str) -> _Shelf:
        edition = await self._catalogue.live(course_id)
        if edition is None:
            raise ConfigurationError(
                f"The course {course_id} has no text yet: run 'glossator ingest' first."
            )
        if edition.embedding_model != self._embedder.name:
            raise ConfigurationError(
                f"The course {course_id} was embedded with {edition.embedding_model}, but the "
                f"settings say {self._embedder.name}: ingest it again."
            )
        if edition.generation not in self._shelves:
            course = await self._catalogue.course(course_id)
            terms = await self._catalogue.term_statistics(edition.generation)
            if course is None or terms is None:  # replaced between two reads
                return await self._shelf(course_id)
            statistics = TermStatistics.from_bytes(terms)
            encoder = self._encoder_for(course.language)
            _remember(
                self._shelves,
                edition.generation,
                _Shelf(course, edition, statistics, encoder),
                limit=4 * _BOOKS_IN_MEMORY,
            )
        return self._shelves[edition.generation]

    async def _search(
        self, shelf: _Shelf, asked: RetrievalToolInput, earlier: Sequence[str], started: float
    ) -> Retrieval:
        edition = shelf.edition
        section_ids: tuple[str, ...] = ()
        if asked.section_filter is not None:
            sections = await self._catalogue.sections(edition.generation)
            section_ids = resolve_section(asked.section_filter, sections)
        location, quoted = await self._locate(shelf, asked.selected_text)
        texts = _query_texts(asked, earlier)
        dense, sparse = await self._encode(shelf, texts)
        query = SearchQuery(dense, sparse, section_ids, limit=CANDIDATES)
        candidates = await self._index.search(edition.collection, query)
        ranking = rank([c for c in candidates if _is_ours(c, shelf)])
        weights = term_weights(shelf.terms, sparse)
        scored = score_leading(ranking, self._scale, weights, shelf.terms_of)
        usable = _usable(scored, asked.score_threshold)
        best = list(usable.values())[: asked.top_k]
        evidence = select_evidence(
            ranking,
            usable,
            weights,
            shelf.terms_of,
            most_documents=2 * asked.top_k,
        )
        around = await self._around(shelf, quoted)
        output = RetrievalToolOutput(
            retrieved_chunks=tuple(_unique([*quoted, *best])),
            query_embedding=tuple(float(value) for value in dense),
            search_time_ms=(time.perf_counter() - started) * 1_000,
            total_candidates=len(candidates),
            success=True,
        )
        return Retrieval(
            output=output,
            context=RetrievalContext(
                collection_name=edition.collection,
                top_k=asked.top_k,
                similarity_threshold=asked.score_threshold,
                filters={"section_ids": section_ids} if section_ids else {},
                search_params={"candidates": CANDIDATES},
            ),
            evidence=_merged(around, evidence),
            signals=signals_of(scored, len(weights)),
            language=shelf.course.language,
            generation=edition.generation,
            quote_location=location,
            quoted_chunks=tuple(quoted),
            documents=tuple(dict.fromkeys(r.candidate.chunk.source_file for r in ranking)),
            nearest_sections=_nearest(ranking),
            statistics=shelf.terms,
            encode_terms=shelf.terms_of,
        )

    async def _encode(self, shelf: _Shelf, texts: Sequence[str]) -> tuple[Vectors, SparseVector]:
        """Return one dense and one sparse vector for texts that count alike."""
        vectors = await self._embedder.embed_queries(texts)
        total = vectors.sum(axis=0)
        dense = (total / max(float(np.linalg.norm(total)), 1e-12)).astype(np.float32)
        return dense, _mean([shelf.encoder.query(text) for text in texts])

    async def _locate(
        self, shelf: _Shelf, quote: str | None
    ) -> tuple[QuoteLocation | None, list[RetrievedChunk]]:
        """Return where a quote stands, and the chunks that it touches."""
        if quote is None:
            return None, []
        book = await self._book(shelf.edition)
        match = await asyncio.to_thread(book.locate, quote)
        if match.document_id is None:
            return QuoteLocation(status=match.status, score=match.score), []
        document_id = UUID(match.document_id)
        touched = [
            chunk
            async for chunk in self._index.scroll(shelf.edition.collection, document_id=document_id)
            if chunk.char_start < match.char_end and match.char_start < chunk.char_end
        ]
        if not touched:  # it stands in a heading
            return QuoteLocation(status=QuoteStatus.NOT_FOUND, score=match.score), []
        location = QuoteLocation(
            status=match.status,
            chunk_ids=tuple(chunk.chunk_id for chunk in touched),
            document_id=document_id,
            char_start=match.char_start,
            char_end=match.char_end,
            score=match.score,
        )
        return location, [retrieved(chunk, match.score) for chunk in touched]

    async def _book(self, edition: Edition) -> BookText:
        """Return the edition's whole text, ready for quotes to be found in it."""
        if edition.generation not in self._books:
            texts: dict[UUID, list[str]] = {}
            ends: dict[UUID, int] = {}
            async for chunk in self._index.scroll(edition.collection):
                pieces = texts.setdefault(chunk.document_id, [])
                gap = chunk.char_start - ends.get(chunk.document_id, 0)
                pieces += [" " * gap, chunk.content_text]
                ends[chunk.document_id] = chunk.char_end
            documents = [(str(name), "".join(pieces)) for name, pieces in texts.items()]
            book = await asyncio.to_thread(BookText, documents)
            _remember(self._books, edition.generation, book, limit=_BOOKS_IN_MEMORY)
        return self._books[edition.generation]

    async def _around(
        self, shelf: _Shelf, quoted: Sequence[RetrievedChunk]
    ) -> list[RetrievedChunk]:
        """Return the quoted chunks with their neighbours in the same section."""
        if not quoted:
            return []
        first, last = quoted[0], quoted[-1]
        places = range(first.chunk_index - _NEIGHBOURS, last.chunk_index + _NEIGHBOURS + 1)
        return [
            retrieved(chunk, first.similarity_score)
            async for chunk in self._index.scroll(
                shelf.edition.collection, document_id=first.document_id
            )
            if chunk.chunk_index in places and chunk.headings in {first.headings, last.headings}
        ]


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
        page_title="Quoted passage",
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
        evidence=(_whole(chunk),),
        signals=EvidenceSignals(best_score=1.0, document_share=1.0),
    )


def retrieved(chunk: Chunk, score: float) -> RetrievedChunk:
    """Return the chunk as found, with its score."""
    fields = {name: getattr(chunk, name) for name in Chunk.model_fields}
    return RetrievedChunk.model_construct(
        **fields,
        similarity_score=score,
        retrieved_at=now(),
        state=ChunkState.RETRIEVED,
    )


def _query_texts(asked: RetrievalToolInput, earlier: Sequence[str]) -> list[str]:
    """Return the texts that together say what to look for; each counts alike.

    A question that leans on the conversation is joined by itself behind the two before it;
    one about a quote by the quote, which stands alone where there is no question.
    """
    question = asked.query_text
    if asked.selected_text is not None:
        bare = question == EXPLAIN_QUOTE
        return [asked.selected_text] if bare else [question, asked.selected_text]
    if earlier and depends_on_context(question):
        return [question, with_context(question, earlier)]
    return [question]


def _mean(vectors: Sequence[SparseVector]) -> SparseVector:
    """Return the index-wise mean of sparse vectors."""
    if len(vectors) == 1:
        return vectors[0]
    total: dict[int, float] = {}
    for vector in vectors:
        for index, value in zip(vector.indices, vector.values, strict=True):
            total[index] = total.get(index, 0.0) + value / len(vectors)
    indices = tuple(sorted(total))
    return SparseVector(indices, tuple(total[index] for index in indices))


def _is_ours(candidate: Candidate, shelf: _Shelf) -> bool:
    """Check once more, after the index, that a chunk is this course's and on its site."""
    chunk, course = candidate.chunk, shelf.course
    if chunk.course_id != course.course_id or chunk.generation != shelf.edition.generation:
        logger.error("the index returned a chunk of %s for %s", chunk.course_id, course.course_id)
        return False
    return chunk.source_url is None or is_on_site(chunk.source_url, course.base_url)


def _usable(scored: Sequence[ScoredChunk], threshold: float) -> dict[UUID, RetrievedChunk]:
    """Return the chunks whose score reaches the threshold, in the ranking's order."""
    chunks = [(s.ranked.candidate.chunk, s.score) for s in scored if s.score >= threshold]
    return {chunk.chunk_id: retrieved(chunk, score) for chunk, score in chunks}


def _nearest(ranking: Sequence[RankedChunk]) -> tuple[str, ...]:
    """Return the headings of the best documents, each once."""
    names = (r.candidate.chunk.section_heading or r.candidate.chunk.page_title for r in ranking)
    return tuple(dict.fromkeys(names))[:_NEAREST]


def _unique(chunks: Sequence[RetrievedChunk]) -> list[RetrievedChunk]:
    return list({chunk.chunk_id: chunk for chunk in reversed(chunks)}.values())[::-1]


def _whole(chunk: RetrievedChunk) -> Excerpt:
    return Excerpt(chunk, 0, len(chunk.content_text), chunk.token_count)


def _merged(around: Sequence[RetrievedChunk], found: Sequence[Excerpt]) -> tuple[Excerpt, ...]:
    """Return the passages around a quote, then what else was found."""
    known = {chunk.chunk_id for chunk in around}
    rest = [excerpt for excerpt in found if excerpt.chunk.chunk_id not in known]
    return (*(_whole(chunk) for chunk in around), *rest)


def _remember(cache: dict[UUID, T], key: UUID, value: T, *, limit: int) -> None:
    """Keep a value, and forget the oldest beyond `limit`."""
    cache[key] = value
    while len(cache) > limit:
        del cache[next(iter(cache))]
