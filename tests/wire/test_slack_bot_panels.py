"""The older assistant's panel shows that an answer is looked for only as long as that is true."""

from pathlib import Path

import pytest

from tests.books import COVERED
from tests.wire.bot_process import NO_WAIT
from tests.wire.slack import RateLimited
from tests.wire.slack_bot import a_trial

pytestmark = pytest.mark.costly

SET_STATUS = "assistant.threads.setStatus"
DECORATIONS = (SET_STATUS, "assistant.threads.setTitle", "views.publish")


async def test_a_panel_does_not_wait_for_an_answer_that_never_comes(
    one_course: Path, tmp_path: Path
) -> None:
    settings = {"INBOX__USER_PER_MINUTE": "1", **NO_WAIT}
    async with a_trial(one_course, tmp_path, settings=settings) as trial:
        world, ann = trial.world, trial.user()
        world.app.view = "assistant"
        thread = await world.open_assistant(ann, trial.channel(ann))
        await trial.until(lambda: thread.prompts or None)
        for _ in range(2):  # the answer, and that it was one too many
            await trial.answer_to(await world.assistant_say(thread, COVERED))
        await trial.until(lambda: not world.statuses or None, "an end of the status")
        answers = trial.from_bot(thread.channel)
        await world.assistant_say(thread, COVERED)
        await trial.quiet()
        assert trial.from_bot(thread.channel) == answers
        await trial.until(lambda: not world.statuses or None, "an end of the status")


async def test_what_only_decorates_a_panel_stops_when_slack_takes_no_more_of_it(
    one_course: Path, tmp_path: Path
) -> None:
    async with a_trial(one_course, tmp_path) as trial:
        world, ann = trial.world, trial.user()
        world.app.view = "assistant"
        thread = await world.open_assistant(ann, trial.channel(ann))
        await trial.until(lambda: thread.prompts or None)
        for method in DECORATIONS:
            trial.server.faults.api(RateLimited(600), method)
        for _ in range(3):
            await world.open_home(ann)
            await trial.answer_to(await world.assistant_say(thread, COVERED))
            await trial.until(lambda: all(world.history.of(method) for method in DECORATIONS))
            await trial.quiet()
        for method in DECORATIONS:
            assert [call.status for call in world.history.of(method)] == [429]
        world.app.view = "assistant"
        second = await world.open_assistant(ann, trial.channel(ann))
        await trial.until(lambda: second.prompts or None, "what is open is called all the same")
