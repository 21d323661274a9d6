"""An answer that grows in Slack, streamed or edited, and is stopped by who may.

The button is the answer's own; of Slack's button see test_slack_bot_native_stop.
"""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from core.domain import i18n
from tests.books import COVERED, COVERED_FACT
from tests.wire.gemini_server import GeminiServer
from tests.wire.pen import Pen, settings_for
from tests.wire.slack import Behind, Message, Refused, User
from tests.wire.slack_bot import Trial, a_trial, labels

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_stopping"),
]

START, STOP = "chat.startStream", "gl:x"
STOPPED = "Stopped. Ask again whenever you like."
READS = "Reading “Trimming the wick”"


@dataclass
class Desk:
    """A trial whose bot answers with a model that waits."""

    trial: Trial
    pen: Pen
    streams: bool


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=[True, False], ids=["streamed", "edited"]
)
async def desk(
    request: pytest.FixtureRequest, one_course: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Desk]:
    async with GeminiServer() as gemini:
        pen = Pen()
        gemini.answer_with(pen)
        folder = tmp_path_factory.mktemp("stopping")
        async with a_trial(one_course, folder, settings=settings_for(gemini)) as trial:
            trial.world.app.events -= {"agent_session_stopped"}
            if not request.param:
                trial.server.faults.api(Refused("feature_not_enabled"), START, times=None)
            yield Desk(trial, pen, request.param)


@pytest.fixture
def trial(desk: Desk) -> Iterator[Trial]:
    yield desk.trial
    desk.pen.release()
    desk.trial.check_manners()


async def pressed(trial: Trial, user: User, answer: Message) -> str:
    """Press *Stop*, and return what its presser alone is told."""
    told = await trial.result_of(await trial.world.click(user, answer, STOP))
    assert told.visible_to == user.id
    return told.shown


def titles(message: Message) -> list[str]:
    """Return what was done for an answer, and what is being done."""
    return [str(card["title"]) for card in message.task_cards]


async def half_written(desk: Desk, question: Message) -> Message:
    """Wait until it is told what is read, and then until there is some of the answer."""
    trial = desk.trial

    def shown(text: str) -> Message | None:
        found = trial.from_bot(question.channel)
        return next((m for m in found if text in f"{m.shown} {' '.join(titles(m))}"), None)

    await trial.until(lambda: shown(READS), "what is read")
    desk.pen.begins.set()
    return await trial.until(lambda: shown("every four hours"), "half an answer")


def is_stopped(message: Message) -> bool:
    """Tell whether a message says to somebody alone that an answer was stopped."""
    return message.ephemeral and message.shown == STOPPED


@pytest.mark.parametrize("who", ["asker", "admin", "named"])
async def test_an_answer_grows_in_place_and_is_stopped_by_its_asker_or_staff(
    desk: Desk, trial: Trial, who: str
) -> None:
    world, ann, ben, tutor = trial.world, trial.user(), trial.user(), trial.user()
    channel = trial.channel(ann, ben, tutor)
    named = await world.slash(world.owner, channel, "/course", f"staff add @{tutor.name}")
    assert "is now staff" in (await trial.result_of(named)).shown
    desk.pen.hold()
    question = await world.say(ann, channel, f"{trial.mention} {COVERED}")
    growing = await half_written(desk, question)
    assert labels(growing) == [STOP]
    if desk.streams:
        searched, read, writes = titles(growing)
        assert searched == "Searching the book …"
        assert read.startswith(READS)
        assert writes.startswith("Writing")
    assert await pressed(trial, ben, growing) == i18n.text("answer-not-yours")
    clicker = {"asker": ann, "admin": world.owner, "named": tutor}[who]
    assert await pressed(trial, clicker, growing) == i18n.text("answer-stopping")
    await trial.until(lambda: [m for m in trial.from_bot(channel, ann) if is_stopped(m)], STOPPED)
    await trial.until(lambda: growing.deleted or None, "the end of what had been written")
    assert not trial.from_bot(channel)
    desk.pen.release()
    assert COVERED_FACT in (await trial.ask(ann, channel, COVERED)).shown


async def test_where_streams_are_refused_answers_are_edited_for_good(
    desk: Desk, trial: Trial
) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    await trial.ask(ann, channel, COVERED)
    before = len(trial.world.history.of(START))
    await trial.ask(ann, channel, COVERED)
    assert before >= 1
    assert len(trial.world.history.of(START)) - before == (1 if desk.streams else 0)


async def test_a_finished_answer_is_not_stopped_by_a_late_press(desk: Desk, trial: Trial) -> None:
    world, ann = trial.world, trial.user()
    desk.pen.hold()
    question = await world.say(ann, trial.channel(ann), f"{trial.mention} {COVERED}")
    growing = await half_written(desk, question)
    trial.server.faults.delivery(Behind("never", seconds=120.0), "block_actions")
    late = await world.click(ann, growing, STOP)
    desk.pen.release()
    answer = await trial.answer_to(question)
    world.clock.advance(120.0)
    assert (await trial.result_of(late)).shown == i18n.text("answer-finished-already")
    assert COVERED_FACT in answer.shown
