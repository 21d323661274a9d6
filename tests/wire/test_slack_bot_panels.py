"""The assistant's panel shows that an answer is looked for only as long as that is true."""

from pathlib import Path

from tests.books import COVERED
from tests.wire.slack_bot import a_trial

SET_STATUS = "assistant.threads.setStatus"


async def test_a_panel_does_not_wait_for_an_answer_that_never_comes(
    one_course: Path, tmp_path: Path
) -> None:
    settings = {"INBOX__USER_PER_MINUTE": "1"}
    async with a_trial(one_course, tmp_path, settings=settings) as trial:
        world, ann = trial.world, trial.user()
        thread = await world.open_assistant(ann, trial.channel(ann))
        await trial.until(lambda: thread.prompts or None)
        for _ in range(2):  # the answer, and that it was one too many
            await trial.answer_to(await world.assistant_say(thread, COVERED))
        before = len(world.history.of(SET_STATUS))
        await world.assistant_say(thread, COVERED)
        await trial.until(lambda: len(world.history.of(SET_STATUS)) > before or None)
        await trial.until(lambda: not world.statuses or None, "an end of the status")
