"""The client of Slack's Web API: it sends nothing that Slack takes no calls of for now."""

import asyncio
import copy
import hashlib
import itertools
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Self, TypeVar

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.chat.incoming_message import PlatformClock
from adapters.slack.refusals import TooMany, refused
from core.domain.errors import DeliveryError, StoreError
from core.storage.leases import RateLimitWindows

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
        waits_when_limited: bool = False,
    ) -> None:
        """Prepare to call.

        Args:
            api_url: Where Slack's Web API is; None: at Slack's own address.
            closed: What all clients of the process know; None: this one is alone.
            waits_when_limited: Wait until a method is open, for what nothing can be done without.
        """
        address = f"{(api_url or API_URL).rstrip('/')}/"
        super().__init__(token=token, base_url=address, session=session, retry_handlers=[])
        self._closed = closed or ClosedMethods()
        self._waits_when_limited = waits_when_limited
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
            if not self._waits_when_limited:
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


POST = "chat.postMessage"
UPDATE = "chat.update"
START = "chat.startStream"
APPEND = "chat.appendStream"
STOP = "chat.stopStream"

_A_MINUTE = {POST: 300, UPDATE: 50, START: 20, APPEND: 100, STOP: 20}
"""Calls of a method in a workspace; all other methods go by what Slack answers."""
_UNLIMITED = 1_000_000
_KEPT = {UPDATE: 20}
"""Calls of a minute that end the answers to questions no one has asked yet."""
_POSTS_EVERY = 1.1
"""Seconds between two posts in a channel; a little more than Slack's, for the way is not even."""
_MARGIN = 1.02
"""By which a minute is longer here: calls do not arrive exactly when they are sent."""
_LONGEST_WAIT = 75.0
"""Seconds that an answer waits for its turn; what takes longer is tried again later."""
_LONGEST_PROMISE = 180.0
"""Seconds after which a call that was promised to an answer is free again."""
_MOST_CHANNELS = 256


class _Window:
    """So many calls in so many seconds."""

    def __init__(self, count: int, seconds: float, kept: int = 0) -> None:
        self._count = count
        self._spare = count - kept
        self._seconds = seconds
        self._used = deque[float]()
        self._promised: dict[object, float] = {}
        self.closed_until = 0.0
        """By Slack's word; of the clock that the window is used with."""

    def free_at(self, now: float) -> float:
        """Return when the next call may be made."""
        self._forget(now)
        full = len(self._used) >= self._count
        return max(self.closed_until, self._used[-self._count] + self._seconds if full else now)

    def is_spare(self, now: float) -> bool:
        """Return whether a call may be made now that no one else could need."""
        return self.free_at(now) <= now and len(self._used) + len(self._promised) < self._spare

    def promise(self, holder: object, now: float) -> None:
        """Keep a call for later."""
        self._promised[holder] = now + _LONGEST_PROMISE

    def release(self, holder: object) -> None:
        """Keep nothing for a holder any more."""
        self._promised.pop(holder, None)

    def use(self, holder: object, now: float) -> None:
        """Count a call."""
        self.release(holder)
        self._used.append(now)

    def close(self, until: float) -> None:
        """Let no call through for a while: Slack said so."""
        self.closed_until = max(self.closed_until, until)

    def _forget(self, now: float) -> None:
        while self._used and self._used[0] + self._seconds <= now:
            self._used.popleft()
        for holder in [h for h, until in self._promised.items() if until <= now]:
            self.release(holder)


class Budget:
    """The calls of one workspace.

    What ends an answer always gets its turn, in time where that is promised; what only shows
    that it grows is left out whenever others could need the call.
    """

    def __init__(
        self, *, minute: float = 60.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Prepare to count.

        Args:
            minute: Seconds of Slack's minute; tests have a shorter one.
        """
        self._clock = clock
        self._minute = minute
        self._methods: dict[str, _Window] = {}
        self._channels: dict[str, _Window] = {}

    def expect_update(self, holder: object) -> None:
        """Promise an answer the update that ends it."""
        self._window(UPDATE).promise(holder, self._clock())

    def may_stream(self, holder: object) -> bool:
        """Take a call that begins a stream, and promise the one that ends it; False: too many."""
        now = self._clock()
        if not (self._window(START).is_spare(now) and self._window(STOP).is_spare(now)):
            return False
        self._window(START).use(holder, now)
        self._window(STOP).promise(holder, now)
        return True

    def release_stream(self, holder: object) -> None:
        """Promise no end of a stream any more that did not begin."""
        self._window(STOP).release(holder)

    def may_show(self, method: str) -> bool:
        """Take a call that only shows how an answer grows; False: there is none to spare."""
        now = self._clock()
        is_spare = self._window(method).is_spare(now)
        if is_spare:
            self._window(method).use(None, now)
        return is_spare

    async def wait(self, method: str, holder: object, channel: str | None = None) -> None:
        """Wait until a call may be made, and count it.

        Args:
            channel: Where it posts, for POST.

        Raises:
            DeliveryError: when that takes too long; it says for how long.
        """
        windows = [self._window(method)]
        if method == POST and channel is not None:
            windows.append(self._posts_in(channel))
        while (pause := max(w.free_at(now := self._clock()) for w in windows) - now) > 0:
            if pause > _LONGEST_WAIT:
                raise DeliveryError(f"Slack takes no {method} now", retry_after=pause)
            await asyncio.sleep(pause)
        for window in windows:
            window.use(holder, self._clock())

    def close(self, method: str, seconds: float) -> None:
        """Make no call of a method for so many seconds."""
        self._window(method).close(self._clock() + seconds)

    def release(self, holder: object) -> None:
        """Keep no call for an answer any more."""
        for window in self._methods.values():
            window.release(holder)

    def _window(self, method: str) -> _Window:
        if method not in self._methods:
            count = _A_MINUTE.get(method, _UNLIMITED)
            kept = _KEPT.get(method, 0)
            self._methods[method] = _Window(count, self._minute * _MARGIN, kept)
        return self._methods[method]

    def _posts_in(self, channel: str) -> _Window:
        now = self._clock()
        if channel not in self._channels and len(self._channels) >= _MOST_CHANNELS:
            busy = {name: w for name, w in self._channels.items() if w.free_at(now) > now}
            self._channels = busy
        return self._channels.setdefault(channel, _Window(1, _POSTS_EVERY))


_PAUSES = (1, 2, 5, 10)
"""Seconds between two tries to reach Slack."""

Result = TypeVar("Result")


async def retry_forever(request: Callable[[], Awaitable[Result]]) -> Result:
    """Make a request until Slack answers it, and return the answer.

    Raises:
        DeliveryError: when Slack refuses it for good.
    """
    for pause in itertools.chain(_PAUSES, itertools.repeat(_PAUSES[-1])):
        try:
            return await request()
        except DeliveryError as error:
            if error.permanent:
                raise
            again_in = max(pause, error.retry_after or 0.0)
            logger.warning("%s; I try again in %.0f s", error, again_in)
        await asyncio.sleep(again_in)
    raise AssertionError("the pauses never end")
