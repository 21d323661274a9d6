"""The installation's own keys: for pseudonyms, and for tokens at rest."""

import hashlib
import hmac
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.errors import StoreError

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet


class Pseudonyms:
    """Turns the names of people into hashes from which no name can be read."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def of(self, platform: str, workspace: str, user: str) -> str:
        """Return the keyed hash that stands for a user of a platform's workspace."""
        name = f"{platform}:{workspace}:{user}".encode()
        return hmac.new(self._key, name, hashlib.sha256).hexdigest()


class Sealer:
    """Encrypts what must be kept for a while and read by no one else.

    Args:
        keys: The first seals; all unseal. To rotate, put a new key before the old one.
    """

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = keys
        self._ring: MultiFernet | None = None

    def seal(self, secret: str) -> bytes:
        """Return the secret encrypted and signed."""
        return self._fernet().encrypt(secret.encode())

    def unseal(self, sealed: bytes) -> str:
        """Return the secret.

        Raises:
            StoreError: when it was sealed with a key that is not among ours.
        """
        from cryptography.fernet import InvalidToken

        try:
            return self._fernet().decrypt(sealed).decode()
        except InvalidToken as error:
            raise StoreError("a stored token was sealed with an unknown key") from error

    def _fernet(self) -> "MultiFernet":
        if self._ring is None:
            from cryptography.fernet import Fernet, MultiFernet

            self._ring = MultiFernet([Fernet(_fernet_key(key)) for key in self._keys])
        return self._ring


def _fernet_key(key: bytes) -> bytes:
    """Return a key of the length Fernet asks for; the given one has enough entropy itself."""
    return urlsafe_b64encode(hashlib.sha256(b"glossator seal\0" + key).digest())
