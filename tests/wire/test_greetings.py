"""What the bot says to those who let it in: once, quietly, and honest about its courses."""

from pathlib import Path

import pytest

from core.domain.i18n import Message
from tests.wire import discord_bot, slack_bot
from tests.wire.discord import Channel, Guild, Permission
from tests.wire.slack import ServerError
from tests.wire.slack_installs import install

pytestmark = pytest.mark.costly

HELLO = "Thank you for letting me in."


def with_system_channel(trial: discord_bot.Trial, guild: Guild) -> Channel:
    channel = trial.world.add_channel(guild, "welcome")
    guild.system_channel = channel.id
    return channel


async def greeted(trial: discord_bot.Trial, channel: Channel) -> str:
    message = await trial.until(lambda: next(iter(trial.from_bot(channel)), None), "a greeting")
    return message.text


async def test_the_operators_server_is_greeted_once_with_its_course(
    one_course: Path, tmp_path: Path
) -> None:
    async with discord_bot.a_trial(one_course, tmp_path, start=False) as trial:
        channel = with_system_channel(trial, trial.world.guild)
        await trial.bot.start()
        said = await greeted(trial, channel)
        assert said.startswith(HELLO)
        assert "I answer from *Arden* here. Ask with `/ask`" in said
        assert "`/course bind`" in said
        await trial.bot.stop()
        await trial.bot.start()
        await trial.quiet(trial.channel(), trial.user())
        assert len(trial.from_bot(channel)) == 1, "a restart is no reason to greet again"


async def test_with_several_courses_the_next_step_is_to_bind_one(
    two_courses: Path, tmp_path: Path
) -> None:
    async with discord_bot.a_trial(two_courses, tmp_path, start=False) as trial:
        channel = with_system_channel(trial, trial.world.guild)
        await trial.bot.start()
        said = await greeted(trial, channel)
        assert "there are 2 courses for this place" in said
        assert "choose one with `/course bind`" in said


async def test_a_later_server_hears_that_no_course_is_open_to_it(
    one_course: Path, tmp_path: Path
) -> None:
    async with discord_bot.a_trial(one_course, tmp_path) as trial:
        world = trial.world
        await trial.quiet(trial.channel(), trial.user())
        later = world.add_guild("Later", trial.user())
        channel = with_system_channel(trial, later)
        world.install(world.application, later)
        said = await greeted(trial, channel)
        assert "no course is open to you here yet" in said
        assert "Arden" not in said
        assert "glossator ingest" not in said, "that is for the operator alone"


async def test_a_server_that_is_not_admitted_hears_so(one_course: Path, tmp_path: Path) -> None:
    async with discord_bot.a_trial(one_course, tmp_path, start=False) as trial:
        world = trial.world
        trial.bot._settings = {
            **trial.bot._settings,
            "DISCORD__GUILDS": f'["{world.guild.id}"]',
        }
        await trial.bot.start()
        other = world.add_guild("Other", trial.user())
        channel = with_system_channel(trial, other)
        world.install(world.application, other)
        said = await greeted(trial, channel)
        assert "I am not set up to answer here" in said
        assert "/course bind" not in said


async def test_without_a_book_the_operator_is_shown_the_command_that_reads_one(
    no_course: Path, tmp_path: Path
) -> None:
    async with discord_bot.a_trial(no_course, tmp_path, start=False) as trial:
        channel = with_system_channel(trial, trial.world.guild)
        await trial.bot.start()
        assert "`glossator ingest`" in await greeted(trial, channel)


async def test_nothing_is_said_where_the_bot_has_no_place_for_it(
    one_course: Path, tmp_path: Path
) -> None:
    async with discord_bot.a_trial(one_course, tmp_path) as trial:
        world = trial.world
        silent = world.add_guild("Silent", trial.user())
        room = world.add_channel(silent, "general")
        world.install(world.application, silent)
        closed = world.add_guild("Closed", trial.user())
        channel = with_system_channel(trial, closed)
        world.restrict(channel, world.everyone(closed), deny=Permission.SEND_MESSAGES)
        world.install(world.application, closed)
        for guild in (silent, closed):
            await trial.bot.says(f"the server {guild.id} has no channel for system messages")
        assert not trial.from_bot(room)
        assert not trial.from_bot(channel)


async def test_who_installs_the_slack_app_is_greeted_by_direct_message_once(
    one_course: Path, tmp_path: Path
) -> None:
    async with slack_bot.a_trial(one_course, tmp_path, transport="http", by_oauth=True) as trial:
        world = trial.world
        await install(trial, world.workspace)
        owner = world.owner
        direct = world.dm(owner)
        [greeting] = trial.from_bot(direct, owner)
        assert HELLO in greeting.shown
        assert "I answer from *Arden* here" in greeting.shown
        assert "/course bind" in greeting.shown
        await install(trial, world.workspace)
        assert trial.from_bot(direct, owner) == [greeting]


async def test_who_installs_the_slack_app_is_greeted_in_their_language(
    one_course: Path, tmp_path: Path
) -> None:
    async with slack_bot.a_trial(one_course, tmp_path, transport="http", by_oauth=True) as trial:
        trial.world.owner.locale = "de-DE"
        await install(trial, trial.world.workspace)
        owner = trial.world.owner
        [greeting] = trial.from_bot(trial.world.dm(owner), owner)
        hello = Message("greeting-hello")
        assert hello.in_language("de") in greeting.shown
        assert hello.in_language("en") not in greeting.shown


async def test_a_greeting_that_fails_is_tried_again(one_course: Path, tmp_path: Path) -> None:
    async with slack_bot.a_trial(one_course, tmp_path, transport="http", by_oauth=True) as trial:
        trial.server.faults.api(ServerError(500), "conversations.open", times=1)
        await install(trial, trial.world.workspace)
        owner = trial.world.owner
        direct = trial.world.dm(owner)
        greeted = await trial.until(lambda: trial.from_bot(direct, owner) or None, "a greeting")
        assert [HELLO in one.shown for one in greeted] == [True]
        assert "was not greeted, again in 2 s" in trial.bot.log


async def test_a_later_workspace_hears_that_no_course_is_open_to_it(
    one_course: Path, tmp_path: Path
) -> None:
    async with slack_bot.a_trial(one_course, tmp_path, transport="http", by_oauth=True) as trial:
        world = trial.world
        await install(trial, world.workspace)
        other = world.add_workspace("Other")
        before = set(map(id, world.messages))
        await install(trial, other)
        [greeting] = [m for m in world.messages if id(m) not in before]
        assert "no course is open to you here yet" in greeting.shown
        assert "Arden" not in greeting.shown


async def test_an_installation_stands_though_its_greeting_fails(
    one_course: Path, tmp_path: Path
) -> None:
    async with slack_bot.a_trial(one_course, tmp_path, transport="http", by_oauth=True) as trial:
        trial.server.faults.api(ServerError(500), "conversations.open", times=9)
        await install(trial, trial.world.workspace)
        await trial.bot.says("was not greeted")
        ann = trial.user()
        answer = await trial.ask(ann, trial.channel(ann), "How do I trim the wick of the lamp?")
        assert answer.shown
