"""The HTTP server for Slack's signed requests and for installations."""

import asyncio
import hashlib
import hmac
import json
import logging
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl

import aiohttp
from aiohttp import web
from aiohttp.typedefs import Handler
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackClientError

from adapters.chat.incoming_message import PlatformClock
from adapters.slack.oauth import INSTALL, REDIRECT, NotAdmitted, page
from adapters.slack.sockets import Dispatcher
from core.domain import i18n
from core.domain.errors import ConfigurationError, StoreError

logger = logging.getLogger(__name__)


_WINDOW = 300
"""Seconds by which a request's time may differ from Slack's."""
_ASKED_EVERY = 10.0
"""Seconds between two questions for Slack's time: what is sent again and again asks no more."""
_LONGEST_ASKING = 2.0
"""Seconds; Slack waits for three."""
_TOLD_EVERY = 3_600.0
"""Seconds: a forger of requests does not fill the log."""
_TIMESTAMP = re.compile(r"[0-9]{1,12}", re.ASCII)
_SIGNATURE = re.compile(r"v0=[0-9a-f]{64}", re.ASCII)


class Signatures:
    """Checks signatures with an app's signing secret, and their times by Slack's clock."""

    def __init__(
        self, secret: str, clock: PlatformClock, ask_time: Callable[[], Awaitable[object]]
    ) -> None:
        """Prepare to check.

        Args:
            clock: Slack's.
            ask_time: Has `clock` learn from an answer of Slack's; it raises nothing.

        Raises:
            ValueError: without a secret everybody could sign.
        """
        if not secret:
            raise ValueError("a signing secret is needed")
        self._secret = secret.encode()
        self._clock = clock
        self._ask_time = ask_time
        self._asking = asyncio.Lock()
        self._asked_at: float | None = None
        self._told_at: float | None = None

    def check(self, timestamps: Sequence[str], signatures: Sequence[str]) -> "Check | None":
        """Return a check to feed the body to; None: Slack sends no such headers.

        Args:
            timestamps: The values of X-Slack-Request-Timestamp; a request has one.
            signatures: The values of X-Slack-Signature; a request has one.
        """
        if len(timestamps) != 1 or len(signatures) != 1:
            return None
        [timestamp], [signature] = timestamps, signatures
        if not _TIMESTAMP.fullmatch(timestamp) or not _SIGNATURE.fullmatch(signature):
            return None
        begun = hmac.new(self._secret, b"v0:" + timestamp.encode() + b":", hashlib.sha256)
        return Check(begun, signature, int(timestamp))

    async def is_recent(self, check: "Check") -> bool:
        """Return whether a request that Slack signed was signed now, and is not sent again.

        Slack is asked for its time before one is refused: this machine's clock may have been wrong
        from the start, or have been set. What a request says of the time teaches nothing.
        """
        if abs(self._late(check)) > _WINDOW:
            await self._learn_once_more()
        late = self._late(check)
        if abs(late) > _WINDOW:
            self._tell(late)
            return False
        return True

    async def learn_time(self) -> None:
        """Ask Slack for its time; it takes 2 s at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LONGEST_ASKING):
                await self._ask_time()

    async def _learn_once_more(self) -> None:
        """Ask for the time, unless a request had that done a moment ago; wait while one does."""
        async with self._asking:
            at = time.monotonic()
            if self._asked_at is None or at - self._asked_at >= _ASKED_EVERY:
                self._asked_at = at
                await self.learn_time()

    def _late(self, check: "Check") -> float:
        return self._clock.now().timestamp() - check.signed_at

    def _tell(self, late: float) -> None:
        """Log, once an hour at most, that the time of a signed request is far from Slack's."""
        at = time.monotonic()
        if self._told_at is not None and at - self._told_at < _TOLD_EVERY:
            return
        self._told_at = at
        side = "ahead of" if late > 0 else "behind"
        logger.warning(
            "a request was refused that Slack signed %.0f minutes %s: it was sent again by another "
            "service, or this machine's clock is that much %s Slack's",
            *(abs(late) / 60, "ago" if late > 0 else "from now", side),
        )


class Check:
    """Verifies the signature of a body that is fed in pieces, however large."""

    def __init__(self, digest: hmac.HMAC, signature: str, signed_at: int) -> None:
        self.signed_at = signed_at
        """Seconds since 1970 by Slack's clock, once `is_slack` is true."""
        self._digest = digest
        self._signature = signature

    def feed(self, part: bytes) -> None:
        """Add the next piece of the body, as it came over the wire."""
        self._digest.update(part)

    def is_slack(self) -> bool:
        """Return whether Slack signed exactly what was fed."""
        return hmac.compare_digest(f"v0={self._digest.hexdigest()}", self._signature)


EVENTS = "/slack/events"
_LARGEST = 1_000_000
"""Bytes of a request that is read; Slack's have some ten thousand."""
_LARGEST_CHECKED = 16_000_000
"""Bytes of one of which it is found out whether Slack sent it."""
_NOT_OURS = web.HTTPUnauthorized


