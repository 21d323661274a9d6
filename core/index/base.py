"""The Protocol every vector index speaks, and the points it stores."""

import json
import re
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol
from uuid import UUID

import numpy as np
import numpy.typing as npt
import qdrant_edge as edge
from pydantic import ValidationError

from core.domain import Chunk
from core.domain.errors import CollectionDamaged, VectorIndexError
from core.providers.embeddings.base import Vectors

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


DENSE, SPARSE = "dense", "sparse"
DOCUMENT, SECTIONS, POSITION = "document_id", "section_ids", "chunk_index"
_BLOCKS, _SENTENCES, _SENTENCE_VECTORS = "blocks", "sentences", "sentence_vectors"
_COLLECTION = re.compile(r"[a-z0-9][a-z0-9_-]{0,127}")


def is_collection(name: str) -> bool:
    """Return whether a collection can have this name."""
    return _COLLECTION.fullmatch(name) is not None


def check_collection(name: str) -> str:
    """Return the name; anything that cannot be a collection's raises ValueError."""
    if not is_collection(name):
        raise ValueError(f"{name!r} cannot be the name of a collection")
    return name


def collection_of(course_id: str, generation: UUID) -> str:
    """Return the name of the collection that holds an edition of a course."""
    return f"{course_id}-{generation.hex}"


def course_of(collection: str) -> str:
    """Return the course that a collection belongs to."""
    return collection.rpartition("-")[0]


@lru_cache(256)
def generation_of(collection: str) -> UUID | None:
    """Return the edition that a collection was written for; None: its name tells of none."""
    try:
        return UUID(collection.rpartition("-")[2])
    except ValueError:
        return None


def check_format(collection: str, found: object) -> None:
    """Raise VectorIndexError when a collection was written in another format."""
    if found != FORMAT:
        raise VectorIndexError(
            f"Collection {collection} is stored in format {found}, and this version reads "
            f"format {FORMAT}: ingest the course again, or run the version that wrote it."
        )


def check_dimensions(collection: str, stored: int, asked: int) -> None:
    """Raise VectorIndexError when a question's vector does not fit the collection's."""
    if stored != asked:
        raise VectorIndexError(
            f"Collection {collection} holds vectors of {stored} dimensions, and the question's "
            f"has {asked}: the embedding model has changed, ingest the course again."
        )


def check_count(collection: str, found: int, expected: int) -> None:
    """Raise VectorIndexError when a collection does not hold what it should."""
    if found != expected:
        raise VectorIndexError(f"Collection {collection} holds {found} points, not {expected}.")


def to_payload(point: IndexedPoint) -> dict[str, Any]:
    """Return the point's payload: the chunk's fields and its sections."""
    chunk = point.chunk
    return {
        **chunk.model_dump(mode="json"),
        SECTIONS: list(point.section_ids),
        _BLOCKS: [list(block) for block in chunk.blocks],
        _SENTENCES: [list(span) for span in chunk.sentences],
        _SENTENCE_VECTORS: b64encode(chunk.sentence_vectors).decode(),
    }


def to_chunk(payload: Mapping[str, Any] | None, terms: Sequence[int]) -> Chunk:
    """Return the chunk of a stored payload, with the ids of its words."""
    fields = dict(payload or {})
    fields.pop(SECTIONS, None)
    fields["terms"] = terms
    fields[_SENTENCE_VECTORS] = b64decode(fields.get(_SENTENCE_VECTORS, ""))
    try:
        return Chunk.model_validate(fields)
    except ValidationError as error:
        wrong = ", ".join(".".join(map(str, problem["loc"])) for problem in error.errors())
        # Without the cause, whose text quotes the book.
        raise VectorIndexError(f"A stored chunk is unreadable: {wrong}.") from None


def to_point(
    payload: Mapping[str, Any] | None,
    dense: Sequence[float],
    sparse: SparseVector,
    stored_as: PointId,
) -> IndexedPoint:
    """Return the point of a stored payload and its vectors."""
    return IndexedPoint(
        chunk=to_chunk(payload, sparse.indices),
        section_ids=tuple((payload or {}).get(SECTIONS, ())),
        dense=np.asarray(dense, dtype=np.float32),
        sparse=sparse,
        number=stored_as if isinstance(stored_as, int) else 0,
    )


def in_reading_order(
    places: Iterable[tuple[PointId, Mapping[str, Any] | None]],
) -> list[PointId]:
    """Return point ids sorted by document and place, given each one's partial payload."""

    def place(entry: tuple[PointId, Mapping[str, Any] | None]) -> tuple[str, int]:
        payload = entry[1] or {}
        return payload[DOCUMENT], payload[POSITION]

    return [stored_as for stored_as, _ in sorted(places, key=place)]


