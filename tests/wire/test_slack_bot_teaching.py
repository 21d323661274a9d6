"""A question that the book does not answer goes to the staff in Slack, and comes back."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.books import COVERED, UNCOVERED
from tests.wire.slack import Channel, Message, User
from tests.wire.slack_bot import Trial, a_trial

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_teaching"),
]

SAID = "A helicase does, but that is not part of this course."


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def trial(one_course: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Trial]:
    async with a_trial(one_course, tmp_path_factory.mktemp("teaching")) as trial:
        yield trial
        trial.world.notified.clear()  # those that the tests have looked at


async def queue(trial: Trial, channel: Channel) -> Message:
    """Return the queue as the workspace's owner sees it."""
    owner = trial.world.owner
    channel.members[owner.id] = owner
    shown = await trial.result_of(await trial.world.slash(owner, channel, "/course", "queue"))
    assert shown.ephemeral
    return shown


async def reply_in(trial: Trial, channel: Channel, user: User, said: str) -> Message:
    return await trial.until(
        lambda: next((m for m in trial.from_bot(channel, user) if said in m.shown), None)
    )


async def test_the_whole_loop(trial: Trial) -> None:
    world, ann, ben, owner = trial.world, trial.user(), trial.user(), trial.world.owner
    channel = trial.channel(ann, owner)
    answer = await trial.ask(ann, channel, UNCOVERED)
    asked = await world.click(ann, answer, "gl:k")
    assert "have your question" in (await trial.result_of(asked)).shown
    waiting = await queue(trial, channel)
    assert UNCOVERED in waiting.shown
    await world.click(owner, waiting, "gl:a")
    await trial.until(lambda: world.modals.top(owner))
    await world.submit_view(owner, answer=SAID)
    reply = await reply_in(trial, channel, ann, SAID)
    assert "not from the book" in reply.shown
    notified = [n.user_id for n in world.notified if not n.edited and n.message.author is world.bot]
    assert notified == [ann.id]
    world.notified.clear()
    shown = await trial.ask(ben, trial.channel(ben), UNCOVERED.upper())
    assert SAID in shown.shown
    assert not world.notified
    assert "No question waits" in (await queue(trial, channel)).shown


async def test_staff_verify_an_answer_by_the_shortcut(trial: Trial) -> None:
    world, ann, owner = trial.world, trial.user(), trial.world.owner
    channel = trial.channel(ann, owner)
    answer = await trial.ask(ann, channel, COVERED)
    await world.shortcut(owner, "gl-verify", answer)
    await trial.until(lambda: world.modals.top(owner))
    await world.submit_view(owner, answer="Every four hours [1].")
    shown = await trial.ask(ann, trial.channel(ann), COVERED)
    assert "Every four hours" in shown.shown
    assert "Checked by the course's staff, " in shown.shown
