"""The rows that an earlier version wrote are migrated and read on every database."""

import json
import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import JSON, Boolean, Connection, DateTime, MetaData, Uuid, insert, text
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.types import TypeEngine

from bot.database import is_current, upgrade
from core.storage.catalogue import Catalogue
from core.storage.channels import ChannelRules
from core.storage.database import create_engine
from core.storage.sessions import SessionStore
from tests.contracts.revisions import create_at
from tests.inbox import inbox_of
from tests.upgrade.fixture import FIRST, unpack

pytestmark = pytest.mark.costly

PLATFORMS = ["discord", "slack"]
KEPT = ("sessions", "turns", "inbox", "channel_rules", "conversations", "votes", "installations")
Rows = Mapping[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """The rows of the installation's database, by table."""
    folder = tmp_path_factory.mktemp("written")
    unpack(FIRST, folder)
    return rows_in(folder / "data" / "glossator.db")


@pytest.fixture
async def upgraded(empty_database_url: str, written: Rows) -> AsyncIterator[AsyncEngine]:
    """A database with those rows, at the revision of that time and then brought up to date."""
    engine = create_engine(empty_database_url)
    [version] = written["alembic_version"]
    await create_at(engine, version["version_num"])
    async with engine.begin() as connection:
        await connection.run_sync(fill, written)
    await upgrade(engine)
    yield engine
    await engine.dispose()


def rows_in(file: Path) -> Rows:
    """Return every row of a SQLite file."""
    with closing(sqlite3.connect(file)) as database:
        database.row_factory = sqlite3.Row
        tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        names = [name for (name,) in database.execute(tables)]
        return {n: [dict(row) for row in database.execute(f"SELECT * FROM {n}")] for n in names}


def fill(connection: Connection, rows: Rows) -> None:
    """Insert rows of SQLite into a database of any kind, whose tables are there."""
    schema = MetaData()
    schema.reflect(connection)
    for table in schema.sorted_tables:
        types = {column.name: column.type for column in table.columns}
        values = [{n: as_type(types[n], v) for n, v in row.items()} for row in rows[table.name]]
        if values and table.name != "alembic_version":
            connection.execute(insert(table), values)


def as_type(kind: TypeEngine[Any], value: Any) -> Any:
    """Return a value of SQLite as a column takes it."""
    match kind, value:
        case _, None:
            return None
        case Uuid(), str():
            return UUID(value)
        case DateTime(), str():
            return datetime.fromisoformat(value).replace(tzinfo=UTC)
        case JSON(), str():
            return json.loads(value)
        case Boolean(), int():
            return bool(value)
    return value


async def test_no_row_is_lost(upgraded: AsyncEngine, written: Rows) -> None:
    assert await is_current(upgraded)
    async with upgraded.connect() as connection:
        for table in KEPT:
            count = await connection.scalar(text(f"SELECT count(*) FROM {table}"))
            assert count == len(written[table]) > 0, table


async def test_every_conversation_is_read(upgraded: AsyncEngine, written: Rows) -> None:
    sessions = SessionStore(upgraded)
    listed = await sessions.list_sessions(limit=1_000)
    read = [await sessions.get(one.session_id, history=True) for one in listed]
    turns = [turn for session in read if session for turn in session.conversation_history]
    assert len(turns) == len(written["turns"])
    assert "[deleted]" in {turn.user_input for turn in turns}


async def test_what_staff_set_is_read(upgraded: AsyncEngine, written: Rows) -> None:
    rules = ChannelRules(upgraded)
    known = {course.course_id for course, _ in await Catalogue(upgraded).courses()}
    bound = set()
    for row in written["channel_rules"]:
        found = await rules.get(row["platform"], row["workspace"], [row["place"]])
        assert found[row["place"]].model_dump(mode="json", exclude_none=True).items() >= (
            json.loads(row["rules"]).items()
        )
        bound.add(found[row["place"]].course_id)
    assert bound == {"arden", "mill", None}
    assert {"arden", "mill"} <= known


async def test_what_waited_can_be_answered(upgraded: AsyncEngine) -> None:
    inbox = inbox_of(upgraded)
    jobs = [await inbox.claim(timedelta(minutes=5), PLATFORMS) for _ in range(4)]
    asked = [job.arrival.request for job in jobs if job is not None]
    assert len(asked) == 3
    assert all(asked)
