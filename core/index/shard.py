"""One collection in Qdrant's embedded engine; the only file that speaks its queries."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Self
from uuid import UUID

import qdrant_edge as edge

from core.domain import Chunk
from core.domain.disk import INDEX_RESERVE, MEGABYTE, check_index_room, is_want_of_room
from core.domain.errors import CollectionDamaged, IndexFull, VectorIndexError
from core.index.base import (
    DENSE,
    DOCUMENT,
    NO_TERMS,
    OPTIMIZE_ABOVE,
    POSITION,
    SECTIONS,
    SPARSE,
    EngineQuery,
    IndexedPoint,
    Marker,
    Part,
    PointId,
    SparseVector,
    check_count,
    check_dimensions,
    in_reading_order,
    read_marker,
    sizes,
    to_chunk,
    to_payload,
    to_point,
    write_marker,
)
from core.index.terms import ascending

Scored = list[edge.ScoredPoint]
_PAGE = 1_000
_FIELDS, _TERM, _TERMS = 1_024, 8, 256
"""Bytes of a chunk's fields but its text, of a term, and of what stands before the terms."""
_REMEMBERED = 4_096
"""Chunks kept in memory once read, about 3 kB each."""


class Shard:
    """A collection's folder, held open. Every call blocks; reads may run in parallel."""

    def __init__(self, folder: Path, marker: Marker, engine: edge.EdgeShard) -> None:
        self._folder = folder
        self._marker = marker
        self._engine = engine
        self._remembered: dict[PointId, Chunk] = {}
        self._remembering = threading.Lock()

    @classmethod
    def create(cls, folder: Path, dimensions: int) -> Self:
        """Return an empty shard in a new folder.

        Raises:
            IndexFull: when the disk has no room for one.
        """
        folder.mkdir(parents=True)
        check_index_room(folder, INDEX_RESERVE)
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
            IndexFull: when nothing can be written there: the engine rewrites two small files
                whenever it opens a collection.
        """
        marker = read_marker(folder)
        check_index_room(folder, MEGABYTE)
        with engine_errors(folder):
            engine = edge.EdgeShard.load(str(folder))
        shard = cls(folder, marker, engine)
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
        check_index_room(self._folder, _growth(points) + INDEX_RESERVE)
        stored = [edge.Point(p.number, _vectors(p), to_payload(p)) for p in points]
        with self._errors():
            self._engine.update(edge.UpdateOperation.upsert_points(stored))

    def finish(self, expected: int) -> None:
        """Bring a shard that holds `expected` points to disk, close it and read it back."""
        check_count(self._folder.name, self.count(), expected)
        with self._errors():
            if expected > OPTIMIZE_ABOVE:
                copies = 2 * sum(map(_stored, self._folder.rglob("*")))
                check_index_room(self._folder, copies + INDEX_RESERVE)
                self._engine.optimize()
            self._engine.flush()
        self.close()
        marker = replace(self._marker, points=expected)
        write_marker(self._folder, marker)
        Shard.load(self._folder).close()
        write_marker(self._folder, replace(marker, files=sizes(self._folder)))

    def close(self) -> None:
        """Release the files; no call may be running."""
        with self._errors():
            self._engine.close()

    def count(self) -> int:
        """Return the number of points."""
        with self._errors():
            return self._engine.count(edge.CountRequest())

    def best(self, query: EngineQuery, part: Part, limit: int) -> tuple[Scored, Scored]:
        """Return the best by each vector, best first; of the hidden documents none."""
        check_dimensions(self._folder.name, self._marker.dimensions, query.dimensions)
        return self._nearest(query, query.filter(part.hidden), limit)

    def scores(
        self, query: EngineQuery, by_dense: set[PointId], by_words: set[PointId]
    ) -> tuple[Scored, Scored]:
        """Return some points by the dense vector, and some by the words, all scores exact.

        The engine scores them in full because the filter leaves so few.
        """
        wanted = [ids for ids in (by_dense, by_words) if ids]
        if not wanted:
            return [], []
        with self._errors():
            found = self._engine.query_batch(query.scoring(by_dense, by_words))
        return found[0] if by_dense else [], found[-1] if by_words else []

    def fetch(self, ids: Sequence[PointId]) -> list[Chunk]:
        """Return the chunks with these ids, in the order asked for."""
        chunks = self._chunks({*ids})
        return [chunks[stored_as] for stored_as in ids if stored_as in chunks]

    def terms(self, ids: Sequence[PointId]) -> list[Sequence[int]]:
        """Return the ids of the words of these chunks; a twentieth of the cost of reading them."""
        with self._errors():
            records = self._engine.retrieve([*{*ids}], with_payload=False, with_vector=[SPARSE])
        known = {record.id: _term_ids(record) for record in records}
        return [known.get(stored_as, ()) for stored_as in ids]

    def reading_order(self, document_id: UUID | None) -> list[PointId]:
        """Return the point ids of one document, or of all, each document's in order."""
        documents = [] if document_id is None else [document_id]
        records = self._records(documents, payload=[DOCUMENT, POSITION], vectors=False)
        return in_reading_order((record.id, record.payload) for record in records)

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
        if not missing:
            return known
        with self._errors():
            records = self._engine.retrieve(missing, with_payload=True, with_vector=[SPARSE])
        read = {record.id: to_chunk(record.payload, _term_ids(record)) for record in records}
        with self._remembering:
            self._remembered |= read
            surplus = max(0, len(self._remembered) - _REMEMBERED)
            for oldest in list(islice(self._remembered, surplus)):
                del self._remembered[oldest]
        return known | read

    def _nearest(
        self, query: EngineQuery, only: edge.Filter | None, limit: int
    ) -> tuple[Scored, Scored]:
        with self._errors():
            by_dense, by_words = self._engine.query_batch(query.batch(only, limit))
        return by_dense, by_words

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


def _growth(points: Sequence[IndexedPoint]) -> int:
    """Return how many bytes points add to a shard's files; the text is stored compressed."""
    return sum(
        point.dense.nbytes
        + len(point.chunk.content_text.encode())
        + _FIELDS
        + _TERM * len(point.sparse.indices)
        + _TERMS
        for point in points
    )


def _stored(path: Path) -> int:
    """Return the bytes that a file takes on the disk, without its holes."""
    status = path.stat()
    blocks: int | None = getattr(status, "st_blocks", None)  # Windows has none
    return status.st_size if blocks is None else blocks * 512


def _config(dimensions: int) -> edge.EdgeConfig:
    """Without a log of writes many processes can hold a sealed folder open at once."""
    return edge.EdgeConfig(
        vectors={DENSE: edge.EdgeVectorParams(dimensions, edge.Distance.Cosine)},
        sparse_vectors={SPARSE: edge.EdgeSparseVectorParams()},
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
    return to_point(record.payload, vectors[DENSE], _terms(record), record.id)


def _term_ids(record: edge.Record) -> Sequence[int]:
    vectors: Any = record.vector
    sparse = (vectors or {}).get(SPARSE)
    return sparse.indices if sparse else ()


def _terms(record: edge.Record) -> SparseVector:
    vectors: Any = record.vector
    sparse = (vectors or {}).get(SPARSE)
    return ascending(sparse.indices, sparse.values) if sparse else NO_TERMS
