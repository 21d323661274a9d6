"""Courses have owners: what another server, a direct message and a stranger's server get."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from core.domain import i18n
from tests.books import COVERED, COVERED_FACT
from tests.wire.bot_process import PATIENCE
from tests.wire.discord import Channel, Guild, Interaction, Message, User
from tests.wire.discord.component_checks import STRING_SELECT, walk
from tests.wire.discord_bot import FOREIGN_FACT, Trial, a_trial, button
from tests.wire.grants import FOLLOWS_IN, copy_course, give, grant, revoke

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("discord_tenants"),
]

VAULT = "Which words open the vault of the Bellhaven bank?"
NAMES = ("Arden", "arden", "vault", FOREIGN_FACT, COVERED_FACT)
"""What a server that may read no course is not to see."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def trial(
    two_courses: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Trial]:
    async with a_trial(two_courses, tmp_path_factory.mktemp("tenants")) as trial:
        yield trial


class Stranger:
    """A server that let the bot in after the operator's own, and its owner."""

    def __init__(self, trial: Trial, *, with_bot: bool = True) -> None:
        world = trial.world
        trial.people += 1
        self.trial = trial
        self.owner: User = world.add_user(f"stranger{trial.people}", world.guild)
        self.guild: Guild = world.add_guild(f"other{trial.people}", self.owner)
        if with_bot:
            world.install(world.application, self.guild)
        self.channel: Channel = world.add_channel(self.guild, "general")

    @property
    def name(self) -> str:
        return f"discord:{self.guild.id}"

    async def is_met(self) -> None:
        await self.trial.bot.says(f"{self.name} has let the bot in")

    def student(self) -> User:
        """Return somebody who is no staff here."""
        self.trial.people += 1
        user = self.trial.world.add_user(f"student{self.trial.people}", self.guild)
        self.trial.world.join(user, self.guild)
        return user

    @property
    def how_to_grant(self) -> str:
        """What staff here read where there is no course."""
        return i18n.text("course-none-yet-grant", tenant=self.name)

    async def told(self, command: str, **options: Any) -> Message:
        interaction = await self.trial.world.slash(self.owner, self.channel, command, **options)
        return await self.trial.result_of(interaction)


@pytest_asyncio.fixture(loop_scope="module")
async def stranger(trial: Trial) -> Stranger:
    found = Stranger(trial)
    await found.is_met()
    return found


async def clicked(trial: Trial, user: User, message: Message, custom_id: str) -> str:
    interaction: Interaction = await trial.world.click(user, message, custom_id)
    await interaction.response(PATIENCE)
    assert interaction.original is not None
    return interaction.original.text


async def test_a_later_server_is_told_of_no_course_and_the_operator_once(
    trial: Trial, stranger: Stranger
) -> None:
    command = f"glossator courses grant COURSE {stranger.name}"
    assert trial.bot.log.count(command) == 1
    said = [
        (await trial.ask(stranger.owner, stranger.channel, COVERED)).text,
        (await stranger.told("glossator sources")).text,
        (await stranger.told("glossator about")).text,
        (await stranger.told("course show")).text,
        (await stranger.told("course bind", course="arden")).text,
    ]
    assert said[0] == stranger.how_to_grant
    assert f"glossator courses grant COURSE discord:{stranger.guild.id}" in said[0]
    student = await trial.ask(stranger.student(), stranger.channel, COVERED)
    assert student.text == i18n.text("course-none-yet-tell")
    assert not [name for name in NAMES for text in said if name in text.replace("bind arden", "")]
    nonsense = await stranger.told("course bind", course="cooking")
    assert said[-1] == nonsense.text
    world = trial.world
    for focused, command in (("course", "course bind"), ("section", "ask")):
        options: dict[str, Any] = {focused: "a"} | (
            {"question": COVERED} if command == "ask" else {}
        )
        offered = await world.autocomplete(
            stranger.owner, stranger.channel, command, focused, **options
        )
        assert not [name for name in NAMES if name in str(offered)]


