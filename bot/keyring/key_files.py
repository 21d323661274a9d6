"""A random key in a file of its own, which proves to be whole whenever it is read."""

import hashlib
import os
import secrets
from contextlib import suppress
from pathlib import Path

from core.disk.space import is_want_of_room
from core.disk.sync import sync
from core.errors import ConfigurationError, NoRoom

_RANDOM, _CHECK = 32, 16
"""Bytes of a key: what was drawn, and a checksum of that."""


class KeyFileError(ConfigurationError):
    """A key file cannot be used; the text says which, and what is wrong with it."""


def kept_key(path: Path) -> bytes:
    """Return the random key in a file, made when it is missing; processes agree on one.

    All bytes of the file are the key.

    Raises:
        KeyFileError: when the file is empty, cut, altered or not readable.
        NoRoom: when it is missing, and cannot be written.
    """
    if not path.exists():
        try:
            _make(path)
        except OSError as error:
            if is_want_of_room(error):
                raise NoRoom(f"The key file {path} cannot be written: {error.strerror}.") from error
            raise KeyFileError(
                f"The key file {path} cannot be written: {error.strerror}."
            ) from error
    return read_key(path)


def read_key(path: Path) -> bytes:
    """Return the key in a file.

    Raises:
        KeyFileError: when the file is missing, empty, cut, altered or not readable.
    """
    try:
        key = path.read_bytes()
    except OSError as error:
        raise KeyFileError(f"The key file {path} cannot be read: {error.strerror}.") from error
    if wrong := flaw(key):
        raise KeyFileError(f"The key file {path} {wrong}.")
    return key


def flaw(key: bytes) -> str | None:
    """Return what is wrong with the content of a key file, if anything."""
    if not key:
        return "is empty"
    if len(key) != _RANDOM + _CHECK:
        return f"is {len(key)} bytes long, where a key has {_RANDOM + _CHECK}"
    return None if key[_RANDOM:] == _check(key[:_RANDOM]) else "is damaged: its checksum is wrong"


def key_id(key: bytes) -> str:
    """Return what a key is known by; the key cannot be found from it."""
    return hashlib.sha256(b"glossator key id\0" + key).hexdigest()[:16]


def place_key(path: Path, key: bytes) -> None:
    """Write a key into a file, its owner's alone, in place of another one; a crash leaves one.

    Raises:
        OSError: when it cannot be written.
    """
    fresh = _written(path, key)
    os.replace(fresh, path)
    sync(path.parent)


def _make(path: Path) -> None:
    drawn = secrets.token_bytes(_RANDOM)
    fresh = _written(path, drawn + _check(drawn))
    try:
        os.link(fresh, path)  # unlike a rename, this never replaces another process's key
    except FileExistsError:
        fresh.unlink()
    except OSError:  # a file system without hard links
        os.replace(fresh, path)
    else:
        fresh.unlink()
    sync(path.parent)


def _written(path: Path, key: bytes) -> Path:
    """Return a file next to `path` that holds the key, on the disk and not only on its way."""
    fresh = path.with_name(f"{path.stem}.{secrets.token_hex(4)}")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(key)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            fresh.unlink()
        raise
    return fresh


def _check(drawn: bytes) -> bytes:
    return hashlib.sha256(b"glossator key\0" + drawn).digest()[:_CHECK]
