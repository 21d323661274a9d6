"""Windows that close, each for one method, app and workspace, or for posts in one channel."""

import math
from dataclasses import dataclass, field

from tests.wire.clock import Clock
from tests.wire.slack.entities import Installation
from tests.wire.slack.limits import Limits, Window

_ON_THE_WAY = 0.05
"""Seconds in which a call may have been sent before the answer was read."""
_HISTORY = ("conversations.history", "conversations.replies")
Key = tuple[str, ...]


@dataclass
class _Count:
    resets_at: float
    used: int = 0
    closed_until: float = 0.0
    told_at: float = math.inf
    told_until: float = 0.0


@dataclass(frozen=True)
class TooMany:
    """A refusal; `late`: the seconds for which callers had been told to wait."""

    retry_after: int
    late: float

    @property
    def early(self) -> bool:
        """Return whether the caller could have known."""
        return self.late > _ON_THE_WAY


@dataclass
class RateLimits:
    """Counts calls against the limits."""

    limits: Limits
    clock: Clock
    _counts: dict[Key, _Count] = field(default_factory=dict)

    def admit(self, method: str, caller: Installation | None, channel: str) -> TooMany | None:
        """Count a call, or say why it is refused."""
        now = self.clock.now()
        windows = self._windows(method, caller, channel)
        counts = [self._count(key, window, now) for key, window in windows]
        for count, (_, window) in zip(counts, windows, strict=True):
            until = _closed_until(count, window, now)
            if until > now:
                return _refused(count, until, now)
        for count in counts:
            count.used += 1
        return None

    def close(
        self, method: str, caller: Installation | None, channel: str, seconds: float
    ) -> TooMany:
        """Close a method, or a channel for posts, for a while."""
        now = self.clock.now()
        key, window = self._windows(method, caller, channel)[-1]
        count = self._count(key, window, now)
        count.closed_until = now + seconds
        return _refused(count, count.closed_until, now)

    def _windows(
        self, method: str, caller: Installation | None, channel: str
    ) -> list[tuple[Key, Window]]:
        who = (caller.app.id, caller.workspace.id) if caller else ("", "")
        window = self.limits.methods.get(method, self.limits.other_methods)
        if method in _HISTORY and caller is not None and caller.app.distributed:
            window = self.limits.distributed_history
        windows: list[tuple[Key, Window]] = [((method, *who), window)]
        if method == "chat.postMessage" and channel:
            windows.append((("posts", *who, channel), self.limits.posts_in_a_channel))
        return windows

    def _count(self, key: Key, window: Window, now: float) -> _Count:
        count = self._counts.setdefault(key, _Count(now + window[1]))
        if now >= count.resets_at:
            count.resets_at, count.used = now + window[1], 0
        return count


def _closed_until(count: _Count, window: Window, now: float) -> float:
    full = count.resets_at if count.used >= window[0] else 0.0
    return max(count.closed_until, full)


def _refused(count: _Count, until: float, now: float) -> TooMany:
    """Tell a caller to wait; who was told is early from then on, however often they call."""
    if now >= count.told_until:
        count.told_at = now
    late = now - count.told_at
    count.told_until = max(count.told_until, until)
    retry_after = max(1, math.ceil(until - now))
    return TooMany(retry_after, late)
