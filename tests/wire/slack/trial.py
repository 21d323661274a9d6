"""A real slack-bolt app that does as little as a test needs, over sockets or HTTP."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from aiohttp import web
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

from tests.wire.slack.entities import App
from tests.wire.slack.server import SlackServer


class TrialApp:
    """An AsyncApp that keeps the events it was told; in one workspace unless it has OAuth."""

    def __init__(
        self,
        server: SlackServer,
        settings: AsyncOAuthSettings | None = None,
        app: App | None = None,
    ) -> None:
        world = server.world
        self.app = app or world.app
        self.client = AsyncWebClient(
            token=None if settings else world.installation.token,
            base_url=server.api_url,
            retry_handlers=[AsyncRateLimitErrorRetryHandler(max_retry_count=3)],
        )
        self.bolt = AsyncApp(
            client=self.client,
            signing_secret=self.app.signing_secret,
            oauth_settings=settings,
            logger=logging.getLogger("trial"),
        )
        self.incoming: list[dict[str, Any]] = []
        """Bodies of events, duplicates and all."""

    def keep(self, *kinds: str) -> None:
        """Remember events of these types."""

        async def remember(body: dict[str, Any]) -> None:
            self.incoming.append(body)

        for kind in kinds:
            self.bolt.event(kind)(remember)

    def types(self) -> list[str]:
        """Return the types of what was heard, with subtypes."""
        return [
            "/".join(filter(None, (body["event"]["type"], body["event"].get("subtype"))))
            for body in self.incoming
        ]


@asynccontextmanager
async def by_socket(app: TrialApp, server: SlackServer, sockets: int = 1) -> AsyncIterator[None]:
    """Let an app run in Socket Mode until the block ends."""
    handlers = [
        AsyncSocketModeHandler(app.bolt, app.app.app_token, ping_interval=0.3)
        for _ in range(sockets)
    ]
    try:
        for handler in handlers:
            await handler.connect_async()  # type: ignore[no-untyped-call]
        await server.sockets.connected(sockets)
        yield
    finally:
        for handler in handlers:
            await _close(handler)


@asynccontextmanager
async def by_http(app: TrialApp, server: SlackServer) -> AsyncIterator[str]:
    """Let an app run behind a web server, subscribed; yields the address."""
    bolt_server = app.bolt.server(port=0, path="/slack/events", host="127.0.0.1")
    runner = web.AppRunner(bolt_server.web_app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
        await server.subscribe(url, app.app)
        yield url
    finally:
        await runner.cleanup()


async def raw(
    server: SlackServer, method: str, body: Any = None, *, token: str | None = None
) -> tuple[int, dict[str, Any]]:
    """Make one call without a library, as JSON; returns status and body."""
    sent = server.world.installation.token if token is None else token
    headers = {"Authorization": f"Bearer {sent}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(server.api_url + method, json=body or {}) as response,
    ):
        found: dict[str, Any] = await response.json()
        return response.status, found


async def refusal(call: Callable[[], Awaitable[Any]]) -> str:
    """Return the word with which a call of the SDK is refused."""
    try:
        await call()
    except SlackApiError as error:
        return str(error.response["error"])
    raise AssertionError("the call was accepted")


async def _close(handler: AsyncSocketModeHandler) -> None:
    client = handler.client
    tasks = [client.message_processor, client.message_receiver, client.current_session_monitor]
    await handler.close_async()  # type: ignore[no-untyped-call]
    await asyncio.gather(*[task for task in tasks if task], return_exceptions=True)
