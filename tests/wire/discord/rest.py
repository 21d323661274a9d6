"""The way of a REST call: caller, faults, limits, route, schema, answer."""

import asyncio
import json
from typing import Any

from aiohttp import web

from tests.wire.discord import account_routes, channel_routes, message_routes
from tests.wire.discord.entities import Application, Attachment
from tests.wire.discord.errors import ApiError
from tests.wire.discord.faults import Drop, Faults, RateLimited, ServerError, Slow
from tests.wire.discord.gateway import Gateway
from tests.wire.discord.history import Call
from tests.wire.discord.rate_limits import Bucket, RateLimits, rounded_up
from tests.wire.discord.requests import Answer, Request, Table
from tests.wire.discord.schema import Schema
from tests.wire.discord.world import World

_MISUNDERSTOOD = (ValueError, KeyError, TypeError, AttributeError, NotImplementedError)
_OPEN = ("/webhooks/", "/interactions/")


class Rest:
    """Serves all routes below `/api/v10`."""

    def __init__(self, world: World, faults: Faults, gateway: Gateway, schema: Schema) -> None:
        self.world = world
        self.faults = faults
        self.gateway = gateway
        self.schema = schema
        self.rate_limits = RateLimits(world.limits, world.clock)
        self._table: Table = {
            **account_routes.ROUTES,
            **message_routes.ROUTES,
            **channel_routes.ROUTES,
            "GET /gateway": lambda request: Answer(200, {"url": gateway.url}),
            "GET /gateway/bot": self._gateway_bot,
        }

    def register(self, app: web.Application) -> None:
        """Add the routes to a web application."""
        for name in sorted(self._table, key=lambda name: name.replace("@", " ")):
            method, template = name.split(" ")
            app.router.add_route(method, "/api/v10" + template, self.serve)
        app.router.add_route("*", "/{rest:.*}", self._unknown)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Answer one call."""
        call = self._recorded(request)
        application = self._caller(request)
        call.application_id = application.id if application else None
        if application is None and not any(part in call.path for part in _OPEN):
            return self._answered(call, 401, {"message": "401: Unauthorized", "code": 0})
        try:
            call.body, files = await _read(request)
        except (ValueError, KeyError):
            body = {"message": "The request body contains invalid JSON.", "code": 50109}
            return self._answered(call, 400, body)
        call.files = tuple(attachment.filename for attachment in files.values())
        params = dict(request.match_info)
        parsed = Request(self.world, params, call.query, call.body, files, application)
        bucket = self.rate_limits.bucket(call.route, params, call.application_id)
        refused = self._limited(call, bucket)
        if refused is not None:
            return refused
        return await self._under_faults(request, call, parsed, bucket)

    async def _under_faults(
        self, request: web.Request, call: Call, parsed: Request, bucket: Bucket
    ) -> web.StreamResponse:
        fault = self.faults.next_rest(call.route)
        call.fault = repr(fault) if fault else None
        match fault:
            case None:
                return self._routed(call, parsed, bucket)
            case RateLimited():
                return self._rate_limited(call, bucket, fault)
            case Slow(seconds, applied):
                response = self._routed(call, parsed, bucket) if applied else None
                await asyncio.sleep(seconds)
                return response or self._routed(call, parsed, bucket)
            case ServerError(status, applied):
                if applied:
                    self._routed(call, parsed, bucket)
                return self._answered(call, status, {"message": f"{status}: fault", "code": 0})
            case Drop(applied):
                if applied:
                    self._routed(call, parsed, bucket)
                return self._dropped(request, call)

    def _routed(self, call: Call, parsed: Request, bucket: Bucket) -> web.Response:
        now, wall = self.world.clock.now(), self.world.clock.wall().timestamp()
        headers = bucket.headers(now, wall)
        try:
            answer = self._table[call.route](parsed)
        except ApiError as error:
            if error.status == 429:
                headers |= {"Via": "1.1 local", "X-RateLimit-Scope": "user"}
            return self._answered(call, error.status, error.body, headers)
        except _MISUNDERSTOOD as error:
            self.world.mistakes.append(f"{call.route} was not understood: {error!r}")
            return self._answered(call, 400, {"message": "Invalid Form Body", "code": 50035})
        call.applied = True
        self.schema.check_request(call.route, call.body)
        self.schema.check_response(call.route, answer.status, answer.body)
        return self._answered(call, answer.status, self._made_odd(answer.body), headers)

    def _made_odd(self, body: Any) -> Any:
        """Return a list of messages with those in it that are to be odd."""
        odd = self.world.odd_messages
        if not odd or not isinstance(body, list):
            return body
        return [odd[int(one["id"])](one) if int(one["id"]) in odd else one for one in body]

    def _limited(self, call: Call, bucket: Bucket) -> web.Response | None:
        refused = self.rate_limits.admit(bucket, call.route, call.application_id)
        if refused is None:
            return None
        call.late = refused.late
        if refused.early:
            self.world.history.early_requests.append(call)
        return self._too_many(call, bucket, refused.retry_after, refused.scope)

    def _rate_limited(self, call: Call, bucket: Bucket, fault: RateLimited) -> web.Response:
        self.rate_limits.close(bucket, fault.scope, fault.retry_after)
        return self._too_many(call, bucket, fault.retry_after, fault.scope, fault.code)

    def _too_many(
        self, call: Call, bucket: Bucket, retry_after: float, scope: str, code: int = 0
    ) -> web.Response:
        headers = bucket.headers(self.world.clock.now(), self.world.clock.wall().timestamp())
        if scope == "global":
            headers = {"X-RateLimit-Global": "true"}
        headers |= {
            "Via": "1.1 local",
            "X-RateLimit-Scope": scope,
            "Retry-After": str(int(retry_after) + 1),
        }
        message = "You are being rate limited."
        if scope == "shared":
            message = "The resource is being rate limited."
        if code == 20028:
            message = "The write action you are performing on the channel has hit the write limit."
        body = {
            "message": message,
            "retry_after": rounded_up(retry_after),
            "global": scope == "global",
        }
        body |= {"code": code} if code else {}
        return self._answered(call, 429, body, headers)

    def _answered(
        self, call: Call, status: int, body: Any, headers: dict[str, str] | None = None
    ) -> web.Response:
        call.status, call.response = status, body
        call.ended = self.world.clock.now()
        headers = headers or {}
        if status in (401, 403) or (status == 429 and headers["X-RateLimit-Scope"] != "shared"):
            self.world.history.invalid_requests.append(call)
        if status == 204:
            return web.Response(status=204, headers=headers)
        text = json.dumps(body)
        headers["Content-Type"] = "application/json"
        return web.Response(status=status, body=text.encode(), headers=headers)

    def _dropped(self, request: web.Request, call: Call) -> web.Response:
        call.status = call.response = None
        call.ended = self.world.clock.now()
        if request.transport is not None:
            request.transport.abort()
        return web.Response(status=500)

    def _recorded(self, request: web.Request) -> Call:
        resource = request.match_info.route.resource
        assert resource is not None
        template = resource.canonical.removeprefix("/api/v10")
        call = Call(
            request.method,
            request.path.removeprefix("/api/v10"),
            f"{request.method} {template}",
            self.world.clock.now(),
            query=dict(request.query),
        )
        self.world.history.calls.append(call)
        return call

    def _caller(self, request: web.Request) -> Application | None:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        return self.gateway.application_by_token(token) if scheme == "Bot" else None

    async def _unknown(self, request: web.Request) -> web.StreamResponse:
        call = self._recorded(request)
        self.world.mistakes.append(f"unknown route: {request.method} {request.path_qs}")
        return self._answered(call, 404, {"message": "404: Not Found", "code": 0})

    def _gateway_bot(self, request: Request) -> Answer:
        body = {
            "url": self.gateway.url,
            "shards": self.world.limits.shards,
            "session_start_limit": self.gateway.start_limit(request.application),
        }
        return Answer(200, body)


async def _read(request: web.Request) -> tuple[Any, dict[str, Attachment]]:
    """Return the JSON body and the uploaded files by form field."""
    if not request.can_read_body:
        return None, {}
    if request.content_type != "multipart/form-data":
        return await request.json(), {}
    files: dict[str, Attachment] = {}
    body: Any = None
    async for part in await request.multipart():
        if part.name == "payload_json":  # type: ignore[union-attr]
            body = json.loads(await part.text())  # type: ignore[union-attr]
        else:
            content = bytes(await part.read())  # type: ignore[union-attr]
            name = part.filename or "file"  # type: ignore[union-attr]
            files[str(part.name)] = Attachment(0, name, content)  # type: ignore[union-attr]
    return body, files
