"""The Protocol every vector index speaks, and the points it stores."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

import numpy as np
import numpy.typing as npt

from core.embeddings.base import Vectors
from core.models import Chunk

FORMAT = 2
"""Raise it when a stored chunk changes in a way that older versions cannot read."""


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Term ids and their weights, of equal length, ids ascending and distinct."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


NO_TERMS = SparseVector((), ())
PointId = int | str | UUID
"""A chunk's place in its collection, from 0, in the types of the engines' clients."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class IndexedPoint:
    """A chunk with its vectors, as it is stored."""

    chunk: Chunk
    section_ids: tuple[str, ...]
    """Every section the chunk lies in, from its module down to its own heading."""
    dense: Vectors
    """(dimensions,) float32 of unit length."""
    sparse: SparseVector
    number: int = 0
    """Its place in the collection: documents one after the other, each in reading order."""


@dataclass(frozen=True, slots=True)
class Part:
    """A collection that a course is searched in, and what of it is no longer the course's."""

    collection: str
    hidden: frozenset[UUID] = frozenset()
    """Documents that were replaced or removed since the collection was sealed."""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """One hybrid query: what to look for, where, and how much of it."""

    dense: Vectors
    """(dimensions,) float32 of unit length."""
    words: SparseVector
    """The question's words, weighed by their rarity in the course."""
    section_ids: tuple[str, ...] = ()
    """Only chunks that lie in one of these sections; empty: the whole course."""
    document_id: UUID | None = None
    limit: int = 100
    """Candidates from each of the two vectors."""


@dataclass(frozen=True, slots=True)
class Hits:
    """What a query found in one part, without the chunks themselves; of equal lengths."""

    ids: Sequence[PointId]
    cosines: Floats
    """Cosine of question and chunk, -1 to 1."""
    bm25: Floats
    """BM25 weight of the question's words in the chunk, >= 0, unbounded."""


class VectorIndex(Protocol):
    """Stores the immutable collections that the editions of courses are made of, and searches them.

    A collection is created, filled, sealed, and from then on only read and at last dropped.
    Every method raises VectorIndexError when the engine fails.
    """

    async def create(self, collection: str, dimensions: int) -> None:
        """Begin an empty collection; leftovers of an unsealed one by that name vanish."""
        ...

    async def upsert(self, collection: str, points: Sequence[IndexedPoint]) -> None:
        """Store points; one with the id of another replaces it."""
        ...

    async def seal(self, collection: str, expected: int) -> None:
        """Make the collection durable and readable by every process.

        Raises:
            VectorIndexError: also when it does not hold `expected` points.
        """
        ...

    async def drop(self, collection: str) -> None:
        """Remove the collection, sealed or not; nothing happens where there is none."""
        ...

    async def collections(self) -> frozenset[str]:
        """Return the names of all collections, unsealed ones included."""
        ...

    async def count(self, collection: str) -> int:
        """Return the number of points."""
        ...

    async def is_whole(self, collection: str, expected: int) -> bool:
        """Return whether a sealed collection holds `expected` points and can be read.

        Cheaper than counting them where that takes memory.
        """
        ...

    async def search(self, parts: Sequence[Part], query: SearchQuery) -> list[Hits]:
        """Return the union of the best `limit` chunks by each vector, over all parts.

        For each part its own hits, in no set order, both scores exact.
        """
        ...

    async def fetch(self, collection: str, ids: Sequence[PointId]) -> list[Chunk]:
        """Return the chunks with these ids, in the order asked for; unknown ids are left out."""
        ...

    async def terms(self, collection: str, ids: Sequence[PointId]) -> list[Sequence[int]]:
        """Return the ids of the words of these chunks, in the order asked for; unknown: none.

        Cheaper than to read the chunks.
        """
        ...

    def scroll(self, collection: str, *, document_id: UUID | None = None) -> AsyncIterator[Chunk]:
        """Return every chunk (of one document), each document's in order of `chunk_index`."""
        ...

    async def points(self, collection: str, document_ids: Sequence[UUID]) -> list[IndexedPoint]:
        """Return the stored points of some documents, vectors included, in no set order."""
        ...

    async def close(self) -> None:
        """Release files and connections; the index cannot be used afterwards."""
        ...
