"""Brings a database to the schema that this version of the code expects."""

import asyncio
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryFile

from sqlalchemy import Connection, inspect, text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.settings import Settings
from core.domain.disk import INDEX_RESERVE
from core.domain.disk import check_room as check_disks
from core.domain.errors import ConfigurationError, StoreError
from core.index.base import OPTIMIZE_ABOVE
from core.ingestion.embedding import Footprint
from core.storage.database import create_engine, dispose, driver_url, store_errors

BASE_REVISION = "0100"
"""The tables of 0.2.0, the first version that later ones bring up to date."""
HEAD_REVISION = "0100"
"""The latest migration; revisions are numbered, so that an older code can tell a newer one."""
_UNKNOWN_REVISION = (
    "The backup was made by a newer version of Glossator (its tables are of revision {revision}, "
    f"this version's of {HEAD_REVISION}): install that version, and restore with it."
)
_OUTDATED_BACKUP = (
    "The backup was made by a version of Glossator from before 0.2.0, which this one cannot "
    "restore: keep it, and ingest your courses into a new data folder."
)
_MIGRATION_LOCK = 7_310_034_211_005_531
"""Any number that no other application on the same PostgreSQL server locks."""


class SchemaState(StrEnum):
    """How a database's schema relates to this version of the code."""

    CURRENT = "current"
    BEHIND = "behind"
    """`upgrade` helps; a database without tables counts as well."""
    OUTDATED = "outdated"
    """It is from before 0.2.0: no migration leads from there."""
    AHEAD = "ahead"
    """A newer version of the code has migrated it."""
    UNKNOWN = "unknown"
    """Its revision is not one of the bot's: it belongs to another application."""
    UNVERSIONED = "unversioned"
    """It has the bot's tables, and does not say of which revision: no migration fits for sure."""


WHAT_TO_DO = {
    SchemaState.BEHIND: "The database is not up to date: run 'glossator db upgrade'.",
    SchemaState.OUTDATED: (
        "The database is from before version 0.2.0, and cannot be brought up to date. Nothing was "
        "changed. Copy the data folder to keep it, set GLOSSATOR_DATA_DIR to a new folder (and "
        "GLOSSATOR_DATABASE__URL to an empty database, if you set one), and ingest the courses "
        "again."
    ),
    SchemaState.AHEAD: (
        "The database was made by a newer version of Glossator: install that version, or restore "
        "the backup made before its upgrade."
    ),
    SchemaState.UNKNOWN: (
        "The database belongs to another application: set GLOSSATOR_DATABASE__URL to one of "
        "Glossator's own."
    ),
    SchemaState.UNVERSIONED: (
        "The database has tables of Glossator's and does not say which version made them (its "
        "table alembic_version is empty, or gone): restore a backup with 'glossator restore "
        "--force', or set GLOSSATOR_DATABASE__URL to an empty database."
    ),
}
"""In every state but the current one."""


async def check(engine: AsyncEngine) -> SchemaState:
    """Return the state of the schema, without loading the migrations.

    Raises:
        ConfigurationError: when there is no file yet, and none can be made.
        StoreError: when the database cannot be reached.
    """
    if _is_missing_file(engine):
        await asyncio.to_thread(_check_room, _file(engine))
        return SchemaState.BEHIND
    with store_errors():
        async with engine.execution_options(read_only=True).connect() as connection:
            return await connection.run_sync(_state_of)


async def is_current(engine: AsyncEngine) -> bool:
    """Return whether the schema is the one that this version of the code expects.

    Raises:
        ConfigurationError, StoreError: as `check` does.
    """
    return await check(engine) is SchemaState.CURRENT


async def is_new(engine: AsyncEngine) -> bool:
    """Return whether no version has made its tables in the database yet.

    Raises:
        StoreError: when the database cannot be reached.
    """
    if _is_missing_file(engine):
        return True
    with store_errors():
        async with engine.execution_options(read_only=True).connect() as connection:
            return await connection.run_sync(_revision) is None


async def make_current(engine: AsyncEngine) -> None:
    """Bring the schema up to date unless it is.

    Raises:
        ConfigurationError: as `check` and `upgrade` do.
        StoreError: when the database cannot be reached; StoreRefused when it never will.
    """
    if not await is_current(engine):
        await upgrade(engine)


async def rebuild(engine: AsyncEngine, revision: str, fill: Callable[[Connection], None]) -> None:
    """Replace all tables by those of a revision, fill them, and bring them up to date.

    One transaction: until it ends well, all is as before. A file is made where there is none.

    Raises:
        ConfigurationError: when no migration leads to that revision.
        StoreError: when the database fails.
    """

    from bot.backup_archive import drop_all  # with every table of the program

    def work(connection: Connection) -> None:
        drop_all(connection)
        _run_migrations(connection, revision)
        fill(connection)
        _run_migrations(connection)
        if connection.dialect.name == "sqlite":
            _check_foreign_keys(connection)

    if not has_revision(revision):
        raise ConfigurationError(_UNKNOWN_REVISION.format(revision=revision))
    await _migrate(engine, work)


