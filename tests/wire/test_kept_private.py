"""What the operator's file keeps private stays private, whatever an asker wishes."""

from pathlib import Path

import pytest

from core.domain.i18n import text
from tests.books import COVERED, COVERED_FACT
from tests.wire import discord_bot, slack_bot
from tests.wire.bot_process import PATIENCE
from tests.wire.test_slack_bot_buttons import SHARE

pytestmark = [
    pytest.mark.costly,
    pytest.mark.xdist_group("kept_private"),
]


def restrict(folder: Path, platform: str, place: object) -> None:
    """Say in the operator's file that a place and what is inside of it is private."""
    with (folder / "glossator.toml").open("a", encoding="utf-8") as file:
        file.write(f'\n[{platform}.channels."{place}"]\nprivate = true\n')


async def test_discord(one_course: Path, tmp_path: Path) -> None:
    async with discord_bot.a_trial(one_course, tmp_path, start=False) as trial:
        restrict(tmp_path, "discord", trial.world.guild.id)
        await trial.bot.start()
        world, ann, channel = trial.world, trial.user(), trial.channel()
        asked = await world.slash(ann, channel, "ask", question=COVERED, private=False)
        answer = await trial.result_of(asked)
        assert asked.ephemeral
        assert COVERED_FACT in answer.text
        share = await world.click(ann, answer, discord_bot.button(answer, "Share"))
        await share.response(PATIENCE)
        assert share.original is not None
        assert share.original.text == text("answer-kept-private")
        assert not trial.from_bot(channel, trial.user())


async def test_slack(one_course: Path, tmp_path: Path) -> None:
    async with slack_bot.a_trial(one_course, tmp_path, start=False) as trial:
        restrict(tmp_path, "slack", trial.world.workspace.id)
        await trial.bot.start()
        world, ann = trial.world, trial.user()
        channel = trial.channel(ann)
        asked = await world.slash(ann, channel, "/ask", f"public {COVERED}")
        answer = await trial.result_of(asked)
        assert answer.ephemeral
        assert COVERED_FACT in answer.shown
        pressed = await world.click(ann, answer, SHARE)
        assert (await trial.result_of(pressed)).shown == text("answer-kept-private")
        assert not trial.from_bot(channel, trial.user())
