"""The commands that each platform shows: their names and their languages."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.actions.commands import in_group
from tests.books import COVERED, COVERED_FACT
from tests.wire import discord_bot, slack_bot
from tests.wire.bot_process import PATIENCE
from tests.wire.discord import Permission
from tests.wire.discord_bot import button

pytestmark = pytest.mark.costly

NAMES = {"COMMANDS__ASK": "frag", "COMMANDS__GLOSSATOR": "buch", "COMMANDS__COURSE": "kurs"}


def registered(trial: discord_bot.Trial) -> dict[str, dict[str, Any]]:
    return {str(one["name"]): one for one in trial.world.application.commands.values()}


def described(command: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a slash command with its subcommands, options and choices."""
    inner = [*(command.get("options") or ()), *(command.get("choices") or ())]
    return [command, *(found for one in inner for found in described(one))]


async def test_discord_has_three_commands_and_loses_those_of_before(
    one_course: Path, tmp_path: Path
) -> None:
    async with discord_bot.a_trial(one_course, tmp_path, start=False) as trial:
        world = trial.world
        before = [{"name": name, "description": "Of before"} for name in ("help", "forget-me")]
        world.commands.replace(world.application, None, before)
        await trial.bot.start()
        commands = registered(trial)
        assert set(commands) == {
            "ask",
            "glossator",
            "course",
            "Explain this passage",
            "Verify answer",
        }
        assert {one["name"] for one in commands["glossator"]["options"]} == {
            *(command.path[1] for command in in_group("glossator")),
        }
        permissions = commands["course"]["default_member_permissions"]
        assert permissions == str(Permission.MANAGE_GUILD.value)
        assert commands["glossator"]["default_member_permissions"] is None
        versions = {name: one["version"] for name, one in commands.items()}
        await trial.bot.stop()
        await trial.bot.start()
        again = {name: one["version"] for name, one in registered(trial).items()}
        assert again == versions, "what has not changed is not registered again"


async def test_discord_is_told_where_each_command_may_be_used(
    one_course: Path, tmp_path: Path
) -> None:
    async with discord_bot.a_trial(one_course, tmp_path) as trial:
        commands = registered(trial)
        assert {tuple(one["integration_types"]) for one in commands.values()} == {(0,)}
        contexts = {name: sorted(one["contexts"]) for name, one in commands.items()}
        for_staff = {"course", "Verify answer"}
        assert {name for name, where in contexts.items() if where == [0]} == for_staff
        assert {name for name, where in contexts.items() if where == [0, 1]} == (
            commands.keys() - for_staff
        )


async def test_discord_is_told_every_description_in_german(
    one_course: Path, tmp_path: Path
) -> None:
    async with discord_bot.a_trial(one_course, tmp_path) as trial:
        for command in registered(trial).values():
            if command["type"] != 1:
                assert command["name_localizations"]["de"] in (
                    "Diese Stelle erklären",
                    "Antwort prüfen",
                )
                continue
            for part in described(command):
                kind = "description" if "description" in part else "name"
                german = (part.get(f"{kind}_localizations") or {}).get("de", "")
                assert 1 <= len(german) <= 100, part["name"]
                assert german != part[kind] or german == "normal", part["name"]


async def test_students_neither_see_course_nor_may_use_it(one_course: Path, tmp_path: Path) -> None:
    async with discord_bot.a_trial(one_course, tmp_path) as trial:
        world, ann, channel = trial.world, trial.user(), trial.channel()
        for command in ("course show", "course staff list"):
            with pytest.raises(LookupError, match="not shown"):
                await world.slash(ann, channel, command)
        world.show_command(world.guild, "course", ann)
        uses: dict[str, dict[str, Any]] = {
            "course show": {},
            "course bind": {"course": "arden"},
            "course unbind": {},
            "course switch": {"state": "off"},
            "course set": {"length": "short"},
            "course staff list": {},
        }
        for command, options in uses.items():
            used = await world.slash(ann, channel, command, **options)
            await used.response(PATIENCE)
            assert used.ephemeral
            assert used.original is not None
            assert "can do that" in used.original.text, command


async def test_commands_have_the_names_of_the_settings_on_discord(
    one_course: Path, tmp_path: Path
) -> None:
    async with discord_bot.a_trial(one_course, tmp_path, settings=NAMES) as trial:
        world, ann, channel = trial.world, trial.user(), trial.channel()
        assert set(registered(trial)) == {
            "frag",
            "buch",
            "kurs",
            "Explain this passage",
            "Verify answer",
        }
        asked = await world.slash(ann, channel, "frag", question=COVERED)
        assert COVERED_FACT in (await trial.result_of(asked)).text
        helped = await trial.result_of(await world.slash(ann, channel, "buch help"))
        assert "`/frag` a question" in helped.text
        assert "`/buch data`" in helped.text
        shown = await trial.result_of(await world.slash(ann, channel, "buch data"))
        exported = await world.click(ann, shown, button(shown, "Get it as a file"))
        assert "`/buch data` deletes it" in (await trial.result_of(exported)).text
        held = await trial.result_of(await world.slash(world.owner, channel, "kurs show"))
        assert "**course**" in held.text


async def test_commands_have_the_names_of_the_settings_on_slack(
    one_course: Path, tmp_path: Path
) -> None:
    async with slack_bot.a_trial(one_course, tmp_path, settings=NAMES, start=False) as trial:
        world, ann = trial.world, trial.user()
        world.app.commands = frozenset({"/frag", "/buch", "/kurs"})
        await trial.bot.start()
        channel = trial.channel(ann)
        asked = await world.slash(ann, channel, "/frag", f"private {COVERED}")
        assert COVERED_FACT in (await trial.result_of(asked)).shown
        helped = await trial.result_of(await world.slash(ann, channel, "/buch"))
        assert "/buch data" in helped.shown
        held = await trial.result_of(await world.slash(world.owner, channel, "/kurs", "show"))
        assert "course" in held.shown


async def test_slack_refuses_what_is_no_subcommand(one_course: Path, tmp_path: Path) -> None:
    async with slack_bot.a_trial(one_course, tmp_path) as trial:
        ann = trial.user()
        channel = trial.channel(ann)
        for text in ("What is a wick?", "sources please", "forget", "data all"):
            told = await trial.result_of(await trial.world.slash(ann, channel, "/glossator", text))
            assert "comes `help`, `sources`, `about` or `data`" in told.shown
            assert "Questions about the course go to `/ask`" in told.shown
        refused = await trial.world.slash(ann, channel, "/course", "show")
        assert "can do that" in (await trial.result_of(refused)).shown


async def test_the_file_shows_what_the_buttons_promise(one_course: Path, tmp_path: Path) -> None:
    async with discord_bot.a_trial(one_course, tmp_path) as trial:
        world, ann, channel = trial.world, trial.user(), trial.channel()
        shown = await trial.result_of(await world.slash(ann, channel, "glossator data"))
        assert discord_bot.labels(shown) == ["Get it as a file"], "there is nothing to delete"
        await trial.ask(ann, channel, COVERED)
        shown = await trial.result_of(await world.slash(ann, channel, "glossator data"))
        assert discord_bot.labels(shown) == ["Get it as a file", "Delete all of it"]
        exported = await world.click(ann, shown, button(shown, "Get it as a file"))
        given = await trial.result_of(exported)
        assert exported.ephemeral
        turns = json.loads(given.attachments[0].content)["stored"]["turns"]
        assert [turn["content"]["user_input"] for turn in turns] == [COVERED]
