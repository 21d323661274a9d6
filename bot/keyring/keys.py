"""The keys of this installation, proved to be those that its database was used with."""

import logging
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot.keyring.key_files import KeyFileError, kept_key, key_id, read_key
from bot.keyring.sealing import Sealer
from bot.settings import Settings
from core.errors import ConfigurationError, NoRoom, StoreUnwritable
from core.storage.key_ids import KeyIds

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine

logger = logging.getLogger(__name__)

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
    from core.storage.installations.store import seal_again

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
