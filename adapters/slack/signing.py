"""Tells Slack's requests from forged ones; whatever the headers hold, it raises nothing."""

import hashlib
import hmac
import re
import time
from collections.abc import Callable, Sequence

_WINDOW = 300
"""Seconds by which a request's time may differ from ours."""
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

    def is_slack(self, body: bytes, timestamps: Sequence[str], signatures: Sequence[str]) -> bool:
        """Return whether Slack signed exactly this body, now.

        Args:
            body: As it came over the wire.
            timestamps: The values of X-Slack-Request-Timestamp; a request has one.
            signatures: The values of X-Slack-Signature; a request has one.
        """
        if len(timestamps) != 1 or len(signatures) != 1:
            return False
        [timestamp], [signature] = timestamps, signatures
        if not _TIMESTAMP.fullmatch(timestamp) or not _SIGNATURE.fullmatch(signature):
            return False
        if abs(self._clock() - int(timestamp)) > _WINDOW:
            return False
        signed = b"v0:" + timestamp.encode() + b":" + body
        expected = hmac.new(self._secret, signed, hashlib.sha256).hexdigest()
        return hmac.compare_digest(f"v0={expected}", signature)
