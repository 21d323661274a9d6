"""Points and questions in the shapes of qdrant_client."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from qdrant_client import models

from core.embeddings.base import Vectors
from core.index.base import NO_TERMS, IndexedPoint, PointId, SearchQuery, SparseVector
from core.index.points import DENSE, DOCUMENT, SECTIONS, SPARSE, to_payload, to_point
from core.index.sparse import ascending


def to_requests(
    dense: Vectors, words: SparseVector, only: models.Filter | None, limit: int
) -> list[models.QueryRequest]:
    """Return the search by the dense vector and, where there are words, by the sparse one."""
    requests = [models.QueryRequest(query=dense.tolist(), using=DENSE, filter=only, limit=limit)]
    if words.indices:
        requests.append(
            models.QueryRequest(query=_sparse(words), using=SPARSE, filter=only, limit=limit)
        )
    return requests


def to_scoring(
    dense: Vectors,
    words: SparseVector,
    by_dense: Collection[PointId],
    by_words: Collection[PointId],
) -> list[models.QueryRequest]:
    """Return the searches that score some points by one vector, and some by the other."""
    requests: list[models.QueryRequest] = []
    if by_dense:
        requests += to_requests(dense, NO_TERMS, _only(by_dense), len(by_dense))
    if by_words and words.indices:
        requests += to_requests(dense, words, _only(by_words), len(by_words))[1:]
    return requests


def _only(ids: Collection[PointId]) -> models.Filter:
    return models.Filter(must=[models.HasIdCondition(has_id=list(ids))])


def to_filter(query: SearchQuery, hidden: Collection[UUID]) -> models.Filter | None:
    """Return the filter of a question, None when it asks all of a collection."""
    conditions: list[models.Condition] = []
    if query.section_ids:
        conditions.append(any_of(SECTIONS, list(query.section_ids)))
    if query.document_id is not None:
        conditions.append(any_of(DOCUMENT, [str(query.document_id)]))
    if not conditions and not hidden:
        return None
    gone: list[models.Condition] = [any_of(DOCUMENT, [str(name) for name in hidden])]
    return models.Filter(must=conditions or None, must_not=gone if hidden else None)


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
    return models.PointStruct(id=point.number, vector=vectors, payload=to_payload(point))


def from_record(record: models.Record) -> IndexedPoint:
    """Return the point of a record that came with its vectors."""
    vectors: Any = record.vector
    return to_point(record.payload, vectors[DENSE], terms_of(record), record.id)


def terms_of(record: models.Record) -> SparseVector:
    """Return the words of a record that came with them."""
    vectors: Any = record.vector
    sparse = (vectors or {}).get(SPARSE)
    return ascending(sparse.indices, sparse.values) if sparse else NO_TERMS
