"""A data folder that one installation made is opened by another, which has another handbook."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.command_line import ROOT, CommandLine
from tests.installation import build_wheel, install_wheel
from tests.wire import discord_bot
from tests.wire.discord_bot import Trial
from tests.wire.monitored import Pages

pytestmark = pytest.mark.costly

NEWS = "\nThe brass quadrant of this release is polished with forty drops of linseed oil.\n"
ASKED = "With what is the brass quadrant polished?"
_PARTS = ("bot", "adapters", "core", "migrations", "docs")


def a_checkout(folder: Path) -> Path:
    """Return a source tree of its own, as a checkout elsewhere."""
    for name in _PARTS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def from_checkout(folder: Path) -> CommandLine:
    """Return a shell that starts the program of a source tree."""
    return CommandLine(folder).knowing(PYTHONPATH=str(folder))


def add_news(handbook: Path) -> None:
    with (handbook / "index.md").open("a", encoding="utf-8") as page:
        page.write(NEWS)


def as_stored_before(data: Path, handbook: Path) -> None:
    """Have a data folder say where the handbook is, as earlier versions did."""
    with closing(sqlite3.connect(data / "glossator.db")) as db, db:
        db.execute("UPDATE documents SET origin = ?", [str(handbook)])
        db.execute("UPDATE ingest_accounts SET source = ?", [str(handbook)])


def places_in(data: Path, *places: Path) -> list[str]:
    """Return what of a data folder holds one of these paths."""
    with closing(sqlite3.connect(data / "glossator.db")) as db:
        said = [line for line in db.iterdump() if any(str(place) in line for place in places)]
    files = (file for file in data.rglob("*") if file.is_file() and "models" not in file.parts)
    held = [f.name for f in files if any(str(p).encode() in f.read_bytes() for p in places)]
    return said + held


async def runs(trial: Trial, installation: CommandLine) -> str:
    """Start the bot as it is installed there, and return what it answers about the news."""
    trial.bot.shell = CommandLine(trial.bot.folder, installation.variables, installation.python)
    await trial.bot.start()
    answer = await trial.ask(trial.user(), trial.channel(), ASKED)
    assert await trial.bot.stop() == 0, trial.bot.log
    assert "the handbook cannot" not in trial.bot.log
    return answer.text


@pytest.mark.essential
async def test_the_bot_of_another_checkout_starts_with_its_own_handbook(
    no_course: Path, tmp_path: Path
) -> None:
    other = a_checkout(tmp_path / "other")
    add_news(other / "docs")
    async with discord_bot.a_trial(no_course, tmp_path, start=False) as trial:
        as_stored_before(tmp_path / "data", ROOT / "docs")
        assert "linseed oil" in await runs(trial, from_checkout(other))
        assert not places_in(tmp_path / "data", ROOT, other)


async def test_whatever_fails_with_the_handbook_the_bot_starts_and_says_so(
    one_course: Path, tmp_path: Path
) -> None:
    def unreadable(docs: Path) -> None:
        for page in docs.glob("*.md"):
            page.write_bytes(b"%PDF-" + bytes(64))

    breaks: list[Callable[[Path], object]] = [shutil.rmtree, unreadable]
    for number, spoil in enumerate(breaks):
        folder = tmp_path / str(number)
        tree = a_checkout(folder / "tree")
        spoil(tree / "docs")
        monitored = {"MONITORING__PORT": "0", "LOG_LEVEL": "INFO"}
        async with discord_bot.a_trial(
            one_course, folder, settings=monitored, start=False
        ) as trial:
            trial.bot.shell = CommandLine(folder, from_checkout(tree).variables)
            await trial.bot.start()
            assert "the handbook cannot be brought up to date: " in trial.bot.log
            pages = Pages(trial.bot)
            await pages.becomes("/readyz", 200)
            said = json.loads(await pages.text("/readyz"))
            assert said["status"] == "ok"
            assert said["checks"]["handbook"] == "failing"
            await trial.quiet(trial.channel(), trial.user())


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@pytest.mark.xdist_group("installing")
async def test_three_ways_of_moving_an_installation(no_course: Path, tmp_path: Path) -> None:
    wheel = build_wheel(tmp_path)
    commands = [install_wheel(wheel, tmp_path / name) for name in ("first", "second")]
    installed = [
        CommandLine(tmp_path, {"PYTHONPATH": ""}, str(one.with_name("python"))) for one in commands
    ]
    handbooks = [one.parents[1] / "share" / "glossator" / "handbook" for one in commands]
    tree = a_checkout(tmp_path / "tree")
    async with discord_bot.a_trial(no_course, tmp_path / "here", start=False) as trial:
        data = tmp_path / "here" / "data"
        as_stored_before(data, ROOT / "docs")

        add_news(handbooks[0])  # from a checkout to what pipx installs
        assert "linseed oil" in await runs(trial, installed[0])
        assert not places_in(data, ROOT, tmp_path / "first")

        as_stored_before(data, handbooks[0])  # to another environment, beside the first one
        assert "linseed oil" not in await runs(trial, installed[1])
        add_news(handbooks[1])
        shutil.rmtree(tmp_path / "first")
        assert "linseed oil" in await runs(trial, installed[1])

        as_stored_before(data, handbooks[1])  # to a checkout, which moves
        assert "linseed oil" not in await runs(trial, from_checkout(tree))
        moved = tree.rename(tmp_path / "moved")
        add_news(moved / "docs")
        assert "linseed oil" in await runs(trial, from_checkout(moved))
        assert not places_in(data, ROOT, tmp_path / "first", tmp_path / "second", tree, moved)
