"""What QdrantIndex says to a server over HTTP, and what it makes of the answers."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import jsonschema
import pytest
from qdrant_client import models

from core.domain.errors import VectorIndexError
from core.index.base import Part
from core.index.qdrant import QdrantIndex, connect
from tests.contracts.index_points import DIMENSIONS, course, document_id, question
from tests.wire.qdrant_interface import check, published
from tests.wire.qdrant_server import Fault, QdrantServer, Recorded

KEY = "a-very-secret-key"
NAME = "economics-1"
POINTS = course()


@pytest.fixture
async def server() -> AsyncIterator[QdrantServer]:
    async with QdrantServer(api_key=KEY) as server:
        yield server


@pytest.fixture
async def index(server: QdrantServer) -> AsyncIterator[QdrantIndex]:
    client = connect(server.url, api_key=KEY, timeout=60)
    index = QdrantIndex(client, shard_number=2, replication_factor=3, write_consistency_factor=2)
    yield index
    await index.close()


async def build(index: QdrantIndex) -> None:
    await index.create(NAME, DIMENSIONS)
    await index.upsert(NAME, POINTS)
    await index.seal(NAME, len(POINTS))


async def use_everything(index: QdrantIndex) -> None:
    await build(index)
    await index.collections()
    await index.count(NAME)
    sections = question(section_ids=("module-1",), document_id=document_id(1))
    for query in (question(), sections, question("the of")):
        await index.search([Part(NAME)], query)
    await index.fetch(NAME, [0])
    await index.points(NAME, [document_id(0)])
    assert [chunk async for chunk in index.scroll(NAME, document_id=document_id(2))]
    await index.drop(NAME)


def chain(error: BaseException | None) -> str:
    """Return the texts of an error and of all that it came from."""
    return f"{error!r} {error} {chain(error.__cause__ or error.__context__)}" if error else ""


async def test_a_collection_is_created_as_configured(
    index: QdrantIndex, server: QdrantServer
) -> None:
    await index.create(NAME, DIMENSIONS)
    [created] = [r for r in server.requests if r.method == "PUT" and r.path.count("/") == 2]
    assert created.body == {
        "vectors": {"dense": {"size": DIMENSIONS, "distance": "Cosine"}},
        "sparse_vectors": {"sparse": {}},
        "shard_number": 2,
        "replication_factor": 3,
        "write_consistency_factor": 2,
        "metadata": {"format": 2},
    }
    indexed = [r.body for r in server.requests if r.path.endswith("/index")]
    assert [body["field_name"] for body in indexed] == ["document_id", "section_ids"]


@pytest.mark.costly
async def test_points_are_stored_before_the_next_batch_is_sent(
    index: QdrantIndex, server: QdrantServer
) -> None:
    await index.create(NAME, DIMENSIONS)
    await index.upsert(NAME, course(documents=5, chunks=50))
    batches = [r for r in server.requests if r.method == "PUT" and r.path.endswith("/points")]
    assert [len(batch.body["points"]) for batch in batches] == [100, 100, 50]
    assert all(batch.query == {"wait": "true"} for batch in batches)


async def test_a_search_is_two_requests(index: QdrantIndex, server: QdrantServer) -> None:
    await build(index)
    await index.search([Part(NAME)], question())
    server.requests.clear()
    await index.search([Part(NAME)], question())
    assert [request.path.rpartition("/points/")[2] for request in server.requests] == [
        "query/batch",
        "query/batch",
    ]


@pytest.mark.costly
@pytest.mark.parametrize(
    ("fault", "detail"),
    [
        (Fault(status=500), "500 Internal Server Error.*injected fault"),
        (Fault(status=429, headers={"Retry-After": "7"}), "asks to wait 7 s"),
        (Fault(status=429), "429 Too Many Requests"),
        (Fault(status=429, headers={"Retry-After": "soon"}), "not a valid integer"),
        (Fault(drop=True), "could not be reached"),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_a_failing_server_is_an_index_error(
    index: QdrantIndex, server: QdrantServer, fault: Fault, detail: str
) -> None:
    await build(index)
    server.faults.append(fault)
    with pytest.raises(VectorIndexError, match=f"(?s){detail}") as caught:
        await index.search([Part(NAME)], question())
    assert KEY not in chain(caught.value)
    assert await index.count(NAME) == len(POINTS)


async def test_a_server_that_does_not_answer_in_time_is_an_index_error(
    index: QdrantIndex, server: QdrantServer
) -> None:
    await build(index)
    server.faults.append(Fault(delay=1.5))
    hasty = QdrantIndex(connect(server.url, api_key=KEY, timeout=1))
    with pytest.raises(VectorIndexError, match=r"could not be reached.*Timeout") as caught:
        await hasty.search([Part(NAME)], question())
    await hasty.close()
    assert KEY not in chain(caught.value)
    server.faults.clear()  # left over, where not even a connection was made in time
    assert await index.count(NAME) == len(POINTS)


async def test_a_server_may_say_404_for_the_aliases_of_nothing(
    index: QdrantIndex, server: QdrantServer
) -> None:
    server.faults.append(Fault(status=404))
    await index.create(NAME, DIMENSIONS)
    assert await index.collections() == {NAME}


async def test_a_wrong_key_is_told_without_the_key(server: QdrantServer) -> None:
    index = QdrantIndex(connect(server.url, api_key=KEY[:-1]))
    with pytest.raises(VectorIndexError, match="API key is missing, wrong") as caught:
        await index.collections()
    assert KEY[:-1] not in chain(caught.value)
    await index.close()


async def test_a_server_that_is_not_there_is_an_index_error() -> None:
    index = QdrantIndex(connect("http://127.0.0.1:9"))
    with pytest.raises(VectorIndexError, match="could not be reached"):
        await index.create(NAME, DIMENSIONS)
    await index.close()


@pytest.mark.parametrize(("metadata", "readable"), [(None, True), ({"format": 99}, False)])
async def test_only_a_known_format_is_read(
    server: QdrantServer, metadata: dict[str, int] | None, readable: bool
) -> None:
    client = connect(server.url, api_key=KEY)
    await client.create_collection(
        f"glossator-{NAME}.points",
        {"dense": models.VectorParams(size=DIMENSIONS, distance=models.Distance.COSINE)},
        metadata=metadata,
    )
    index = QdrantIndex(client)
    await index.seal(NAME, 0)
    if readable:
        assert await index.count(NAME) == 0
    else:
        with pytest.raises(VectorIndexError, match="format 99"):
            await index.count(NAME)
    await index.close()


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("collections/none/points/count", {"exact": True}, 404),
        ("collections/none/points/count", {"precise": True}, 400),
        ("collections/none/points/count?fast=1", {}, 400),
        ("collections/none/points/query/batch", {"searches": [{"querry": [1.0]}]}, 400),
    ],
)
async def test_the_test_server_refuses_as_qdrant_does(
    server: QdrantServer, path: str, body: Any, status: int
) -> None:
    async with httpx.AsyncClient(headers={"api-key": KEY}) as client:
        answer = await client.post(f"{server.url}/{path}", json=body)
    assert answer.status_code == status
    assert answer.json()["status"]["error"]


@pytest.mark.costly
@published
async def test_every_request_fits_the_published_interface(
    index: QdrantIndex, server: QdrantServer
) -> None:
    await use_everything(index)
    assert len({(request.method, request.path) for request in server.requests}) == 12
    for request in server.requests:
        check(request)


@published
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/collections/{collection_name}", {"vectors": {"dense": {"size": 4, "distance": "Cos"}}}),
        ("/collections/{collection_name}", {"shards": 2}),
        ("/collections/{collection_name}/points", {"points": [{"id": 1, "vectors": [0.5]}]}),
        ("/collections/{collection_name}/index", {"field": "document_id"}),
    ],
)
def test_the_check_of_requests_notices_mistakes(path: str, body: Any) -> None:
    with pytest.raises(jsonschema.ValidationError):
        check(Recorded("PUT", path, {}, body))
