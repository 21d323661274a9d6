"""Secrets for people who are about to install the bot: signed, so that none is stored."""

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from core.models import now


class InstallStates:
    """Secrets that are good for a while, in every process that has the same key.

    A user who asks for one leaves no trace. One is good again within its life: the browser that it
    was given to has to show it, and the platform's code that comes with it is good once.
    """

    def __init__(self, keys: Sequence[bytes], life: timedelta) -> None:
        """Prepare to sign.

        Args:
            keys: The first signs; all are good.
        """
        self._keys = keys
        self._life = life

    def issue(self, moment: datetime | None = None) -> str:
        """Return a fresh secret."""
        content = f"{int((moment or now()).timestamp())}.{secrets.token_urlsafe(24)}"
        return f"{content}.{_signature(self._keys[0], content)}"

    def is_good(self, state: str, moment: datetime | None = None) -> bool:
        """Return whether a secret is one that was issued not too long ago."""
        content, _, signature = state.rpartition(".")
        signed = (_signature(key, content) for key in self._keys)
        if not any(hmac.compare_digest(signature.encode(), one.encode()) for one in signed):
            return False
        age = (moment or now()).timestamp() - int(content.partition(".")[0])
        return age <= self._life.total_seconds()


def _signature(key: bytes, content: str) -> str:
    return hmac.new(key, b"glossator install\0" + content.encode(), hashlib.sha256).hexdigest()
