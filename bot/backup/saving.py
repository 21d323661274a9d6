"""Makes a backup of everything that this installation stores, while it runs."""

import logging
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import Table
from sqlalchemy.ext.asyncio import AsyncSession

from bot import __version__
from bot.database import HEAD_REVISION
from bot.keyring.key_files import read_key
from bot.keyring.keys import NAMES, given, key_file
from bot.services import Services
from bot.settings import Settings
from core.backup import archive, points, rows
from core.backup.archive import ArchiveWriter
from core.backup.manifest import BackedUpEdition, BackedUpTable, Manifest
from core.errors import UnusableBackup, VectorIndexError
from core.index.base import VectorIndex
from core.models import now
from core.storage.catalogue import Segment
from core.storage.database import reading

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
