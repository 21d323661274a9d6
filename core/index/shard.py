"""One collection in Qdrant's embedded engine; the only file that speaks its queries."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self
from uuid import UUID

import qdrant_edge as edge

from core.disk.engine_files import (
    OPTIMIZE_ABOVE,
    Growth,
    check_copy,
    check_fresh,
    make_room,
    place_to_read,
)
from core.disk.space import is_want_of_room
from core.errors import CollectionDamaged, IndexFull, VectorIndexError
from core.index.base import Candidate, IndexedPoint, SearchQuery
from core.index.marker import Marker, read_marker, write_marker
from core.index.points import (
    DENSE,
    DOCUMENT,
    NO_TERMS,
    POSITION,
    SECTIONS,
    SPARSE,
    check_count,
    check_dimensions,
    in_reading_order,
    to_chunk,
    to_payload,
    to_point,
)
from core.index.sparse import ascending
from core.models import Chunk

PointId = int | UUID | str
"""As the engine has it; all of ours are UUIDs."""
_PAGE = 1_000
_FIELDS, _TERM, _TERMS = 1_024, 8, 256
"""Bytes of a chunk's fields but its text, of a term, and of what stands before the terms."""
_REMEMBERED = 4_096
"""Chunks kept in memory once read, about 3 kB each."""


class Shard:
    """A collection's folder, held open. Every call blocks; reads may run in parallel."""

    def __init__(
        self,
        folder: Path,
        marker: Marker,
        engine: edge.EdgeShard,
        stand_in: "TemporaryDirectory[str] | None" = None,
    ) -> None:
        self._folder = folder
        self._marker = marker
        self._engine = engine
        self._stand_in = stand_in
        self._remembered: dict[PointId, Chunk] = {}
        self._remembering = threading.Lock()

    @classmethod
    def create(cls, folder: Path, dimensions: int) -> Self:
        """Return an empty shard in a new folder.

        Raises:
            IndexFull: when the disk has no room for one.
        """
        folder.mkdir(parents=True)
        check_fresh(folder)
        marker = Marker(dimensions)
        write_marker(folder, marker)
        with engine_errors(folder):
            engine = edge.EdgeShard.create(str(folder), _config(dimensions))
            for field in (DOCUMENT, SECTIONS):
                keyword = edge.PayloadSchemaType.Keyword
                engine.update(edge.UpdateOperation.create_field_index(field, keyword))
        return cls(folder, marker, engine)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return the shard of a sealed folder.

        Raises:
            VectorIndexError: also when points are missing; the engine does not notice.
            IndexFull: when nothing can be written there, nor anywhere else.
        """
        marker = read_marker(folder)
        stand_in = place_to_read(folder)
        try:
            with engine_errors(folder):
                engine = edge.EdgeShard.load(str(folder) if stand_in is None else stand_in.name)
        except VectorIndexError:
            if stand_in is not None:
                stand_in.cleanup()
            raise
        shard = cls(folder, marker, engine, stand_in)
        try:
            check_count(folder.name, shard.count(), marker.points)
        except VectorIndexError as error:
            shard.close()
            raise CollectionDamaged(str(error)) from error
        return shard

    def upsert(self, points: Sequence[IndexedPoint]) -> None:
        """Store points; durable only once the shard is finished.

        Raises:
            IndexFull: when the disk has no room for them; then none is stored.
        """
        make_room(self._folder, _growth(points))
        stored = [edge.Point(p.chunk.chunk_id, _vectors(p), to_payload(p)) for p in points]
        with self._errors():
            self._engine.update(edge.UpdateOperation.upsert_points(stored))

    def finish(self, expected: int) -> None:
        """Bring a shard that holds `expected` points to disk, close it and read it back."""
        check_count(self._folder.name, self.count(), expected)
        with self._errors():
            if expected > OPTIMIZE_ABOVE:
                check_copy(self._folder, copies=2)
                self._engine.optimize()
            self._engine.flush()
        self.close()
        write_marker(self._folder, Marker(self._marker.dimensions, expected))
        Shard.load(self._folder).close()

    def close(self) -> None:
        """Release the files; no call may be running."""
        with self._errors():
            self._engine.close()
        if self._stand_in is not None:
            self._stand_in.cleanup()

    def count(self) -> int:
        """Return the number of points."""
        with self._errors():
            return self._engine.count(edge.CountRequest())

    def search(self, query: SearchQuery) -> list[Candidate]:
        """Return the union of the best by each vector, both scores exact for all.

        The first pass only ranks; the second scores all that the first found by both
        vectors, which the engine does in full because the filter leaves so few.
        """
        check_dimensions(self._folder.name, self._marker.dimensions, len(query.dense))
        with self._errors():
            ranked = self._nearest(query, _filter(query), query.limit)
            found = {hit.id for hits in ranked for hit in hits}
            if not found:
                return []
            only_found = edge.Filter(must=[edge.HasIdCondition(found)])
            by_dense, by_sparse = self._nearest(query, only_found, len(found))
        chunks = self._chunks(found)
        bm25 = {hit.id: hit.score for hit in by_sparse}
        cosines = ((hit.id, hit.score) for hit in by_dense)
        return [
            Candidate(chunks[chunk_id], cosine, bm25.get(chunk_id, 0.0))
            for chunk_id, cosine in cosines
        ]

    def fetch(self, chunk_ids: Sequence[UUID]) -> list[Chunk]:
        """Return the chunks with these ids, in the order asked for."""
        chunks = self._chunks({*chunk_ids})
        return [chunks[chunk_id] for chunk_id in chunk_ids if chunk_id in chunks]

    def reading_order(self, document_id: UUID | None) -> list[UUID]:
        """Return the chunk ids of one document, or of all, each document's in order."""
        documents = [] if document_id is None else [document_id]
        records = self._records(documents, payload=[DOCUMENT, POSITION], vectors=False)
        return in_reading_order((UUID(str(record.id)), record.payload) for record in records)

    def points(self, document_ids: Sequence[UUID]) -> list[IndexedPoint]:
        """Return the points of these documents."""
        if not document_ids:
            return []
        return [_point(record) for record in self._records(document_ids, True, vectors=True)]

    def _chunks(self, ids: set[PointId]) -> dict[PointId, Chunk]:
        """Return the chunks with these ids; reading one costs more than all of a search."""
        with self._remembering:
            known = {i: self._remembered[i] for i in ids if i in self._remembered}
        missing = [i for i in ids if i not in known]
        with self._errors():
            records = self._engine.retrieve(missing, with_payload=True, with_vector=False)
        read = {record.id: to_chunk(record.payload) for record in records}
        with self._remembering:
            self._remembered |= read
            surplus = max(0, len(self._remembered) - _REMEMBERED)
            for oldest in list(islice(self._remembered, surplus)):
                del self._remembered[oldest]
        return known | read

    def _nearest(
        self, query: SearchQuery, only: edge.Filter | None, limit: int
    ) -> list[list[edge.ScoredPoint]]:
        dense = edge.Query.Nearest(query.dense.tolist(), using=DENSE)
        sparse = edge.Query.Nearest(
            edge.SparseVector(list(query.sparse.indices), list(query.sparse.values)), using=SPARSE
        )
        return self._engine.query_batch(
            edge.QueryBatchRequest(
                [
                    edge.QueryRequest(limit=limit, query=vector, filter=only)
                    for vector in (dense, sparse)
                ]
            )
        )

    def _records(
        self, document_ids: Sequence[UUID], payload: bool | list[str], vectors: bool
    ) -> Iterator[edge.Record]:
        names = [str(document_id) for document_id in document_ids]
        only = edge.Filter(must=[edge.FieldCondition(DOCUMENT, edge.MatchAny(names))])
        offset = None
        while True:
            with self._errors():
                page, offset = self._engine.scroll(
                    edge.ScrollRequest(
                        offset=offset,
                        limit=_PAGE,
                        filter=only if names else None,
                        with_payload=payload,
                        with_vector=vectors,
                    )
                )
            yield from page
            if offset is None:
                return

    def _errors(self) -> AbstractContextManager[None]:
        return engine_errors(self._folder)


