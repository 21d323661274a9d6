"""Reads the whole paragraphs around what was found, for a reader that takes more than excerpts."""

import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import count
from typing import Generic, Self, TypeVar
from uuid import UUID

import numpy as np

from core.domain import Chunk, Course, RetrievedChunk, is_on_site
from core.index.base import Part, VectorIndex, generation_of
from core.index.terms import Bm25Encoder, Outline, TermStatistics
from core.providers.embeddings.base import Embedder
from core.retrieval.evidence import Excerpt, Reading, Terms, read_sentences
from core.retrieval.questions import Speller
from core.retrieval.ranking import ScoreScale, scale_for
from core.retrieval.retrieval import retrieved, whole
from core.storage.catalogue import Edition

logger = logging.getLogger(__name__)


class EditionReader:
    """Gives the chunks that an edition shows; checked once more that they are its own."""

    def __init__(self, index: VectorIndex) -> None:
        self._index = index

    async def document(self, edition: Edition, document_id: UUID) -> list[Chunk]:
        """Return a document's chunks in order; none where the edition does not show it.

        Raises:
            VectorIndexError: when the index fails, or the edition was replaced.
        """
        return [chunk async for chunk in self.scroll(edition, document_id)]

    async def scroll(
        self, edition: Edition, document_id: UUID | None = None
    ) -> AsyncIterator[Chunk]:
        """Yield the edition's chunks (of one document), each document's in order.

        Raises:
            VectorIndexError: as `document`.
        """
        for segment in edition.segments:
            if document_id in segment.hidden:
                continue
            chunks = self._index.scroll(segment.collection, document_id=document_id)
            async for chunk in chunks:
                if chunk.document_id in segment.hidden:
                    continue
                if is_of(edition, chunk):
                    yield chunk.model_copy(update={"generation": edition.generation})


def is_of(edition: Edition, chunk: Chunk) -> bool:
    """Return whether a chunk is of an edition's course, and came with one of its collections."""
    if chunk.course_id == edition.course_id and any(
        chunk.generation == generation_of(segment.collection) for segment in edition.segments
    ):
        return True
    logger.error("the index gave a chunk of %s for %s", chunk.course_id, edition.course_id)
    return False


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


FURTHEST = 6
"""Chunks that are looked at before and after one that was found."""
_LONGEST_SCROLLED = 400
"""Chunks of a document that is read as a whole where an edition has no outline."""


async def widen(
    index: VectorIndex, opened: OpenEdition, evidence: Sequence[Excerpt], tokens: int
) -> list[Excerpt]:
    """Return whole chunks: those of `evidence`, then their neighbours, in `tokens` together.

    Neighbours are of the same section; the nearest of all come first. The order of `evidence`
    is kept, and its first chunk always is. Excerpts that do not fit as whole chunks stay as
    they are while there is room for them.

    Raises:
        VectorIndexError: when the index fails.
    """
    taken: dict[UUID, Excerpt] = {}
    room = tokens
    for excerpt in evidence:
        for wanted in (whole(excerpt.chunk), excerpt):
            if wanted.tokens <= room or not taken:
                taken.setdefault(excerpt.chunk.chunk_id, wanted)
                room -= wanted.tokens
                break
    for chunk in _nearest_first(evidence, await _around(index, opened, evidence)):
        if chunk.chunk_id not in taken and chunk.token_count <= room:
            taken[chunk.chunk_id] = whole(chunk)
            room -= chunk.token_count
    return list(taken.values())


def _nearest_first(
    evidence: Sequence[Excerpt], around: dict[tuple[UUID, int], Chunk]
) -> Iterator[RetrievedChunk]:
    """Yield the neighbours of what was found, unbroken from it, at a distance of 1, then 2 ..."""
    open_ends = [(e.chunk, step) for step in (1, -1) for e in evidence]
    for distance in count(1):
        still_open = []
        for seed, step in open_ends:
            place = (seed.document_id, seed.chunk_index + step * distance)
            chunk = around.get(place)
            if chunk is not None and chunk.headings == seed.headings:
                yield retrieved(chunk, seed.similarity_score, seed.generation)
                still_open.append((seed, step))
        open_ends = still_open
        if not open_ends or distance == FURTHEST:
            return


async def _around(
    index: VectorIndex, opened: OpenEdition, evidence: Sequence[Excerpt]
) -> dict[tuple[UUID, int], Chunk]:
    """Return the chunks near what was found, by document and position."""
    wanted = {
        (e.chunk.document_id, e.chunk.chunk_index + step): e.chunk
        for e in evidence
        for step in range(-FURTHEST, FURTHEST + 1)
        if step and 0 <= e.chunk.chunk_index + step < e.chunk.total_chunks
    }
    found = await _fetched(index, opened, wanted)
    places = {(chunk.document_id, chunk.chunk_index): chunk for chunk in found}
    return {place: places[place] for place in wanted if place in places}


async def _fetched(
    index: VectorIndex, opened: OpenEdition, wanted: dict[tuple[UUID, int], RetrievedChunk]
) -> list[Chunk]:
    """Return chunks by their places, whose numbers the outline knows."""
    outline = opened.outline
    units: dict[str, list[int]] = {}
    for number, file in enumerate(outline.files):
        units.setdefault(file, []).append(number)
    positions: dict[str, set[int]] = {}
    for (_, position), seed in wanted.items():
        positions.setdefault(seed.source_file, set()).add(position)
    numbers: list[int] = []
    for file, own in positions.items():
        inside = np.isin(outline.units, units.get(file, []))
        inside &= np.isin(outline.position, sorted(own))
        numbers += np.flatnonzero(inside).tolist()
    found: list[Chunk] = []
    ends = [*opened.starts[1:], len(outline.units)]
    for part, start, end in zip(opened.parts, opened.starts, ends, strict=True):
        ids = sorted(number - start for number in numbers if start <= number < end)
        if ids:
            chunks = await index.fetch(part.collection, ids)
            found += opened.own(c for c in chunks if c.document_id not in part.hidden)
    return found


T = TypeVar("T")


class Recent(Generic[T]):
    """At most `limit` values by generation; the one that was not asked for longest goes first."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: dict[UUID, T] = {}

    def get(self, generation: UUID) -> T | None:
        """Return the generation's value, or none."""
        value = self._values.pop(generation, None)
        if value is not None:
            self._values[generation] = value
        return value

    def add(self, generation: UUID, value: T) -> T:
        """Keep a value, and return it."""
        self._values[generation] = value
        while len(self._values) > self._limit:
            del self._values[next(iter(self._values))]
        return value
