"""Restores a backup, on whatever database and index the settings name."""

import logging
from collections.abc import Set as AbstractSet
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from bot.backup.saving import key_member, table_member, text_member
from bot.cli.ingest_room import check_room
from bot.database import SchemaState, check, has_revision, rebuild
from bot.keyring.key_files import flaw, key_id, place_key
from bot.keyring.keys import ENCRYPTION, given, key_file, setting_of
from bot.process.startup import nobody_runs
from bot.settings import Settings
from bot.wiring import make_data_dir, open_index
from core.backup import archive, points, rows
from core.backup.archive import ArchiveReader
from core.backup.manifest import BackedUpEdition, Manifest, NewerBackup
from core.errors import ConfigurationError, StoreError, UnusableBackup, VectorIndexError
from core.index.base import VectorIndex
from core.ingestion.edition.footprint import footprint
from core.models import now
from core.storage.catalogue import Catalogue
from core.storage.database import create_engine, dispose, reading

logger = logging.getLogger(__name__)


class NotEmpty(ConfigurationError):
    """There is something where the backup would go; the text says what."""


async def restore(settings: Settings, path: Path, *, force: bool) -> Manifest:
    """Restore a backup, and return what was in it.

    The tables change in one transaction, after everything else is in its place; when they do not,
    the keys are as before, and the index has none of the texts that it was filled with.

    Args:
        force: Whether to replace what there is. Key files that differ are kept under another name.

    Raises:
        UnusableBackup: when the file is missing or damaged; nothing has changed then.
        NotEmpty: when there is something already, and it is not to be replaced.
        ConfigurationError: when a newer version made the backup, or its keys are not the ones
            that the settings give.
        NoRoom, StoreError, VectorIndexError: when it cannot be written.
    """
    with archive.reading(path) as backup:
        manifest = backup.manifest
        _check_version(manifest)
        _check_keys(settings, backup)
        make_data_dir(settings)
        async with AsyncExitStack() as closing:
            engine = create_engine(settings.database_url)
            closing.push_async_callback(dispose, engine)
            index = open_index(settings)
            closing.push_async_callback(index.close)
            closing.enter_context(nobody_runs(engine))
            before = await _look(settings, engine, backup, force=force)
            keeping = _Keeping(manifest, settings.inbox.stale_after)
            async with AsyncExitStack() as undoing:
                for edition in manifest.editions:
                    if edition.has_text:
                        await _fill(settings, index, backup, edition, undoing)
                for name in manifest.keys:
                    _place(key_file(settings, name), backup.data(key_member(name)), undoing)
                await rebuild(
                    engine,
                    manifest.revision,
                    lambda connection: _fill_tables(connection, backup, keeping),
                )
                undoing.pop_all()
            await _drop(index, before - {one.collection for one in manifest.editions})
    return manifest


def _check_version(manifest: Manifest) -> None:
    if not has_revision(manifest.revision):
        raise NewerBackup(manifest.program)


def _check_keys(settings: Settings, backup: ArchiveReader) -> None:
    """Raise ConfigurationError when the settings give other keys than the backup's database used.

    Damaged keys in the backup itself raise UnusableBackup.
    """
    for name in backup.manifest.keys:
        if wrong := flaw(backup.data(key_member(name))):
            raise UnusableBackup(f"The {name} key in the backup {wrong}.")
    columns = next((t.columns for t in backup.manifest.tables if t.name == "key_ids"), None)
    if columns is None:
        return
    for cells in backup.lines(table_member("key_ids")):
        row = dict(zip(columns, cells, strict=True))
        keys = given(settings, row["name"])
        if keys and row["name"] == ENCRYPTION and ENCRYPTION in backup.manifest.keys:
            keys.append(backup.data(key_member(ENCRYPTION)))  # which goes on opening
        if keys and row["key_id"] not in map(key_id, keys):
            raise ConfigurationError(
                f"The key in {setting_of(row['name'])} is not the one that the backup's database "
                "was used with: set that one, and restore again."
            )


