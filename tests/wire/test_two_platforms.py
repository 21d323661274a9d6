"""Discord and Slack side by side: one process, one inbox, one worker, the same answers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.books import COVERED, COVERED_FACT
from tests.wire import discord_bot, slack_bot
from tests.wire.bot_process import PATIENCE
from tests.wire.discord import Channel, DiscordServer, User
from tests.wire.discord import Limits as DiscordLimits
from tests.wire.discord_bot import button
from tests.wire.slack_installs import rows_with, tables
from tests.wire.stored import rows_of

pytestmark = pytest.mark.costly

WORDS = "zanzibar heliotrope"


@asynccontextmanager
async def both(
    one_course: Path, folder: Path
) -> AsyncIterator[tuple[slack_bot.Trial, discord_bot.Trial]]:
    """Let one bot run in front of a Slack and a Discord."""
    async with DiscordServer(DiscordLimits.relaxed()) as discord:
        settings = {
            "DISCORD__TOKEN": discord.world.application.token,
            "DISCORD__API_URL": discord.api_url,
        }
        async with slack_bot.a_trial(one_course, folder, settings=settings) as slack:
            await slack.bot.says("connected to Discord as")
            there = discord_bot.Trial(discord, slack.bot)
            yield slack, there
            there.check_manners()


def pseudonyms(folder: Path, platform: str) -> set[str]:
    """Return who asked on a platform, and is not forgotten."""
    query = "SELECT DISTINCT user_id FROM inbox WHERE platform = ? AND user_id != 'forgotten'"
    return {str(user) for (user,) in rows_of(folder / "data", query, platform)}


def unfinished(folder: Path) -> list[tuple[object, ...]]:
    """Return the events that somebody is still at work on."""
    query = "SELECT key FROM inbox WHERE state = 'waiting' OR heal_at IS NOT NULL"
    return rows_of(folder / "data", query)


async def test_a_question_is_answered_on_both_by_one_process(
    one_course: Path, tmp_path: Path
) -> None:
    async with both(one_course, tmp_path) as (slack, discord):
        ann, ben = slack.user(), discord.user()
        on_slack = await slack.ask(ann, slack.channel(ann), COVERED)
        on_discord = await discord.ask(ben, discord.channel(), COVERED)
    assert COVERED_FACT in on_slack.shown
    assert COVERED_FACT in on_discord.text


async def test_who_asks_on_both_is_two_people_and_forgotten_where_they_say_so(
    one_course: Path, tmp_path: Path
) -> None:
    async with both(one_course, tmp_path) as (slack, discord):
        ann, same = slack.user(), discord.user()
        channel, room = slack.channel(ann), discord.channel()
        await slack.ask(ann, channel, f"{COVERED} {WORDS}")
        await discord.ask(same, room, f"{COVERED} {WORDS}")
        [on_slack], [on_discord] = (pseudonyms(tmp_path, name) for name in ("slack", "discord"))
        assert on_slack != on_discord
        await slack.until(lambda: not unfinished(tmp_path) or None)
        kept = rows_with(tables(tmp_path), on_discord, str(same.id))
        assert kept

        shown = await slack.result_of(await slack.world.slash(ann, channel, "/glossator", "data"))
        assert "1 question" in shown.shown
        await (await slack.world.click(ann, shown, "gl:g")).ack()
        await slack.until(lambda: "All of it is deleted" in shown.shown or None)
        # The answer is taken out of the channel too, which the row of its removal waits for.
        await slack.until(lambda: not rows_with(tables(tmp_path), on_slack, ann.id) or None)
        assert rows_with(tables(tmp_path), on_discord, str(same.id)) == kept
        assert len(rows_with({"turns": tables(tmp_path)["turns"]}, WORDS)) == 1

        await slack.ask(ann, channel, f"{COVERED} {WORDS}")
        await slack.until(lambda: not unfinished(tmp_path) or None)
        again = rows_with(tables(tmp_path), on_slack, ann.id)
        await _forget_on_discord(discord, same, room)
        await slack.until(lambda: not rows_with(tables(tmp_path), on_discord) or None)
        assert rows_with(tables(tmp_path), on_slack, ann.id) == again


async def _forget_on_discord(trial: discord_bot.Trial, user: User, channel: Channel) -> None:
    shown = await trial.world.slash(user, channel, "glossator data")
    await shown.response(PATIENCE)
    original = shown.original
    assert original is not None
    done = await trial.world.click(user, original, button(original, "Delete all of it"))
    await done.response(PATIENCE)
    await trial.until(lambda: original.text == "All of it is deleted." or None)
