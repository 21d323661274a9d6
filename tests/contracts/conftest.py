"""Databases for the contract suites: SQLite and PostgreSQL, made by the migrations."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.database import upgrade
from core.storage.database import create_engine
from tests.postgres import postgres_server

_DIALECTS = ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)]


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a server that has a migrated database `template`, ending in `/`."""
    try:
        with postgres_server() as server:
            asyncio.run(_make_template(server.url))
            yield server.url
    except RuntimeError as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite database to copy."""
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    asyncio.run(_migrate(f"sqlite:///{path}"))
    return path


@pytest.fixture(params=_DIALECTS)
def dialect(request: pytest.FixtureRequest) -> str:
    """The databases every contract holds on."""
    return str(request.param)


@pytest.fixture
def database_url(dialect: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a migrated database of this test's own."""
    if dialect == "sqlite":
        shutil.copy(request.getfixturevalue("sqlite_template"), tmp_path / "bot.db")
        yield f"sqlite:///{tmp_path / 'bot.db'}"
    else:
        with postgres_database(request.getfixturevalue("postgres"), "template") as url:
            yield url


@pytest.fixture
def empty_database_url(
    dialect: str, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[str]:
    """The URL of a database without tables; a SQLite file does not exist yet."""
    if dialect == "sqlite":
        yield f"sqlite:///{tmp_path / 'data' / 'bot.db'}"
    else:
        with postgres_database(request.getfixturevalue("postgres"), "template1") as url:
            yield url


@pytest.fixture
async def engine(database_url: str) -> AsyncIterator[AsyncEngine]:
    """An engine on a migrated database of this test's own."""
    engine = create_engine(database_url)
    yield engine
    await engine.dispose()


@contextmanager
def postgres_database(server: str, template: str) -> Iterator[str]:
    """Make a database, yield its URL, and drop it with whoever is still connected."""
    name = f"test_{uuid4().hex}"
    asyncio.run(_administer(server, f"CREATE DATABASE {name} TEMPLATE {template}"))
    try:
        yield server + name
    finally:
        asyncio.run(_administer(server, f"DROP DATABASE {name} WITH (FORCE)"))


async def _make_template(server: str) -> None:
    await _administer(server, "CREATE DATABASE template")
    await _migrate(f"{server}template")


async def _administer(server: str, statement: str) -> None:
    engine = create_engine(f"{server}postgres")
    async with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        await connection.execute(text(statement))
    await engine.dispose()


async def _migrate(url: str) -> None:
    engine = create_engine(url)
    await upgrade(engine)
    await engine.dispose()
