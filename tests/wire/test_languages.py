"""Each asker reads our own sentences in the language that they have set on their platform."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from core.domain.i18n import text, use_locale
from tests.books import COVERED, COVERED_FACT, UNCOVERED
from tests.wire.discord import Interaction
from tests.wire.discord_bot import a_trial as a_discord_trial
from tests.wire.discord_bot import labels
from tests.wire.slack import Message
from tests.wire.slack_bot import a_trial as a_slack_trial
from tests.wire.slack_bot import elements
from tests.wire.slack_bot import labels as labels_on_slack

pytestmark = pytest.mark.costly

with use_locale("de"):
    NOT_COVERED = text("answer-not-covered")
    HELPFUL, EVIDENCE, WHY = (
        text("button-helpful"),
        text("button-evidence"),
        text("vote-why"),
    )


async def test_discord_says_it_in_the_language_of_the_asker(
    one_course: Path, tmp_path: Path
) -> None:
    async with a_discord_trial(one_course, tmp_path, start=False) as trial:
        world, channel, anna, john = trial.world, trial.channel(), trial.user(), trial.user()
        world.guild.locale = anna.locale = "de"
        await trial.bot.start()
        for user, said in ((anna, NOT_COVERED), (john, text("answer-not-covered"))):
            asked = await world.slash(user, channel, "ask", question=UNCOVERED, private=True)
            await trial.until(partial(has, asked, said), said)
        asked = await world.slash(anna, channel, "ask", question=COVERED, private=True)
        await trial.until(lambda: (has(asked, COVERED_FACT) and is_voted_on(asked)) or None)
        assert asked.original is not None
        assert {HELPFUL, EVIDENCE} <= {*labels(asked.original)}
        # A message does not say its author's language, only its server does.
        await world.say(john, channel, f"{trial.mention} {UNCOVERED}")
        await trial.until(
            lambda: any(NOT_COVERED in m.text for m in world.messages.values()) or None
        )


def has(asked: Interaction, said: str) -> bool | None:
    return (asked.original is not None and said in asked.original.text) or None


def is_voted_on(asked: Interaction) -> bool:
    return asked.original is not None and HELPFUL in labels(asked.original)


async def test_slack_says_it_in_the_language_of_the_asker(one_course: Path, tmp_path: Path) -> None:
    async with a_slack_trial(one_course, tmp_path) as trial:
        world, channel = trial.world, trial.channel()
        anna, john = trial.user(locale="de-DE"), trial.user(locale="en-GB")
        for user, said in ((anna, NOT_COVERED), (john, text("answer-not-covered"))):
            place = trial.channel()
            await trial.mentioned(user, place, UNCOVERED)
            await trial.until(partial(is_said, partial(trial.from_bot, place), said), said)
        told = await trial.result_of(await world.slash(anna, channel, "/glossator", "help"))
        assert "So fragst du" in told.shown
        told = await trial.result_of(await world.slash(john, channel, "/glossator", "help"))
        assert "How to ask" in told.shown
        question = await trial.mentioned(anna, channel, COVERED)
        answer = await trial.until(
            lambda: next((m for m in trial.from_bot(channel) if answers(m, question)), None)
        )
        assert COVERED_FACT in answer.shown
        [votes] = [e for e in elements(answer) if e["action_id"] == "gl:vote"]
        assert votes["positive_button"]["text"]["text"] == HELPFUL
        click = await world.click(anna, answer, "gl:vote", votes["negative_button"]["value"])
        await click.ack()
        [view] = click.opened
        assert view.body["title"]["text"] == WHY


def is_said(shown: Callable[[], list[Message]], said: str) -> bool | None:
    return any(said in message.shown for message in shown()) or None


def answers(message: Message, question: Message) -> bool:
    return message.thread_ts == question.ts and "gl:vote" in labels_on_slack(message)
