"""An edition of a course, opened for reading."""

import logging
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Self

from core.catalogue import Edition
from core.embeddings.base import Embedder
from core.index.sparse import Bm25Encoder
from core.index.terms import TermStatistics
from core.models import Chunk, Course, is_on_site
from core.retrieval.evidence import Reading, Terms, read_sentences
from core.retrieval.scoring import ScoreScale, scale_for
from core.text.courtesy import asked_plainly

logger = logging.getLogger(__name__)

_OF_THE_BOOK = 0.01
"""Part of a book's chunks that have a word which belongs to what the book is about."""
_TEXTS_REMEMBERED = 2_048
"""Chunks of an edition whose words and sentences stay in memory, about 8 kB each."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """An edition, opened for reading."""

    course: Course
    edition: Edition
    embedder: Embedder
    """The model that made the edition's vectors."""
    scale: ScoreScale
    terms: TermStatistics
    encoder: Bm25Encoder
    terms_of: Terms
    """`encoder.terms` with a memory, for texts that come up again: whole chunks."""
    sentences_of: Reading
    """The sentences of a chunk's text, remembered."""

    @classmethod
    def opened(
        cls,
        course: Course,
        edition: Edition,
        embedder: Embedder,
        terms: TermStatistics,
        encoder: Bm25Encoder,
    ) -> Self:
        """Return the shelf with nothing remembered yet."""
        remember = lru_cache(_TEXTS_REMEMBERED)
        return cls(
            course=course,
            edition=edition,
            embedder=embedder,
            scale=scale_for(edition.embedding_model),
            terms=terms,
            encoder=encoder,
            terms_of=remember(encoder.terms),
            sentences_of=remember(partial(read_sentences, terms=encoder.terms)),
        )

    def plainly(self, question: str) -> str:
        """Return what is asked without the courtesy that is none of the book's own words."""
        return asked_plainly(
            question, lambda words: self.terms.share(self.encoder.terms(words)) >= _OF_THE_BOOK
        )

    def holds(self, chunk: Chunk) -> bool:
        """Check once more, after the index, that a chunk is this course's and on its site."""
        course = self.course
        if chunk.course_id != course.course_id or chunk.generation != self.edition.generation:
            logger.error("the index gave a chunk of %s for %s", chunk.course_id, course.course_id)
            return False
        return chunk.source_url is None or is_on_site(chunk.source_url, course.base_url)
