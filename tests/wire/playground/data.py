"""The data folder that the playground's bot works on: no person of an earlier start is in it.

The people, the server and the workspace are made up anew at each start, and the first tenant that a
data folder meets is its owner's for good. So nobody is kept in the playground's own folder but its
courses, and the operator's own courses are copied: nothing that is done in the playground is ever
part of the data that real people are answered from.
"""

import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from dotenv import dotenv_values
from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.backup import back_up, restore
from bot.database import make_current
from bot.embedders import FILE as MARKS
from bot.process import nobody_runs
from bot.settings import PREFIX, DatabaseSettings, QdrantSettings, Settings
from bot.wiring import open_services
from core.domain.errors import ConfigurationError, StoreError
from core.storage.catalogue import Catalogue
from core.storage.database import create_engine, dispose, reading, writing
from core.tables import METADATA

COURSES = frozenset({"courses", "editions", "segments", "documents", "sections", "ingest_accounts"})
"""The tables that say what the courses are."""
_KEPT = COURSES | {"cached_vectors", "course_changes", "source_checks", "key_ids"}
_VECTORS = METADATA.tables["cached_vectors"]
_ELSEWHERE = ("DATA_DIR", "DATABASE__", "QDRANT__", "MONITORING__", "DISCORD__", "SLACK__")
"""What begins like this is about the operator's data or chats, and is not passed on."""
_BUSY = "Another playground runs on {folder}: stop it first."


def folder_of_copy(own: Settings) -> Path:
    """Return the data folder that holds the copy of the operator's courses."""
    return own.data_dir.absolute() / "own-playground"


async def copy_courses(own: Settings) -> None:
    """Bring the copy of the operator's courses up to date; their own data is only read.

    All courses are the playground's to read, whichever tenant owns them.

    Raises:
        ConfigurationError: when another playground runs, or a setting is unusable.
        StoreError, VectorIndexError, NoRoom, UnusableBackup: when the courses cannot be read, or
            the copy cannot be written.
    """
    folder = folder_of_copy(own)
    copy = own.model_copy(
        update={"data_dir": folder, "database": DatabaseSettings(), "qdrant": QdrantSettings()}
    )
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    await _check_alone(folder)
    embedded = await _embedded(folder)
    with TemporaryDirectory(dir=folder) as name:
        async with open_services(own, needs_room=False) as opened:
            await back_up(opened, Path(name) / "courses", only=COURSES)
        with suppress(FileNotFoundError):
            shutil.copyfile(own.data_dir / MARKS, folder / MARKS)
        await restore(copy, Path(name) / "courses", force=True)
    models = own.data_dir.absolute() / "models"
    if models.is_dir() and not (folder / "models").exists():
        try:
            (folder / "models").symlink_to(models, target_is_directory=True)
        except OSError:  # Windows lets not everybody make links
            shutil.copytree(models, folder / "models")
    async with _opened(folder) as engine:
        if embedded:
            async with writing(engine) as db:
                await db.execute(insert(_VECTORS), embedded)
        catalogue = Catalogue(engine)
        for course, _ in await catalogue.courses():
            await catalogue.set_owner(course.course_id, None)


async def forget_people(folder: Path) -> None:
    """Keep nothing but the courses in the playground's own data folder.

    Raises:
        ConfigurationError: when another playground runs there.
        StoreError: when its database fails.
    """
    if not (folder / "glossator.db").exists():
        return
    await _check_alone(folder)
    async with _opened(folder) as engine:
        await make_current(engine)
        async with writing(engine) as db:
            for table in reversed(METADATA.sorted_tables):
                if table.name not in _KEPT:
                    await db.execute(delete(table))


async def _embedded(folder: Path) -> list[dict[str, object]]:
    """Return the vectors that an earlier copy kept, those of the handbook above all.

    Without them the handbook of a course's owner who has none would be embedded at every start.
    """
    if not (folder / "glossator.db").exists():
        return []
    async with _opened(folder) as engine:
        with suppress(StoreError):  # an earlier version's tables: it is all made again
            async with reading(engine) as db:
                found = await db.execute(select(_VECTORS))
                return [dict(row) for row in found.mappings()]
    return []


async def _check_alone(folder: Path) -> None:
    """Raise ConfigurationError where a bot works on a data folder."""
    async with _opened(folder) as engine:
        try:
            with nobody_runs(engine):
                return
        except ConfigurationError as error:
            raise ConfigurationError(_BUSY.format(folder=folder)) from error


@asynccontextmanager
async def _opened(folder: Path) -> AsyncIterator[AsyncEngine]:
    engine = create_engine(f"sqlite:///{folder / 'glossator.db'}")
    try:
        yield engine
    finally:
        await dispose(engine)


def passed_on(own: Settings, variables: Mapping[str, str]) -> dict[str, str]:
    """Return the operator's settings for a bot that starts elsewhere, on other data.

    Args:
        variables: The environment, which wins over the `.env` of the current folder.
    """
    in_file = {name: value for name, value in dotenv_values(".env").items() if value is not None}
    there = tuple(f"{PREFIX}{name}" for name in _ELSEWHERE)
    told = {n: v for n, v in {**in_file, **variables}.items() if not n.upper().startswith(there)}
    if own.config.is_file():
        told[f"{PREFIX}CONFIG"] = str(own.config.absolute())
    if own.embedding.model_dir is not None:
        told[f"{PREFIX}EMBEDDING__MODEL_DIR"] = str(own.embedding.model_dir.absolute())
    return told
