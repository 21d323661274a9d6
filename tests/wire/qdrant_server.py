"""A small Qdrant server: its REST interface over qdrant-client's own in-memory engine.

It speaks only what the product uses. A body that Qdrant's models do not know is refused, and
a call of any other endpoint fails the test that made it.
"""

import asyncio
import ssl
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from aiohttp import web
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python
from qdrant_client import AsyncQdrantClient, models

_QUERY_KEYS = {"wait", "timeout", "ordering", "consistency"}
_COLLECTION = "/collections/{collection_name}"
Answer = Callable[[str, Any], Awaitable[Any]]


@dataclass(frozen=True)
class Recorded:
    """One request: the path as in Qdrant's OpenAPI document, and the parsed JSON body."""

    method: str
    path: str
    query: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Fault:
    """What happens to the next request instead of an answer, or before it."""

    delay: float = 0.0
    """Seconds."""
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    drop: bool = False
    """Close the connection without a word."""


class QdrantServer:
    """Serves on a free port of the loopback address while it is entered."""

    def __init__(self, *, api_key: str | None = None, tls: ssl.SSLContext | None = None) -> None:
        self.url = ""
        self.requests: list[Recorded] = []
        self.faults: deque[Fault] = deque()
        self._api_key = api_key
        self._tls = tls
        self._unknown: list[str] = []
        self._engine = AsyncQdrantClient(":memory:")
        app = web.Application(middlewares=[self._guard], client_max_size=32 * 1024**2)
        for (method, path), (body, answer) in self._endpoints().items():
            app.router.add_route(method, path, self._served(path, body, answer))
        self._runner = web.AppRunner(app)

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=self._tls)
        await site.start()
        host, port = self._runner.addresses[0]
        self.url = f"{'https' if self._tls else 'http'}://{host}:{port}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._runner.cleanup()
        await self._engine.close()
        assert not self._unknown, f"unknown endpoints were called: {self._unknown}"

    def _endpoints(self) -> dict[tuple[str, str], tuple[Any, Answer]]:
        engine = self._engine
        return {
            ("GET", "/collections"): (None, lambda _, __: engine.get_collections()),
            ("POST", "/collections/aliases"): (models.ChangeAliasesOperation, self._alias),
            ("PUT", _COLLECTION): (models.CreateCollection, self._create),
            ("GET", _COLLECTION): (None, lambda name, _: engine.get_collection(name)),
            ("DELETE", _COLLECTION): (None, lambda name, _: engine.delete_collection(name)),
            ("GET", f"{_COLLECTION}/aliases"): (
                None,
                lambda name, _: engine.get_collection_aliases(name),
            ),
            ("PUT", f"{_COLLECTION}/index"): (models.CreateFieldIndex, self._index),
            ("PUT", f"{_COLLECTION}/points"): (
                models.PointsList,
                lambda name, body: engine.upsert(name, body.points),
            ),
            ("POST", f"{_COLLECTION}/points"): (models.PointRequest, self._retrieve),
            ("POST", f"{_COLLECTION}/points/count"): (
                models.CountRequest,
                lambda name, body: engine.count(name, body.filter, exact=body.exact),
            ),
            ("POST", f"{_COLLECTION}/points/scroll"): (models.ScrollRequest, self._scroll),
            ("POST", f"{_COLLECTION}/points/query/batch"): (
                models.QueryRequestBatch,
                lambda name, body: engine.query_batch_points(name, body.searches),
            ),
        }

    async def _alias(self, _: str, body: models.ChangeAliasesOperation) -> bool:
        return await self._engine.update_collection_aliases(body.actions)

    async def _create(self, name: str, body: models.CreateCollection) -> bool:
        return await self._engine.create_collection(
            name,
            vectors_config=body.vectors,
            sparse_vectors_config=body.sparse_vectors,
            metadata=body.metadata,
        )

    async def _index(self, name: str, _: models.CreateFieldIndex) -> models.UpdateResult:
        await self._engine.get_collection(name)
        return models.UpdateResult(operation_id=0, status=models.UpdateStatus.COMPLETED)

    async def _retrieve(self, name: str, body: models.PointRequest) -> list[models.Record]:
        payload = True if body.with_payload is None else body.with_payload
        return await self._engine.retrieve(name, body.ids, payload, body.with_vector or False)

    async def _scroll(self, name: str, body: models.ScrollRequest) -> models.ScrollResult:
        payload = True if body.with_payload is None else body.with_payload
        points, following = await self._engine.scroll(
            name,
            scroll_filter=body.filter,
            limit=body.limit or 10,
            offset=body.offset,
            with_payload=payload,
            with_vectors=body.with_vector or False,
        )
        return models.ScrollResult(points=points, next_page_offset=following)

    def _served(
        self, path: str, body_type: Any, answer: Answer
    ) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def serve(request: web.Request) -> web.Response:
            raw = await request.json() if request.can_read_body else None
            self.requests.append(Recorded(request.method, path, dict(request.query), raw))
            if unknown := set(request.query) - _QUERY_KEYS:
                return _failure(400, f"unknown query parameters: {unknown}")
            try:
                body = TypeAdapter(body_type).validate_python(raw)
                result = await answer(request.match_info.get("collection_name", ""), body)
            except ValidationError as error:
                return _failure(400, f"Format error in JSON body: {error}")
            except ValueError as error:
                return _failure(_status(error), str(error))
            return web.json_response(
                {"result": to_jsonable_python(result), "status": "ok", "time": 0.001}
            )

        return serve

    @web.middleware
    async def _guard(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        if request.match_info.http_exception is not None:
            self._unknown.append(f"{request.method} {request.path}")
        if self._api_key is not None and request.headers.get("api-key") != self._api_key:
            return _failure(401, "Must provide an API key or an Authorization bearer token")
        fault = self.faults.popleft() if self.faults else Fault()
        await asyncio.sleep(fault.delay)
        if fault.drop:
            assert request.transport is not None
            request.transport.abort()
        if fault.status is not None:
            return _failure(fault.status, "injected fault", fault.headers)
        return await handler(request)


def _status(error: ValueError) -> int:
    text = str(error)
    if "not found" in text:
        return 404
    return 409 if "already exists" in text else 400


def _failure(status: int, text: str, headers: dict[str, str] | None = None) -> web.Response:
    body = {"result": None, "status": {"error": text}, "time": 0.001}
    return web.json_response(body, status=status, headers=headers)
