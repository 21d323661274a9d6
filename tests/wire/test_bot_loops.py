"""Two bots that answer each other stop after one reply."""

import asyncio
from pathlib import Path

import pytest

from tests.books import COVERED
from tests.wire import discord_bot, slack_bot

ROUNDS = 5
"""How often the other bot would go on."""
pytestmark = [
    pytest.mark.costly,
    pytest.mark.xdist_group("bot_loops"),
]


async def test_two_bots_that_answer_each_other_stop_on_discord(
    one_course: Path, tmp_path: Path
) -> None:
    async with discord_bot.a_trial(one_course, tmp_path) as trial:
        world, ann, channel = trial.world, trial.user(), trial.channel()
        robot = world.add_user("robot", world.guild, bot=True)
        answer = await trial.ask(ann, channel, COVERED)
        for _ in range(ROUNDS):
            await world.say(robot, answer.channel, f"{trial.mention} {COVERED}", reply_to=answer)
            await asyncio.sleep(0.2)
        await trial.quiet(channel, ann)
        replies = trial.from_bot(answer.channel)
    print(f"bot loops: Discord: {len(replies)} reply to {1 + ROUNDS} messages")
    assert replies == [answer]


async def test_two_bots_that_answer_each_other_stop_on_slack(
    one_course: Path, tmp_path: Path
) -> None:
    async with slack_bot.a_trial(one_course, tmp_path) as trial:
        world, ann = trial.world, trial.user()
        robot = trial.user(bot=True)
        channel = trial.channel(ann, robot)
        answer = await trial.ask(ann, channel, COVERED)
        for _ in range(ROUNDS):
            text = f"{trial.mention} {COVERED}"
            await world.say(robot, channel, text, thread=answer)
            await asyncio.sleep(0.2)
        await trial.quiet()
        replies = trial.from_bot(channel)
    print(f"bot loops: Slack: {len(replies)} reply to {1 + ROUNDS} messages")
    assert replies == [answer]
