"""What was said while nobody listened is found in the history, and answered once."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.books import COVERED, COVERED_FACT
from tests.wire.grants import grant
from tests.wire.slack import Limits, Lose, Message, Slow
from tests.wire.slack_bot import Transport, Trial, a_trial
from tests.wire.slack_installs import install

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_catch_up"),
]

BELL, BELL_FACT = "How heavy is the fog bell of Arden?", "half a ton"
LOOKED = "messages for missed ones"


def unrepeated() -> Limits:
    """Return the limits of a Slack that delivers everything once and never again."""
    limits = Limits.relaxed()
    limits.retry_delays = ()
    return limits


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["socket", "http"])
async def trial(
    request: pytest.FixtureRequest, one_course: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Trial]:
    """A bot in front of a Slack that delivers everything once and never again."""
    transport: Transport = request.param
    folder = tmp_path_factory.mktemp("catch_up")
    async with a_trial(one_course, folder, transport=transport, limits=unrepeated()) as running:
        yield running


async def restarted(trial: Trial) -> None:
    """Start the bot anew, and wait until it has looked through the history."""
    looked = trial.bot.log.count(LOOKED)
    await trial.bot.start()
    if trial.world.app.request_url is not None:
        await trial.server.subscribe(f"{trial.bot.url}/slack/events")
    await trial.bot.says(LOOKED, times=looked + 1)


async def test_what_was_said_while_the_bot_was_down_is_answered_once(trial: Trial) -> None:
    ann, ben = trial.user(), trial.user()
    channel, direct = trial.channel(ann, ben), trial.world.dm(ann)
    answer = await trial.ask(ann, channel, COVERED)
    assert answer.thread_ts is not None
    begun = await trial.world.say(ben, channel, "Hello everybody!")
    assert await trial.bot.stop() == 0
    say = trial.world.say
    missed = [
        await say(ben, channel, f"{trial.mention} {BELL}"),
        await say(ann, direct, BELL),
        await say(ann, channel, BELL, thread=answer.thread_ts),
        await say(ann, channel, f"{trial.mention} {BELL}", thread=begun),
    ]
    await say(ann, channel, "What a quiet day it is in Arden today.")
    await restarted(trial)
    for question in missed:
        assert BELL_FACT in (await _answer(trial, question)).shown
    assert await trial.bot.stop() == 0
    await restarted(trial)
    await trial.quiet()
    assert len(trial.from_bot(channel)) == 4
    assert len(trial.from_bot(direct, ann)) == 1


async def test_a_bot_that_is_stopped_while_it_looks_passes_over_no_question(
    trial: Trial,
) -> None:
    ann = trial.user()
    channels = [trial.channel(ann) for _ in range(3)]
    assert await trial.bot.stop() == 0
    missed = [await trial.world.say(ann, one, f"{trial.mention} {BELL}") for one in channels]
    before = len(trial.bot.log)
    trial.server.faults.api(Slow(1.0), "conversations.history", times=None)
    await trial.bot.start()
    if trial.world.app.request_url is not None:
        await trial.server.subscribe(f"{trial.bot.url}/slack/events")
    await asyncio.sleep(1.0)
    assert await trial.bot.stop() == 0
    said = trial.bot.log[before:]
    assert LOOKED not in said, "it had looked to the end"
    assert "passed over" not in said
    assert "closed" not in said.lower()
    trial.server.faults.heal()
    await restarted(trial)
    for question in missed:
        assert BELL_FACT in (await _answer(trial, question)).shown


async def test_a_question_that_was_edited_while_the_bot_was_down_is_answered_anew(
    trial: Trial,
) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    question = await trial.world.say(ann, channel, f"{trial.mention} {COVERED}")
    answer = await trial.answer_to(question)
    assert COVERED_FACT in answer.shown
    assert await trial.bot.stop() == 0
    await trial.world.edit(question, f"{trial.mention} {BELL}")
    await restarted(trial)
    await trial.until(lambda: BELL_FACT in answer.shown or None)
    assert trial.from_bot(channel) == [answer]


async def test_what_was_said_while_the_channel_was_switched_off_is_not_answered(
    trial: Trial,
) -> None:
    ann, owner, world = trial.user(), trial.world.owner, trial.world
    channel = trial.channel(ann)
    off = await trial.result_of(await world.slash(owner, channel, "/course", "switch off"))
    assert "Done" in off.shown
    await world.say(ann, channel, f"{trial.mention} {COVERED}")
    await trial.quiet()
    on = await trial.result_of(await world.slash(owner, channel, "/course", "switch on"))
    assert "Done" in on.shown
    assert await trial.bot.stop() == 0
    await restarted(trial)
    await trial.quiet()
    assert not trial.from_bot(channel)


async def test_what_was_lost_with_a_socket_is_answered(trial: Trial) -> None:
    if trial.world.app.request_url is not None:
        pytest.skip("there are no sockets over HTTP")
    ann = trial.user()
    channel = trial.channel(ann)
    for name in ("message", "app_mention"):
        trial.server.faults.delivery(Lose(), name)
    question = await trial.world.say(ann, channel, f"{trial.mention} {COVERED}")
    trial.server.faults.heal()
    await trial.server.sockets.close(1011)
    assert COVERED_FACT in (await trial.answer_to(question)).shown
    await trial.quiet()
    assert len(trial.from_bot(channel)) == 1


async def test_a_workspace_that_lets_nothing_be_read_keeps_no_other_one_waiting(
    one_course: Path, tmp_path: Path
) -> None:
    async with a_trial(one_course, tmp_path, limits=unrepeated(), by_oauth=True) as trial:
        world = trial.world
        await trial.bot.says("listening for Slack on port")
        other = world.add_workspace("Other")
        await grant(trial.bot.folder, "arden", f"slack:{other.id}")
        for workspace in (world.workspace, other):
            await install(trial, workspace)
        await trial.bot.says(f"slack:{other.id} has let the bot in")
        world.installation.scopes = frozenset({"chat:write"})
        bot = world.installation_of(world.app, other)
        assert bot is not None
        bea = world.add_user("bea", other)
        channel = world.add_channel(other, "bio", members=(bea, bot.bot))
        await world.say(bea, channel, f"<@{bot.bot.id}> {COVERED}")
        await trial.until(lambda: len(world.transcript(channel)) == 2 or None)
        assert await trial.bot.stop() == 0
        await world.say(bea, channel, f"<@{bot.bot.id}> {BELL}")
        await restarted(trial)
        await trial.until(
            lambda: any(BELL_FACT in m.shown for m in world.transcript(channel)) or None
        )


async def _answer(trial: Trial, question: Message) -> Message:
    if question.channel.id.startswith("D"):
        return await trial.until(
            lambda: next(
                (
                    m
                    for m in trial.from_bot(question.channel, question.author)
                    if BELL_FACT in m.shown
                ),
                None,
            )
        )
    return await trial.answer_to(question)
