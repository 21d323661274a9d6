"""The vector index on a Qdrant server."""

import asyncio
import logging
import ssl
import warnings
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import httpx
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from core.domain import Chunk
from core.domain.errors import CollectionMissing, ConfigurationError, VectorIndexError
from core.domain.telemetry import check_url
from core.index.base import (
    DENSE,
    DOCUMENT,
    FORMAT,
    NO_TERMS,
    POSITION,
    SECTIONS,
    SPARSE,
    Hits,
    IndexedPoint,
    Part,
    PointId,
    SearchQuery,
    SparseVector,
    check_collection,
    check_count,
    check_dimensions,
    check_format,
    in_reading_order,
    is_collection,
    to_chunk,
    to_payload,
    to_point,
)
from core.index.edge import Scores, best
from core.index.terms import ascending
from core.providers.embeddings.base import Vectors

logger = logging.getLogger(__name__)


CA_FILE = "GLOSSATOR_QDRANT__CA_FILE"
_DETAIL = 300


def connect(
    url: str, *, api_key: str | None = None, ca_file: Path | None = None, timeout: int = 6
) -> AsyncQdrantClient:
    """Return a client for a server.

    Args:
        url: `http` or `https`, with the port; without one, it is 6333 for both.
        ca_file: Certificates in PEM of the only authorities that are trusted; None: those that
            `SSL_CERT_FILE` or `SSL_CERT_DIR` name, else those that come with Python's certifi.
        timeout: Seconds that a request may take.

    Raises:
        ConfigurationError: when `url` is none, or `ca_file` cannot be used for it.
    """
    try:
        is_encrypted = urlsplit(url).scheme != "http"
        verified = True if ca_file is None else _trusting(ca_file, is_encrypted)
        if api_key is not None and not is_encrypted:
            logger.warning("the Qdrant API key is sent without encryption: use https")
        _check(url)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Api key is used with an insecure connection")
            # The client's own check of the server's version would ask at once, in a thread.
            return AsyncQdrantClient(
                url=url,
                api_key=api_key,
                timeout=timeout,
                check_compatibility=False,
                verify=verified,
            )
    except ValueError as error:
        raise ConfigurationError(
            "The Qdrant URL must look like http://host:6333 or https://host:6333; "
            "its key is GLOSSATOR_QDRANT__API_KEY."
        ) from error


def _check(url: str) -> None:
    """Raise ValueError for what the client would take a scheme or a host of its own for.

    It would leave out a user and a password without a word.
    """
    parts = urlsplit(check_url(url))
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username is not None:
        raise ValueError("no scheme, no host, or a user")


def _trusting(ca_file: Path, is_encrypted: bool) -> ssl.SSLContext:
    if not is_encrypted:
        raise ConfigurationError(f"{CA_FILE} is of no use for a Qdrant URL that is not https.")
    try:
        return ssl.create_default_context(cafile=ca_file)
    except ssl.SSLError as error:
        raise ConfigurationError(f"{CA_FILE}: {ca_file} holds no certificate in PEM.") from error
    except OSError as error:
        raise ConfigurationError(
            f"{CA_FILE}: {ca_file} cannot be read ({error.strerror})."
        ) from error


@contextmanager
def qdrant_errors() -> Iterator[None]:
    """Turn the client's failures into VectorIndexError; the API key is in none of them."""
    try:
        yield
    except ResourceExhaustedResponse as error:
        raise VectorIndexError(
            f"Qdrant has too many requests; it asks to wait {error.retry_after_s} s."
        ) from error
    except UnexpectedResponse as error:
        raise VectorIndexError(f"Qdrant answered {_answer(error)}") from error
    except ApiException as error:
        raise VectorIndexError(_unreached(getattr(error, "source", error))) from error
    except (QdrantException, httpx.HTTPError, ValueError) as error:
        # Local mode, and the client's own checks, refuse with ValueError.
        raise VectorIndexError(f"Qdrant refused: {error}") from error


def _answer(error: UnexpectedResponse) -> str:
    if error.status_code in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return f"{error.status_code}: the API key is missing, wrong or lacks the right."
    body = error.content[:_DETAIL].decode(errors="replace")
    return f"{error.status_code} {error.reason_phrase}: {body}"


def _unreached(error: Any) -> str:
    """Return why no answer came, or none that was understood."""
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            why = cause.verify_message.rstrip(".")
            return f"Qdrant's certificate is refused ({why}): check the URL and {CA_FILE}."
        if isinstance(cause, ssl.SSLError):
            why = (cause.reason or str(cause)).lower().replace("_", " ")
            return f"Qdrant could not be reached by TLS ({why}): is its URL really https?"
    return f"Qdrant could not be reached, or was not understood: {type(error).__name__} {error}"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


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
