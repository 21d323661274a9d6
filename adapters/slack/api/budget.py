"""How often a workspace's methods may be called, shared by all answers on their way there."""

import asyncio
import time
from collections import deque
from collections.abc import Callable

from core.errors import DeliveryError

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
