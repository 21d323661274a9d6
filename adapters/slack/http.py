"""The HTTP side: a server that Slack's signed requests, and installations, come to."""

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from urllib.parse import parse_qs

from aiohttp import web
from slack_bolt.async_app import AsyncApp
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from adapters.slack.oauth import INSTALL, REDIRECT
from adapters.slack.signing import Signatures
from core.errors import ConfigurationError, StoreError

logger = logging.getLogger(__name__)

EVENTS = "/slack/events"
_LARGEST = 1_000_000
"""Bytes of a request; Slack's have some ten thousand."""
_NOT_OURS = web.HTTPUnauthorized


class Server:
    """Serves what it is given: events, installations, or both."""

    def __init__(
        self,
        port: int,
        *,
        app: AsyncApp | None = None,
        signatures: Signatures | None = None,
        flow: AsyncOAuthFlow | None = None,
        begun: Callable[[], None] | None = None,
    ) -> None:
        """Prepare a server that does not listen yet.

        Args:
            port: 0: any that is free, told in the log.
            app: Where events go; none: they come by a socket.
            signatures: Checks them.
            flow: Installs the app in workspaces; none: there is one workspace.
            begun: Called when events can come.
        """
        self._port = port
        self._app = app
        self._signatures = signatures
        self._flow = flow
        self._begun = begun
        self._ended = asyncio.Event()
        self._runner: web.AppRunner | None = None

    async def run(self) -> None:
        """Listen until `close`.

        Raises:
            ConfigurationError: when the port is taken.
        """
        self._runner = runner = web.AppRunner(self._routes(), access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "0.0.0.0", self._port)
        try:
            await site.start()
        except OSError as error:
            reason = f"Port {self._port} cannot be listened on: {error.strerror}."
            raise ConfigurationError(f"{reason} Set GLOSSATOR_SLACK__PORT.") from error
        logger.info("listening for Slack on port %d", runner.addresses[0][1])
        if self._begun is not None:
            self._begun()
        await self._ended.wait()

    async def is_listening(self) -> bool:
        """Return whether requests are served."""
        return self._runner is not None and bool(self._runner.addresses)

    async def close(self) -> None:
        """Listen no more; requests under way are answered before."""
        self._ended.set()
        if self._runner is not None:
            await self._runner.cleanup()

    def _routes(self) -> web.Application:
        server = web.Application(client_max_size=_LARGEST)
        if self._app is not None:
            server.router.add_post(EVENTS, self._event)
        if self._flow is not None:
            server.router.add_get(INSTALL, self._install)
            server.router.add_get(REDIRECT, self._installed)
        return server

    async def _event(self, request: web.Request) -> web.Response:
        """Hand an event on, if it is Slack's."""
        assert self._app is not None
        assert self._signatures is not None
        if (request.content_length or 0) > _LARGEST:
            raise web.HTTPRequestEntityTooLarge(_LARGEST, request.content_length or 0)
        body = await request.read()
        timestamps = request.headers.getall("X-Slack-Request-Timestamp", [])
        signatures = request.headers.getall("X-Slack-Signature", [])
        if not self._signatures.is_slack(body, timestamps, signatures):
            raise _NOT_OURS
        return _answer(await self._app.async_dispatch(_bolt_request(request, body)))

    async def _install(self, request: web.Request) -> web.Response:
        """Send somebody to Slack, to let the app into their workspace."""
        assert self._flow is not None
        try:
            return _answer(await self._flow.handle_installation(_browsed(request)))
        except StoreError as error:
            raise _unavailable(error) from error

    async def _installed(self, request: web.Request) -> web.Response:
        """Take over the workspace that somebody let the app into."""
        assert self._flow is not None
        try:
            return _answer(await self._flow.handle_callback(_browsed(request)))
        except StoreError as error:
            raise _unavailable(error) from error


def _bolt_request(request: web.Request, body: bytes) -> AsyncBoltRequest:
    """Return a signed request as bolt reads it.

    Raises:
        HTTPBadRequest: when it holds neither JSON nor a form with what an event has.
    """
    try:
        text = body.decode()
        _check_parses(text, request.content_type)
    except ValueError as error:
        raise web.HTTPBadRequest from error
    return AsyncBoltRequest(body=text, query=request.query_string, headers=_headers(request))


def _check_parses(text: str, content_type: str) -> None:
    """Raise ValueError for what bolt could not read."""
    if content_type == "application/json":
        found = json.loads(text)
    elif content_type == "application/x-www-form-urlencoded":
        form = parse_qs(text, strict_parsing=True)
        found = json.loads(form["payload"][0]) if "payload" in form else form
    else:
        raise ValueError(f"{content_type} is no content type of Slack's")
    if not isinstance(found, dict):
        raise ValueError("an event is an object")


def _browsed(request: web.Request) -> AsyncBoltRequest:
    return AsyncBoltRequest(body="", query=request.query_string, headers=_headers(request))


def _headers(request: web.Request) -> dict[str, str | Sequence[str]]:
    return {name: request.headers.getall(name) for name in request.headers}


def _answer(response: BoltResponse) -> web.Response:
    answer = web.Response(status=response.status, body=response.body.encode())
    for name, values in response.headers.items():
        if name.lower() == "content-length":
            continue
        answer.headers.popall(name, None)
        for value in values:
            answer.headers.add(name, value)
    return answer


def _unavailable(error: StoreError) -> web.HTTPServiceUnavailable:
    logger.error("an installation failed: %s", error)
    return web.HTTPServiceUnavailable(text="Please try again in a minute.")
