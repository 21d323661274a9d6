"""Who is staff on a Discord server, as its admins name them, and what staff may do."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from core.domain.i18n import text
from tests.books import COVERED, COVERED_FACT
from tests.wire.discord import Channel, ChannelType, Permission, User
from tests.wire.discord.entities import Role
from tests.wire.discord_bot import Trial, a_trial
from tests.wire.test_discord_staff import answered, bound, used

TO_SHOW_IT = text("discord-staff-to-show-commands")
pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("discord_staff_roles"),
]

NOT_STAFF = "Staff of the course that answers here, and the admins of this server, can do that."
NOT_TO_NAME = "Who is staff is for the admins of this server to say."
FILE_TUTOR = "118000000000000007"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def trial(
    two_courses: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Trial]:
    folder = tmp_path_factory.mktemp("staff_roles")
    async with a_trial(two_courses, folder, start=False) as trial:
        guild = trial.world.guild.id
        named = f'[courses.vault.staff."discord:{guild}"]\npeople = ["{FILE_TUTOR}"]\n'
        with (folder / "glossator.toml").open("a", encoding="utf-8") as file:
            file.write(f"[courses.vault]\n{named}")
        await trial.bot.start()
        yield trial


@pytest.fixture(autouse=True)
def _well_mannered(trial: Trial) -> Iterator[None]:
    yield
    trial.check_manners()


def tutors(trial: Trial, *, permissions: Permission | None = None) -> tuple[Role, User]:
    """Return a role that is shown the command, and somebody who holds it."""
    world = trial.world
    role = world.add_role(world.guild, f"tutors-{trial.people}", permissions or Permission(0))
    world.show_command(world.guild, "course", role)
    return role, trial.user(role)


async def staff(trial: Trial, user: User, channel: Channel, what: str, **whom: object) -> str:
    return await used(trial, user, channel, f"course staff {what}", **whom)


async def test_a_role_is_staff_once_an_admin_names_it_and_until_it_is_taken_out(
    trial: Trial,
) -> None:
    owner, channel = trial.world.owner, await bound(trial)
    role, tutor = tutors(trial, permissions=Permission.MANAGE_CHANNELS)
    assert (await used(trial, tutor, channel, "course show")).startswith(NOT_STAFF)
    told = await staff(trial, owner, channel, "add", role=role)
    assert told == f"<@&{role.id}> (`{role.id}`) is now staff.\n{TO_SHOW_IT}"
    assert "already staff" in await staff(trial, owner, channel, "add", role=role)
    assert "**course**: arden" in await used(trial, tutor, channel, "course show")
    assert "Done" in await used(trial, tutor, channel, "course set", length="short")
    assert f"- <@&{role.id}>" in await staff(trial, tutor, channel, "list")
    assert "no longer staff" in await staff(trial, owner, channel, "remove", role=role)
    assert (await used(trial, tutor, channel, "course show")).startswith(NOT_STAFF)
    assert (await staff(trial, tutor, channel, "list")).startswith(NOT_STAFF)
    choices = await trial.world.autocomplete(tutor, channel, "course bind", "course", course="a")
    assert not choices


async def test_staff_name_nobody_and_set_nothing_for_the_whole_server(trial: Trial) -> None:
    owner = trial.world.owner
    category = trial.channel(ChannelType.CATEGORY)
    channel, friend = trial.channel(category=category), trial.user()
    role, tutor = tutors(trial)
    await staff(trial, owner, channel, "add", role=role)
    assert await staff(trial, tutor, channel, "add", person=friend) == NOT_TO_NAME
    assert await staff(trial, tutor, channel, "remove", role=role) == NOT_TO_NAME
    everywhere = await used(
        trial, tutor, channel, "course switch", state="off", where="this server"
    )
    assert everywhere == "What holds in the whole server is for its admins to set."
    done = await used(trial, tutor, channel, "course bind", course="arden", where="this category")
    assert "Done, for this category." in done


async def test_staff_of_one_course_count_only_where_it_answers(trial: Trial) -> None:
    owner, arden, vault = trial.world.owner, await bound(trial), await bound(trial, "vault")
    unbound = trial.channel()
    role, tutor = tutors(trial)
    told = await staff(trial, owner, unbound, "add", role=role, course="arden")
    assert told.splitlines()[0].endswith("is now staff for arden only.")
    assert "**course**: arden" in await used(trial, tutor, arden, "course show")
    for place in (vault, unbound):
        assert (await used(trial, tutor, place, "course show")).startswith(NOT_STAFF)
    for place in (arden, vault):
        await used(trial, owner, place, "course set", askers="staff")
    assert COVERED_FACT in (await trial.ask(tutor, arden, COVERED)).text
    assert "staff only" in (await trial.ask(tutor, vault, COVERED)).text
    assert "staff only" in await answered(trial, arden)
    assert "for arden only" in await staff(trial, tutor, arden, "list")
    refused = await staff(trial, owner, arden, "add", role=role, course="cooking")
    assert "no such course" in refused


async def test_an_edited_question_and_a_thread_are_a_tutors_too(trial: Trial) -> None:
    world, channel, tutor = trial.world, await bound(trial), trial.user()
    await staff(trial, world.owner, channel, "add", person=tutor)
    await used(trial, world.owner, channel, "course set", askers="staff")
    question = await world.say(tutor, channel, f"{trial.mention} How heavy is the fog bell?")
    answer = await trial.answer_to(question)
    await world.edit(question, f"{trial.mention} {COVERED}")
    await trial.until(lambda: COVERED_FACT in answer.text or None, "the new answer")
    assert question.thread is not None
    follow_up = await world.say(tutor, question.thread, COVERED)
    assert COVERED_FACT in (await trial.answer_to(follow_up)).text


async def test_the_operators_file_names_staff_whom_chat_cannot_take_out(trial: Trial) -> None:
    world, channel = trial.world, await bound(trial, "vault")
    listed = await staff(trial, world.owner, channel, "list")
    assert f"- <@{FILE_TUTOR}> (`{FILE_TUTOR}`), for vault only (by the operator)" in listed
    assert "The admins of this server are staff, too." in listed
    told = await staff(trial, world.owner, channel, "remove", gone=FILE_TUTOR)
    assert "Only the operator" in told
    assert FILE_TUTOR in await staff(trial, world.owner, channel, "list")


async def test_who_can_be_no_staff_is_not_named(trial: Trial) -> None:
    world, channel = trial.world, trial.channel()
    stranger = world.add_user("stranger")
    for whom, sentence in (
        ({}, "Choose a role or a person"),
        ({"role": world.everyone(world.guild)}, "everybody has"),
        ({"person": world.bot}, "no member of this server, or an app"),
        ({"person": stranger}, "no member of this server, or an app"),
    ):
        assert sentence in await staff(trial, world.owner, channel, "add", **whom)
    both = {"role": tutors(trial)[0], "person": trial.user()}
    assert "one of both" in await staff(trial, world.owner, channel, "add", **both)
    assert "Choose a role" in await staff(trial, world.owner, channel, "remove")
    unnamed = await staff(trial, world.owner, channel, "remove", person=trial.user())
    assert "was not named as staff" in unnamed


async def test_what_a_tutor_asked_while_the_bot_was_away_is_answered_to_them(
    trial: Trial,
) -> None:
    """A message of the history does not say which roles its author has."""
    world, channel = trial.world, await bound(trial)
    role, tutor = tutors(trial)
    await staff(trial, world.owner, channel, "add", role=role)
    await used(trial, world.owner, channel, "course set", askers="staff")
    assert await trial.bot.stop() == 0
    question = await world.say(tutor, channel, f"{trial.mention} {COVERED}")
    of_student = await world.say(trial.user(), channel, f"{trial.mention} {COVERED}")
    await trial.bot.start()
    assert COVERED_FACT in (await trial.answer_to(question)).text
    assert "staff only" in (await trial.answer_to(of_student)).text
