"""Dispatches Slack's events to bolt's listeners, and decides whether each is acknowledged.

An event is acknowledged when it was accepted, when nothing listens to it, and when it can never
be read, as Slack would send it again and again. It is not acknowledged when it may succeed later,
as when the database is away.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
from slack_bolt.async_app import AsyncApp
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from adapters.intake.unreadable import Unreadable
from adapters.slack.commands.modals import respond_with, told
from adapters.slack.gateway.payloads import id_of, kind_of, readable_body
from core.errors import BotError, DeliveryError, StoreDataError
from core.i18n import use_locale

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