def has_revision(revision: str) -> bool:
    """Return whether this version's migrations lead from a backup's revision to the latest.

    Raises:
        ConfigurationError: when the backup is from before 0.2.0.
    """
    from alembic.script import ScriptDirectory

    if _state(revision) is SchemaState.OUTDATED:
        raise ConfigurationError(_OUTDATED_BACKUP)
    return revision in {one.revision for one in ScriptDirectory(_scripts()).walk_revisions()}


async def upgrade(engine: AsyncEngine) -> None:
    """Bring the schema up to date, in one transaction that holds off other upgrades.

    Creates the folder and file of a SQLite database.

    Raises:
        ConfigurationError: when a newer version, one from before 0.2.0, or another application
            made the schema, or when there is no file yet, and none can be made.
        StoreError: when the database fails; then it is as it was before.
    """
    await _migrate(engine, _upgrade)


async def _migrate(engine: AsyncEngine, work: Callable[[Connection], None]) -> None:
    """Do work in a transaction that holds off other migrations."""
    if _is_missing_file(engine):
        await asyncio.to_thread(_check_room, _file(engine))
        with store_errors():
            await asyncio.to_thread(_file(engine).parent.mkdir, parents=True, exist_ok=True)
    # Its own connection: rebuilding a table must not cascade, and may take its time.
    migrating = create_engine(
        engine.url.render_as_string(hide_password=False),
        enforce_foreign_keys=False,
        statement_timeout=None,
    )
    try:
        with store_errors():
            async with migrating.begin() as connection:
                await connection.run_sync(_alone, work)
    finally:
        await dispose(migrating)


def _is_missing_file(engine: AsyncEngine) -> bool:
    return engine.dialect.name == "sqlite" and not _file(engine).exists()


def _file(engine: AsyncEngine) -> Path:
    return Path(engine.url.database or "").absolute()


def _check_room(file: Path) -> None:
    """Raise ConfigurationError where neither the file nor its folder could be made."""
    folder = next(parent for parent in file.parents if parent.exists())
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ConfigurationError(
            f"The database {file} cannot be made ({error.strerror}): "
            "set GLOSSATOR_DATABASE__URL to another."
        ) from error


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return revision


def _state_of(connection: Connection) -> SchemaState:
    revision = _revision(connection)
    if revision is None and _has_tables(connection):
        return SchemaState.UNVERSIONED
    return _state(revision)


def _has_tables(connection: Connection) -> bool:
    """Return whether any table of the bot's is there."""
    from core.tables import METADATA

    return not METADATA.tables.keys().isdisjoint(inspect(connection).get_table_names())


def _state(revision: str | None) -> SchemaState:
    if revision == HEAD_REVISION:
        return SchemaState.CURRENT
    if revision is None:
        return SchemaState.BEHIND
    if not revision.isdecimal():
        return SchemaState.UNKNOWN
    if revision < BASE_REVISION:
        return SchemaState.OUTDATED
    return SchemaState.BEHIND if revision < HEAD_REVISION else SchemaState.AHEAD


def _alone(connection: Connection, work: Callable[[Connection], None]) -> None:
    if connection.dialect.name == "postgresql":  # SQLite's BEGIN IMMEDIATE is such a lock
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})"))
    work(connection)


def _upgrade(connection: Connection) -> None:
    state = _state_of(connection)
    if state is SchemaState.BEHIND:
        _run_migrations(connection)
        if connection.dialect.name == "sqlite":
            _check_foreign_keys(connection)
    elif state is not SchemaState.CURRENT:
        raise ConfigurationError(WHAT_TO_DO[state])


def _check_foreign_keys(connection: Connection) -> None:
    """Make up for foreign keys not being enforced while migrating."""
    if broken := connection.exec_driver_sql("PRAGMA foreign_key_check").first():
        raise StoreError(f"a migration left rows of {broken[0]} without what they refer to")


def _run_migrations(connection: Connection, revision: str = "head") -> None:
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", _scripts().replace("%", "%%"))
    command.upgrade(config, revision)


def _scripts() -> str:
    import migrations

    return str(next(iter(migrations.__path__)))


_COPIES = 3
"""How often a large collection is on the disk while its graph is built."""


def check_room(settings: Settings, course_id: str, needed: Footprint) -> None:
    """Return when there is room for an edition, next to the one that it replaces.

    A Qdrant server and a PostgreSQL server look after their own disks.

    Raises:
        NoRoom: naming the folder, what is needed there and what is free.
    """
    needs: dict[Path, int] = {}
    if settings.qdrant.url is None:
        index = settings.data_dir.absolute() / "index"
        copies = _COPIES if needed.chunks > OPTIMIZE_ABOVE else 1
        needs[index] = copies * needed.index + INDEX_RESERVE
    address = driver_url(settings.database_url)
    if address.get_backend_name() == "sqlite":
        needs[Path(address.database or "").absolute().parent] = needed.database
    check_disks(needs, f"The course {course_id}")