async def test_a_grant_opens_a_course_and_taking_it_back_closes_it(
    trial: Trial, stranger: Stranger
) -> None:
    await grant(trial.bot.folder, "arden", stranger.name)
    await asyncio.sleep(FOLLOWS_IN)
    answer = await trial.ask(stranger.owner, stranger.channel, COVERED)
    assert COVERED_FACT in answer.text
    assert FOREIGN_FACT not in (await trial.ask(stranger.owner, stranger.channel, VAULT)).text
    evidence = button(answer, "Evidence")
    assert COVERED_FACT in await clicked(trial, stranger.owner, answer, evidence)
    await revoke(trial.bot.folder, "arden", stranger.name)
    await asyncio.sleep(FOLLOWS_IN)
    assert await clicked(trial, stranger.owner, answer, evidence) == i18n.text("answer-gone")
    follow_up = await trial.ask(stranger.owner, answer.channel, "And what does it weigh?")
    assert follow_up.text == stranger.how_to_grant
    edited = next(m for m in trial.said() if COVERED in m.text and m.channel is stranger.channel)
    await trial.world.edit(edited, f"{trial.mention} {COVERED} Please?")
    await trial.until(lambda: stranger.how_to_grant in answer.text or None, "the answer taken back")


async def test_the_operators_server_has_nothing_of_what_another_owns(
    trial: Trial, stranger: Stranger
) -> None:
    await give(trial.bot.folder, "vault", stranger.name)
    await asyncio.sleep(FOLLOWS_IN)
    try:
        assert FOREIGN_FACT in (await trial.ask(stranger.owner, stranger.channel, VAULT)).text
        told = (await trial.ask(trial.user(), trial.channel(), VAULT)).text
        assert FOREIGN_FACT not in told
        offered = await trial.world.autocomplete(
            trial.world.owner, trial.channel(), "course bind", "course", course=""
        )
        assert [choice["value"] for choice in offered] == ["arden", "handbook"]
    finally:
        await give(trial.bot.folder, "vault", None)
        await asyncio.sleep(FOLLOWS_IN)


async def test_an_answers_id_opens_nothing_in_another_server(
    trial: Trial, stranger: Stranger
) -> None:
    await grant(trial.bot.folder, "arden", stranger.name)
    await asyncio.sleep(FOLLOWS_IN)
    channel = trial.channel()
    setting = await trial.world.slash(trial.world.owner, channel, "course bind", course="arden")
    await setting.response(PATIENCE)
    theirs = await trial.ask(trial.user(), channel, COVERED)
    own = await trial.ask(stranger.owner, stranger.channel, COVERED)
    forged = button(theirs, "Evidence")
    for part in walk(own.components):
        if part.get("label") == "Evidence":
            part["custom_id"] = forged
    assert await clicked(trial, stranger.owner, own, forged) == i18n.text("answer-gone")


async def test_a_direct_message_is_asked_which_course_and_answered_then(trial: Trial) -> None:
    world, ann = trial.world, trial.user()
    direct = world.direct_channel(ann, world.bot)
    asked = await trial.answer_to(await world.say(ann, direct, COVERED))
    assert asked.text == i18n.text("course-which")
    [menu] = [part for part in walk(asked.components) if part["type"] == STRING_SELECT]
    assert [option["value"] for option in menu["options"]] == ["arden", "vault"]
    chosen = await world.click(ann, asked, menu["custom_id"], ["arden"])
    assert COVERED_FACT in (await trial.result_of(chosen)).text
    again = await world.click(ann, asked, menu["custom_id"], ["arden"])
    assert "Arden" in (await trial.result_of(again)).text
    await asyncio.sleep(FOLLOWS_IN)
    assert COVERED_FACT in (await trial.answer_to(await world.say(ann, direct, COVERED))).text
    other = await world.click(ann, asked, menu["custom_id"], ["vault"])
    await trial.result_of(other)
    assert FOREIGN_FACT in (await trial.answer_to(await world.say(ann, direct, VAULT))).text


async def test_a_direct_message_reads_what_the_servers_of_its_writer_read(
    trial: Trial, stranger: Stranger
) -> None:
    world = trial.world
    bea = world.add_user("bea", stranger.guild)
    world.join(bea, stranger.guild)
    direct = world.direct_channel(bea, world.bot)
    nothing = await trial.answer_to(await world.say(bea, direct, COVERED))
    assert nothing.text == i18n.text("course-none-yet-tell")
    await grant(trial.bot.folder, "arden", stranger.name)
    await asyncio.sleep(FOLLOWS_IN)
    answer = await trial.answer_to(await world.say(bea, direct, COVERED))
    assert COVERED_FACT in answer.text
    assert COVERED_FACT in await clicked(trial, bea, answer, button(answer, "Evidence"))


