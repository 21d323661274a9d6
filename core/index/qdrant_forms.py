"""Points and questions in the shapes of qdrant_client."""

from typing import Any

from qdrant_client import models

from core.index.base import IndexedPoint, SearchQuery, SparseVector
from core.index.points import DENSE, DOCUMENT, NO_TERMS, SECTIONS, SPARSE, to_payload, to_point
from core.index.sparse import ascending


def to_requests(
    query: SearchQuery, only: models.Filter | None, limit: int, *, with_payload: bool
) -> list[models.QueryRequest]:
    """Return the search by the dense vector and, when it has terms, by the sparse one.

    Only the first brings payloads.
    """
    dense = models.QueryRequest(
        query=query.dense.tolist(), using=DENSE, filter=only, limit=limit, with_payload=with_payload
    )
    if not query.sparse.indices:
        return [dense]
    terms = _sparse(query.sparse)
    sparse = models.QueryRequest(
        query=terms, using=SPARSE, filter=only, limit=limit, with_payload=False
    )
    return [dense, sparse]


def to_filter(query: SearchQuery) -> models.Filter | None:
    """Return the filter of a question, None when it asks the whole course."""
    conditions: list[models.Condition] = []
    if query.section_ids:
        conditions.append(any_of(SECTIONS, list(query.section_ids)))
    if query.document_id is not None:
        conditions.append(any_of(DOCUMENT, [str(query.document_id)]))
    return models.Filter(must=conditions) if conditions else None


def any_of(field: str, values: list[str]) -> models.FieldCondition:
    """Return the condition that a field has one of these values."""
    return models.FieldCondition(key=field, match=models.MatchAny(any=values))


def _sparse(sparse: SparseVector) -> models.SparseVector:
    return models.SparseVector(indices=list(sparse.indices), values=list(sparse.values))


def to_stored(point: IndexedPoint) -> models.PointStruct:
    """Return the point as it is sent; without terms it has no sparse vector."""
    vectors: dict[str, Any] = {DENSE: point.dense.tolist()}
    if point.sparse.indices:
        vectors[SPARSE] = _sparse(point.sparse)
    return models.PointStruct(
        id=str(point.chunk.chunk_id), vector=vectors, payload=to_payload(point)
    )


def from_record(record: models.Record) -> IndexedPoint:
    """Return the point of a record that came with its vectors."""
    vectors: Any = record.vector
    sparse = vectors.get(SPARSE)
    terms = ascending(sparse.indices, sparse.values) if sparse else NO_TERMS
    return to_point(record.payload, vectors[DENSE], terms)
