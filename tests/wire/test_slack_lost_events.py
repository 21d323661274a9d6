"""What Slack loses while the bot is connected is found by a look of its own accord."""

from pathlib import Path

import pytest

from tests.books import COVERED, COVERED_FACT
from tests.wire.slack import Channel, Lose, Message, User
from tests.wire.slack.quick_looks import MODULE
from tests.wire.slack_bot import Transport, Trial, a_trial, settled
from tests.wire.test_slack_bot_catch_up import BELL, BELL_FACT, restarted, unrepeated

pytestmark = [
    pytest.mark.costly,
    pytest.mark.xdist_group("slack_lost_events"),
]

TRANSPORTS = pytest.mark.parametrize("transport", ["socket", "http"])


@TRANSPORTS
async def test_what_slack_loses_while_the_bot_is_connected_is_answered_once(
    transport: Transport, one_course: Path, tmp_path: Path
) -> None:
    limits = unrepeated()
    async with a_trial(
        one_course, tmp_path, transport=transport, limits=limits, module=MODULE
    ) as trial:
        ann, ben = trial.user(), trial.user()
        channel = trial.channel(ann, ben)
        incoming = await trial.world.say(ann, channel, f"{trial.mention} {COVERED}")
        assert COVERED_FACT in (await trial.answer_to(incoming)).shown
        lost = await _lost(trial, ben, channel, BELL)
        assert BELL_FACT in (await trial.answer_to(lost)).shown
        await _looked_again(trial)
        await trial.quiet()
        assert len(trial.from_bot(channel)) == 2


@TRANSPORTS
async def test_before_the_next_look_a_lost_question_waits(
    transport: Transport, one_course: Path, tmp_path: Path
) -> None:
    limits = unrepeated()
    async with a_trial(one_course, tmp_path, transport=transport, limits=limits) as trial:
        ann = trial.user()
        channel = trial.channel(ann)
        await _lost(trial, ann, channel, BELL)
        await settled(2.0)
        await trial.quiet()
        assert not trial.from_bot(channel)
        assert await trial.bot.stop() == 0
        await restarted(trial)
        await trial.until(lambda: trial.from_bot(channel) or None)


async def test_what_was_said_before_the_bot_was_called_stays_unanswered_after_a_restart(
    one_course: Path, tmp_path: Path
) -> None:
    async with a_trial(one_course, tmp_path) as trial:
        ann, ben = trial.user(), trial.user()
        channel = trial.channel(ann, ben)
        begun = await trial.world.say(ann, channel, "I wonder about this course of ours.")
        await trial.world.say(ben, channel, BELL, thread=begun)
        asked = await trial.world.say(ann, channel, f"{trial.mention} {COVERED}", thread=begun)
        await trial.answer_to(asked)
        assert await trial.bot.stop() == 0
        await restarted(trial)
        await trial.quiet()
        assert len(trial.from_bot(channel)) == 1


async def _lost(trial: Trial, user: User, channel: Channel, text: str) -> Message:
    """Ask what Slack tells the bot nothing of."""
    for name in ("message", "app_mention"):
        trial.server.faults.delivery(Lose(), name)
    said = await trial.world.say(user, channel, f"{trial.mention} {text}")
    trial.server.faults.heal()
    return said


async def _looked_again(trial: Trial) -> None:
    """Wait until another look has begun and ended."""
    looks = trial.bot.log.count("messages for missed ones")
    await trial.bot.says("messages for missed ones", times=looks + 2)
