"""Discord and Slack side by side: one process, one inbox, one worker, the same answers."""

from pathlib import Path

from tests.books import COVERED, COVERED_FACT
from tests.wire import discord_bot
from tests.wire.discord import DiscordServer
from tests.wire.discord import Limits as DiscordLimits
from tests.wire.slack_bot import a_trial


async def test_a_question_is_answered_on_both_by_one_process(
    one_course: Path, tmp_path: Path
) -> None:
    async with DiscordServer(DiscordLimits.relaxed()) as discord:
        settings = {
            "DISCORD__TOKEN": discord.world.application.token,
            "DISCORD__API_URL": discord.api_url,
        }
        async with a_trial(one_course, tmp_path, settings=settings) as slack:
            await slack.bot.says("connected to Discord as")
            there = discord_bot.Trial(discord, slack.bot)
            ann, ben = slack.user(), there.user()
            on_slack = await slack.ask(ann, slack.channel(ann), COVERED)
            on_discord = await there.ask(ben, there.channel(), COVERED)
            there.check_manners()
    assert COVERED_FACT in on_slack.shown
    assert COVERED_FACT in on_discord.content
