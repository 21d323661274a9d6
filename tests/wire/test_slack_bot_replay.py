"""A signed request that somebody sends again while its signature is good changes nothing."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio

from tests.books import COVERED, COVERED_FACT, VERBATIM
from tests.wire.slack.callbacks import Sent
from tests.wire.slack_bot import Trial, a_trial, elements, labels
from tests.wire.slack_installs import tables

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_replay"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(
    one_course: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Trial]:
    async with a_trial(one_course, tmp_path_factory.mktemp("replay"), transport="http") as trial:
        yield trial


@pytest.fixture
def trial(running: Trial) -> Iterator[Trial]:
    running.server.callbacks.sent.clear()
    yield running
    running.check_manners()


async def sent_again(trial: Trial) -> None:
    """Send every request of this test twice more, letter for letter."""
    for request in [*trial.server.callbacks.sent]:
        for _ in range(2):
            assert await _status(request) == 200
    await trial.quiet()


async def _status(request: Sent) -> int:
    async with (
        aiohttp.ClientSession() as session,
        session.post(request.url, data=request.body.encode(), headers=request.headers) as response,
    ):
        await response.read()
        return response.status


def rows(trial: Trial, table: str) -> list[str]:
    return tables(trial.bot.folder)[table]


async def test_an_event_is_answered_once(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    answer = await trial.ask(ann, channel, COVERED)
    assert COVERED_FACT in answer.shown
    await sent_again(trial)
    assert trial.from_bot(channel) == [answer]


async def test_a_command_is_answered_once(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    await (await trial.world.slash(ann, channel, "/ask", COVERED)).ack()
    await trial.until(lambda: len(trial.from_bot(channel)) == 2 or None)
    await sent_again(trial)
    assert len(trial.from_bot(channel)) == 2


async def test_a_vote_counts_once_and_an_older_one_changes_nothing(trial: Trial) -> None:
    ann = trial.user()
    answer = await trial.ask(ann, trial.channel(ann), COVERED)
    before = len(rows(trial, "votes"))
    trial.server.callbacks.sent.clear()
    [buttons] = [e for e in elements(answer) if e["action_id"] == "gl:vote"]
    for side in ("negative", "positive"):
        value = buttons[f"{side}_button"]["value"]
        await (await trial.world.click(ann, answer, "gl:vote", value)).ack()
    kept = rows(trial, "votes")
    assert len(kept) == before + 1
    await sent_again(trial)
    assert rows(trial, "votes") == kept


async def test_a_question_without_its_quote_is_asked_once(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    text = f"How heavy is the fog bell of Arden?\n&gt; {VERBATIM}"
    answer = await trial.ask(ann, channel, text)
    assert "gl:q" in labels(answer)
    trial.server.callbacks.sent.clear()
    await (await trial.world.click(ann, answer, "gl:q")).ack()
    await trial.until(lambda: len(trial.from_bot(channel)) == 2 or None)
    await sent_again(trial)
    assert len(trial.from_bot(channel)) == 2


async def test_a_modal_is_answered_once(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    passage = await trial.world.say(ann, channel, VERBATIM)
    opening = await trial.world.shortcut(ann, "explain", passage)
    await opening.ack()
    trial.server.callbacks.sent.clear()
    [view] = opening.opened
    await (await trial.world.submit_view(ann, view, **{"who-sees": "public"})).ack()
    await trial.until(lambda: len(trial.from_bot(channel)) == 1 or None)
    await sent_again(trial)
    assert len(trial.from_bot(channel)) == 1
