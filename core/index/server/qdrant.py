"""The vector index on a Qdrant server."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from http import HTTPStatus
from typing import Any
from uuid import UUID

from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from core.errors import CollectionMissing, VectorIndexError
from core.index.base import FORMAT, Hits, IndexedPoint, Part, PointId, SearchQuery
from core.index.embedded.merging import Scores, best
from core.index.points import (
    DENSE,
    DOCUMENT,
    POSITION,
    SECTIONS,
    SPARSE,
    check_collection,
    check_count,
    check_dimensions,
    check_format,
    in_reading_order,
    is_collection,
    to_chunk,
)
from core.index.server.qdrant_connection import qdrant_errors
from core.index.server.qdrant_forms import (
    any_of,
    from_record,
    terms_of,
    to_filter,
    to_requests,
    to_scoring,
    to_stored,
)
from core.models import Chunk

_BUILT = ".points"
_BATCH = 100
_PAGE = 1_000
_Scored = list[models.ScoredPoint]


class QdrantIndex:
    """A VectorIndex on a Qdrant server, cluster or cloud.

    A collection's points are built in `<prefix><collection>.points`; sealing it gives it the
    alias `<prefix><collection>`, under which alone it is read. Whatever else the server
    holds stays untouched.
    """

    def __init__(
        self,
        client: AsyncQdrantClient,
        *,
        prefix: str = "glossator-",
        shard_number: int | None = None,
        replication_factor: int | None = None,
        write_consistency_factor: int | None = None,
    ) -> None:
        """Use a client, which `close` closes; None leaves a number to the server."""
        self._client = client
        self._prefix = prefix
        self._shard_number = shard_number
        self._replication_factor = replication_factor
        self._write_consistency_factor = write_consistency_factor
        self._dimensions: dict[str, int] = {}

    async def create(self, collection: str, dimensions: int) -> None:
        """Begin an empty collection; leftovers of an unsealed one by that name vanish."""
        await self._refuse_sealed(collection)
        built = self._built(collection)
        with qdrant_errors():
            await self._client.delete_collection(built)
            await self._client.create_collection(
                built,
                vectors_config={
                    DENSE: models.VectorParams(size=dimensions, distance=models.Distance.COSINE)
                },
                sparse_vectors_config={SPARSE: models.SparseVectorParams()},
                shard_number=self._shard_number,
                replication_factor=self._replication_factor,
                write_consistency_factor=self._write_consistency_factor,
                metadata={"format": FORMAT},
            )
            for field in (DOCUMENT, SECTIONS):
                await self._client.create_payload_index(
                    built, field, models.PayloadSchemaType.KEYWORD
                )

    async def upsert(self, collection: str, points: Sequence[IndexedPoint]) -> None:
        """Store points; one with the id of another replaces it."""
        await self._refuse_sealed(collection)
        for start in range(0, len(points), _BATCH):
            batch = [to_stored(point) for point in points[start : start + _BATCH]]
            with qdrant_errors():
                await self._client.upsert(self._built(collection), batch, wait=True)

    async def seal(self, collection: str, expected: int) -> None:
        """Make the collection readable by every process."""
        built = self._built(collection)
        with qdrant_errors():
            count = await self._client.count(built, exact=True)
        check_count(collection, count.count, expected)
        if not await self._is_sealed(collection):
            alias = models.CreateAlias(collection_name=built, alias_name=self._alias(collection))
            with qdrant_errors():
                await self._client.update_collection_aliases(
                    [models.CreateAliasOperation(create_alias=alias)]
                )

    async def drop(self, collection: str) -> None:
        """Remove the collection, sealed or not; its alias goes with it."""
        self._dimensions.pop(collection, None)
        built = self._built(collection)
        with qdrant_errors():
            await self._client.delete_collection(built)

    async def collections(self) -> frozenset[str]:
        """Return the names of all collections of this prefix, unsealed ones included."""
        with qdrant_errors():
            found = (await self._client.get_collections()).collections
        ours = (
            entry.name.removeprefix(self._prefix).removesuffix(_BUILT)
            for entry in found
            if entry.name.startswith(self._prefix) and entry.name.endswith(_BUILT)
        )
        return frozenset(filter(is_collection, ours))

    async def count(self, collection: str) -> int:
        """Return the number of points."""
        await self._open(collection)
        with qdrant_errors():
            return (await self._client.count(self._alias(collection), exact=True)).count

    async def is_whole(self, collection: str, expected: int) -> bool:
        """Return whether a sealed collection holds `expected` points."""
        try:
            return await self.count(collection) == expected
        except CollectionMissing:
            return False

    async def search(self, parts: Sequence[Part], query: SearchQuery) -> list[Hits]:
        """Return the union of the best `limit` chunks by each vector, over all parts.

        The first requests only rank; the second ones score all that the first found by both
        vectors, which the engine does in full because the filter leaves so few.
        """
        found = await asyncio.gather(*(self._best(part, query) for part in parts))
        pairs = zip(parts, best(found, query.limit), strict=True)
        return await asyncio.gather(*(self._completed(part, query, one) for part, one in pairs))

    async def fetch(self, collection: str, ids: Sequence[PointId]) -> list[Chunk]:
        """Return the chunks with these ids, in the order asked for."""
        records = await self._retrieve(collection, ids, with_payload=True)
        chunks = {r.id: to_chunk(r.payload, terms_of(r).indices) for r in records}
        return [chunks[stored_as] for stored_as in map(_sent, ids) if stored_as in chunks]

    async def terms(self, collection: str, ids: Sequence[PointId]) -> list[Sequence[int]]:
        """Return the ids of the words of these chunks, in the order asked for."""
        records = await self._retrieve(collection, ids, with_payload=False)
        known = {record.id: terms_of(record).indices for record in records}
        return [known.get(stored_as, ()) for stored_as in map(_sent, ids)]

    async def scroll(
        self, collection: str, *, document_id: UUID | None = None
    ) -> AsyncIterator[Chunk]:
        """Return every chunk (of one document), each document's in order."""
        documents = [] if document_id is None else [document_id]
        places = [
            (record.id, record.payload)
            async for record in self._records(
                collection, documents, payload=[DOCUMENT, POSITION], limit=_PAGE
            )
        ]
        ids = in_reading_order(places)
        for start in range(0, len(ids), _BATCH):
            for chunk in await self.fetch(collection, ids[start : start + _BATCH]):
                yield chunk

    async def points(self, collection: str, document_ids: Sequence[UUID]) -> list[IndexedPoint]:
        """Return the stored points of some documents, vectors included."""
        if not document_ids:
            return []
        records = self._records(collection, document_ids, payload=True, vectors=True, limit=_BATCH)
        return [from_record(record) async for record in records]

    async def _retrieve(
        self, collection: str, ids: Sequence[PointId], *, with_payload: bool
    ) -> Sequence[models.Record]:
        """Return the records with these ids and their words, in no set order."""
        await self._open(collection)
        with qdrant_errors():
            return await self._client.retrieve(
                self._alias(collection),
                [*{*map(_sent, ids)}],
                with_payload=with_payload,
                with_vectors=[SPARSE],
            )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _best(self, part: Part, query: SearchQuery) -> tuple[_Scored, _Scored]:
        dimensions = await self._open(part.collection)
        check_dimensions(part.collection, dimensions, len(query.dense))
        only, words = to_filter(query, part.hidden), query.words
        requests = to_requests(query.dense, words, only, query.limit)
        by_dense, *by_words = await self._ask(part, requests)
        return by_dense, by_words[0] if by_words else []

    async def _completed(self, part: Part, query: SearchQuery, found: Scores) -> Hits:
        """Return the hits of a part with the scores that the first requests did not give."""
        requests = to_scoring(query.dense, query.words, found.without_dense, found.without_words)
        answers = await self._ask(part, requests)
        by_dense = answers[0] if found.without_dense else []
        return found.completed(by_dense, answers[-1] if found.without_words and answers else [])

    async def _ask(
        self, part: Part, requests: Sequence[models.QueryRequest]
    ) -> list[list[models.ScoredPoint]]:
        if not requests:
            return []
        with qdrant_errors():
            answers = await self._client.query_batch_points(self._alias(part.collection), requests)
        return [answer.points for answer in answers]

    async def _records(
        self,
        collection: str,
        document_ids: Sequence[UUID],
        *,
        payload: bool | list[str],
        limit: int,
        vectors: bool = False,
    ) -> AsyncIterator[models.Record]:
        await self._open(collection)
        names = [str(document_id) for document_id in document_ids]
        only = models.Filter(must=[any_of(DOCUMENT, names)]) if names else None
        offset = None
        while True:
            with qdrant_errors():
                page, offset = await self._client.scroll(
                    self._alias(collection),
                    scroll_filter=only,
                    limit=limit,
                    offset=offset,
                    with_payload=payload,
                    with_vectors=vectors,
                )
            for record in page:
                yield record
            if offset is None:
                return

    def _built(self, collection: str) -> str:
        return f"{self._alias(collection)}{_BUILT}"

    def _alias(self, collection: str) -> str:
        return f"{self._prefix}{check_collection(collection)}"

    async def _is_sealed(self, collection: str) -> bool:
        built = self._built(collection)
        with qdrant_errors():
            try:
                found = await self._client.get_collection_aliases(built)
            except UnexpectedResponse as error:
                if error.status_code != HTTPStatus.NOT_FOUND:
                    raise
                return False
        return any(entry.alias_name == self._alias(collection) for entry in found.aliases)

    async def _refuse_sealed(self, collection: str) -> None:
        if await self._is_sealed(collection):
            raise VectorIndexError(f"Collection {collection} is sealed; drop it first.")

    async def _open(self, collection: str) -> int:
        """Return the dimensions of a sealed collection's vectors, asking only once."""
        if collection not in self._dimensions:
            if not await self._is_sealed(collection):
                raise CollectionMissing(
                    f"There is no sealed collection {collection} on the server: ingest the course."
                )
            with qdrant_errors():
                config = (await self._client.get_collection(self._alias(collection))).config
            # A server before 1.16 keeps no metadata.
            check_format(collection, (config.metadata or {}).get("format", FORMAT))
            vectors: Any = config.params.vectors
            self._dimensions[collection] = vectors[DENSE].size
        return self._dimensions[collection]


def _sent(stored_as: PointId) -> int | str:
    """Return an id as the server has it."""
    return stored_as if isinstance(stored_as, int) else str(stored_as)
