"""Who reads what on Discord: answers are for all, everything else is for the asker alone."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

from tests.books import COVERED, COVERED_FACT
from tests.wire.bot_process import NO_WAIT
from tests.wire.discord import Message
from tests.wire.discord.interactions import Interaction
from tests.wire.discord_bot import Trial, a_trial, is_finished
from tests.wire.minutes import early_in_a_minute

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("discord_audience"),
]

TOO_FAST = "You are asking very fast"
WAITS = "Yours waits its turn"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def trial(one_course: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Trial]:
    async with a_trial(one_course, tmp_path_factory.mktemp("audience"), settings=NO_WAIT) as trial:
        yield trial


def _answered(trial: Trial, asked: list[Interaction], count: int) -> list[Message] | None:
    public = [one.original for one in asked if one.original and not one.original.ephemeral]
    found = [m for m in public if is_finished(m) and COVERED_FACT in m.text]
    return found if len(found) == count else None


async def test_twelve_quick_private_questions_make_six_answers_and_one_notice(
    trial: Trial,
) -> None:
    ann, channel = trial.user(), trial.channel()
    await early_in_a_minute()
    asked = [
        await trial.world.slash(ann, channel, "ask", question=COVERED, private=True)
        for _ in range(12)
    ]

    def told() -> list[Message] | None:
        shown = [one.original for one in asked if one.original and not one.original.loading]
        settled = [m for m in shown if TOO_FAST in m.text or is_finished(m)]
        return settled if len(settled) == 7 else None

    await trial.until(told, "six answers and a notice")
    await asyncio.sleep(1.0)
    standing = [m for m in trial.from_bot(channel, ann) if m.channel is channel]
    assert all(message.ephemeral for message in standing)
    assert sorted(TOO_FAST in message.text for message in standing) == [*[False] * 6, True]


async def test_twelve_quick_questions_make_six_answers_and_one_notice(trial: Trial) -> None:
    ann, channel = trial.user(), trial.channel()
    await early_in_a_minute()
    asked = [await trial.world.slash(ann, channel, "ask", question=COVERED) for _ in range(12)]

    def told() -> list[Message] | None:
        private = [m for m in trial.from_bot(channel, ann) if m.ephemeral and not m.loading]
        return private or None

    await trial.until(lambda: _answered(trial, asked, 6), "six answers")
    await trial.until(told, "a notice")
    await asyncio.sleep(1.0)
    standing = [m for m in trial.from_bot(channel, ann) if m.channel is channel]
    private = [m for m in standing if m.ephemeral]
    assert len(standing) - len(private) == 6
    assert [TOO_FAST in message.text for message in private] == [True]


async def test_a_public_defer_that_ends_in_a_refusal_leaves_nothing_public(trial: Trial) -> None:
    ann, channel = trial.user(), trial.channel()
    asked = await trial.world.slash(
        ann, channel, "ask", question=COVERED, section="No such section"
    )
    await asked.response()
    assert not asked.ephemeral, "nobody knew better"
    refusal = await trial.until(lambda: next(iter(asked.follow_ups), None), "a refusal")
    assert "no section called" in refusal.text
    assert refusal.ephemeral
    await asyncio.sleep(0.5)
    assert not trial.from_bot(channel)
    assert len(asked.follow_ups) == 1


async def test_a_refused_mention_is_a_reply_and_opens_no_thread(trial: Trial) -> None:
    ann, channel = trial.user(), trial.channel()
    question = await trial.world.say(ann, channel, f"{trial.mention} a")
    refusal = await trial.answer_to(question)
    assert "at least 2 characters" in refusal.text
    assert refusal.channel is channel
    assert question.thread is None
    assert refusal.reference is not None


@pytest.mark.parametrize(
    "files", [{"graph.png": b"\x89PNG\r\n\x1a\n"}, {"a.bin": bytes(range(256))}]
)
async def test_a_mention_with_what_cannot_be_read_alone_opens_no_thread(
    trial: Trial, files: dict[str, bytes]
) -> None:
    ann, channel = trial.user(), trial.channel()
    question = await trial.world.say(ann, channel, trial.mention, files=files)
    assert "can't read" in (await trial.answer_to(question)).text
    assert question.thread is None


@pytest.mark.parametrize("said", ["hi", "who are you", "help", "tell me more"])
async def test_a_mention_that_asks_nothing_of_the_book_opens_no_thread(
    trial: Trial, said: str
) -> None:
    ann, channel = trial.user(), trial.channel()
    question = await trial.world.say(ann, channel, f"{trial.mention} {said}")
    reply = await trial.answer_to(question)
    assert (reply.channel, question.thread) == (channel, None)
    assert reply.reference is not None
    assert trial.from_bot(channel) == [reply]


@pytest.mark.slow
async def test_over_the_channels_limit_everybody_is_answered(trial: Trial) -> None:
    people, channel = [trial.user() for _ in range(35)], trial.channel()
    await early_in_a_minute(latest=15)
    asked = [
        await trial.world.slash(one, channel, "ask", question=f"{COVERED} {number}")
        for number, one in enumerate(people)
    ]

    def answers() -> list[Message]:
        shown = trial.from_bot(channel)
        return [m for m in shown if COVERED_FACT in m.text and is_finished(m)]

    await trial.world.until(lambda: len(answers()) == len(people) or None, 150)
    told = [[m.text for m in one.follow_ups if m.ephemeral] for one in asked]
    told = [one for one in told if one]
    assert len(told) >= 5, "five wait for the next minute"
    assert all(len(one) == 1 and WAITS in one[0] for one in told)


async def test_what_is_asked_too_fast_waits_and_is_answered_in_the_next_minute(
    one_course: Path, tmp_path: Path
) -> None:
    settings = {"INBOX__USER_PER_MINUTE": "1"}
    async with a_trial(one_course, tmp_path, settings=settings) as trial:
        ann, channel = trial.user(), trial.channel()
        await asyncio.sleep((45 - datetime.now(UTC).second) % 60)  # a quarter of a minute is left
        asked = [await trial.world.say(ann, channel, f"{trial.mention} {COVERED}") for _ in "ab"]
        for question in asked:
            assert COVERED_FACT in (await trial.answer_to(question)).text
        assert not [one for one in trial.said() if TOO_FAST in one.text]
