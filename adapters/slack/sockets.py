"""Socket Mode: a connection opened by the bot, over which Slack sends every event."""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import aiohttp
from slack_bolt.adapter.socket_mode.async_internals import send_async_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.acceptor import Unreadable
from adapters.chat.base import clean_text, mapping
from adapters.slack.client import retry_forever
from adapters.slack.inbound import id_of, kind_of, readable_body
from adapters.slack.modals import respond_with, told
from adapters.slack.refusals import refused
from core.domain.errors import BotError, ConfigurationError, DeliveryError, StoreDataError
from core.domain.i18n import use_locale

logger = logging.getLogger(__name__)


NOT_YET = 503
"""The status of what is to come again."""
DONE = 200
HISTORY, ENVELOPE = "history", "envelope"
"""Stand for the type of a message of the history, and of what does not say its type."""
EVENTS = frozenset(
    {
        *("app_home_opened", "app_mention", "app_uninstalled", "message", "tokens_revoked"),
        *("block_actions", "message_action", "shortcut", "slash_command", "view_closed"),
        *("view_submission", HISTORY, ENVELOPE),
    }
)
"""The types that are counted by name."""
_PATIENCE = 2.0
"""Seconds for a word to the clicker; Slack waits for three."""
_INTERACTIONS = frozenset({"block_actions", "message_action"})


def is_for_now(error: Exception) -> bool:
    """Return whether what failed may succeed when it comes again."""
    if isinstance(error, StoreDataError):
        return False
    if isinstance(error, DeliveryError):
        return not error.permanent
    return isinstance(error, BotError | aiohttp.ClientError | OSError | TimeoutError)


class Dispatcher:
    """Dispatches events to the app, from a socket or over HTTP."""

    def __init__(
        self,
        app: AsyncApp,
        unreadable: Unreadable,
        locale_of: Callable[[dict[str, Any]], Awaitable[str | None]],
    ) -> None:
        """Register the error handler; nothing that a listener raises passes it.

        Args:
            locale_of: Returns the locale of who used the app, as `People.locale_of` does.
        """
        self._app = app
        self._locale_of = locale_of
        self._unreadable = unreadable
        app.error(_failed(unreadable))

    async def dispatch(self, payload: object) -> BoltResponse:
        """Return the response to an event: status DONE, or NOT_YET to have it sent again.

        Args:
            payload: What an envelope or a request holds, of any form.
        """
        try:
            body = readable_body(payload)
            request = AsyncBoltRequest(mode="socket_mode", body=body)
            with use_locale(await self._locale_of(body)):
                response = await self._app.async_dispatch(request)
        except Exception as error:  # noqa: BLE001 - an event of any form is acknowledged
            return self.passed_over(payload, error)
        if response.status in (DONE, NOT_YET):
            return response
        logger.info("nothing is done with an event: %s, status %d", kind_of(body), response.status)
        return BoltResponse(status=DONE)

    def passed_over(self, payload: object, error: Exception) -> BoltResponse:
        """Note what can never be read; return the response to Slack, to which ours may end."""
        if self._unreadable.is_ending:
            return BoltResponse(status=NOT_YET)
        body = payload if isinstance(payload, dict) else {}
        self._unreadable.note(kind_of(body) or ENVELOPE, id_of(body), error)
        return BoltResponse(status=DONE)


def _failed(unreadable: Unreadable) -> Callable[..., Awaitable[BoltResponse | None]]:
    """Return what bolt calls when a listener has failed."""

    async def failed(
        error: Exception, body: dict[str, Any], respond: AsyncRespond
    ) -> BoltResponse | None:
        if isinstance(error, BoltUnhandledRequestError):
            return None  # its status is for the dispatcher
        kind = kind_of(body)
        if is_for_now(error) or unreadable.is_ending:
            logger.warning("an event is not taken in yet: %s, %s", kind, type(error).__name__)
            return BoltResponse(status=NOT_YET)
        unreadable.note(kind or ENVELOPE, id_of(body), error)
        sorry = told(BotError.user_message)
        if kind == "slash_command":
            return BoltResponse(status=DONE, body=sorry)
        if kind in _INTERACTIONS and body.get("response_url"):
            await _tell(respond, sorry)
        return BoltResponse(status=DONE)

    return failed


async def _tell(respond: AsyncRespond, message: dict[str, Any]) -> None:
    try:
        async with asyncio.timeout(_PATIENCE):
            await respond_with(respond, message)
    except (TimeoutError, ValueError) as error:  # no address, or none that answers
        logger.info("a click could not be answered: %s", type(error).__name__)


NO_SOCKET = (
    "{}: GLOSSATOR_SLACK__APP_TOKEN must be an app-level token with the scope connections:write, "
    "and Socket Mode must be switched on."
)
_PING_EVERY = 5.0
"""Seconds; a connection that died in silence is replaced after four times as long."""
_ADDRESS_TRIED_FOR = 6.0
"""Seconds for which an address is tried; it is good once, and for a short time."""
_ANNOUNCED = frozenset({"refresh_requested", "warning"})
_REPLACED_WITHIN = 10.0
"""Seconds in which the next socket is open where Slack announces that one ends."""
_LAST_WORDS = 1.0
"""Seconds for the last acknowledgements before a socket is closed."""
_LOOKS_EVERY = 0.005
_LONGEST_NEWS = 2_000
"""Bytes of what Slack says of a socket; events are longer, and none that matters here."""


