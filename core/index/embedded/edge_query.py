"""A question in the shapes of the embedded engine, made once for all collections of a course."""

from collections.abc import Collection
from uuid import UUID

import qdrant_edge as edge

from core.index.base import PointId, SearchQuery
from core.index.points import DENSE, DOCUMENT, SECTIONS, SPARSE


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
