"""Who reads what on Slack: answers are for all, everything else is for the asker alone."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from core.domain import i18n
from tests.books import COVERED, COVERED_FACT
from tests.wire.bot_process import NO_WAIT
from tests.wire.minutes import early_in_a_minute
from tests.wire.slack import Channel, Interaction, Message, User
from tests.wire.slack_bot import Trial, a_trial, is_finished, settled

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_audience"),
]

TOO_FAST = "You are asking very fast"
WAITS = "Yours waits its turn"
FOLLOWS = i18n.text("slack-private-working")


async def _twelve_commands(
    trial: Trial, user: User, channel: Channel, text: str
) -> list[Interaction]:
    """Ask the same twelve times in one minute, and return the commands, acknowledged."""
    await early_in_a_minute()
    asked = [await trial.world.slash(user, channel, "/ask", text) for _ in range(12)]
    for one in asked:
        await one.ack()
    return asked


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def trial(one_course: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Trial]:
    async with a_trial(one_course, tmp_path_factory.mktemp("audience"), settings=NO_WAIT) as trial:
        yield trial


async def test_twelve_quick_questions_make_six_answers_and_one_notice(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    asked = await _twelve_commands(trial, ann, channel, COVERED)

    def answers() -> list[Message] | None:
        found = [m for m in trial.from_bot(channel) if COVERED_FACT in m.shown and is_finished(m)]
        return found if len(found) == 6 else None

    def told() -> list[Message] | None:
        return [message for one in asked for message in one.messages] or None

    await trial.until(answers, "six answers")
    await trial.until(told, "a notice")
    await settled(1.0)
    public = trial.from_bot(channel)
    assert len(public) == 12, "six questions, each with its answer"
    private = [m for m in trial.from_bot(channel, ann) if m.ephemeral]
    assert [TOO_FAST in message.shown for message in private].count(True) == 1
    links = [m for m in private if m.shown.startswith(i18n.text("slack-answered-in-thread"))]
    assert len(private) == 1 + len(links), "the rest say where an answer stands"


async def test_twelve_quick_private_questions_promise_six_answers(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    asked = await _twelve_commands(trial, ann, channel, f"private {COVERED}")

    def answers() -> list[Message] | None:
        found = [m for m in trial.from_bot(channel, ann) if COVERED_FACT in m.shown]
        return found if len(found) == 6 else None

    def told() -> list[Message] | None:
        found = [m for m in trial.from_bot(channel, ann) if TOO_FAST in m.shown]
        return found or None

    await trial.until(answers, "six answers")
    await trial.until(told, "a notice")
    await settled(1.0)
    acknowledged = [one.response["text"] for one in asked if one.response]
    assert set(acknowledged) <= {FOLLOWS, i18n.text("asking-slow")}
    assert acknowledged.count(FOLLOWS) <= 6
    assert len([m for m in trial.from_bot(channel, ann) if TOO_FAST in m.shown]) == 1
    assert not trial.from_bot(channel), "nothing is public"


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ('in "No such section" How is it done?', "no section called"),
        ("a", "at least 2 characters"),
        ("why " * 1_100, "characters; at most"),
    ],
)
async def test_a_refused_command_leaves_nothing_public(
    trial: Trial, text: str, refusal: str
) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    told = await trial.result_of(await trial.world.slash(ann, channel, "/ask", text))
    assert refusal in told.shown
    assert told.visible_to == ann.id
    await settled()
    ever = [m for m in trial.world.messages if m.channel is channel and not m.ephemeral]
    assert not ever, "not even for a moment"


@pytest.mark.parametrize(
    ("text", "refusal"), [("a", "at least 2 characters"), ("why " * 1_100, "characters; at most")]
)
async def test_a_private_command_that_is_refused_at_once_is_promised_nothing(
    trial: Trial, text: str, refusal: str
) -> None:
    ann = trial.user()
    asked = await trial.world.slash(ann, trial.channel(ann), "/ask", f"private {text}")
    told = await trial.result_of(asked)
    assert refusal in told.shown
    assert FOLLOWS not in [message.shown for message in asked.messages]


async def test_a_refused_mention_is_seen_by_its_asker_alone(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    await trial.world.say(ann, channel, f"{trial.mention} a")
    shown = await trial.until(lambda: trial.from_bot(channel, ann), "a refusal")
    assert [(m.visible_to, m.thread_ts) for m in shown] == [(ann.id, None)]
    assert "at least 2 characters" in shown[0].shown
    await settled()
    assert not trial.from_bot(channel)


async def test_a_refusal_in_a_direct_message_is_a_message(trial: Trial) -> None:
    ann = trial.user()
    asked = await trial.world.say(ann, trial.world.dm(ann), "a")
    refusal = await trial.answer_to(asked)
    assert "at least 2 characters" in refusal.shown
    assert not refusal.ephemeral


@pytest.mark.slow
async def test_over_the_channels_limit_everybody_is_answered(trial: Trial) -> None:
    people = [trial.user() for _ in range(35)]
    channel = trial.channel(*people)
    await early_in_a_minute(latest=15)
    before = len(trial.world.history.of("response_url"))
    asked = [
        await trial.world.slash(one, channel, "/ask", f"{COVERED} {number}")
        for number, one in enumerate(people)
    ]

    def answers() -> list[Message] | None:
        found = [m for m in trial.from_bot(channel) if COVERED_FACT in m.shown and is_finished(m)]
        return found if len(found) == len(people) else None

    await trial.world.until(answers, 150)
    # Where the answer stands takes the place of the notice, so what was sent is looked at.
    sent = trial.world.history.of("response_url")[before:]
    told = [one for one in sent if one.applied and WAITS in str(one.arguments.get("text"))]
    assert len(told) >= 5, "five wait for the next minute"
    assert len(told) <= len(people)
    assert not [m for one in asked for m in one.messages if WAITS in m.shown]
