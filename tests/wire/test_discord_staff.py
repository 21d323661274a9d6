"""What staff set, which course answers where, and what everybody can ask about the bot."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from core.domain import i18n
from tests.books import COVERED, COVERED_FACT
from tests.wire.bot_process import PATIENCE
from tests.wire.discord import Channel, ChannelType, Permission, User
from tests.wire.discord_bot import FOREIGN_FACT, Trial, a_trial, button, labels

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("discord_staff"),  # one bot for all, where groups are kept together
]

VAULT = "Which words open the vault of the Bellhaven bank?"

BELL = "How much does the fog bell of Arden weigh?"
BELL_FACT = "half a ton"
WATCH = "How long does each of the three keepers stay awake?"
WATCH_FACT = "four hours"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def trial(
    two_courses: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Trial]:
    """One bot with two courses for all tests here, each in channels of its own."""
    async with a_trial(two_courses, tmp_path_factory.mktemp("staff")) as trial:
        yield trial


@pytest.fixture(autouse=True)
def _well_mannered(trial: Trial) -> Iterator[None]:
    yield
    trial.check_manners()


async def used(trial: Trial, user: User, channel: Channel, command: str, **options: Any) -> str:
    """Use a command and return what it tells its user alone."""
    interaction = await trial.world.slash(user, channel, command, **options)
    await interaction.response(PATIENCE)
    assert interaction.responded_after is not None
    assert interaction.responded_after < 3
    assert interaction.ephemeral
    assert interaction.original is not None
    return interaction.original.text


async def bound(trial: Trial, course: str = "arden", **place: Any) -> Channel:
    """Return a new channel that is bound to a course."""
    channel = trial.channel(**place)
    owner = trial.world.owner
    assert "Done" in await used(trial, owner, channel, "course bind", course=course)
    return channel


async def answered(trial: Trial, channel: Channel, question: str = COVERED) -> str:
    return (await trial.ask(trial.user(), channel, question)).text


# --- which course -------------------------------------------------------------------------


async def test_a_channel_without_a_course_is_told_how_to_get_one(trial: Trial) -> None:
    channel = trial.channel()
    for_staff = (await trial.ask(trial.world.owner, channel, COVERED)).text
    assert for_staff == (
        "No course is set in this channel. Staff choose one with the command /course: "
        "arden, handbook, vault."
    )
    told = await answered(trial, channel)
    assert told == i18n.text("course-unset-tell")
    asked = await trial.world.slash(trial.user(), channel, "ask", question=COVERED)
    assert (await trial.result_of(asked)).text == told
    assert asked.ephemeral
    assert not trial.world.threads_of(channel)


async def test_the_narrowest_place_decides_and_no_course_tells_of_another(trial: Trial) -> None:
    world, owner = trial.world, trial.world.owner
    category = trial.channel(ChannelType.CATEGORY)
    inside, beside = trial.channel(category=category), trial.channel(category=category)
    await used(trial, owner, inside, "course bind", course="vault", where="this category")
    assert FOREIGN_FACT in await answered(trial, beside, VAULT)
    await used(trial, owner, inside, "course bind", course="arden")
    assert COVERED_FACT in await answered(trial, inside)
    for question in (VAULT, "vault", "Bellhaven bank amber falcon"):
        assert FOREIGN_FACT not in await answered(trial, inside, question)
    shown = await used(trial, owner, inside, "course show")
    assert "**course**: arden" in shown
    await used(trial, owner, inside, "course unbind")
    assert FOREIGN_FACT in await answered(trial, inside, VAULT)
    choices = await world.autocomplete(owner, inside, "course bind", "course", course="ard")
    assert [choice["value"] for choice in choices] == ["arden"]
    assert "**course**: none is chosen" in await used(trial, owner, trial.channel(), "course show")
    assert "no such course" in await used(trial, owner, inside, "course bind", course="cooking")


async def test_the_command_is_shown_to_admins_and_to_whom_they_show_it(trial: Trial) -> None:
    world, channel = trial.world, trial.channel()
    powers = Permission.MANAGE_CHANNELS | Permission.MANAGE_MESSAGES
    moderator = trial.user(world.add_role(world.guild, "moderators", powers))
    for user in (trial.user(), moderator):
        with pytest.raises(LookupError, match="not shown"):
            await world.slash(user, channel, "course show")
    manager = trial.user(world.add_role(world.guild, "managers", Permission.MANAGE_GUILD))
    assert "**course**" in await used(trial, manager, channel, "course show")
    direct = world.direct_channel(manager, world.bot)
    with pytest.raises(LookupError, match="not for this kind of channel"):
        await world.slash(manager, direct, "course show")


# --- how it behaves -----------------------------------------------------------------------


async def test_a_channel_can_be_switched_off_and_a_whole_server(trial: Trial) -> None:
    world, owner = trial.world, trial.world.owner
    channel = await bound(trial)
    await used(trial, owner, channel, "course switch", state="off")
    await world.say(trial.user(), channel, f"{trial.mention} {COVERED}")
    asked = await world.slash(trial.user(), channel, "ask", question=COVERED)
    assert "switched off in this channel" in (await trial.result_of(asked)).text
    await used(trial, owner, channel, "course switch", state="on")
    assert COVERED_FACT in await answered(trial, channel)
    assert len(world.threads_of(channel)) == 1

    other = trial.channel()
    await used(trial, owner, other, "course switch", state="off", where="this server")
    try:
        await world.say(trial.user(), other, f"{trial.mention} {COVERED}")
        asked = await world.slash(trial.user(), other, "ask", question=COVERED)
        assert "switched off" in (await trial.result_of(asked)).text
        assert BELL_FACT in await answered(trial, channel, BELL)
    finally:
        await used(trial, owner, other, "course switch", state="on", where="this server")
    assert not trial.from_bot(other)


async def test_staff_set_who_may_ask_follow_ups_length_and_privacy(trial: Trial) -> None:
    world, owner = trial.world, trial.world.owner
    channel = await bound(trial)
    assert "Say what to set" in await used(trial, owner, channel, "course set")
    done = await used(
        trial,
        owner,
        channel,
        "course set",
        askers="staff",
        follow_ups="mention",
        length="short",
        private=True,
    )
    for line in (
        "**follow-ups without a mention**: mention",
        "**who may ask**: staff",
        "**length of answers**: short",
        "**private by default**: yes",
    ):
        assert line in done
    assert "the course's staff only" in await answered(trial, channel)
    answer = await trial.ask(owner, channel, COVERED)
    assert COVERED_FACT in answer.text
    await world.say(owner, answer.channel, "And how heavy is the fog bell of Arden?")
    await used(trial, owner, channel, "course set", askers="everyone")
    asked = await world.slash(trial.user(), channel, "ask", question=BELL)
    assert BELL_FACT in (await trial.result_of(asked)).text
    assert asked.ephemeral
    open_to_all = await world.slash(trial.user(), channel, "ask", question=WATCH, private=False)
    assert WATCH_FACT in (await trial.result_of(open_to_all)).text
    assert not open_to_all.ephemeral
    assert trial.from_bot(answer.channel) == [answer], "a follow-up needs a mention here"


# --- about the bot ------------------------------------------------------------------------


async def test_help_tells_how_to_ask_and_answers_from_the_handbook(trial: Trial) -> None:
    ann, channel = trial.user(), trial.channel()
    assert "`/ask` a question" in await used(trial, ann, channel, "glossator help")
    asked = await trial.world.slash(
        ann, channel, "glossator help", question="Does Glossator need an internet connection?"
    )
    answer = await trial.result_of(asked)
    assert asked.ephemeral
    assert "no internet connection" in answer.text
    assert "Glossator" in answer.text
    asked = await trial.world.slash(
        ann, channel, "glossator help", question="How do I ask a question?"
    )
    assert "To ask a question on Discord" in (await trial.result_of(asked)).text


async def test_sources_and_about_tell_what_answers_here(trial: Trial) -> None:
    ann = trial.user()
    channel = await bound(trial)
    sources = await used(trial, ann, channel, "glossator sources")
    assert sources.startswith("**Arden**, as of ")
    assert "- The lamp" in sources
    assert "vault" not in sources.lower()
    about = await used(trial, ann, channel, "glossator about")
    assert "Glossator " in about
    assert "the book's own words, without a model" in about
    assert "Course: Arden, edition of " in about
    unbound = trial.channel()
    assert "No course is set" in await used(trial, ann, unbound, "glossator sources")
    assert "Course:" not in await used(trial, ann, unbound, "glossator about")


async def test_data_shows_and_deletes_what_is_stored(trial: Trial) -> None:
    world, ann, bob = trial.world, trial.user(), trial.user()
    channel = await bound(trial)
    assert await used(trial, ann, channel, "glossator data") == "Nothing is stored about you."
    answer = await trial.ask(ann, channel, COVERED)
    others = await trial.ask(bob, channel, BELL)
    vote = await world.click(ann, answer, button(answer, "Helpful"))
    await vote.response(PATIENCE)
    shown = await world.slash(ann, channel, "glossator data")
    await shown.response(PATIENCE)
    assert shown.original is not None
    told = shown.original.text
    assert "1 question with its answer, 1 record of where you asked, 1 vote." in told
    deleted = await world.click(ann, shown.original, button(shown.original, "Delete all of it"))
    await deleted.response(PATIENCE)
    assert shown.original.text == "All of it is deleted."
    assert not labels(shown.original)
    assert await used(trial, ann, channel, "glossator data") == "Nothing is stored about you."
    click = await world.click(bob, answer, button(answer, "Evidence"))
    await click.response(PATIENCE)
    assert click.original is not None
    assert click.original.text == "This answer is not stored any more."
    click = await world.click(ann, others, button(others, "Helpful"))
    await click.response(PATIENCE)
    assert click.original is not None
    assert click.original.text.startswith("Thank you")


async def test_the_file_of_ones_data_gives_its_user_alone_what_is_stored(trial: Trial) -> None:
    world, ann, bob = trial.world, trial.user(), trial.user()
    channel = await bound(trial)
    await trial.ask(bob, channel, BELL)
    await trial.ask(ann, channel, COVERED)
    shown = await world.slash(ann, channel, "glossator data")
    await shown.response(PATIENCE)
    assert shown.original is not None
    exported = await world.click(ann, shown.original, button(shown.original, "Get it as a file"))
    await exported.response(PATIENCE)
    assert exported.ephemeral
    given = await trial.until(lambda: (exported.original and exported.original.attachments) or None)
    stored = json.loads(given[0].content)["stored"]
    assert [turn["content"]["user_input"] for turn in stored["turns"]] == [COVERED]
    assert COVERED_FACT in stored["turns"][0]["content"]["agent_response"]["response_text"]
    assert [post["message_id"] for post in stored["inbox_posts"]]
    assert str(bob.id) not in given[0].content.decode()


async def test_every_command_is_described_to_whoever_looks_at_it(trial: Trial) -> None:
    commands = json.dumps([*trial.world.application.commands.values()], ensure_ascii=False)
    assert "…" not in commands
    assert "until people talk" in commands
