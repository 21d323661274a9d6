"""The migrations make exactly the schema that the code expects, on every database."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text
from sqlalchemy.ext.asyncio import AsyncEngine

import bot.database
from bot.database import BASE_REVISION, HEAD_REVISION, SchemaState, check, is_current, upgrade
from core.domain import Course
from core.domain.errors import ConfigurationError, StoreError
from core.storage.catalogue import Catalogue
from core.storage.database import Base, create_engine
from tests.contracts.revisions import alembic_config

ROOT = Path(__file__).parents[2]
UPGRADE = """
import asyncio, sys
from bot.database import upgrade
from core.storage.database import create_engine

async def main():
    engine = create_engine(sys.argv[1])
    await upgrade(engine)
    await engine.dispose()

asyncio.run(main())
"""


@pytest.fixture
async def empty(empty_database_url: str) -> AsyncIterator[AsyncEngine]:
    engine = create_engine(empty_database_url)
    yield engine
    await engine.dispose()


async def set_revision(engine: AsyncEngine, revision: str) -> None:
    async with engine.begin() as connection:
        await connection.execute(
            text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision}
        )


def test_the_head_revision_is_the_latest_migration() -> None:
    config = alembic_config()
    scripts = ScriptDirectory.from_config(config)
    assert scripts.get_heads() == [HEAD_REVISION]
    numbers = sorted(script.revision for script in scripts.walk_revisions())
    first = int(BASE_REVISION)
    assert numbers == [f"{n:04}" for n in range(first, first + len(numbers))]


def test_the_migrations_know_every_table_of_the_code() -> None:
    environment = (ROOT / "core" / "tables.py").read_text()
    for package in ("core", "adapters", "bot"):
        for file in (ROOT / package).rglob("*.py"):
            if re.search(r"^class \w+\(Base\):", file.read_text(), re.MULTILINE):
                module = ".".join(file.relative_to(ROOT).with_suffix("").parts)
                assert f"import {module}\n" in environment.replace("  # noqa", "\n")


@pytest.mark.costly
async def test_the_migrated_schema_is_the_one_of_the_code(engine: AsyncEngine) -> None:
    def drift(connection: Connection) -> list[object]:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        return list(compare_metadata(context, Base.metadata))

    async with engine.connect() as connection:
        assert await connection.run_sync(drift) == []


@pytest.mark.costly
async def test_an_empty_database_is_behind_and_current_after_the_upgrade(
    empty: AsyncEngine,
) -> None:
    assert await check(empty) is SchemaState.BEHIND
    assert not await is_current(empty)
    await upgrade(empty)
    assert await check(empty) is SchemaState.CURRENT
    assert await is_current(empty)


async def test_asking_for_the_state_creates_no_file(empty: AsyncEngine) -> None:
    await check(empty)
    if empty.dialect.name == "sqlite":
        assert not Path(empty.url.database or "").parent.exists()


async def test_upgrading_twice_changes_nothing(engine: AsyncEngine) -> None:
    course = Course(course_id="algorithms", title="Algorithms")
    await Catalogue(engine).save_course(course)
    await upgrade(engine)
    assert await Catalogue(engine).course("algorithms") == course


@pytest.mark.parametrize("revision", ["0001", "0022", "0099"])
async def test_a_database_from_before_0_2_0_is_refused_with_what_to_do_and_kept(
    engine: AsyncEngine, revision: str
) -> None:
    course = Course(course_id="algorithms", title="Algorithms")
    await Catalogue(engine).save_course(course)
    await set_revision(engine, revision)
    assert await check(engine) is SchemaState.OUTDATED
    for sentence in (
        "from before version 0.2.0",
        "Copy the data folder",
        "ingest the courses again",
    ):
        with pytest.raises(ConfigurationError, match=sentence):
            await upgrade(engine)
    assert await Catalogue(engine).course("algorithms") == course
    async with engine.connect() as connection:
        assert await connection.scalar(text("SELECT version_num FROM alembic_version")) == revision


@pytest.mark.costly
async def test_processes_that_upgrade_at_once_all_succeed(empty: AsyncEngine) -> None:
    url = empty.url.render_as_string(hide_password=False)
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", UPGRADE, url, cwd=ROOT)
        for _ in range(3)
    ]
    assert [await process.wait() for process in processes] == [0, 0, 0]
    assert await is_current(empty)


@pytest.mark.costly
async def test_tasks_that_upgrade_at_once_all_succeed(empty: AsyncEngine) -> None:
    await asyncio.gather(*(upgrade(empty) for _ in range(5)))
    assert await is_current(empty)


async def test_a_newer_database_is_refused_with_what_to_do(engine: AsyncEngine) -> None:
    await set_revision(engine, "9999")
    assert await check(engine) is SchemaState.AHEAD
    with pytest.raises(ConfigurationError, match="newer version of Glossator"):
        await upgrade(engine)


async def test_the_database_of_another_application_is_left_alone(engine: AsyncEngine) -> None:
    await set_revision(engine, "3adcc9a56557")
    assert await check(engine) is SchemaState.UNKNOWN
    with pytest.raises(ConfigurationError, match="another application"):
        await upgrade(engine)


@pytest.mark.costly
async def test_a_failed_upgrade_leaves_the_database_as_it_was(
    empty: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate = bot.database._run_migrations

    def fail_at_the_end(connection: Connection) -> None:
        migrate(connection)
        connection.execute(text("SELECT nothing FROM nowhere"))

    with monkeypatch.context() as patch:
        patch.setattr(bot.database, "_run_migrations", fail_at_the_end)
        with pytest.raises(StoreError):
            await upgrade(empty)
    async with empty.connect() as connection:
        tables = await connection.run_sync(lambda c: inspect(c).get_table_names())
    assert tables == []
    await upgrade(empty)
    assert await is_current(empty)


@pytest.mark.parametrize("ask", [check, upgrade])
async def test_a_server_that_cannot_be_reached_is_a_store_error(
    ask: Callable[[AsyncEngine], Awaitable[object]],
) -> None:
    engine = create_engine("postgresql://bot:secret@127.0.0.1:1/none")
    with pytest.raises(StoreError):
        await ask(engine)
    await engine.dispose()


@pytest.mark.parametrize("ask", [check, upgrade])
async def test_a_file_that_cannot_be_made_is_wrong_configuration(
    ask: Callable[[AsyncEngine], Awaitable[object]],
) -> None:
    engine = create_engine("sqlite:////dev/null/data/bot.db")
    with pytest.raises(ConfigurationError, match="cannot be made"):
        await ask(engine)
    await engine.dispose()