async def test_in_a_server_without_the_bot_the_asker_alone_is_answered(trial: Trial) -> None:
    elsewhere = Stranger(trial, with_bot=False)
    world = trial.world
    ann = trial.user()
    world.join(ann, elsewhere.guild)
    asked = await world.slash(ann, elsewhere.channel, "ask", question=COVERED, private=False)
    menu = await trial.result_of(asked)
    assert asked.ephemeral
    assert menu.text == i18n.text("course-which")
    [select] = [part for part in walk(menu.components) if part["type"] == STRING_SELECT]
    chosen = await world.click(ann, menu, select["custom_id"], ["arden"])
    answer = await trial.result_of(chosen)
    assert chosen.ephemeral
    assert COVERED_FACT in answer.text
    assert "cannot show it" in await clicked(trial, ann, answer, button(answer, "Share"))
    setting = await world.slash(elsewhere.owner, elsewhere.channel, "course show")
    assert (await trial.result_of(setting)).text == i18n.text("discord-not-a-member-staff")
    assert elsewhere.name not in trial.bot.log


async def test_a_server_that_is_not_on_the_list_gets_one_sentence(
    one_course: Path, tmp_path: Path
) -> None:
    async with a_trial(one_course, tmp_path / "listed", start=False) as trial:
        trial.bot._settings = {**trial.bot._settings, "DISCORD__GUILDS": _ids(trial.world.guild)}
        other = Stranger(trial)
        await trial.bot.start()
        assert COVERED_FACT in (await trial.ask(trial.user(), trial.channel(), COVERED)).text
        assert (await trial.ask(other.owner, other.channel, COVERED)).text == i18n.text(
            "asking-not-admitted"
        )
        for command in ("glossator sources", "glossator about", "course show"):
            assert (await other.told(command)).text == i18n.text("asking-not-admitted")
        helped = await other.told("glossator help", question="How do I ask?")
        assert helped.text == i18n.text("asking-not-admitted")
        guest = Stranger(trial, with_bot=False)
        trial.world.join(ann := trial.user(), guest.guild)
        asked: dict[str, dict[str, Any]] = {
            "ask": {"question": COVERED},
            "glossator sources": {},
            "glossator about": {},
        }
        for command, options in asked.items():
            given = await trial.world.slash(ann, guest.channel, command, **options)
            assert (await trial.result_of(given)).text == i18n.text("asking-not-admitted")
            assert given.ephemeral
        assert "may read no course yet" not in trial.bot.log


def _ids(guild: Guild) -> str:
    return f'["{guild.id}"]'


def courses_in(message: Message) -> list[str]:
    """Return the courses of a message's menu; none: it has no menu."""
    menus = [part for part in walk(message.components) if part["type"] == STRING_SELECT]
    return [option["value"] for menu in menus for option in menu["options"]]


async def found(trial: Trial, user: User, message: Message, typed: str) -> None:
    """Look for a course by what is typed, and wait until the message shows what was found."""
    press = await trial.world.click(user, message, button(message, "Find your course"))
    await press.response(PATIENCE)
    sent = await trial.world.submit_modal(press, course=typed)
    await sent.response(PATIENCE)


async def test_who_is_in_sixty_courses_finds_each_of_them_by_a_word(
    one_course: Path, tmp_path: Path
) -> None:
    async with a_trial(one_course, tmp_path, start=False) as trial:
        await copy_course(trial.bot.folder, "arden", 60)
        await trial.bot.start()
        world, ann = trial.world, trial.user()
        direct = world.direct_channel(ann, world.bot)
        asked = await trial.answer_to(await world.say(ann, direct, COVERED))
        assert asked.text == i18n.text("course-which")
        assert courses_in(asked) == [], "no menu holds them"
        await found(trial, ann, asked, "zzzz")
        assert asked.text == i18n.text("course-find-none", typed="zzzz")
        await found(trial, ann, asked, "course 57")
        assert courses_in(asked)[0] == "copy-57"
        await found(trial, ann, asked, "arden")
        assert courses_in(asked)[0] == "arden"
        [menu] = [part for part in walk(asked.components) if part["type"] == STRING_SELECT]
        chosen = await world.click(ann, asked, menu["custom_id"], ["arden"])
        assert COVERED_FACT in (await trial.result_of(chosen)).text
