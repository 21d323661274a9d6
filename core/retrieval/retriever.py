"""Finds in a course what a question or a quoted passage is about."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

from core.domain import (
    EXPLAIN_QUOTE,
    Again,
    RetrievalContext,
    RetrievalToolInput,
    RetrievalToolOutput,
    RetrievedChunk,
)
from core.domain.errors import ConfigurationError, VectorIndexError
from core.index.base import VectorIndex
from core.index.terms import Bm25Encoder, TermStatistics, words_from_bytes
from core.providers.embeddings.base import Embedder
from core.retrieval.editions import OpenEdition, Recent, widen
from core.retrieval.evidence import Excerpt, select_evidence
from core.retrieval.questions import Mended, wanted_again, without_courtesy
from core.retrieval.quotes import QuoteLocator
from core.retrieval.ranking import ScoreScale
from core.retrieval.retrieval import Retrieval, Usable, from_section, whole
from core.retrieval.searching import CANDIDATES, most_documents, search
from core.retrieval.sections import SectionReader, SectionReference, excerpts_of, resolve_section
from core.storage.catalogue import Catalogue

logger = logging.getLogger(__name__)

_EDITIONS_IN_MEMORY = 8


class Retriever:
    """Searches the live edition of a course; safe for concurrent use."""

    def __init__(
        self,
        catalogue: Catalogue,
        index: VectorIndex,
        embedder_for: Callable[[str, str], Embedder],
        encoder_for: Callable[[str], Bm25Encoder] = Bm25Encoder,
        is_word: Callable[[str], bool] = lambda word: False,
        scale_of: Callable[[str, str], ScoreScale | None] = lambda course_id, model: None,
    ) -> None:
        """Open nothing yet.

        Args:
            embedder_for: Gives the model that an edition was embedded with, by its name and the
                course's id; raises ConfigurationError, saying what to set, where there is none.
            encoder_for: Takes a course's language.
            is_word: Returns whether a word that a book does not have is rightly spelt all the same.
            scale_of: Gives the scale that was fitted for a course, by its id, and an embedding
                model, by its name; None: the model's own, or the one that holds for any.
        """
        self._catalogue = catalogue
        self._index = index
        self._embedder_for = embedder_for
        self._encoder_for = encoder_for
        self._is_word = is_word
        self._scale_of = scale_of
        self._open_editions: Recent[OpenEdition] = Recent(_EDITIONS_IN_MEMORY)
        self._quotes = QuoteLocator(index)
        self._sections = SectionReader(catalogue, index)

    async def retrieve(
        self,
        course_id: str,
        asked: RetrievalToolInput,
        earlier: Sequence[str] = (),
    ) -> Retrieval:
        """Return what the course holds about the question.

        Args:
            earlier: What was said around the question, oldest first; it counts when the question
                leans on it.

        Raises:
            UnknownSection: when `section_filter` names none of the course's sections.
            ConfigurationError: when the course has no text, or vectors of a model that there
                is not.
            VectorIndexError, StoreError: when a service fails. One that embeds may: the
                question's words are searched then.
        """
        started = time.perf_counter()
        opened = await self.opened(course_id)
        try:
            return await self._search(opened, asked, earlier, started)
        except VectorIndexError:
            # The edition may have been replaced, and its collection dropped, in mid-search.
            fresh = await self.opened(course_id, lately=False)
            if fresh.edition.generation == opened.edition.generation:
                raise
            return await self._search(fresh, asked, earlier, started)

    async def read(
        self, course_id: str, asked: RetrievalToolInput, references: Sequence[SectionReference]
    ) -> Retrieval | None:
        """Return the section that a question asks for by name; None: it is to be searched for.

        Raises:
            UnknownSection, ConfigurationError, VectorIndexError, StoreError: as `retrieve`.
        """
        started = time.perf_counter()
        opened = await self.opened(course_id)
        named = await self._sections.find(opened.edition, references, asked.section_filter)
        if named is None:
            return None
        try:
            chunks = await self._sections.chunks(opened.edition, named)
        except VectorIndexError:
            return None  # the search knows what to do when the edition was replaced
        ours = opened.on_site(chunks)
        if named.sections and not ours:  # a heading without text
            return None
        text = excerpts_of(ours, named.paragraph, 2 * asked.top_k)
        took_ms = (time.perf_counter() - started) * 1_000
        return replace(
            from_section(named.name, named.paragraph, text, took_ms, named.near),
            context=RetrievalContext(
                collection_name=opened.names,
                top_k=asked.top_k,
                similarity_threshold=asked.score_threshold,
                filters={"section_ids": tuple(s.section_id for s in named.sections)},
            ),
            language=opened.course.language,
            generation=opened.edition.generation,
            statistics=opened.terms,
            encode_terms=opened.terms_of,
        )

    async def wanted_again(self, course_id: str, question: str) -> Again | None:
        """Return what of the answer before a question asks for; None: it is about something else.

        Raises:
            ConfigurationError, StoreError: as `retrieve`.
        """
        return await wanted_again(question, (await self.opened(course_id)).embedder)

    async def widened(self, course_id: str, retrieval: Retrieval, tokens: int) -> list[Excerpt]:
        """Return what a language model reads of a retrieval: whole neighbouring paragraphs.

        That is the evidence as it is where the section itself was asked for, or where the edition
        was replaced meanwhile.

        Args:
            tokens: What all of it may take together.

        Raises:
            VectorIndexError, StoreError: when a service fails.
        """
        if retrieval.in_order or retrieval.context is None:
            return list(retrieval.evidence)
        opened = await self.opened(course_id)
        if opened.edition.generation != retrieval.generation:
            return list(retrieval.evidence)
        return await widen(self._index, opened, retrieval.evidence, tokens)

    async def opened(self, course_id: str, *, lately: bool = True) -> OpenEdition:
        """Return the live edition, or with `lately` the one that was live a second ago."""
        catalogue = self._catalogue
        live = catalogue.lately_live if lately else catalogue.live
        edition = await live(course_id)
        if edition is None:
            raise ConfigurationError(
                f"The course {course_id} has no text yet: run 'glossator ingest' first."
            )
        if (known := self._open_editions.get(edition.generation)) is not None:
            return self._scaled(known)
        course = await catalogue.course(course_id)
        terms = await catalogue.term_statistics(edition.generation)
        outlines = await catalogue.outlines(edition)
        words = await catalogue.vocabulary(edition.generation)
        if (
            course is None or terms is None or outlines is None or words is None
        ):  # replaced between two reads
            return await self.opened(course_id, lately=False)
        opened = OpenEdition.opened(
            course,
            edition,
            self._embedder_for(edition.embedding_model, course_id),
            TermStatistics.from_bytes(terms),
            self._encoder_for(course.language),
            outlines,
            words_from_bytes(words),
            self._is_word,
        )
        return self._scaled(self._open_editions.add(edition.generation, opened))

    def _scaled(self, opened: OpenEdition) -> OpenEdition:
        """Return the edition with the scale that was fitted for it, if any was by now."""
        fitted = self._scale_of(opened.course.course_id, opened.edition.embedding_model)
        return opened if fitted is None else replace(opened, scale=fitted)

    async def _search(
        self,
        opened: OpenEdition,
        asked: RetrievalToolInput,
        earlier: Sequence[str],
        started: float,
    ) -> Retrieval:
        edition = opened.edition
        section_ids: tuple[str, ...] = ()
        section: str | None = None
        if asked.section_filter is not None:
            sections = await self._catalogue.sections(edition.generation)
            if not sections:
                raise VectorIndexError(f"edition {edition.generation} was replaced")
            section_ids = resolve_section(asked.section_filter, sections)
            section = next(s.title for s in sections if s.section_id == section_ids[0])
        quoted = await self._quotes.locate(opened, asked.selected_text)
        bare = await without_courtesy(asked.query_text, opened.embedder)
        mended = Mended(bare) if bare == EXPLAIN_QUOTE else opened.speller.mend(bare)
        asked = asked.model_copy(update={"query_text": mended.question})
        searched = await search(
            self._index,
            opened,
            asked,
            earlier=[opened.speller.mend(text).question for text in earlier],
            section=section,
            section_ids=section_ids,
            location=quoted.location,
        )
        found, weights = searched.found, searched.weights
        without_quote = asked.selected_text is not None and not searched.leans
        without_quote = without_quote and asked.query_text != EXPLAIN_QUOTE
        usable = Usable(
            (
                (one.chunk, score)
                for one, score in zip(found.read, found.scores, strict=True)
                if score >= asked.score_threshold
            ),
            edition.generation,
        )
        best = [usable[chunk_id] for chunk_id in islice(usable, asked.top_k)]
        evidence = select_evidence(
            found.read,
            usable,
            weights,
            opened.sentences_of,
            most_documents=most_documents(asked),
        )
        output = RetrievalToolOutput(
            retrieved_chunks=tuple(_unique([*quoted.chunks, *best])),
            query_embedding=tuple(searched.dense.tolist()),
            search_time_ms=(time.perf_counter() - started) * 1_000,
            total_candidates=found.size,
            success=True,
        )
        return Retrieval(
            output=output,
            context=RetrievalContext(
                collection_name=opened.names,
                top_k=asked.top_k,
                similarity_threshold=asked.score_threshold,
                filters={"section_ids": section_ids} if section_ids else {},
                search_params={"candidates": CANDIDATES},
            ),
            evidence=_merged(quoted.around, evidence),
            signals=searched.signals,
            language=opened.course.language,
            generation=edition.generation,
            quote_location=quoted.location,
            quoted_chunks=quoted.chunks,
            without_quote=without_quote,
            section=section,
            documents=found.files,
            near_sections=found.near,
            by_words=searched.by_words,
            question=mended.question,
            # A word that no term stands for, such as "what", has searched for nothing.
            mended=tuple(word for word in mended.words if opened.terms_of(word)),
            embedding_model=edition.embedding_model,
            leans=searched.leans,
            statistics=opened.terms,
            encode_terms=opened.terms_of,
        )


def _unique(chunks: Sequence[RetrievedChunk]) -> list[RetrievedChunk]:
    return list({chunk.chunk_id: chunk for chunk in reversed(chunks)}.values())[::-1]


def _merged(around: Sequence[RetrievedChunk], found: Sequence[Excerpt]) -> tuple[Excerpt, ...]:
    """Return the passages around a quote, then what else was found."""
    known = {chunk.chunk_id for chunk in around}
    rest = [excerpt for excerpt in found if excerpt.chunk.chunk_id not in known]
    return (*(whole(chunk) for chunk in around), *rest)
