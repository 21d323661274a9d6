"""Buckets that close, each for one route and channel, guild or webhook, and one for all."""

import hashlib
import math
from collections import deque
from dataclasses import dataclass, field

from tests.wire.clock import Clock
from tests.wire.discord.limits import Limits

_MAJOR = ("channel_id", "guild_id", "webhook_id", "webhook_token")
_ON_THE_WAY = 0.05
"""Seconds in which a request may have been sent before the answer was read."""
_EXEMPT = ("/interactions/", "/webhooks/")


@dataclass
class Bucket:
    """Requests of one window."""

    name: str
    limit: int
    seconds: float
    used: int = 0
    resets_at: float = 0.0
    closed_until: float = 0.0
    told_at: float = math.inf
    """When a caller was told that it is closed."""

    def reset_if_due(self, now: float) -> None:
        """Begin a new window when the old one is over."""
        if now >= self.resets_at and now >= self.closed_until:
            self.used, self.resets_at, self.told_at = 0, now + self.seconds, math.inf

    def closed_for(self, now: float) -> float:
        """Return how many seconds no request is let in."""
        if now < self.closed_until:
            return self.closed_until - now
        return self.resets_at - now if self.used >= self.limit else 0.0

    def headers(self, now: float, wall: float) -> dict[str, str]:
        """Return what each answer says about the bucket."""
        closed = self.closed_for(now)
        wait = rounded_up(max(closed, self.resets_at - now))
        remaining = 0 if closed else self.limit - self.used
        if not remaining:
            self.told_at = min(self.told_at, now)
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(remaining),
            "X-RateLimit-Reset": f"{wall + wait:.3f}",
            "X-RateLimit-Reset-After": f"{wait:.3f}",
            "X-RateLimit-Bucket": self.name,
        }


@dataclass
class Refused:
    """Why a request is not let in; `late`: the seconds for which callers had been told to wait."""

    retry_after: float
    scope: str
    late: float

    @property
    def early(self) -> bool:
        """Return whether the caller could have known."""
        return self.late > _ON_THE_WAY


@dataclass
class RateLimits:
    """Counts requests against the limits."""

    limits: Limits
    clock: Clock
    _buckets: dict[tuple[str, ...], Bucket] = field(default_factory=dict)
    _recent: dict[int, deque[float]] = field(default_factory=dict)
    _global_until: float = 0.0
    _told_at: float = math.inf

    def bucket(self, route: str, params: dict[str, str], application_id: int | None) -> Bucket:
        """Return the bucket of a route; callers of `/interactions` share none."""
        major = tuple(params.get(name, "") for name in _MAJOR)
        limit, seconds = self.limits.buckets.get(route, self.limits.default_bucket)
        name = hashlib.sha256(route.encode()).hexdigest()[:32]
        key = (route, str(application_id), *major, params.get("interaction_id", ""))
        bucket = self._buckets.setdefault(key, Bucket(name, limit, seconds))
        bucket.reset_if_due(self.clock.now())
        return bucket

    def admit(self, bucket: Bucket, route: str, application_id: int | None) -> Refused | None:
        """Count a request, or say why it is refused."""
        now = self.clock.now()
        exempt = any(part in route for part in _EXEMPT)
        if not exempt and now < self._global_until:
            return Refused(self._global_until - now, "global", now - self._told_at)
        if wait := bucket.closed_for(now):
            return Refused(wait, "user", now - bucket.told_at)
        if not exempt and application_id is not None and self._too_many(application_id, now):
            self._global_until, self._told_at = now + 1.0, now
            return Refused(1.0, "global", 0.0)
        bucket.used += 1
        return None

    def close(self, bucket: Bucket, scope: str, seconds: float) -> None:
        """Close a bucket, or everything, for a while."""
        until = self.clock.now() + seconds
        if scope == "global":
            self._global_until, self._told_at = until, self.clock.now()
        else:
            bucket.closed_until = bucket.resets_at = until

    def _too_many(self, application_id: int, now: float) -> bool:
        recent = self._recent.setdefault(application_id, deque())
        while recent and now - recent[0] >= 1.0:
            recent.popleft()
        recent.append(now)
        return len(recent) > self.limits.global_requests


def rounded_up(seconds: float) -> float:
    """Return a wait in whole milliseconds, never too short."""
    return math.ceil(seconds * 1000 + 1) / 1000
