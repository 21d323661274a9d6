"""Today's program goes on with what an earlier one left on a disk."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from bot.database import HEAD_REVISION
from tests.command_line import CommandLine, Finished
from tests.upgrade import courses
from tests.upgrade.build import conversation_at_the_terminal
from tests.upgrade.courses import Question
from tests.upgrade.due import INGEST_AGAIN, WARNED_BEFORE, rewrite, warned
from tests.upgrade.fixture import FIRST, path_of, unpack
from tests.upgrade.installation import Bot, meeting
from tests.upgrade.story import OnDiscord, OnSlack, Town
from tests.upgrade.worlds import Worlds
from tests.wire import discord, slack
from tests.wire.discord import DiscordServer
from tests.wire.slack import SlackServer
from tests.wire.stored import rows_of

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("upgrade"),  # one installation for all of them
]

_LONG = 600.0
_FORGOTTEN = "SELECT content FROM turns WHERE user_id = 'forgotten'"


@dataclass(frozen=True)
class Upgraded:
    """An installation of long ago over which today's program runs."""

    shell: CommandLine
    town: Town
    untouched: Finished
    """What `glossator doctor` said before anything else was run."""
    diagnosis: Finished
    """What it said once the tables were upgraded."""
    missed: discord.Message
    """Asked while no bot ran."""

    @property
    def on_discord(self) -> OnDiscord:
        return self.town.discord

    @property
    def on_slack(self) -> OnSlack:
        return self.town.slack

    def rows(self, query: str, *values: object) -> list[tuple[object, ...]]:
        """Return what a query of the database finds."""
        return rows_of(self.shell.data, query, *values)

    async def run(self, *arguments: str) -> Finished:
        """Run a command next to the bot; the bot itself is a process of its own."""
        return await asyncio.to_thread(self.shell.here, *arguments)

    async def turns(self, session_id: object) -> list[Mapping[str, Any]]:
        """Return the turns of a conversation, as the command line shows them."""
        shown = await self.run("sessions", "show", str(session_id), "--json")
        assert shown.code == 0, shown.err
        turns: list[Mapping[str, Any]] = shown.json["conversation_history"]
        return turns


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def upgraded(
    models: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Upgraded]:
    """The installation, upgraded as its operator would, with everyone around it."""
    folder = tmp_path_factory.mktemp("upgrade")
    kept = _hash_of(path_of(FIRST))
    unpack(FIRST, folder)
    (folder / "data" / "models").symlink_to(models, target_is_directory=True)
    worlds = Worlds.kept_in(folder)
    async with (
        DiscordServer(world=worlds.discord) as discord_server,
        SlackServer(world=worlds.slack) as slack_server,
    ):
        shell = meeting(CommandLine(folder), discord_server, slack_server)
        await asyncio.to_thread(rewrite, shell)
        untouched = await asyncio.to_thread(shell.run, "doctor", timeout=_LONG)
        tables = await asyncio.to_thread(shell.run, "db", "upgrade", timeout=_LONG)
        assert tables.code == 0, tables.err
        diagnosis = await asyncio.to_thread(shell.run, "doctor", timeout=_LONG)
        for course in INGEST_AGAIN:
            again = await asyncio.to_thread(shell.run, "ingest", "--course", course, timeout=_LONG)
            assert again.code == 0, again.err
        bot = Bot(CommandLine(folder), discord_server, slack_server)
        town = Town.around(bot, discord_server, slack_server)
        on = town.discord
        missed = await on.world.say(
            on.person("pia"), on.room("quay"), f"{on.trial.mention} {courses.FLOATS.text}"
        )
        try:
            await bot.start()
            yield Upgraded(shell, town, untouched, diagnosis, missed)
            assert await bot.stop() == 0, bot.log
        finally:
            if bot.is_running:
                await bot.kill()
        bot.check_log()
        town.discord.trial.check_manners()
        town.slack.trial.check_manners()
    assert _hash_of(path_of(FIRST)) == kept


