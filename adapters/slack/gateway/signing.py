"""Tells Slack's requests from forged ones; whatever the headers hold, it raises nothing."""

import hashlib
import hmac
import logging
import re
import time
from collections.abc import Callable, Sequence

logger = logging.getLogger(__name__)

_WINDOW = 300
"""Seconds by which a request's time may differ from ours."""
_TOLD_EVERY = 3_600.0
"""Seconds: a forger of requests does not fill the log."""
_TIMESTAMP = re.compile(r"[0-9]{1,12}", re.ASCII)
_SIGNATURE = re.compile(r"v0=[0-9a-f]{64}", re.ASCII)


class Signatures:
    """Checks signatures with an app's signing secret."""

    def __init__(self, secret: str, clock: Callable[[], float] = time.time) -> None:
        """Prepare to check.

        Raises:
            ValueError: without a secret everybody could sign.
        """
        if not secret:
            raise ValueError("a signing secret is needed")
        self._secret = secret.encode()
        self._clock = clock
        self._told_at: float | None = None

    def check(self, timestamps: Sequence[str], signatures: Sequence[str]) -> "Check | None":
        """Return what checks a body as it is read; None: Slack sends no such headers, or not now.

        Args:
            timestamps: The values of X-Slack-Request-Timestamp; a request has one.
            signatures: The values of X-Slack-Signature; a request has one.
        """
        if len(timestamps) != 1 or len(signatures) != 1:
            return None
        [timestamp], [signature] = timestamps, signatures
        if not _TIMESTAMP.fullmatch(timestamp) or not _SIGNATURE.fullmatch(signature):
            return None
        late = self._clock() - int(timestamp)
        if abs(late) > _WINDOW:
            self._tell(late)
            return None
        begun = hmac.new(self._secret, b"v0:" + timestamp.encode() + b":", hashlib.sha256)
        return Check(begun, signature)

    def _tell(self, late: float) -> None:
        """Log, once an hour at most, that a request's time is far from ours."""
        at = time.monotonic()
        if self._told_at is not None and at - self._told_at < _TOLD_EVERY:
            return
        self._told_at = at
        side = "ahead of" if late > 0 else "behind"
        logger.warning(
            "a request was refused that says it was signed %.0f minutes %s: if it is Slack's, "
            "this machine's clock is that much %s Slack's",
            *(abs(late) / 60, "ago" if late > 0 else "from now", side),
        )


class Check:
    """Tells whether Slack signed the body that it is fed, however large that is."""

    def __init__(self, digest: hmac.HMAC, signature: str) -> None:
        self._digest = digest
        self._signature = signature

    def feed(self, part: bytes) -> None:
        """Read on in the body, as it came over the wire."""
        self._digest.update(part)

    def is_slack(self) -> bool:
        """Return whether Slack signed exactly what was fed."""
        return hmac.compare_digest(f"v0={self._digest.hexdigest()}", self._signature)