class Server:
    """Serves what it is given: events, installations, or both."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        dispatcher: Dispatcher | None = None,
        signatures: Signatures | None = None,
        flow: AsyncOAuthFlow | None = None,
        begun: Callable[[], None] | None = None,
    ) -> None:
        """Prepare a server that does not listen yet.

        Args:
            host: The address to listen at.
            port: 0: any that is free, named in the log.
            dispatcher: Where events go; none: they come by a socket.
            signatures: Checks them.
            flow: Installs the app in workspaces; none: there is one workspace.
            begun: Called when events can come.
        """
        self._host = host
        self._port = port
        self._dispatcher = dispatcher
        self._signatures = signatures
        self._flow = flow
        self._begun = begun
        self._ended = asyncio.Event()
        self._runner: web.AppRunner | None = None

    async def run(self) -> None:
        """Listen until `close`.

        Raises:
            ConfigurationError: when the address cannot be used.
        """
        if self._signatures is not None:
            await self._signatures.learn_time()
        self._runner = runner = web.AppRunner(self._routes(), access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, self._host, self._port)
        try:
            await site.start()
        except OSError as error:
            raise ConfigurationError(
                f"Port {self._port} cannot be listened on at {self._host}: {error.strerror}. "
                "Set GLOSSATOR_SLACK__HOST and GLOSSATOR_SLACK__PORT."
            ) from error
        logger.info("listening for Slack on port %d at %s", runner.addresses[0][1], self._host)
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
        server = web.Application(middlewares=[_in_their_language])
        if self._dispatcher is not None:
            server.router.add_post(EVENTS, self._event)
        if self._flow is not None:
            server.router.add_get(INSTALL, self._install)
            server.router.add_get(REDIRECT, self._installed)
        return server

    async def _event(self, request: web.Request) -> web.Response:
        """Hand an event on, if it is Slack's.

        What Slack sent is never refused, whatever it holds: it would come again, as it is.
        """
        assert self._dispatcher is not None
        body = await self._signed(request)
        try:
            payload = _payload(body, request.content_type)
        except (ValueError, RecursionError) as error:
            return _answer(self._dispatcher.passed_over(None, error))
        return _answer(await self._dispatcher.dispatch(payload))

    async def _signed(self, request: web.Request) -> bytes | None:
        """Return what Slack sent; None: more than is read.

        Raises:
            HTTPUnauthorized: when it was sent by another service, or minutes ago.
            HTTPRequestEntityTooLarge: when it is too much to find that out.
        """
        assert self._signatures is not None
        timestamps = request.headers.getall("X-Slack-Request-Timestamp", [])
        signatures = request.headers.getall("X-Slack-Signature", [])
        check = self._signatures.check(timestamps, signatures)
        if check is None:
            raise _NOT_OURS
        if (request.content_length or 0) > _LARGEST_CHECKED:
            raise web.HTTPRequestEntityTooLarge(_LARGEST_CHECKED, request.content_length or 0)
        body, size = bytearray(), 0
        async for part in request.content.iter_any():
            size += len(part)
            if size > _LARGEST_CHECKED:
                raise web.HTTPRequestEntityTooLarge(_LARGEST_CHECKED, size)
            check.feed(part)
            if size <= _LARGEST:
                body += part
        if not check.is_slack() or not await self._signatures.is_recent(check):
            raise _NOT_OURS
        return bytes(body) if size <= _LARGEST else None

    async def _install(self, request: web.Request) -> web.Response:
        """Send a user to Slack, to let the app into their workspace."""
        assert self._flow is not None
        try:
            return _answer(await self._flow.handle_installation(_browsed(request)))
        except StoreError as error:
            raise _unavailable(error) from error

    async def _installed(self, request: web.Request) -> web.Response:
        """Take over the workspace that a user let the app into."""
        assert self._flow is not None
        try:
            return _answer(await self._flow.handle_callback(_browsed(request)))
        except NotAdmitted as refusal:
            raise web.HTTPForbidden(text=refusal.user_message) from refusal
        except StoreError as error:
            raise _unavailable(error) from error
        except (SlackClientError, aiohttp.ClientError, OSError, TimeoutError) as error:
            logger.warning("an installation failed: %s", type(error).__name__)
            body = page(i18n.text("install-unreachable"), INSTALL, i18n.text("install-begin-again"))
            return web.Response(status=502, text=body, content_type="text/html")


@web.middleware
async def _in_their_language(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Show a page in the first language that a browser names."""
    first = request.headers.get("Accept-Language", "").partition(",")[0].partition(";")[0]
    with i18n.use_locale(first.strip()):
        return await handler(request)


def _payload(body: bytes | None, content_type: str) -> Any:
    """Return what a request of Slack's holds; raises ValueError for what it never sends."""
    if body is None:
        raise ValueError("the body is too large")
    text = body.decode()
    if content_type == "application/json":
        return json.loads(text)
    if content_type == "application/x-www-form-urlencoded":
        form = dict(parse_qsl(text, keep_blank_values=True, strict_parsing=True))
        return json.loads(form["payload"]) if "payload" in form else form
    raise ValueError(f"{content_type} is no content type of Slack's")


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
    return web.HTTPServiceUnavailable(text=i18n.text("install-try-again"))