def _hash_of(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _marked(diagnosis: Finished, mark: str) -> list[str]:
    """Return the sentences of `glossator doctor` that have a mark, in alphabetical order."""
    lines = [line.split(maxsplit=2) for line in diagnosis.out.splitlines()]
    return sorted(text for marked, _, text in lines if marked == mark)


def _run_program(on: OnDiscord, name: str, asked: Question) -> discord.Message:
    """Return the question that a person asked before the upgrade."""
    person = on.person(name)
    [said] = [
        m for m in on.world.messages.values() if m.author is person and m.text.endswith(asked.text)
    ]
    return said


def _said_on_slack_by(on: OnSlack, name: str, asked: Question) -> slack.Message:
    person = on.person(name)
    [said] = [m for m in on.world.messages if m.author is person and m.text.endswith(asked.text)]
    return said


# --- what the operator sees ---------------------------------------------------------------


async def test_doctor_finds_nothing_but_what_is_due(upgraded: Upgraded) -> None:
    before, after = upgraded.untouched, upgraded.diagnosis
    assert not _marked(before, "FAIL")
    due = warned(Worlds(upgraded.on_discord.world, upgraded.on_slack.world))
    assert _marked(before, "WARN") == sorted([*WARNED_BEFORE, *due])
    assert _marked(after, "FAIL") == sorted(INGEST_AGAIN.values())
    assert _marked(after, "WARN") == due
    assert (before.err, after.err) == ("", "")


async def test_the_database_is_of_the_newest_revision_and_whole(upgraded: Upgraded) -> None:
    checked = await upgraded.run("db", "check")
    assert (checked.code, checked.out) == (0, "The database is up to date.\n")
    assert upgraded.rows("SELECT version_num FROM alembic_version") == [(HEAD_REVISION,)]
    assert upgraded.rows("PRAGMA integrity_check") == [("ok",)]
    assert upgraded.rows("PRAGMA foreign_key_check") == []


async def test_the_courses_are_there_and_can_be_ingested_again(upgraded: Upgraded) -> None:
    listed = await upgraded.run("courses", "--json")
    assert {"arden", "mill"} <= {course["course_id"] for course in listed.json}
    again = await upgraded.run("ingest", "--course", "mill", "--replace")  # the folder was moved
    assert again.code == 0, again.err
    await upgraded.on_discord.ask("ben", "mill-questions", courses.POND)


async def test_a_conversation_at_the_terminal_goes_on(upgraded: Upgraded) -> None:
    session = await asyncio.to_thread(conversation_at_the_terminal, upgraded.shell)
    words = ("ask", "--session", session, courses.BOAT.text)
    asked = await asyncio.to_thread(upgraded.shell.run, *words, timeout=_LONG)
    assert asked.code == 0, asked.err
    assert courses.BOAT.fact in asked.out
    said = [turn["user_input"] for turn in await upgraded.turns(session)]
    assert said == [one.text for one in (courses.WICK, courses.BELL, courses.BOAT)]


async def test_who_was_forgotten_stays_forgotten(upgraded: Upgraded) -> None:
    assert upgraded.rows(_FORGOTTEN) == [(None,)]


# --- what was left unanswered -------------------------------------------------------------


async def test_questions_that_waited_are_answered(upgraded: Upgraded) -> None:
    on = upgraded.on_discord
    for asked in (courses.CLOCKWORK, courses.BELL):
        answer = await on.trial.answer_to(_run_program(on, "dan", asked))
        assert asked.fact in answer.text
    slack_question = _said_on_slack_by(upgraded.on_slack, "emma", courses.EELS)
    await upgraded.on_slack.answer_to(slack_question, courses.EELS)
    waiting = "SELECT key FROM inbox WHERE state = 'waiting'"
    await on.trial.until(lambda: not upgraded.rows(waiting) or None, "an empty inbox")


async def test_a_question_of_the_time_without_a_bot_is_answered(upgraded: Upgraded) -> None:
    answer = await upgraded.on_discord.trial.answer_to(upgraded.missed)
    assert courses.FLOATS.fact in answer.text


# --- what staff set -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "room", "asked"),
    [
        ("ann", "arden-questions", courses.STORM),
        ("ben", "mill-questions", courses.EELS),
        ("pia", "wharf", courses.CLOCKWORK),
        ("pia", "quay", courses.TAR),
    ],
)
async def test_a_channel_is_answered_from_the_course_that_was_bound(
    upgraded: Upgraded, name: str, room: str, asked: Question
) -> None:
    assert asked.fact in (await upgraded.on_discord.ask(name, room, asked)).text
    assert asked.fact in (await upgraded.on_slack.ask(name, room, asked)).shown


