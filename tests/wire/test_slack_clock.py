"""A machine's clock that is half an hour off Slack's, while Slack speaks by HTTP."""

import time
from datetime import timedelta
from pathlib import Path

import pytest

from tests.books import COVERED
from tests.wire.bot_process import CLOCK_DIFFERS
from tests.wire.slack_bot import a_trial
from tests.wire.test_slack_bot_http import event, properly, sent

pytestmark = [pytest.mark.costly, pytest.mark.xdist_group("slack_http")]


@pytest.mark.parametrize("minutes", [-30, 30])
async def test_no_question_is_lost_and_an_old_request_is_refused(
    one_course: Path, tmp_path: Path, minutes: int
) -> None:
    ahead = timedelta(minutes=minutes)
    async with a_trial(one_course, tmp_path, transport="http", ahead=ahead) as trial:
        user = trial.user()
        assert (await trial.ask(user, trial.channel(user), COVERED)).shown
        assert trial.bot.log.count(CLOCK_DIFFERS) == 1
        trial.world.clock.ahead = timedelta()  # ours is set right
        assert (await trial.ask(user, trial.channel(user), COVERED)).shown
        body, now = event(trial), time.time()
        for seconds in (-301.0, 301.0, ahead.total_seconds()):
            assert await sent(trial, body, *properly(trial, body, now + seconds)) == 401


async def test_a_bot_without_a_workspace_hears_slack(one_course: Path, tmp_path: Path) -> None:
    """It has called no method of Slack's that would have shown it the time."""
    ahead = timedelta(minutes=30)
    async with a_trial(one_course, tmp_path, transport="http", ahead=ahead, by_oauth=True) as trial:
        assert trial.world.app.request_url == f"{trial.bot.url}/slack/events"
