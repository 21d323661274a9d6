"""A playground that is started again knows its place again, and nothing of it is the operator's."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from core.domain.errors import ConfigurationError
from core.storage.access import Tenant
from core.storage.access_store import AccessStore
from core.storage.database import create_engine, dispose
from tests.books import COVERED, COVERED_FACT
from tests.command_line import CommandLine, copy_tree, the_operators_own
from tests.wire import discord_bot, slack_bot
from tests.wire.grants import give
from tests.wire.playground.running import Playground

pytestmark = pytest.mark.costly

REAL = Tenant("discord", "4711")
OFFLINE, OFFLINE_FACT = "Does Glossator need the internet?", "no internet connection"
_PATIENCE = 120.0


async def answers(playground: Playground, question: str) -> tuple[str, str]:
    """Return what the bot answers a student on Discord, and one on Slack."""
    await playground.connected()
    discord, slack = playground.discord, playground.slack
    asked = await discord.world.say(
        discord.stage.student, discord.world.channel, f"<@{discord.world.bot.id}> {question}"
    )

    def on_discord() -> str | None:
        place = asked.thread or asked.channel
        shown = discord.world.transcript(place, discord.stage.student)
        mine = [m for m in shown if m.author is discord.world.bot and m.id > asked.id]
        return next((m.text for m in mine if discord_bot.is_finished(m)), None)

    first = await discord.world.until(on_discord, _PATIENCE)
    said = await slack.world.say(
        slack.stage.student, slack.world.channel, f"<@{slack.world.bot.id}> {question}"
    )

    def on_slack() -> str | None:
        shown = slack.world.transcript(said.channel, slack.stage.student)
        mine = [m for m in shown if m.author is slack.world.bot and m.ts > said.ts]
        return next((m.shown for m in mine if slack_bot.is_finished(m)), None)

    second = await slack.world.until(on_slack, _PATIENCE)
    assert first is not None
    assert second is not None
    return first, second


def tables_of(data: Path) -> list[str]:
    with closing(sqlite3.connect(data / "glossator.db")) as db:
        return list(db.iterdump())


def embedded_in(data: Path) -> set[bytes]:
    with closing(sqlite3.connect(data / "glossator.db")) as db:
        return {key for (key,) in db.execute("SELECT key FROM cached_vectors")}


@pytest.mark.essential
async def test_the_operators_own_courses_answer_at_every_start_and_stay_as_they_were(
    one_course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    copy_tree(one_course, data)
    engine = create_engine(f"sqlite:///{data}/glossator.db")
    await AccessStore(engine).meet(REAL)
    await dispose(engine)
    await give(tmp_path, "arden", str(REAL))
    for name in the_operators_own():
        monkeypatch.delenv(name)
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(data))
    monkeypatch.setenv("GLOSSATOR_DISCORD__GUILDS", f'["{REAL.workspace}"]')
    monkeypatch.chdir(tmp_path)
    before = tables_of(data)
    for _ in range(3):
        async with Playground(data_dir=None) as playground:
            for said in await answers(playground, COVERED):
                assert COVERED_FACT in said
            with pytest.raises(ConfigurationError, match="Another playground runs on"):
                await Playground(data_dir=None).__aenter__()
        assert tables_of(data) == before


async def test_the_handbook_that_an_operator_has_not_is_embedded_for_the_copy_once(
    one_course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_tree(one_course, tmp_path / "data")
    own = CommandLine(tmp_path)
    done = await asyncio.to_thread(own.run, "courses", "remove", "handbook", "--yes")
    assert done.code == 0, done.err
    for name in the_operators_own():
        monkeypatch.delenv(name)
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(own.data))
    monkeypatch.chdir(tmp_path)
    async with Playground(data_dir=None) as playground:
        await playground.connected()
    kept = embedded_in(own.data / "own-playground")
    assert len(kept) > 300
    async with Playground(data_dir=None):
        assert kept <= embedded_in(own.data / "own-playground")


async def test_a_playground_answers_from_the_handbook_at_every_start(
    no_course: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    copy_tree(no_course, data)
    for _ in range(3):
        async with Playground(data_dir=data) as playground:
            for said in await answers(playground, OFFLINE):
                assert OFFLINE_FACT in said