@contextmanager
def engine_errors(place: object) -> Iterator[None]:
    """Turn the engine's failures into VectorIndexError.

    The engine raises bare `Exception` and, after a panic, a class of its own below
    BaseException that it does not export; everything else passes.
    """
    try:
        yield
    except BaseException as error:
        if type(error) is not Exception and type(error).__name__ != "PanicException":
            raise
        kind = IndexFull if is_want_of_room(error) else VectorIndexError
        raise kind(f"The vector index failed on {place}: {error}") from error


def _growth(points: Sequence[IndexedPoint]) -> Growth:
    """Return how many bytes points add to a shard's files; the text is stored compressed."""
    return Growth(
        vectors=sum(point.dense.nbytes for point in points),
        payload=sum(len(p.chunk.content_text.encode()) + _FIELDS for p in points),
        terms=sum(_TERM * len(point.sparse.indices) + _TERMS for point in points),
    )


def _config(dimensions: int) -> edge.EdgeConfig:
    """Without a log of writes many processes can hold a sealed folder open at once."""
    return edge.EdgeConfig(
        vectors={DENSE: edge.EdgeVectorParams(dimensions, edge.Distance.Cosine)},
        sparse_vectors={SPARSE: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
        max_search_threads=1,
        wal_enabled=False,
    )


def _vectors(point: IndexedPoint) -> dict[str, Any]:
    vectors: dict[str, Any] = {DENSE: point.dense.tolist()}
    if point.sparse.indices:
        vectors[SPARSE] = edge.SparseVector(list(point.sparse.indices), list(point.sparse.values))
    return vectors


def _point(record: edge.Record) -> IndexedPoint:
    vectors: Any = record.vector
    sparse = vectors.get(SPARSE)
    terms = ascending(sparse.indices, sparse.values) if sparse else NO_TERMS
    return to_point(record.payload, vectors[DENSE], terms)


def _filter(query: SearchQuery) -> edge.Filter | None:
    conditions: list[edge.ConditionType] = []
    if query.section_ids:
        sections = edge.MatchAny(list(query.section_ids))
        conditions.append(edge.FieldCondition(SECTIONS, sections))
    if query.document_id is not None:
        document = edge.MatchValue(str(query.document_id))
        conditions.append(edge.FieldCondition(DOCUMENT, document))
    return edge.Filter(must=conditions) if conditions else None
