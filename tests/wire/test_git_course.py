"""A course in a git repository, before a running bot: what is pushed is what it answers from."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.books import LIGHTHOUSE, write_files
from tests.git_server import GitServer, Repository, git_server
from tests.wire import discord_bot
from tests.wire.bot_process import PATIENCE
from tests.wire.stored import rows_of

pytestmark = [pytest.mark.costly, pytest.mark.xdist_group("git_course")]

QUESTION = "How much does the fog bell of Arden weigh?"
DUTIES = "keepers/duties.md"
PUSHED = {
    **LIGHTHOUSE,
    DUTIES: LIGHTHOUSE[DUTIES].replace("half a ton", "nine tons"),
    "cellar.md": "# The cellar\n\nThe oil of the lamp is kept in the cellar, in casks of oak.\n",
}
COURSE = """\
[courses.arden]
title = "Arden"

[[courses.arden.sources]]
path = "{source}"
every = "5m"
"""
BUSY = 3 * PATIENCE
"""Seconds; an ingestion starts a process, which starts two more."""
CLAIMED = "SELECT claimed_until > datetime('now') FROM source_checks"
DONE = "SELECT 1 FROM source_checks WHERE checked_at NOT NULL AND claimed_until IS NULL"


def push(repository: Repository, book: dict[str, str]) -> None:
    """Commit a book below `docs`, and something that is no part of the course."""
    files = {f"docs/{name}": text for name, text in book.items()}
    repository.commit(*repository.files({**files, "outside.md": "# Outside\n"}), branch="term")


def let_time_pass(data: Path) -> None:
    """Have the source looked at and ingested five minutes earlier than it was."""
    with closing(sqlite3.connect(data / "glossator.db", timeout=40)) as db, db:
        for table, column in (("source_checks", "checked_at"), ("ingest_accounts", "ingested_at")):
            earlier = f"strftime('%Y-%m-%d %H:%M:%f000', {column}, '-5 minutes')"
            db.execute(f"UPDATE {table} SET {column} = {earlier}")


async def shown(trial: discord_bot.Trial) -> Any:
    """Return what `glossator courses` shows of the course while the bot runs."""
    ran = await asyncio.to_thread(trial.bot.shell.run, "courses", "--json")
    assert ran.code == 0, ran.err
    return next(one for one in ran.json if one["course_id"] == "arden")


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[GitServer]:
    async with git_server(tmp_path / "served") as server:
        yield server


async def test_a_pushed_commit_is_ingested_and_answered(
    server: GitServer, no_course: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "bot"
    repository = Repository.new(server.folder / "arden.git")
    push(repository, dict(LIGHTHOUSE))
    source = server.source("arden.git", "@term#docs")
    write_files(folder, {"glossator.toml": COURSE.format(source=source)})
    settings = {"INGEST__ALLOWED_HOSTS": f'["{server.authority}"]'}
    data = folder / "data"
    claims = list[object]()
    server.on_request = lambda: claims.extend(rows_of(data, CLAIMED))
    async with discord_bot.a_trial(no_course, folder, settings=settings, start=False) as trial:
        trial.bot.module = "tests.wire.looking_often"
        await trial.bot.start()
        await trial.bot.says("arden: 3 added, 0 changed, 0 removed, 0 unchanged", within=BUSY)
        ann, channel = trial.user(), trial.channel()
        assert "half a ton" in (await trial.ask(ann, channel, QUESTION)).text
        push(repository, PUSHED)
        await trial.until(lambda: rows_of(data, DONE) or None)
        let_time_pass(data)
        await trial.bot.says("arden: 1 added, 1 changed, 0 removed, 2 unchanged", within=BUSY)
        course = await shown(trial)
        answer = await trial.ask(ann, channel, QUESTION)
    assert "nine tons" in answer.text
    assert "half a ton" not in answer.text
    [listed] = course["sources"]
    assert (listed["source"], listed["documents"], listed["every"]) == (source, 4, 300)
    assert listed["problem"] is None
    [latest] = course["changes"]
    assert (latest["added"], latest["changed"], latest["removed"]) == (1, 1, 0)
    assert [heading[-1] for heading in latest["headings"]["added"]] == ["The cellar"]
    assert set(claims) == {(1,)}, "the server is asked only under the lease"
