"""The Protocol every vector index speaks, and the points it stores."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from core.embeddings.base import Vectors
from core.models import Chunk


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Term ids and their weights, of equal length, ids ascending and distinct."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class IndexedPoint:
    """A chunk with its vectors, as it is stored."""

    chunk: Chunk
    section_ids: tuple[str, ...]
    """Every section the chunk lies in, from its module down to its own heading."""
    dense: Vectors
    """(dimensions,) float32 of unit length."""
    sparse: SparseVector


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """One hybrid query: what to look for, where, and how much of it."""

    dense: Vectors
    """(dimensions,) float32 of unit length."""
    sparse: SparseVector
    section_ids: tuple[str, ...] = ()
    """Only chunks that lie in one of these sections; empty: the whole course."""
    document_id: UUID | None = None
    limit: int = 100
    """Candidates from each of the two vectors."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that a query found, with its raw evidence."""

    chunk: Chunk
    cosine: float
    """Cosine of question and chunk, -1 to 1."""
    bm25: float
    """BM25 weight of the question's words in the chunk, >= 0, unbounded."""


class VectorIndex(Protocol):
    """Stores one immutable collection an edition of a course, and searches it.

    A collection is created, filled, sealed, and from then on only read and at last dropped.
    Every method raises VectorIndexError when the engine fails.
    """

    async def create(self, collection: str, dimensions: int) -> None:
        """Begin an empty collection; leftovers of an unsealed one by that name vanish."""
        ...

    async def upsert(self, collection: str, points: Sequence[IndexedPoint]) -> None:
        """Store points; a point with a known chunk id replaces the old one."""
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

    async def search(self, collection: str, query: SearchQuery) -> list[Candidate]:
        """Return the union of the best `limit` chunks by each vector, in no set order."""
        ...

    async def fetch(self, collection: str, chunk_ids: Sequence[UUID]) -> list[Chunk]:
        """Return the chunks with these ids, in the order asked for; unknown ids are left out."""
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