async def _look(
    settings: Settings, engine: AsyncEngine, backup: ArchiveReader, *, force: bool
) -> frozenset[str]:
    """Return the collections of the courses that there are.

    Raises:
        NotEmpty: when there is anything, and it is not to be replaced.
    """
    state = await check(engine)
    if state in (SchemaState.OUTDATED, SchemaState.AHEAD, SchemaState.UNKNOWN):
        raise ConfigurationError(
            "The database that the settings name was made by another version of Glossator, or by "
            "another application: set GLOSSATOR_DATABASE__URL to another."
        )
    if not force:
        await _check_empty(settings, engine, backup)
    try:
        return await Catalogue(engine).collections()
    except StoreError:  # no tables yet, or older ones
        return frozenset()


async def _check_empty(settings: Settings, engine: AsyncEngine, backup: ArchiveReader) -> None:
    async with reading(engine) as db:
        is_filled = await (await db.connection()).run_sync(rows.is_filled)
    if is_filled:
        raise NotEmpty(
            "The database that the settings name is not empty: set GLOSSATOR_DATABASE__URL to "
            "another, or give --force to replace all that is in it."
        )
    for name in backup.manifest.keys:
        path = key_file(settings, name)
        if path.exists() and path.read_bytes() != backup.data(key_member(name)):
            raise NotEmpty(
                f"There is another key in {path}: give --force to replace it; it is kept then "
                f"as {path.name}.before."
            )


async def _fill(
    settings: Settings,
    index: VectorIndex,
    backup: ArchiveReader,
    edition: BackedUpEdition,
    undoing: AsyncExitStack,
) -> None:
    """Have the index hold an edition's text; what it holds already is left as it is.

    Args:
        undoing: Drops the text again, where the index had none of that name.
    """
    name = edition.collection
    is_new = name not in await index.collections()
    if not is_new:
        try:
            if await index.count(name) == edition.chunks:
                return
        except VectorIndexError as error:
            logger.info("the collection %s is made again: %s", name, error)
        await index.drop(name)
    needed = footprint([], edition.chunks, edition.dimensions)
    check_room(settings, edition.course_id, needed)
    try:
        await points.fill(index, name, edition.dimensions, backup.lines(text_member(name)))
    except BaseException:
        await index.drop(name)
        raise
    if is_new:
        undoing.push_async_callback(_drop, index, {name})


def _place(path: Path, key: bytes, undoing: AsyncExitStack) -> None:
    """Put a key into its file; another one that is there is kept next to it."""
    if not path.exists():
        place_key(path, key)
        undoing.callback(path.unlink, missing_ok=True)
        return
    before = path.read_bytes()
    if before == key:
        return
    kept = _free_name(path, before)
    if not kept.exists():
        place_key(kept, before)
        undoing.callback(kept.unlink, missing_ok=True)
    place_key(path, key)
    undoing.callback(place_key, path, before)  # the last one is undone first


def _free_name(path: Path, before: bytes) -> Path:
    """Return where to keep a key that is replaced: in place of no other one."""
    for number in count(1):
        kept = path.with_name(f"{path.name}.before{'' if number == 1 else number}")
        if not kept.exists() or kept.read_bytes() == before:
            break
    return kept


class _Keeping:
    """Which rows go on after a restoration.

    Long after the backup was made, its waiting events have been answered or given up, and what
    was said since is not to be looked for: askers would get an apology a day later.
    """

    def __init__(self, manifest: Manifest, stale_after: float) -> None:
        self._is_old = now() - manifest.made_at > timedelta(seconds=stale_after)
        self._left_out = set[str]()

    def keeps(self, table: str, row: dict[str, Any]) -> bool:
        """Return whether a row is restored."""
        if not self._is_old:
            return True
        if table == "inbox" and row["state"] == "waiting":
            self._left_out.add(row["key"])
            return False
        if table == "inbox_posts":
            return row["key"] not in self._left_out
        return table != "inbox_cursors"


def _fill_tables(connection: Any, backup: ArchiveReader, keeping: _Keeping) -> None:
    for table in backup.manifest.tables:
        lines = backup.lines(table_member(table.name))
        rows.insert(connection, table, lines, partial(keeping.keeps, table.name))


async def _drop(index: VectorIndex, collections: AbstractSet[str]) -> None:
    """Drop what no course needs; where the index fails, the log says what stays."""
    for collection in collections:
        try:
            await index.drop(collection)
        except VectorIndexError as error:
            logger.warning("the collection %s could not be dropped: %s", collection, error)
