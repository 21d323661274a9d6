"""Policies and the radar in Slack: what staff set and see, and what students get."""

import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.books import COVERED, COVERED_FACT
from tests.wire import past_week
from tests.wire.slack import Channel, Message, User
from tests.wire.slack_bot import Trial, a_trial

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_policies"),
]

BELL = "How much does the fog bell of Arden weigh?"
BELL_FACT = "half a ton"
WATCH = "How long does each of the three keepers stay awake?"
PNG = b"\x89PNG\r\n"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(
    two_courses: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Trial]:
    async with a_trial(two_courses, tmp_path_factory.mktemp("policies")) as trial:
        yield trial


@pytest.fixture
def trial(running: Trial) -> Iterator[Trial]:
    yield running
    running.check_manners()


async def told(trial: Trial, user: User, channel: Channel, text: str) -> str:
    channel.members[user.id] = user
    shown = await trial.result_of(await trial.world.slash(user, channel, "/course", text))
    assert shown.ephemeral
    return shown.shown


async def bound(trial: Trial) -> Channel:
    channel = trial.channel()
    assert "Done" in await told(trial, trial.world.owner, channel, "bind arden")
    return channel


async def answered(trial: Trial, channel: Channel, question: str = COVERED) -> str:
    student = trial.user()
    channel.members[student.id] = student
    return (await trial.ask(student, channel, question)).shown


async def test_a_channel_with_hints_only_gives_hints_until_they_are_removed(trial: Trial) -> None:
    owner, channel = trial.world.owner, await bound(trial)
    assert COVERED_FACT in await answered(trial, channel)
    done = await told(trial, owner, channel, "policy set hints until 2099-12-01")
    assert "hints, in" in done
    assert "until 1 Dec 2099" in done
    hinted = await answered(trial, channel, BELL)
    assert "Read here first" in hinted
    assert "Hints only until 1 Dec 2099." in hinted
    assert BELL_FACT not in hinted
    key = done.split("`")[1]
    assert "There is no policy" in await told(trial, owner, channel, f"policy remove {key}")
    assert "four hours" in await answered(trial, channel, WATCH)


async def test_students_cannot_set_and_are_not_shown_policies(trial: Trial) -> None:
    channel, student = await bound(trial), trial.user()
    for command in ("policy list", "policy set closed", "hints", "radar show", "radar post"):
        said = await told(trial, student, channel, command)
        assert said.startswith("Staff of the course that answers here"), command


@pytest.mark.parametrize(
    "command", ["policy set sometimes", "policy set hints tomorrow", "policy x"]
)
async def test_a_command_that_says_nothing_is_explained(trial: Trial, command: str) -> None:
    channel = await bound(trial)
    said = await told(trial, trial.world.owner, channel, command)
    assert "/course policy list" in said


async def test_an_assignment_is_entered_in_a_form_and_its_solution_is_never_seen(
    trial: Trial,
) -> None:
    world, owner, channel = trial.world, trial.world.owner, await bound(trial)
    opening = await world.slash(owner, channel, "/course", "hints")
    await opening.ack()
    [view] = await trial.until(lambda: opening.opened or None)
    sent = await world.submit_view(
        owner,
        view,
        name="Sheet 2",
        text="How often does the keeper trim the wick of the lamp in a day?",
        sections="Trimming the wick",
        until="2099-12-01",
        solution="Six times: the keeper comes every four hours of the day and night.",
    )
    await sent.ack()
    await trial.until(lambda: "Sheet 2 (with a withheld solution)" in str(view.body) or None)
    assert "Six times" not in str(view.body["blocks"])
    hinted = await answered(trial, channel)
    assert "Hints only until 1 Dec 2099: Sheet 2." in hinted
    assert "four hours" not in hinted
    assert "Six times" not in trial.bot.log
    key = (await told(trial, owner, channel, "policy list")).split("`")[1]
    await told(trial, owner, channel, f"policy remove {key}")


async def test_the_radar_is_shown_to_staff_and_its_picture_in_their_direct_messages(
    two_courses: Path, tmp_path: Path
) -> None:
    async with a_trial(two_courses, tmp_path, start=False) as trial:
        await past_week.fill(tmp_path, "slack", trial.world.workspace.id)
        await trial.bot.start()
        channel, owner = await bound(trial), trial.world.owner
        shown = await told(trial, owner, channel, "radar show")
        assert f"The lamp › {past_week.SECTION}: 4 questions (4 answered)." in shown
        assert past_week.ASKED in shown
        assert past_week.REASON in shown
        sent = [m for m in trial.from_bot(trial.world.dm(owner), owner) if m.files]
        assert (sent[0].files[0].content or b"").startswith(PNG)
        said = await told(trial, owner, channel, "radar post")
        assert said == "Every week's radar of Arden is now posted here."
        said = await told(trial, owner, channel, "radar stop")
        assert said == "The weekly radar of Arden is no longer posted."


async def test_a_week_that_is_due_is_posted_once_also_over_a_restart(
    two_courses: Path, tmp_path: Path
) -> None:
    async with a_trial(two_courses, tmp_path, start=False) as trial:
        channel = trial.channel()
        await past_week.fill(tmp_path, "slack", trial.world.workspace.id, channel.id)
        await trial.bot.start()
        await trial.until(lambda: _is_settled(tmp_path) or None)
        assert await trial.bot.stop() == 0
        _execute(tmp_path, "UPDATE radar_channels SET posted = NULL, claimed_until = NULL")
        await trial.bot.start()
        await trial.until(lambda: _is_settled(tmp_path) or None)
        [post] = [m for m in trial.from_bot(channel) if not m.files]
        assert f"{past_week.SECTION}: 4 questions" in post.shown
        assert past_week.REASON not in post.shown
        [picture] = _pictures(trial, channel)
        assert picture.thread_ts == post.ts
        assert (picture.files[0].content or b"").startswith(PNG)


def _pictures(trial: Trial, channel: Channel) -> list[Message]:
    return [one for one in trial.from_bot(channel) if one.files]


def _is_settled(folder: Path) -> bool:
    return bool(_execute(folder, "SELECT 1 FROM radar_weeks")) and bool(
        _execute(folder, "SELECT 1 FROM radar_channels WHERE claimed_until IS NULL AND posted > ''")
    )


def _execute(folder: Path, statement: str) -> list[Any]:
    with sqlite3.connect(folder / "data" / "glossator.db", timeout=30) as db:
        return db.execute(statement).fetchall()
