"""The client of Slack's Web API: it sends nothing that Slack takes no calls of for now."""

import asyncio
import copy
import hashlib
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, Self

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.intake.platform_clock import PlatformClock
from adapters.slack.api.refusals import TooMany, refused
from core.errors import StoreError
from core.storage.rate_limit_windows import RateLimitWindows

logger = logging.getLogger(__name__)

API_URL = "https://slack.com/api/"
_PRINT = 16
"""Characters by which tokens are distinguished."""


class ClosedMethods:
    """Which methods Slack takes no calls of: what this process was refused, and what others were.

    All clients of a process share one.
    """

    def __init__(
        self, shared: RateLimitWindows | None = None, clock: PlatformClock | None = None
    ) -> None:
        """Prepare to remember; without `shared` there are no other processes.

        Args:
            clock: Learns from every answer.
        """
        self._shared = shared
        self.clock = clock or PlatformClock("slack")
        self._until: dict[str, float] = {}

    async def close(self, window: str, seconds: float) -> None:
        """Let no process call what a window counts for so many seconds."""
        now = time.monotonic()
        until = max(now + seconds, self._until.get(window, now))
        still_closed = {name: end for name, end in self._until.items() if end > now}
        self._until = still_closed | {window: until}
        if self._shared is not None:
            await self._shared.close(window, seconds)

    async def seconds_left(self, window: str) -> float:
        """Return the seconds until a window is open, to be asked right before a call; 0.0: it is.

        What the process knows by itself costs no reading.
        """
        elsewhere = 0.0
        if not self._own(window) and self._shared is not None:
            elsewhere = await self._shared.seconds_left(window)
        return max(elsewhere, self._own(window))  # it may have been refused while that was read

    def _own(self, window: str) -> float:
        return max(0.0, self._until.get(window, 0.0) - time.monotonic())


class SlackClient(AsyncWebClient):
    """Makes each call once: what is posted twice is seen twice.

    A call of a closed method fails as if Slack had refused it once more.
    """

    def __init__(
        self,
        api_url: str | None,
        token: str | None = None,
        session: aiohttp.ClientSession | None = None,
        *,
        closed: ClosedMethods | None = None,
        is_patient: bool = False,
    ) -> None:
        """Prepare to call.

        Args:
            api_url: Where Slack's Web API is; None: at Slack's own address.
            closed: What all clients of the process know; None: this one is alone.
            is_patient: Wait until a method is open, for what nothing can be done without.
        """
        address = f"{(api_url or API_URL).rstrip('/')}/"
        super().__init__(token=token, base_url=address, session=session, retry_handlers=[])
        self._closed = closed or ClosedMethods()
        self._is_patient = is_patient
        self._check: Callable[[], None] = _nothing

    def checked(self, check: Callable[[], None]) -> Self:
        """Return such a client whose calls are sent unless `check` raises, which it asks last."""
        client = copy.copy(self)
        client._check = check
        return client

    async def api_call(self, api_method: str, **arguments: Any) -> AsyncSlackResponse:
        """Call a method, if it may be called.

        Raises:
            SlackApiError: when Slack refuses it, or takes no calls of it for now.
        """
        window = self._window(api_method, arguments.get("params") or {})
        while seconds := await self._closed.seconds_left(window):
            if not self._is_patient:
                raise self._too_many(api_method, seconds)
            await asyncio.sleep(seconds)
        self._check()
        try:
            answer = await super().api_call(api_method, **arguments)
            self._closed.clock.note(_date_of(answer))
            return answer
        except SlackApiError as error:
            self._closed.clock.note(_date_of(error.response))
            refusal = refused(api_method, error)
            if isinstance(refusal, TooMany):
                await self._closed.close(window, refusal.seconds)
            raise

    def _window(self, method: str, params: Mapping[str, Any]) -> str:
        """Return the name of what Slack counts: an app's calls of a method in a workspace.

        A token is of an app in a workspace, or of the app alone; nothing leads from its print
        back to it. The few calls without a token are the app's.
        """
        token = str(params.get("token") or self.token or "")
        printed = hashlib.sha256(token.encode()).hexdigest()[:_PRINT] if token else ""
        return f"slack:{printed}:{method}"

    def _too_many(self, method: str, seconds: float) -> SlackApiError:
        answer = AsyncSlackResponse(
            client=self,
            http_verb="POST",
            api_url=f"{self.base_url}{method}",
            req_args={},
            data={"ok": False, "error": "ratelimited"},
            headers={"Retry-After": f"{seconds:.3f}"},
            status_code=429,
        )
        return SlackApiError(f"{method} was not called", answer)  # type: ignore[no-untyped-call]


async def ask_time(client: SlackClient) -> None:
    """Call a method that needs no token, so that the clock learns from the answer."""
    try:
        await client.api_test()
    except (SlackClientError, StoreError, aiohttp.ClientError, OSError, TimeoutError) as error:
        logger.info("Slack does not say what time it is: %s", type(error).__name__)


def _date_of(answer: object) -> str | None:
    """Return when an answer was sent, where it says so."""
    headers = getattr(answer, "headers", None) or {}
    found = next((value for name, value in headers.items() if name.lower() == "date"), None)
    return found if isinstance(found, str) else None


def _nothing() -> None:
    """Hold no call back."""
