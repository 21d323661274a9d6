"""The engine recipe: which URLs it takes, how it stores moments, and how it fails."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, cast

import asyncpg  # type: ignore[import-untyped]
import pytest
from sqlalchemy import Column, Dialect, Integer, MetaData, Table, select, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import OperationalError
from sqlalchemy.ext.asyncio import AsyncEngine

from core.domain.errors import ConfigurationError, StoreError
from core.storage.database import (
    UtcDateTime,
    create_engine,
    dispose,
    reading,
    store_errors,
    writing,
)

ROOT = Path(__file__).parents[3]
SQLITE: Dialect = sqlite.dialect()
POSTGRESQL: Dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
SECRET = "geh3im%2F!"


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[AsyncEngine]:
    engine = create_engine(f"sqlite:///{tmp_path / 'bot.db'}")
    yield engine
    await engine.dispose()


class TestUrls:
    @pytest.mark.parametrize(
        "url", ["sqlite:///data/bot.db", "sqlite+aiosqlite:///data/bot.db", "sqlite:////srv/bot.db"]
    )
    def test_a_sqlite_file_is_taken_in_either_form(self, url: str) -> None:
        engine = create_engine(url)
        assert engine.url.drivername == "sqlite+aiosqlite"
        assert engine.url.database in {"data/bot.db", "/srv/bot.db"}

    @pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+asyncpg"])
    def test_a_postgresql_server_is_taken_in_any_form(self, scheme: str) -> None:
        url = create_engine(f"{scheme}://bot:{SECRET}@db.example.org:6432/glossator").url
        assert url.drivername == "postgresql+asyncpg"
        assert (url.username, url.password) == ("bot", "geh3im/!")
        assert (url.host, url.port, url.database) == ("db.example.org", 6432, "glossator")

    def test_the_way_others_ask_for_encryption_is_understood(self) -> None:
        url = create_engine("postgres://bot@db.example.org/glossator?sslmode=verify-full").url
        assert url.query == {"ssl": "verify-full"}

    def test_a_normalised_url_is_taken_again(self) -> None:
        first = create_engine(f"postgres://bot:{SECRET}@db/glossator?sslmode=require").url
        assert create_engine(first.render_as_string(hide_password=False)).url == first

    @pytest.mark.parametrize(
        "url",
        [
            "",
            "bot.db",
            "://",
            f"mysql://bot:{SECRET}@db/glossator",
            f"postgresql+psycopg2://bot:{SECRET}@db/glossator",
            f"postgresql://bot:{SECRET}@db:port/glossator",
            f"postgresql://bot:{SECRET}@db",
            f"postgresql://bot:{SECRET}@db/glossator?sslmode=bogus",
            f"postgresql://bot:{SECRET}@db/glossator?ssl=true",
            f"postgresql://bot:{SECRET}@db/glossator?sslmode=require&sslmode=require",
            f"postgresql://bot:{SECRET}@db:65536/glossator",
            f"postgresql://bot:{SECRET}@db..example.org/glossator",
            f"postgresql://bot:{SECRET}@{'d' * 64}/glossator",
            f"postgresql://bot:{SECRET}@/glossator?host=db&port=65536",
            f"postgresql://bot:{SECRET}@/glossator?host=db&port=-1",
            f"postgresql://bot:{SECRET}@/glossator?host=db&port=five",
            f"postgresql://bot:{SECRET}@/glossator?host=one,two&port=1,65536",
            f"postgresql://bot:{SECRET}@/glossator?host=one:1&host=two..b:2",
            f"postgresql://bot:{SECRET}@db/glossator?channel_binding=require",
            "sqlite://",
            "sqlite:///",
            "sqlite:///:memory:",
            "sqlite://bot.db",
            "sqlite:///bot.db?mode=ro",
        ],
    )
    def test_anything_else_is_refused_in_a_sentence_without_the_password(self, url: str) -> None:
        with pytest.raises(ConfigurationError) as refusal:
            create_engine(url)
        sentence = str(refusal.value)
        assert sentence.endswith(".")
        assert "URL" in sentence
        assert "geh3im" not in sentence
        assert refusal.value.__cause__ is None

    @pytest.mark.parametrize(
        "mode", ["disable", "allow", "prefer", "require", "verify-ca", "verify-full", "verify_full"]
    )
    def test_every_mode_of_encryption_is_taken(self, mode: str) -> None:
        assert create_engine(f"postgresql://db/glossator?ssl={mode}").url.query == {"ssl": mode}

    @pytest.mark.parametrize(
        "url",
        [
            "postgresql:///glossator",
            "postgresql://bot@[::1]:65535/glossator",
            "postgresql://bot@db_1.example.org./glossator",
            "postgresql:///glossator?host=/srv/../run/postgresql&port=5433",
            "postgresql:///glossator?host=one:5432&host=two:5433",
        ],
    )
    def test_every_way_to_name_a_server_is_taken(self, url: str) -> None:
        assert create_engine(url).url.database == "glossator"

    def test_an_unsupported_option_is_named(self) -> None:
        with pytest.raises(ConfigurationError, match="channel_binding"):
            create_engine("postgresql://db/glossator?channel_binding=require")

    def test_an_engine_never_shows_its_password(self) -> None:
        assert "geh3im" not in repr(create_engine(f"postgresql://bot:{SECRET}@db/glossator"))

    def test_making_an_engine_opens_nothing(self, tmp_path: Path) -> None:
        create_engine(f"sqlite:///{tmp_path / 'bot.db'}")
        assert list(tmp_path.iterdir()) == []


class TestSqliteRecipe:
    @pytest.mark.parametrize(
        ("pragma", "value"),
        [
            ("journal_mode", "wal"),
            ("synchronous", 2),
            ("foreign_keys", 1),
            ("busy_timeout", 30_000),
        ],
    )
    async def test_every_connection_is_prepared(
        self, engine: AsyncEngine, pragma: str, value: object
    ) -> None:
        async with engine.connect() as one, engine.connect() as other:
            assert await one.scalar(text(f"PRAGMA {pragma}")) == value
            await one.rollback()
            assert await other.scalar(text(f"PRAGMA {pragma}")) == value

    async def test_writes_can_be_made_faster_and_less_durable(self, tmp_path: Path) -> None:
        engine = create_engine(f"sqlite:///{tmp_path / 'bot.db'}", synchronous="NORMAL")
        async with engine.connect() as connection:
            assert await connection.scalar(text("PRAGMA synchronous")) == 1
        await engine.dispose()

    async def test_writers_wait_for_one_another_and_lose_nothing(
        self, engine: AsyncEngine, tmp_path: Path
    ) -> None:
        other = create_engine(f"sqlite:///{tmp_path / 'bot.db'}")
        async with writing(engine) as db:
            await db.execute(text("CREATE TABLE counter (n INTEGER)"))
            await db.execute(text("INSERT INTO counter VALUES (0)"))

        async def count(writer: AsyncEngine) -> None:
            async with writing(writer) as db:
                n = await db.scalar(text("SELECT n FROM counter"))
                await asyncio.sleep(0)
                await db.execute(text("UPDATE counter SET n = :n"), {"n": n + 1})

        await asyncio.gather(*(count(writer) for writer in (engine, other) * 20))
        async with reading(engine) as db:
            assert await db.scalar(text("SELECT n FROM counter")) == 40
        await other.dispose()

    async def test_a_reader_does_not_wait_for_a_writer(self, engine: AsyncEngine) -> None:
        async with writing(engine) as db:
            await db.execute(text("CREATE TABLE notes (n INTEGER)"))
        async with writing(engine) as writer, asyncio.timeout(5):
            await writer.execute(text("INSERT INTO notes VALUES (1)"))
            async with reading(engine) as reader:
                assert await reader.scalar(text("SELECT count(*) FROM notes")) == 0


class TestTransactions:
    async def test_an_exception_undoes_what_was_written(self, engine: AsyncEngine) -> None:
        async with writing(engine) as db:
            await db.execute(text("CREATE TABLE notes (n INTEGER)"))

        async def write_and_fail() -> None:
            async with writing(engine) as db:
                await db.execute(text("INSERT INTO notes VALUES (1)"))
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await write_and_fail()
        async with reading(engine) as db:
            assert await db.scalar(text("SELECT count(*) FROM notes")) == 0

    async def test_a_failing_statement_is_a_store_error_without_its_parameters(
        self, engine: AsyncEngine
    ) -> None:
        with pytest.raises(StoreError, match="no such table") as failure:
            async with writing(engine) as db:
                await db.execute(text("INSERT INTO nowhere VALUES (:t)"), {"t": "private"})
        assert isinstance(failure.value.__cause__, OperationalError)
        assert "private" not in str(failure.value.__cause__)
        assert "nowhere" not in failure.value.user_message

    def test_a_connection_that_fails_is_a_store_error(self) -> None:
        with pytest.raises(StoreError, match="ConnectionRefusedError"), store_errors():
            raise ConnectionRefusedError("refused")

    def test_a_failed_connection_leaves_no_thread_behind(self) -> None:
        async def fail() -> None:
            with pytest.raises(StoreError):
                async with reading(create_engine("sqlite:////nowhere/bot.db")) as db:
                    await db.scalar(text("SELECT 1"))

        before = threading.active_count()
        for _ in range(20):
            asyncio.run(fail())
        assert threading.active_count() == before

    def test_our_own_mistakes_stay_what_they_are(self) -> None:
        with pytest.raises(KeyError), store_errors():
            raise KeyError("name")


class TestMoments:
    MOMENT = datetime(2026, 3, 29, 2, 30, 0, 123_456, tzinfo=timezone(timedelta(hours=5.5)))

    async def test_a_moment_comes_back_in_utc_to_the_microsecond(self, engine: AsyncEngine) -> None:
        table = Table(
            "moments",
            MetaData(),
            Column("id", Integer, primary_key=True),
            Column("at", UtcDateTime),
        )
        async with engine.begin() as connection:
            await connection.run_sync(table.create)
            await connection.execute(table.insert(), [{"at": self.MOMENT}, {"at": None}])
            first, second = await connection.scalars(select(table.c.at).order_by(table.c.id))
        assert first == self.MOMENT
        assert first.tzinfo is UTC
        assert second is None

    def test_sqlite_keeps_utc_without_a_zone_and_postgresql_with_one(self) -> None:
        kept = UtcDateTime().process_bind_param(self.MOMENT, SQLITE)
        assert kept == datetime(2026, 3, 28, 21, 0, 0, 123_456)
        kept = UtcDateTime().process_bind_param(self.MOMENT, POSTGRESQL)
        assert kept is not None
        assert kept.tzinfo is UTC

    def test_a_moment_without_a_zone_is_refused(self) -> None:
        with pytest.raises(ValueError, match="time zone"):
            UtcDateTime().process_bind_param(datetime(2026, 3, 29), SQLITE)

    def test_whatever_zone_a_server_answers_in_becomes_utc(self) -> None:
        moment = UtcDateTime().process_result_value(self.MOMENT, POSTGRESQL)
        assert moment == self.MOMENT
        assert moment is not None
        assert moment.tzinfo is UTC


@pytest.mark.costly
def test_neither_asyncpg_nor_alembic_is_loaded_for_sqlite() -> None:
    program = (
        "import asyncio, sys, bot.database, core.storage.sessions, core.storage.catalogue;"
        "from core.storage.database import create_engine;"
        "asyncio.run(bot.database.is_current(create_engine('sqlite:///none.db')));"
        "print(*sys.modules)"
    )
    command = [sys.executable, "-c", program]
    loaded = subprocess.check_output(command, cwd=ROOT, text=True, timeout=60).split()
    assert "core.storage.database" in loaded
    assert not {"asyncpg", "alembic", "filelock"} & set(loaded)


async def test_a_broken_connection_that_cannot_be_closed_is_a_failure_of_the_database() -> None:
    class Broken:
        async def dispose(self) -> None:
            raise asyncpg.InterfaceError("connection is closed")

    with pytest.raises(StoreError, match="connection is closed"), store_errors():
        raise asyncpg.InterfaceError("connection is closed")
    await dispose(cast("Any", Broken()))
