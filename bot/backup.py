"""Restores a backup, on whatever database and index the settings name."""

import logging
from collections.abc import Collection, Iterator
from collections.abc import Set as AbstractSet
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import Table
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession

from bot import __version__
from bot import backup_archive as archive
from bot import backup_archive as points
from bot import backup_archive as rows
from bot.backup_archive import (
    ArchiveReader,
    ArchiveWriter,
    BackedUpEdition,
    BackedUpTable,
    Manifest,
    NewerBackup,
)
from bot.database import HEAD_REVISION, SchemaState, check, check_room, has_revision, rebuild
from bot.keys import (
    ENCRYPTION,
    NAMES,
    flaw,
    given,
    key_file,
    key_id,
    place_key,
    read_key,
    setting_of,
)
from bot.process import nobody_runs
from bot.services import Services
from bot.settings import Settings
from bot.wiring import make_data_dir, open_index
from core.domain import now
from core.domain.errors import ConfigurationError, StoreError, UnusableBackup, VectorIndexError
from core.index.base import VectorIndex
from core.ingestion.embedding import footprint
from core.storage.catalogue import Catalogue, Segment
from core.storage.database import create_engine, dispose, reading

logger = logging.getLogger(__name__)


_TRIES = 3
"""How often all is read again because a course was ingested meanwhile."""


class _Replaced(Exception):
    """A text vanished while it was read: its course was ingested."""


@dataclass(slots=True)
class _Seen:
    """What the tables say of the texts, as they were at the moment of the backup."""

    editions: list[dict[str, Any]] = field(default_factory=list)
    documents: dict[str, list[UUID]] = field(default_factory=dict)
    """Their ids, by the collection that they are in."""

    def note(self, table: str, row: dict[str, Any]) -> None:
        if table == "editions":
            self.editions.append(row)
        elif table == "documents":
            self.documents.setdefault(row["collection"], []).append(UUID(row["document_id"]))


async def back_up(
    opened: Services, path: Path, *, with_text: bool = True, only: Collection[str] | None = None
) -> Manifest:
    """Write a backup to a file, in place of an earlier one, and return what is in it.

    Args:
        with_text: Whether the chunks and vectors of the courses are in it; else they are to be
            ingested again after a restoration.
        only: The tables that are in it, and then no key is; None: all of both.

    Raises:
        NoRoom, UnusableBackup: when the file cannot be written.
        StoreError: when the database fails.
    """
    for _ in range(_TRIES):
        try:
            with archive.writing(path) as writer:
                return await _write(opened, writer, with_text=with_text, only=only)
        except _Replaced:
            logger.info("a course was ingested meanwhile: the backup begins again")
    raise UnusableBackup(
        "The courses are ingested so often that no backup of them can be made: try again later, "
        "or with --without-index."
    )


async def _write(
    opened: Services, writer: ArchiveWriter, *, with_text: bool, only: Collection[str] | None
) -> Manifest:
    made_at, seen = now(), _Seen()
    wanted = [table for table in rows.tables() if only is None or table.name in only]
    async with reading(opened.engine) as db:
        tables = [await _write_table(db, writer, table, seen) for table in wanted]
    editions = [
        await _write_text(opened.index, writer, row, segment, seen, with_text=with_text)
        for row in seen.editions
        for segment in map(Segment.from_json, row["segments"])
    ]
    manifest = Manifest(
        program=__version__,
        revision=HEAD_REVISION,
        made_at=made_at,
        tables=tuple(tables),
        editions=tuple(editions),
        keys=tuple(_write_keys(opened.settings, writer)) if only is None else (),
    )
    writer.finish(manifest)
    return manifest


async def _write_table(
    db: AsyncSession, writer: ArchiveWriter, table: Table, seen: _Seen
) -> BackedUpTable:
    columns, count = rows.kinds(table), 0
    with writer.lines(table_member(table.name)) as add:
        async for page in rows.pages(db, table):
            for row in page:
                add(row)
                seen.note(table.name, dict(zip(columns, row, strict=True)))
            count += len(page)
    return BackedUpTable(table.name, columns, count)


async def _write_text(
    index: VectorIndex,
    writer: ArchiveWriter,
    row: dict[str, Any],
    segment: Segment,
    seen: _Seen,
    *,
    with_text: bool,
) -> BackedUpEdition:
    """Write one collection of an edition, with what the edition hides of it."""
    collection, expected = segment.collection, segment.chunks
    has_text = with_text and await _is_whole(index, collection, expected)
    if has_text:
        found = 0
        try:
            with writer.lines(text_member(collection)) as add:
                documents = seen.documents.get(collection, [])
                async for point in points.written(index, collection, documents):
                    add(point)
                    found += 1
        except VectorIndexError as error:
            raise _Replaced from error
        if found != expected:
            raise _Replaced
    elif with_text:
        logger.warning("the text of %s is not in the index, and in no backup", row["course_id"])
    return BackedUpEdition(
        course_id=row["course_id"],
        generation=row["generation"],
        collection=collection,
        dimensions=row["dimensions"],
        chunks=expected,
        has_text=has_text,
    )


async def _is_whole(index: VectorIndex, collection: str, expected: int) -> bool:
    try:
        return await index.count(collection) == expected
    except VectorIndexError:
        return False


def _write_keys(settings: Settings, writer: ArchiveWriter) -> Iterator[str]:
    """Write the keys that are kept in files, and yield their names; settings are not copied."""
    for name in NAMES:
        path = key_file(settings, name)
        if path.exists() and not given(settings, name):
            writer.data(key_member(name), read_key(path))
            yield name


def table_member(name: str) -> str:
    """Return where a table is in a backup."""
    return f"tables/{name}.jsonl"


def text_member(collection: str) -> str:
    """Return where the text of an edition is in a backup."""
    return f"index/{collection}.jsonl"


def key_member(name: str) -> str:
    """Return where a key is in a backup."""
    return f"keys/{name}.key"


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
