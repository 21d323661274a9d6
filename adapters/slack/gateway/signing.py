"""Verifies the signatures of Slack's requests; never raises, whatever the headers hold."""

import asyncio
import hashlib
import hmac
import logging
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from adapters.intake.platform_clock import PlatformClock

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
