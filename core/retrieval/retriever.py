"""Finds in a course what a question or a quoted passage is about."""

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Self
from uuid import UUID

import numpy as np

from core.catalogue import Catalogue
from core.embeddings.base import Embedder, Vectors
from core.errors import ConfigurationError, EmbeddingError, VectorIndexError
from core.index.base import SearchQuery, SparseVector, VectorIndex
from core.index.sparse import Bm25Encoder
from core.index.terms import TermStatistics
from core.models import (
    Chunk,
    RetrievalContext,
    RetrievalToolInput,
    RetrievalToolOutput,
    RetrievedChunk,
)
from core.retrieval.evidence import Excerpt, select_evidence
from core.retrieval.followups import query_texts, stands_without_quote
from core.retrieval.locating import QuoteLocator
from core.retrieval.ranking import rank
from core.retrieval.recent import Recent
from core.retrieval.references import SectionReference
from core.retrieval.retrieval import Retrieval, from_section, retrieved, whole
from core.retrieval.scoring import (
    BY_WORDS,
    USABLE,
    ScoredChunk,
    score_leading,
    signals_of,
    term_weights,
)
from core.retrieval.section_reading import SectionReader, excerpts_of
from core.retrieval.sections import resolve_section
from core.retrieval.shelf import Shelf
from core.retrieval.whole_lists import with_whole_lists
from core.text.step_questions import read_steps_asked

logger = logging.getLogger(__name__)

CANDIDATES = 100
_NEAREST = 3
_EDITIONS_IN_MEMORY = 8


@dataclass(frozen=True, slots=True)
class _Question:
    """What is looked for, whatever the edition."""

    asked: RetrievalToolInput
    earlier: Sequence[str]
    """The user's questions before this one, oldest first."""
    started: float

    def plainly(self, read: Callable[[str], str]) -> Self:
        """Return what is asked, and was asked before, without the courtesy around it."""
        asked = self.asked.model_copy(update={"query_text": read(self.asked.query_text)})
        return replace(self, asked=asked, earlier=[read(text) for text in self.earlier])


