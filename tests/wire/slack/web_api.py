"""The way of a Web API call: arguments, faults, token, limits, scope, method, answer."""

import asyncio
import base64
import json
from typing import Any

from aiohttp import web

from tests.wire.slack import (
    account_methods,
    chat_methods,
    conversation_methods,
    file_methods,
    session_methods,
    subteam_methods,
    view_methods,
)
from tests.wire.slack.entities import App, Installation
from tests.wire.slack.errors import Json, SlackError
from tests.wire.slack.faults import Drop, Faults, RateLimited, Refused, ServerError, Slow
from tests.wire.slack.history import Call
from tests.wire.slack.rate_limits import RateLimits, TooMany
from tests.wire.slack.requests import Method, Request, Table
from tests.wire.slack.world import World

_MISUNDERSTOOD = (ValueError, KeyError, TypeError, AttributeError)
_SIGN_IN = (
    "<!DOCTYPE html><html><head><title>Sign in | Slack</title></head>"
    "<body><main><h1>Sign in to your workspace</h1></main></body></html>"
)
_METHODS: Table = {
    **account_methods.METHODS,
    **chat_methods.METHODS,
    **conversation_methods.METHODS,
    **file_methods.METHODS,
    **session_methods.METHODS,
    **subteam_methods.METHODS,
    **view_methods.METHODS,
}


