"""A database as it was at an earlier revision of the schema."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncEngine

import migrations


def alembic_config(connection: Connection | None = None) -> Config:
    """Return how Alembic finds the migrations, and the database if there is one."""
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(_folder()))
    return config


def revisions() -> list[str]:
    """Return all revisions, the oldest first."""
    return sorted(one.revision for one in ScriptDirectory(str(_folder())).walk_revisions())


async def create_at(engine: AsyncEngine, revision: str) -> None:
    """Give an empty database the schema that it had at that revision."""
    if engine.dialect.name == "sqlite":
        Path(engine.url.database or "").parent.mkdir(exist_ok=True)
    async with engine.begin() as connection:
        await connection.run_sync(lambda c: command.upgrade(alembic_config(c), revision))


def _folder() -> Path:
    return Path(next(iter(migrations.__path__)))
