"""What a process asks of Slack before it serves a workspace: who it is, where its socket is."""

import asyncio
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.slack.installations import base_url
from adapters.slack.refusals import TooMany, refused
from core.closed_windows import ClosedWindows


class FirstCalls(AsyncWebClient):
    """A client that leaves a method alone for as long as any process was told to.

    Processes that start together, or lose their sockets together, ask for the same.
    """

    def __init__(
        self, closed: ClosedWindows, api_url: str | None, token: str | None = None
    ) -> None:
        """Prepare to call; `token` is the bot's, where there is one workspace."""
        super().__init__(token=token, base_url=base_url(api_url), retry_handlers=[])
        self._closed = closed

    async def api_call(self, api_method: str, **arguments: Any) -> AsyncSlackResponse:
        """Call a method as soon as it may be called.

        Raises:
            SlackApiError: when Slack refuses it.
        """
        window = f"slack:{api_method}"
        while seconds := await self._closed.seconds_left(window):  # noqa: ASYNC110 - no event
            await asyncio.sleep(seconds)
        try:
            return await super().api_call(api_method, **arguments)
        except SlackApiError as error:
            refusal = refused(api_method, error)
            if isinstance(refusal, TooMany):
                await self._closed.close(window, refusal.seconds)
            raise
