"""An edition of a course, opened for reading."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Self

from core.embeddings.base import Embedder
from core.index.base import Part
from core.index.outline import Outline
from core.index.sparse import Bm25Encoder
from core.index.terms import TermStatistics
from core.models import Chunk, Course, is_on_site
from core.retrieval.editions.edition_reader import is_of
from core.retrieval.evidence import Reading, Terms, read_sentences
from core.retrieval.question.spelling import Speller
from core.retrieval.scoring import ScoreScale, scale_for
from core.storage.catalogue import Edition

_CHUNKS_REMEMBERED = 2_048
"""Chunks of an edition whose sentences stay in memory, about 8 kB each."""
_TEXTS_REMEMBERED = 4_096
"""Texts whose words stay in memory, most of them sentences, of less than 1 kB."""


@dataclass(frozen=True, slots=True)
class OpenEdition:
    """An edition, opened for reading."""

    course: Course
    edition: Edition
    embedder: Embedder
    """The model that made the edition's vectors."""
    scale: ScoreScale
    terms: TermStatistics
    encoder: Bm25Encoder
    terms_of: Terms
    """`encoder.terms` with a memory, for texts that come up again: sentences of chunks."""
    sentences_of: Reading
    """The sentences of a chunk's text, remembered."""
    parts: tuple[Part, ...]
    """What is searched."""
    outline: Outline
    """Of all parts as of one."""
    speller: Speller
    starts: tuple[int, ...]
    """Where each part begins in the outline."""

    @classmethod
    def opened(
        cls,
        course: Course,
        edition: Edition,
        embedder: Embedder,
        terms: TermStatistics,
        encoder: Bm25Encoder,
        outlines: Sequence[bytes],
        words: Mapping[str, int],
        is_word: Callable[[str], bool],
    ) -> Self:
        """Return the shelf with nothing remembered yet."""
        remember = lru_cache(_CHUNKS_REMEMBERED)
        terms_of = lru_cache(_TEXTS_REMEMBERED)(encoder.terms)
        joined, starts = Outline.joined([Outline.from_bytes(data) for data in outlines])
        return cls(
            course=course,
            edition=edition,
            embedder=embedder,
            scale=scale_for(edition.embedding_model),
            terms=terms,
            encoder=encoder,
            terms_of=terms_of,
            sentences_of=remember(partial(read_sentences, terms=terms_of)),
            parts=tuple(Part(s.collection, s.hidden) for s in edition.segments),
            outline=joined,
            speller=Speller(words, lambda word: is_word(word) or terms.knows(encoder.terms(word))),
            starts=tuple(starts),
        )

    @property
    def names(self) -> str:
        """The collections that are searched, as an answer names them."""
        return ", ".join(part.collection for part in self.parts)

    def own(self, chunks: Iterable[Chunk]) -> list[Chunk]:
        """Return the chunks that are the edition's and on its site."""
        return [chunk for chunk in chunks if self.shows(chunk)]

    def shows(self, chunk: Chunk) -> bool:
        """Return whether a chunk is the edition's and on its site.

        Checked once more, after the index.
        """
        return is_of(self.edition, chunk) and self._is_on_site(chunk)

    def on_site(self, chunks: Iterable[Chunk]) -> list[Chunk]:
        """Return the chunks that lie on the course's own site, or have no link."""
        return [*filter(self._is_on_site, chunks)]

    def _is_on_site(self, chunk: Chunk) -> bool:
        return chunk.source_url is None or is_on_site(chunk.source_url, self.course.base_url)
