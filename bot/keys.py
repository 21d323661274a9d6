"""The keys of this installation, proved to be those that its database was used with."""

import hashlib
import hmac
import logging
import os
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot.settings import Settings
from core.domain.disk import is_want_of_room, sync
from core.domain.errors import ConfigurationError, NoRoom, StoreError, StoreUnwritable
from core.storage.installations import KeyIds

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet
    from sqlalchemy.ext.asyncio import AsyncEngine

logger = logging.getLogger(__name__)


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
    return (
        None
        if key[_RANDOM:] == _key_files_check(key[:_RANDOM])
        else "is damaged: its checksum is wrong"
    )


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
    fresh = _written(path, drawn + _key_files_check(drawn))
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


def _key_files_check(drawn: bytes) -> bytes:
    return hashlib.sha256(b"glossator key\0" + drawn).digest()[:_CHECK]


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


PSEUDONYM, ENCRYPTION = "pseudonym", "encryption"
NAMES = (PSEUDONYM, ENCRYPTION)
_LOST = {
    PSEUDONYM: "nobody is recognised as the user of before, whose conversations nobody but the "
    "operator can delete then",
    ENCRYPTION: "the tokens of Slack workspaces cannot be read, and each has to install the app "
    "again",
}
_GO_ON = "to go on without, {remove}run 'glossator db forget-key {name}'"
_ROTATE = (
    "To rotate it, put the new key before the old one, separated by a comma; once the program has "
    "run with both, the old one can go."
)
_DIFFERS = (
    "the key in %s is not the one that another process uses this database with: what one has "
    "sealed the other cannot open; give all of them the same %s"
)
_SHORTEST = 16
"""Bytes of a key that no one guesses."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys there are; an empty one is not there, and not needed by the command."""

    pseudonym: bytes
    sealing: Sequence[bytes]
    """The first seals; all unseal."""


def key_file(settings: Settings, name: str) -> Path:
    """Return where a key is kept that no setting gives."""
    return settings.data_dir / f"{name}.key"


def setting_of(name: str) -> str:
    """Return the setting that gives a key."""
    return f"GLOSSATOR_{name.upper()}_KEY"


async def prove(
    settings: Settings,
    engine: "AsyncEngine",
    needed: Collection[str] = (),
    *,
    needs_room: bool = True,
) -> Keys:
    """Return the keys, once they are whole and those that the database was used with.

    A database server may be shared by processes with a folder each, whose key files differ: there
    a difference is only warned about.

    Args:
        needed: Which are made where there are none, and noted where the database knows nothing of
            them yet. The others are held to what is noted alone.
        needs_room: Whether it fails where nothing can be written; else a pseudonym key is drawn
            for this process alone, which can store nothing by it.

    Raises:
        ConfigurationError: naming the key, what is wrong with it and what to do.
        StoreError: when the database fails.
    """
    ids = KeyIds(engine)
    noted, is_shared = await ids.all(), engine.dialect.name != "sqlite"
    found = dict[str, Sequence[bytes]]()
    for name in NAMES:
        try:
            is_noted = name in noted and not is_shared
            keys = _keys(settings, name, is_needed=name in needed, is_noted=is_noted)
            found[name] = keys
            first = _check(settings, name, keys, noted.get(name), is_shared=is_shared)
            if first is None or name not in needed:
                continue  # a key that a command does not use may be any, as of another shell
            if name == ENCRYPTION and name in noted:
                await _seal_again(engine, keys)
            await ids.note(name, first)
        except (NoRoom, StoreUnwritable):
            if needs_room:
                raise
            found.setdefault(name, [secrets.token_bytes(32)])
    pseudonym = [*found[PSEUDONYM], b""][0]
    return Keys(pseudonym, found[ENCRYPTION])


async def _seal_again(engine: "AsyncEngine", keys: Sequence[bytes]) -> None:
    """Have the newest key seal what an older one has sealed, which may go then."""
    from core.storage.installations import seal_again

    sealer = Sealer(keys)
    if lost := await seal_again(engine, sealer.seal, sealer.unseal):
        logger.warning("%d stored tokens were sealed with no key that is known", lost)


def given(settings: Settings, name: str) -> list[bytes]:
    """Return the keys that a setting gives; none: it is not set."""
    if name == PSEUDONYM:
        key = settings.pseudonym_key
        return [] if key is None else [key.get_secret_value().encode()]
    if settings.encryption_key is None:
        return []
    keys = settings.encryption_key.get_secret_value().split(",")
    return [key.strip().encode() for key in keys if key.strip()]


def short_keys(settings: Settings) -> list[str]:
    """Return the names of those settings that hold a key which could be guessed."""
    return [
        setting_of(name)
        for name in NAMES
        if any(len(key) < _SHORTEST for key in given(settings, name))
    ]


def _keys(settings: Settings, name: str, *, is_needed: bool, is_noted: bool) -> list[bytes]:
    """Return the keys that the settings give, else the one that is kept."""
    path, keys = key_file(settings, name), given(settings, name)
    if keys:
        return [*keys, *_older(path)] if name == ENCRYPTION else keys
    if not path.exists() and is_noted:
        raise ConfigurationError(f"The key file {path} is missing. {_remedy(name, path)}")
    if not path.exists() and not is_needed:
        return []
    try:
        return [kept_key(path)]
    except KeyFileError as error:
        raise ConfigurationError(f"{error} {_remedy(name, path)}") from error


def _older(path: Path) -> list[bytes]:
    """Return the key that was kept before a setting gave one: it opens what it has sealed."""
    try:
        return [read_key(path)]
    except KeyFileError:
        return []


def _check(
    settings: Settings, name: str, keys: Sequence[bytes], noted: str | None, *, is_shared: bool
) -> str | None:
    """Return the id to note; None: it is noted, or there is no key, or another process's is noted.

    Raises:
        ConfigurationError: when the database was used with another key.
    """
    if not keys:
        return None
    ids = [key_id(key) for key in keys]
    if noted is not None and noted not in ids:
        path = key_file(settings, name)
        place = setting_of(name) if given(settings, name) else f"the file {path}"
        if is_shared:
            logger.warning(_DIFFERS, place, setting_of(name))
            return None
        rotate = f" {_ROTATE}" if name == ENCRYPTION and given(settings, name) else ""
        raise ConfigurationError(
            f"The key in {place} is not the one that this database was used with (its id is "
            f"{ids[0]}, not {noted}). {_remedy(name, path)}{rotate}"
        )
    return None if noted == ids[0] else ids[0]


def _remedy(name: str, path: Path) -> str:
    remove = f"remove {path} and " if path.exists() else ""
    return (
        f"Put the one of your last backup in its place. Without it, {_LOST[name]}; "
        f"{_GO_ON.format(remove=remove, name=name)}."
    )