class EngineQuery:
    """The two vectors of a question, and the filter that it is asked with."""

    def __init__(self, query: SearchQuery) -> None:
        """Take a question to the collections of a course."""
        words = query.words
        self.dimensions = len(query.dense)
        self._dense = edge.Query.Nearest(query.dense.tolist(), using=DENSE)
        self._words = edge.Query.Nearest(
            edge.SparseVector(list(words.indices), list(words.values)), using=SPARSE
        )
        self._must: list[edge.ConditionType] = []
        if query.section_ids:
            sections = edge.MatchAny(list(query.section_ids))
            self._must.append(edge.FieldCondition(SECTIONS, sections))
        if query.document_id is not None:
            document = edge.MatchValue(str(query.document_id))
            self._must.append(edge.FieldCondition(DOCUMENT, document))

    def filter(self, hidden: Collection[UUID]) -> edge.Filter | None:
        """Return the filter, which leaves out hidden documents; None: everything is asked."""
        if not hidden:
            return edge.Filter(must=self._must) if self._must else None
        names = edge.MatchAny([str(document_id) for document_id in hidden])
        gone: list[edge.ConditionType] = [edge.FieldCondition(DOCUMENT, names)]
        return edge.Filter(must=self._must or None, must_not=gone)

    def batch(self, only: edge.Filter | None, limit: int) -> edge.QueryBatchRequest:
        """Return the search by each of the two vectors."""
        vectors = (self._dense, self._words)
        return edge.QueryBatchRequest(
            [edge.QueryRequest(limit=limit, query=vector, filter=only) for vector in vectors]
        )

    def scoring(self, by_dense: set[PointId], by_words: set[PointId]) -> edge.QueryBatchRequest:
        """Return the searches that score some points by one vector, and some by the other."""
        requests = []
        for vector, ids in ((self._dense, by_dense), (self._words, by_words)):
            if ids:
                only = edge.Filter(must=[edge.HasIdCondition(ids)])
                requests.append(edge.QueryRequest(limit=len(ids), query=vector, filter=only))
        return edge.QueryBatchRequest(requests)


_FILE = "glossator.json"
_REWRITTEN = frozenset({_FILE, "edge_config.json", "segment.json"})
OPTIMIZE_ABOVE = 20_000
"""Points; below, a full scan takes a few milliseconds and building a graph half a minute."""


@dataclass(frozen=True, slots=True)
class Marker:
    """What a reader must know before it opens a collection's folder."""

    dimensions: int
    points: int = 0
    """How many points it was sealed with; 0 while it is being built."""
    format: int = FORMAT
    files: dict[str, int] = field(default_factory=dict)
    """The size of each file as it was sealed, but for those that opening it rewrites."""


def write_marker(folder: Path, marker: Marker) -> None:
    """Put the marker into the folder, in place of an older one."""
    text = json.dumps(asdict(marker))
    (folder / _FILE).write_text(text, encoding="utf-8")


def sizes(folder: Path) -> dict[str, int]:
    """Return the size of each file of a collection that only its writing changes.

    A process that opens the collection rewrites small files, each under a name that begins with
    a dot until it takes the old one's place.
    """
    return {
        path.relative_to(folder).as_posix(): path.stat().st_size
        for path in folder.rglob("*")
        if not (path.name.startswith(".") or path.name in _REWRITTEN) and path.is_file()
    }


def is_whole(folder: Path, points: int) -> bool:
    """Return whether a sealed collection has so many points, and its files as they were sealed.

    Nothing is opened: that would take memory by the size of the collection.

    Raises:
        CollectionDamaged: when it has no readable marker.
    """
    marker = read_marker(folder)
    return marker.points == points and bool(marker.files) and marker.files == sizes(folder)


def has_marker(folder: Path) -> bool:
    """Return whether the folder is a collection's."""
    return (folder / _FILE).is_file()


def read_marker(folder: Path) -> Marker:
    """Return the folder's marker.

    Raises:
        CollectionDamaged: when there is none, or it is of another format.
    """
    try:
        fields = json.loads((folder / _FILE).read_text(encoding="utf-8"))
        check_format(folder.name, fields.get("format"))
        return Marker(**fields)
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise CollectionDamaged(
            f"{folder} is no readable collection ({error}): ingest the course again."
        ) from error
