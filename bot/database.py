"""Brings a database to the schema that this version of the code expects."""

import asyncio
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryFile

from sqlalchemy import Connection, inspect, text
from sqlalchemy.ext.asyncio import AsyncEngine

from core.database import create_engine, dispose, store_errors
from core.errors import ConfigurationError, StoreError

HEAD_REVISION = "0007"
"""The latest migration; revisions are numbered, so that an older code can tell a newer one."""
_MIGRATION_LOCK = 7_310_034_211_005_531
"""Any number that no other application on the same PostgreSQL server locks."""


class SchemaState(StrEnum):
    """How a database's schema relates to this version of the code."""

    CURRENT = "current"
    BEHIND = "behind"
    """`upgrade` helps; a database without tables is behind, too."""
    AHEAD = "ahead"
    """A newer version of the code has migrated it."""
    UNKNOWN = "unknown"
    """Its revision is not one of ours: it belongs to another application."""


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
            return _state(await connection.run_sync(_revision))


async def is_current(engine: AsyncEngine) -> bool:
    """Return whether the schema is the one that this version of the code expects.

    Raises:
        ConfigurationError, StoreError: as `check` does.
    """
    return await check(engine) is SchemaState.CURRENT


async def make_current(engine: AsyncEngine) -> None:
    """Bring the schema up to date unless it is.

    Raises:
        ConfigurationError: as `check` and `upgrade` do.
        StoreError: when the database cannot be reached; StoreRefused when it never will.
    """
    if not await is_current(engine):
        await upgrade(engine)


async def upgrade(engine: AsyncEngine) -> None:
    """Bring the schema up to date, in one transaction that holds off other upgrades.

    Creates the folder and file of a SQLite database.

    Raises:
        ConfigurationError: when a newer version, or another application, made the schema, or
            when there is no file yet, and none can be made.
        StoreError: when the database fails; then it is as it was before.
    """
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
                await connection.run_sync(_upgrade)
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


def _state(revision: str | None) -> SchemaState:
    if revision == HEAD_REVISION:
        return SchemaState.CURRENT
    if revision is None:
        return SchemaState.BEHIND
    if not revision.isdecimal():
        return SchemaState.UNKNOWN
    return SchemaState.BEHIND if revision < HEAD_REVISION else SchemaState.AHEAD


def _upgrade(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":  # SQLite's BEGIN IMMEDIATE is such a lock
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})"))
    state = _state(_revision(connection))
    if state is SchemaState.AHEAD:
        raise ConfigurationError(
            "The database was migrated by a newer version of Glossator. "
            "Install that version, or restore the backup made before its upgrade."
        )
    if state is SchemaState.UNKNOWN:
        raise ConfigurationError(
            "The database belongs to another application. Give Glossator a database of its own."
        )
    if state is SchemaState.BEHIND:
        _run_migrations(connection)
        if connection.dialect.name == "sqlite":
            _check_foreign_keys(connection)


def _check_foreign_keys(connection: Connection) -> None:
    """Make up for foreign keys not being enforced while migrating."""
    if broken := connection.exec_driver_sql("PRAGMA foreign_key_check").first():
        raise StoreError(f"a migration left rows of {broken[0]} without what they refer to")


def _run_migrations(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    import migrations

    config = Config(attributes={"connection": connection})
    folder = str(next(iter(migrations.__path__)))
    config.set_main_option("script_location", folder.replace("%", "%%"))
    command.upgrade(config, "head")