class WebApi:
    """Serves all methods below `/api/`, and response_urls."""

    def __init__(self, world: World, faults: Faults) -> None:
        self.world = world
        self.faults = faults
        self.rate_limits = RateLimits(world.limits, world.clock)

    def register(self, app: web.Application) -> None:
        """Add the routes to a web application."""
        app.on_response_prepare.append(self._date)
        app.router.add_route("*", "/api/{method}", self.serve)
        app.router.add_post("/commands/{team}/{secret}", self.respond)
        app.router.add_post("/upload/v1/{file}", self.upload)
        app.router.add_get("/files-pri/{file}/{name:.+}", self.download)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Answer one call of a method."""
        name = request.match_info["method"]
        call = self._recorded(name)
        method = _METHODS.get(name)
        is_late = name in session_methods.METHODS and not self.world.agent_sessions
        if method is None or is_late:
            if method is None:
                self.world.mistakes.append(f"unknown method: {name}")
            return self._answered(call, {"ok": False, "error": "unknown_method"})
        try:
            call.arguments = await _arguments(request, method)
            parsed = self._identified(request, call, method)
        except SlackError as error:
            return self._answered(call, error.body)
        channel = parsed.text("channel")
        refused = self.rate_limits.admit(name, parsed.caller, channel)
        if refused is not None:
            return self._too_many(call, refused)
        return await self._under_faults(request, call, parsed, method)

    async def _date(self, request: web.Request, response: web.StreamResponse) -> None:
        response.headers["Date"] = self.world.clock.date()

    async def respond(self, request: web.Request) -> web.StreamResponse:
        """Take what is posted to a response_url."""
        call = self._recorded("response_url")
        secret = "{team}/{secret}".format(**request.match_info)
        interaction = self.world.interactions.by_secret(secret)
        if interaction is None:
            return self._answered(call, {"ok": False, "error": "invalid_url"}, 404)
        try:
            call.arguments = await request.json()
        except ValueError:
            return self._answered(call, {"ok": False, "error": "invalid_payload"}, 400)
        method = Method(lambda r: self._respond(interaction, r.arguments), token="none")
        parsed = Request(self.world, call.arguments)
        return await self._under_faults(request, call, parsed, method)

    async def upload(self, request: web.Request) -> web.StreamResponse:
        """Take the bytes of a file."""
        call = self._recorded("upload")
        taken = file_methods.take(self.world, request.match_info["file"], await request.read())
        return self._answered(call, {"ok": taken}, 200 if taken else 400)

    async def download(self, request: web.Request) -> web.StreamResponse:
        """Give the bytes of a file to a token that may read files; others get the sign-in page.

        That page comes with status 200, as Slack sends it to a token without `files:read`.
        """
        self._recorded("files-pri")
        upload = self.world.uploads.get(request.match_info["file"])
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        known = [one for one in self.world.installations if one.token == token]
        may_read = any("files:read" in one.scopes for one in known)
        if upload is None or upload.content is None or not known:
            return web.Response(status=302, headers={"Location": f"{self.world.base_url}/login"})
        if not may_read:
            return web.Response(text=_SIGN_IN, content_type="text/html")
        served = upload.mimetype.partition(";")[0]
        if upload.is_canvas:
            served = "text/html"
        return web.Response(body=upload.content, content_type=served)

    def _respond(self, interaction: Any, body: Json) -> Json:
        self.world.response_urls.use(interaction, body)
        return {"ok": True}

    async def _under_faults(
        self, request: web.Request, call: Call, parsed: Request, method: Method
    ) -> web.StreamResponse:
        fault = self.faults.next_api(call.method)
        call.fault = repr(fault) if fault else None
        match fault:
            case None:
                return self._performed(call, parsed, method)
            case RateLimited(seconds):
                channel = parsed.text("channel")
                closed = self.rate_limits.close(call.method, parsed.caller, channel, seconds)
                return self._too_many(call, closed)
            case Slow(seconds, applied):
                early = self._performed(call, parsed, method) if applied else None
                await asyncio.sleep(seconds)
                return early or self._performed(call, parsed, method)
        if fault.applied:
            self._performed(call, parsed, method)
        match fault:
            case Refused(error):
                return self._answered(call, {"ok": False, "error": error})
            case ServerError(status):
                return self._failed(call, status)
            case Drop():
                return self._dropped(request, call)

    def _performed(self, call: Call, parsed: Request, method: Method) -> web.Response:
        try:
            if method.scope is not None:
                parsed.needs(method.scope)
            body = method.call(parsed)
        except SlackError as error:
            status = 404 if call.method == "response_url" else 200
            return self._answered(call, error.body, status)
        except _MISUNDERSTOOD as error:
            self.world.mistakes.append(f"{call.method} was not understood: {error!r}")
            return self._answered(call, {"ok": False, "error": "internal_error"})
        call.applied = True
        headers = _scope_headers(parsed.caller, method)
        return self._answered(call, body, headers=headers)

    def _identified(self, request: web.Request, call: Call, method: Method) -> Request:
        """Return the call with its caller, or refuse the token."""
        parsed = Request(self.world, call.arguments)
        if method.token == "none":
            return parsed
        token = _token(request, call.arguments)
        if not token:
            raise SlackError("not_authed")
        if method.token == "app":
            parsed.app = self._app(token)
            call.app_id = parsed.app.id
        else:
            parsed.caller = self._installation(token)
            call.app_id, call.team_id = parsed.caller.app.id, parsed.caller.workspace.id
        return parsed

    def _app(self, token: str) -> App:
        for app in self.world.apps.values():
            if app.app_token == token:
                if not app.socket_mode:
                    raise SlackError("access_denied")
                return app
        raise SlackError(
            "invalid_auth" if not token.startswith("xoxb") else "not_allowed_token_type"
        )

    def _installation(self, token: str) -> Installation:
        if any(app.app_token == token for app in self.world.apps.values()):
            raise SlackError("not_allowed_token_type")
        for installation in [*self.world.installations, *self.world.former]:
            if installation.token != token:
                continue
            if not installation.active:
                raise SlackError(installation.refused_with)
            expires = installation.expires_at
            if expires is not None and self.world.clock.now() > expires:
                raise SlackError("token_expired")
            return installation
        raise SlackError("invalid_auth")

    def _too_many(self, call: Call, refused: TooMany) -> web.Response:
        call.late = refused.late
        if refused.early:
            self.world.history.early_requests.append(call)
        headers = {"Retry-After": str(refused.retry_after)}
        return self._answered(call, {"ok": False, "error": "ratelimited"}, 429, headers)

    def _answered(
        self, call: Call, body: Json, status: int = 200, headers: dict[str, str] | None = None
    ) -> web.Response:
        call.status, call.response, call.ended = status, body, self.world.clock.now()
        return web.json_response(body, status=status, headers=headers)

    def _failed(self, call: Call, status: int) -> web.Response:
        call.status, call.response, call.ended = status, None, self.world.clock.now()
        return web.Response(status=status, text="<html>oops</html>", content_type="text/html")

    def _dropped(self, request: web.Request, call: Call) -> web.Response:
        call.status = call.response = None
        call.ended = self.world.clock.now()
        if request.transport is not None:
            request.transport.abort()
        return web.Response(status=500)

    def _recorded(self, method: str) -> Call:
        call = Call(method, self.world.clock.now())
        self.world.history.calls.append(call)
        return call


async def _arguments(request: web.Request, method: Method) -> Json:
    """Return query and body as one; client id and secret may come as a user and password."""
    found: Json = dict(request.query)
    if request.content_type == "application/json":
        body = await _json(request)
        found |= body if method.json else {}
    elif request.can_read_body:
        found |= {key: str(value) for key, value in (await request.post()).items()}
    scheme, _, credentials = request.headers.get("Authorization", "").partition(" ")
    if scheme == "Basic":
        name, _, secret = base64.b64decode(credentials).decode().partition(":")
        found = {"client_id": name, "client_secret": secret, **found}
    return found


async def _json(request: web.Request) -> Json:
    try:
        body = json.loads(await request.text() or "{}")
    except ValueError:
        raise SlackError("invalid_json") from None
    if not isinstance(body, dict):
        raise SlackError("json_not_object")
    return body


def _token(request: web.Request, arguments: Json) -> str:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    in_form = request.content_type != "application/json"
    return token if scheme == "Bearer" else str(arguments.get("token", "")) if in_form else ""


def _scope_headers(caller: Installation | None, method: Method) -> dict[str, str]:
    if caller is None:
        return {}
    return {
        "X-OAuth-Scopes": ",".join(sorted(caller.scopes)),
        "X-Accepted-OAuth-Scopes": method.scope or "",
    }