async def test_direct_messages_are_answered_from_the_course_that_was_bound(
    upgraded: Upgraded,
) -> None:
    on, there = upgraded.on_discord, upgraded.on_slack
    ann, pia = on.person("ann"), there.person("pia")
    answer = await on.go_on("ann", on.world.direct_channel(ann, on.world.bot), courses.STORM)
    assert courses.STORM.fact in answer.text
    said = await there.world.say(pia, there.world.dm(pia), courses.EELS.text)
    assert courses.EELS.fact in (await there.answer_to(said, courses.EELS)).shown


async def test_no_course_is_answered_from_in_a_channel_of_another(upgraded: Upgraded) -> None:
    on, there = upgraded.on_discord, upgraded.on_slack
    asked = courses.FLOATS
    answer = await on.trial.ask(on.person("ann"), on.room("arden-questions"), asked.text)
    assert asked.fact not in answer.text
    said = await there.say("ann", there.room("arden-questions"), asked)
    assert asked.fact not in (await there.trial.answer_to(said)).shown


async def test_where_nothing_was_set_no_course_answers(upgraded: Upgraded) -> None:
    on, there = upgraded.on_discord, upgraded.on_slack
    answer = await on.trial.ask(on.person("ben"), on.room("unset"), courses.WICK.text)
    assert courses.WICK.fact not in answer.text
    ben, room = there.person("ben"), there.room("unset")
    await there.say("ben", room, courses.WICK)

    def told() -> list[str]:
        return [one.shown for one in there.trial.from_bot(room, ben) if one.ephemeral]

    (refusal,) = await there.trial.until(lambda: told() or None, "a refusal")
    assert courses.WICK.fact not in refusal


@pytest.mark.parametrize("room", ["lounge", "office"])
async def test_a_channel_that_was_switched_off_stays_silent(upgraded: Upgraded, room: str) -> None:
    on, there = upgraded.on_discord, upgraded.on_slack
    me = on.trial.mention
    quiet = on.room(room), there.room(room)
    await on.world.say(on.person("ben"), quiet[0], f"{me} {courses.WICK.text}")
    await there.say("ben", quiet[1], courses.WICK)
    await on.ask("ann", "arden-questions", courses.WICK)
    await there.ask("ann", "arden-questions", courses.WICK)
    assert not on.trial.from_bot(quiet[0])
    assert not there.trial.from_bot(quiet[1])


# --- what people said ---------------------------------------------------------------------


async def test_a_thread_goes_on_with_its_old_turns(upgraded: Upgraded) -> None:
    on, there = upgraded.on_discord, upgraded.on_slack
    before = [courses.WICK.text, courses.BELL.text, courses.BOAT.text]
    thread = _run_program(on, "ben", courses.BOAT).channel
    await on.go_on("ann", thread, courses.CLOCKWORK)
    reply = _said_on_slack_by(there, "ben", courses.BOAT)
    await there.go_on("ann", reply, courses.CLOCKWORK)
    sessions = upgraded.rows(
        "SELECT session_id FROM turns WHERE turn_number = 4 AND content LIKE ?",
        f"%{courses.CLOCKWORK.text}%",
    )
    assert len(sessions) == 2
    for (session_id,) in sessions:
        said = [turn["user_input"] for turn in await upgraded.turns(session_id)]
        assert said == [*before, courses.CLOCKWORK.text]


async def test_the_buttons_of_old_answers_work(upgraded: Upgraded) -> None:
    on, there = upgraded.on_discord, upgraded.on_slack
    votes = "SELECT helpful, reason FROM votes ORDER BY voted_at"
    before = upgraded.rows(votes)
    assert sorted(before, key=str) == [(0, "It does not say of which year."), (1, None), (1, None)]
    old = await on.trial.answer_to(_run_program(on, "ben", courses.BOAT))
    click = await on.vote("ben", old, "Helpful")
    assert click.original is not None
    assert "noted as helpful" in click.original.text
    question = _said_on_slack_by(there, "ben", courses.BOAT)
    answer = await there.answer_to(question, courses.BOAT)
    noted = await there.vote("ben", answer, "positive")
    assert "noted as helpful" in (await there.trial.result_of(noted)).shown
    assert len(upgraded.rows(votes)) == len(before) + 2
