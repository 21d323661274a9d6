"""Questions that were deleted while nobody listened are forgotten, and no others."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from core.domain.i18n import text
from tests.books import COVERED
from tests.wire.slack import Channel, Limits, Message, Refused, User
from tests.wire.slack_bot import Trial, a_trial
from tests.wire.stored import rows_of

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_deleted_meanwhile"),
]

BELL = "How heavy is the fog bell of Arden?"
LOOKED = "messages for missed ones"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def trial(one_course: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Trial]:
    """A bot in front of a Slack that delivers everything once and never again."""
    limits = Limits.relaxed()
    limits.retry_delays = ()
    async with a_trial(one_course, tmp_path_factory.mktemp("deleted"), limits=limits) as running:
        yield running


@pytest.fixture(autouse=True)
def settled_at_once(trial: Trial) -> None:
    """Let what was said a moment ago stand in the history for sure."""
    trial.bot.module = "tests.wire.slack.settled_at_once"


async def restarted(trial: Trial) -> None:
    """Start the bot anew, and wait until it has looked through the history and done with it."""
    looked = trial.bot.log.count(LOOKED)
    await trial.bot.start()
    await trial.bot.says(LOOKED, times=looked + 1)
    await trial.quiet()


async def begun(trial: Trial) -> None:
    """Wait until it is stored from when on the history is read; before, a restart looks at none."""
    stored = "SELECT 1 FROM inbox_cursors WHERE platform = 'slack' AND channel = '*'"
    await trial.until(lambda: rows_of(trial.bot.folder / "data", stored) or None)


def contents(trial: Trial, asked: str) -> int:
    """Return how many stored turns hold a question."""
    query = "SELECT content FROM turns WHERE content LIKE ?"
    return len(rows_of(trial.bot.folder / "data", query, f"%{asked}%"))


async def asked_directly(trial: Trial, user: User, text: str) -> tuple[Message, Channel]:
    direct = trial.world.dm(user)
    question = await trial.world.say(user, direct, text)
    await trial.until(lambda: [m for m in trial.from_bot(direct, user) if m.blocks] or None)
    return question, direct


async def test_what_was_deleted_while_the_bot_was_down_is_forgotten_with_its_answer(
    trial: Trial,
) -> None:
    await begun(trial)
    await trial.bot.stop()
    await restarted(trial)
    ann, world = trial.user(), trial.world
    channel, other = trial.channel(ann), trial.channel(ann)
    first = await world.say(ann, channel, f"{trial.mention} {COVERED} (one)")
    await trial.answer_to(first)
    follow_up = await world.say(ann, channel, f"{BELL} (two)", thread=first)
    await trial.answer_to(follow_up)
    kept = await trial.ask(ann, other, f"{COVERED} (kept)")
    command = await world.slash(ann, other, "/ask", f"{BELL} (command)")
    await command.ack()
    await trial.until(lambda: contents(trial, "(command)") or None)
    assert [contents(trial, f"({name})") for name in ("one", "two", "kept", "command")] == [1] * 4
    assert await trial.bot.stop() == 0
    await world.delete(follow_up)
    await world.delete(first)
    await restarted(trial)
    await trial.until(lambda: not trial.from_bot(channel) or None)
    assert [contents(trial, f"({name})") for name in ("one", "two")] == [0, 0]
    assert [contents(trial, f"({name})") for name in ("kept", "command")] == [1, 1]
    assert kept in trial.from_bot(other)


async def test_who_was_linked_is_told_of_a_deletion_that_a_killed_bot_missed(
    trial: Trial,
) -> None:
    await begun(trial)
    await trial.bot.stop()
    await restarted(trial)
    ann, ben, world = trial.user(), trial.user(), trial.world
    channel = trial.channel(ann, ben)
    first = await trial.mentioned(ann, channel, f"{BELL} (crowd)")
    second = await trial.mentioned(ben, channel, f"{BELL} (crowd)")
    await trial.answer_to(first)
    assert text("speaking-crowd") in (await trial.refusal_of(second)).shown
    await trial.quiet()
    await trial.bot.kill()
    await world.delete(first)
    await restarted(trial)
    gone = text("speaking-crowd-gone")

    def is_told() -> bool | None:
        return any(gone in m.shown for m in world.transcript(channel, ben)) or None

    await trial.until(is_told, "word of it")


async def test_what_cannot_be_read_is_not_taken_for_deleted(trial: Trial) -> None:
    ann, world = trial.user(), trial.world
    channel = trial.channel(ann)
    question = await world.say(ann, channel, f"{trial.mention} {COVERED} (closed)")
    answer = await trial.answer_to(question)
    assert await trial.bot.stop() == 0
    trial.server.faults.api(Refused("missing_scope"), "conversations.history", times=None)
    trial.server.faults.api(Refused("missing_scope"), "conversations.replies", times=None)
    await restarted(trial)
    trial.server.faults.heal()
    assert trial.from_bot(channel) == [answer]
    assert contents(trial, "(closed)") == 1
