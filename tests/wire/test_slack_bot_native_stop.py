"""Slack's own stop button: it ends the answer of who asked, and no one else's."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from tests.books import COVERED, COVERED_FACT
from tests.wire.gemini_server import GeminiServer
from tests.wire.pen import Pen, settings_for
from tests.wire.slack import AgentSession, Message
from tests.wire.slack_bot import Trial, a_trial, labels

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_native_stop"),
]

STOPPED = "Stopped. Ask again whenever you like."
BY_AI = "Written by an AI"


@dataclass
class Desk:
    """A trial whose bot answers with a model that waits."""

    trial: Trial
    pen: Pen

    async def half_written(self, question: Message) -> tuple[Message, AgentSession]:
        """Wait until there is some of an answer, and return it with its session."""
        trial, root = self.trial, question.thread_ts or question.ts
        self.pen.begins.set()

        def found() -> Message | None:
            shown = trial.from_bot(question.channel)
            return next((m for m in shown if "every four hours" in m.shown), None)

        growing = await trial.until(found, "half an answer")
        return growing, trial.world.sessions[question.channel.id, root]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(
    one_course: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Desk]:
    async with GeminiServer() as gemini:
        pen = Pen()
        gemini.answer_with(pen)
        folder, settings = tmp_path_factory.mktemp("native"), settings_for(gemini)
        async with a_trial(one_course, folder, settings=settings) as trial:
            yield Desk(trial, pen)


@pytest.fixture
def desk(running: Desk) -> Iterator[Desk]:
    yield running
    running.pen.release()
    running.trial.check_manners()


async def test_it_ends_an_answer_in_a_channel(desk: Desk) -> None:
    trial, ann = desk.trial, desk.trial.user()
    channel = trial.channel(ann)
    desk.pen.hold()
    question = await trial.mentioned(ann, channel, COVERED)
    growing, session = await desk.half_written(question)
    assert (labels(growing), session.status) == ([], "processing")
    await trial.world.agents.stop(ann, session)
    await trial.until(lambda: [m for m in trial.from_bot(channel, ann) if m.shown == STOPPED])
    await trial.until(lambda: growing.deleted or None, "the end of what had been written")
    await trial.until(lambda: session.status == "active" or None, "the end of the status")


async def test_it_ends_an_answer_to_a_direct_message(desk: Desk) -> None:
    trial, ann = desk.trial, desk.trial.user()
    desk.pen.hold()
    question = await trial.world.say(ann, trial.world.dm(ann), COVERED)
    growing, session = await desk.half_written(question)
    await trial.world.agents.stop(ann, session)
    await trial.until(lambda: growing.shown == STOPPED or None, STOPPED)
    await trial.until(lambda: session.status == "active" or None, "the end of the status")
    assert trial.from_bot(question.channel) == [growing]


async def test_it_ends_no_answer_for_who_did_not_ask(desk: Desk) -> None:
    trial, ann, ben = desk.trial, desk.trial.user(), desk.trial.user()
    channel = trial.channel(ann, ben)
    desk.pen.hold()
    question = await trial.mentioned(ann, channel, COVERED)
    _, session = await desk.half_written(question)
    await trial.world.agents.stop(ben, session)
    desk.pen.release()
    answer = await trial.answer_to(question)
    await trial.until(lambda: "gl:vote" in labels(answer) or None, "the whole answer")
    assert COVERED_FACT in answer.shown
    await trial.until(lambda: session.status == "active" or None, "the end of the status")


async def test_an_answer_that_was_streamed_is_whole_without_an_edit(desk: Desk) -> None:
    trial, ann = desk.trial, desk.trial.user()
    desk.pen.hold()
    question = await trial.mentioned(ann, trial.channel(ann), COVERED)
    growing, _ = await desk.half_written(question)
    desk.pen.release()
    answer = await trial.answer_to(question)
    await trial.until(lambda: BY_AI in answer.shown or None, "the note below it")
    assert answer is growing
    assert answer.edited_ts is None
    assert answer.shown.count("every four hours") == 1
    assert answer.task_cards[-1]["sources"]