class Retriever:
    """Searches the live edition of a course; safe for concurrent use."""

    def __init__(
        self,
        catalogue: Catalogue,
        index: VectorIndex,
        embedder_for: Callable[[str], Embedder],
        encoder_for: Callable[[str], Bm25Encoder] = Bm25Encoder,
    ) -> None:
        """Open nothing yet.

        Args:
            embedder_for: Gives the model that an edition was embedded with, by its name; raises
                ConfigurationError, saying what to set, for one that there is not.
            encoder_for: Takes a course's language.
        """
        self._catalogue = catalogue
        self._index = index
        self._embedder_for = embedder_for
        self._encoder_for = encoder_for
        self._shelves: Recent[Shelf] = Recent(_EDITIONS_IN_MEMORY)
        self._quotes = QuoteLocator(index)
        self._sections = SectionReader(catalogue, index)

    async def retrieve(
        self, course_id: str, asked: RetrievalToolInput, earlier: Sequence[str] = ()
    ) -> Retrieval:
        """Return what the course holds about the question.

        Args:
            earlier: The user's questions before this one, oldest first; they count when the
                question leans on them.

        Raises:
            UnknownSection: when `section_filter` names none of the course's sections.
            ConfigurationError: when the course has no text, or vectors of a model that there
                is not.
            VectorIndexError, StoreError: when a service fails. One that embeds may: the
                question's words are searched then.
        """
        question = _Question(asked, earlier, time.perf_counter())
        shelf = await self._shelf(course_id)
        try:
            return await self._search(shelf, question)
        except VectorIndexError:
            # The edition may have been replaced, and its collection dropped, in mid-search.
            fresh = await self._shelf(course_id)
            if fresh.edition.generation == shelf.edition.generation:
                raise
            return await self._search(fresh, question)

    async def read(
        self, course_id: str, asked: RetrievalToolInput, references: Sequence[SectionReference]
    ) -> Retrieval | None:
        """Return the section that a question asks for by name; None: it is to be searched for.

        Raises:
            UnknownSection, ConfigurationError, VectorIndexError, StoreError: as `retrieve`.
        """
        started = time.perf_counter()
        shelf = await self._shelf(course_id)
        named = await self._sections.find(shelf.edition, references, asked.section_filter)
        if named is None:
            return None
        try:
            chunks = await self._sections.chunks(shelf.edition, named)
        except VectorIndexError:
            return None  # the search knows what to do when the edition was replaced
        ours = [chunk for chunk in chunks if shelf.holds(chunk)]
        if named.sections and not ours:  # a heading without text
            return None
        text = excerpts_of(ours, named.paragraph, 2 * asked.top_k)
        if named.paragraph is None and read_steps_asked(asked.query_text):
            text = await with_whole_lists(
                text, shelf.course.language, partial(self._document, shelf)
            )
        took_ms = (time.perf_counter() - started) * 1_000
        return replace(
            from_section(named.name, named.paragraph, text, took_ms),
            context=RetrievalContext(
                collection_name=shelf.edition.collection,
                top_k=asked.top_k,
                similarity_threshold=asked.score_threshold,
                filters={"section_ids": tuple(s.section_id for s in named.sections)},
            ),
            language=shelf.course.language,
            generation=shelf.edition.generation,
            statistics=shelf.terms,
            encode_terms=shelf.encoder.terms,
            plainly=shelf.plainly,
        )

    async def _document(self, shelf: Shelf, document_id: UUID) -> list[Chunk]:
        chunks = self._index.scroll(shelf.edition.collection, document_id=document_id)
        return [chunk async for chunk in chunks if shelf.holds(chunk)]

    async def _shelf(self, course_id: str) -> Shelf:
        edition = await self._catalogue.live(course_id)
        if edition is None:
            raise ConfigurationError(
                f"The course {course_id} has no text yet: run 'glossator ingest' first."
            )
        if (known := self._shelves.get(edition.generation)) is not None:
            return known
        course = await self._catalogue.course(course_id)
        terms = await self._catalogue.term_statistics(edition.generation)
        if course is None or terms is None:  # replaced between two reads
            return await self._shelf(course_id)
        shelf = Shelf.opened(
            course,
            edition,
            self._embedder_for(edition.embedding_model),
            TermStatistics.from_bytes(terms),
            self._encoder_for(course.language),
        )
        return self._shelves.add(edition.generation, shelf)

    async def _search(self, shelf: Shelf, question: _Question) -> Retrieval:
        question, edition = question.plainly(shelf.plainly), shelf.edition
        asked = question.asked
        section_ids: tuple[str, ...] = ()
        section: str | None = None
        if asked.section_filter is not None:
            sections = await self._catalogue.sections(edition.generation)
            if not sections:
                raise VectorIndexError(f"edition {edition.generation} was replaced")
            section_ids = resolve_section(asked.section_filter, sections)
            section = next(s.title for s in sections if s.section_id == section_ids[0])
        location, quoted = await self._quotes.locate(edition, asked.selected_text)
        without_quote = stands_without_quote(asked, location)
        texts = (
            [asked.query_text] if without_quote else query_texts(asked, question.earlier, section)
        )
        dense = await _direction(shelf.embedder, texts)
        by_words = not dense.any()
        sparse = _mean([shelf.encoder.query(text) for text in texts])
        query = SearchQuery(dense, sparse, section_ids, limit=CANDIDATES)
        candidates = await self._index.search(edition.collection, query)
        ranking = rank([c for c in candidates if shelf.holds(c.chunk)])
        weights = term_weights(shelf.terms, sparse)
        scale = BY_WORDS if by_words else shelf.scale
        scored = score_leading(ranking, scale, weights, shelf.terms_of)
        usable = _usable(scored, asked.score_threshold)
        best = list(usable.values())[: asked.top_k]
        evidence = select_evidence(
            ranking,
            usable,
            weights,
            shelf.sentences_of,
            most_documents=2 * asked.top_k,
        )
        if read_steps_asked(asked.query_text):
            read = partial(self._document, shelf)
            evidence = await with_whole_lists(evidence, shelf.course.language, read)
        around = await self._quotes.around(edition, quoted)
        output = RetrievalToolOutput(
            retrieved_chunks=tuple(_unique([*quoted, *best])),
            query_embedding=tuple(dense.tolist()),
            search_time_ms=(time.perf_counter() - question.started) * 1_000,
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
            without_quote=without_quote,
            section=section,
            documents=tuple(dict.fromkeys(r.candidate.chunk.source_file for r in ranking)),
            nearest_sections=_headings(r.candidate.chunk for r in ranking),
            near_sections=_headings(_usable(scored, USABLE).values()),
            by_words=by_words,
            statistics=shelf.terms,
            encode_terms=shelf.encoder.terms,
            plainly=shelf.plainly,
        )


async def _direction(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Return what the texts mean together; zeros when the model does not answer.

    Every cosine with zeros is 0: the words alone decide then.
    """
    try:
        return _unit_sum(await embedder.embed_queries(texts))
    except EmbeddingError as error:
        logger.warning("%s does not answer, searching by words: %s", embedder.name, error)
        return np.zeros(embedder.dimensions, np.float32)


def _unit_sum(vectors: Vectors) -> Vectors:
    """Return the direction that vectors which count alike have together."""
    total: Vectors = vectors.sum(axis=0)
    return total / np.float32(max(float(np.linalg.norm(total)), 1e-12))


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


def _usable(scored: Sequence[ScoredChunk], threshold: float) -> dict[UUID, RetrievedChunk]:
    """Return the chunks whose score reaches the threshold, in the ranking's order."""
    chunks = [(s.ranked.candidate.chunk, s.score) for s in scored if s.score >= threshold]
    return {chunk.chunk_id: retrieved(chunk, score) for chunk, score in chunks}


def _headings(chunks: Iterable[Chunk]) -> tuple[str, ...]:
    """Return the headings of the first chunks, each once."""
    names = (chunk.section_heading or chunk.page_title for chunk in chunks)
    return tuple(dict.fromkeys(names))[:_NEAREST]


def _unique(chunks: Sequence[RetrievedChunk]) -> list[RetrievedChunk]:
    return list({chunk.chunk_id: chunk for chunk in reversed(chunks)}.values())[::-1]


def _merged(around: Sequence[RetrievedChunk], found: Sequence[Excerpt]) -> tuple[Excerpt, ...]:
    """Return the passages around a quote, then what else was found."""
    known = {chunk.chunk_id for chunk in around}
    rest = [excerpt for excerpt in found if excerpt.chunk.chunk_id not in known]
    return (*(whole(chunk) for chunk in around), *rest)