class Sockets:
    """One socket of this process; Slack gives each event to any one of all that are open.

    Other processes of the same app have theirs, ten at most.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        app_token: str,
        client: AsyncWebClient,
        begun: Callable[[], None],
    ) -> None:
        """Prepare a socket that is not opened yet.

        Args:
            client: Asks where a socket can be opened.
            begun: Called when a socket is open, unless Slack had announced that the one before
                it would end: then none of its events were lost.
        """
        self._dispatcher = dispatcher
        self._begun = begun
        self._announced_at = -_REPLACED_WITHIN
        self._app_token = app_token
        self._client = client
        self._socket: _Socket | None = None
        self._unacknowledged = 0
        self._ended = asyncio.Event()

    async def run(self) -> None:
        """Stay connected until `close`; the SDK replaces a socket that ends.

        Raises:
            ConfigurationError: when Slack refuses the app token.
        """
        url = await retry_forever(partial(socket_address, self._app_token, self._client))
        if self._ended.is_set():
            return
        self._socket = socket = _Socket(
            self._app_token,
            logger=_calm_logger(),
            web_client=self._client,
            ping_interval=_PING_EVERY,
            on_message_listeners=[self._told],
        )
        socket.message_listeners.append(self._answer)
        socket.wss_uri = url
        await socket.connect()
        logger.info("connected to Slack by a socket")
        await self._ended.wait()

    async def close(self) -> None:
        """Disconnect as soon as all that was sent is acknowledged.

        What is not, after a moment, is delivered to another socket.
        """
        self._ended.set()
        if self._socket is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LAST_WORDS):
                    await self._acknowledged(self._socket.message_queue)
            await self._socket.close()  # type: ignore[no-untyped-call]

    async def is_listening(self) -> bool:
        """Return whether the socket is open."""
        return self._socket is not None and await self._socket.is_connected()

    async def _answer(self, socket: Any, message: dict[Any, Any], _: str | None) -> None:
        """Hand an envelope on, whatever it holds, and acknowledge it when that is done with.

        Slack's own envelopes have an id; what has none, as a hello, cannot be acknowledged.
        """
        envelope = message.get("envelope_id")
        if not isinstance(envelope, str):
            return
        self._unacknowledged += 1
        try:
            begun = time.time()
            response = await self._dispatcher.dispatch(message.get("payload"))
            request = SocketModeRequest(clean_text(message.get("type")), envelope, {})
            await send_async_response(socket, request, response, begun)
        finally:
            self._unacknowledged -= 1

    async def _acknowledged(self, arrived: asyncio.Queue[Any]) -> None:
        """Wait for a moment in which nothing that has arrived waits for its acknowledgement."""
        while self._unacknowledged or not arrived.empty():  # noqa: ASYNC110 - the queue has no event
            await asyncio.sleep(_LOOKS_EVERY)

    async def _told(self, message: aiohttp.WSMessage) -> None:
        """Take note of what Slack says of the socket itself."""
        news = _news(message.data)
        if news.get("type") == "disconnect" and clean_text(news.get("reason")) in _ANNOUNCED:
            self._announced_at = time.monotonic()
        elif news.get("type") == "hello":
            if time.monotonic() - self._announced_at >= _REPLACED_WITHIN:
                self._begun()
            self._announced_at = -_REPLACED_WITHIN


def _news(data: str) -> Mapping[str, Any]:
    """Return what Slack says of a socket; nothing for an event, and for what is no JSON."""
    if len(data) > _LONGEST_NEWS:
        return {}
    try:
        return mapping(json.loads(data))
    except (ValueError, RecursionError):
        return {}


class _Socket(SocketModeClient):
    """The SDK's socket, which would try one and the same address for good."""

    async def connect(self) -> None:
        """Connect; an address that has not led to a socket in time is given up for a new one."""
        while not self.closed:
            try:
                async with asyncio.timeout(_ADDRESS_TRIED_FOR):
                    await super().connect()  # type: ignore[no-untyped-call]
                    return
            except TimeoutError:
                self.wss_uri = None


async def socket_address(app_token: str, client: AsyncWebClient) -> str:
    """Return where a socket can be opened, which proves the app token.

    Raises:
        ConfigurationError: when Slack refuses the token, or Socket Mode is off.
        DeliveryError: when Slack cannot be reached.
    """
    try:
        said = await client.apps_connections_open(app_token=app_token)
    except SlackApiError as error:
        refusal = refused("apps.connections.open", error)
        if not refusal.permanent:
            raise refusal from error
        raise ConfigurationError(NO_SOCKET.format(refusal)) from error
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise DeliveryError(f"Slack cannot be reached: {type(error).__name__}") from error
    return str(said["url"])


def _calm_logger() -> logging.Logger:
    """Return the logger of the SDK's socket, for which a broken connection is an error."""
    calm = logging.getLogger("slack_sdk.sockets")  # not named after us: it logs what people write
    if not calm.filters:
        calm.addFilter(_as_warning)
    return calm


def _as_warning(record: logging.LogRecord) -> bool:
    """Log a broken connection in one line: it is replaced, and nothing is lost with it."""
    if record.levelno > logging.WARNING:
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        record.exc_info = None
    return True
