"""The page on what is stored names every table and every column that there is."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bot.database import upgrade
from bot.settings import RetentionSettings
from core.storage.database import create_engine

PAGE = (Path(__file__).parents[3] / "docs/privacy.md").read_text("utf-8")
_ROW = re.compile(r"^\| `(\w+)` \| (.*?) \|", re.MULTILINE)


@pytest.mark.costly
async def test_the_inventory_is_what_the_migrations_make(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'bot.db'}")
    await upgrade(engine)
    await engine.dispose()
    with closing(sqlite3.connect(tmp_path / "bot.db")) as database:
        tables = database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        there = {
            table: {column[1] for column in database.execute(f"PRAGMA table_info({table})")}
            for (table,) in tables
            if table != "alembic_version"
        }
    told = {table: {*re.findall(r"`(\w+)`", columns)} for table, columns in _ROW.findall(PAGE)}
    assert told == there


def test_it_tells_the_default_of_the_retention() -> None:
    assert f"Conversations are kept for {RetentionSettings().days} days, or" in PAGE
