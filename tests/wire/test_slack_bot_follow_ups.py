"""A follow-up is shown as it was understood on Slack; its asker corrects it, or chooses."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from core.domain import i18n
from tests.wire.slack import Channel, Duplicate, Message, User
from tests.wire.slack_bot import Trial, a_trial, elements
from tests.wire.stored import rows_of

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_follow_ups"),
]

FIRST, FOLLOW_UP = "How heavy is the fog bell of Arden?", "What was it cast from?"
UNDERSTOOD = "Understood as: “What was the fog bell of Arden cast from?”"
MEANT = "What does the lamp of the lighthouse burn?"
MEANT_LATER = "What does the lamp of the Arden lighthouse burn?"
UNCLEAR = "And the second one?"
CHOICES = [f"{UNCLEAR} (The clockwork)", f"{UNCLEAR} (The lamp)"]
NOT_MEANT = "gl:u"
_TURNS = "SELECT content FROM turns WHERE content IS NOT NULL"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def trial(one_course: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Trial]:
    async with a_trial(one_course, tmp_path_factory.mktemp("follow-ups")) as trial:
        yield trial
        trial.check_manners()


async def followed(
    trial: Trial, *users: User, first: str = FIRST, then: str = FOLLOW_UP
) -> tuple[Channel, Message, Message]:
    """Ask something, go on from it in its thread; return the place, the follow-up, the answer."""
    channel = trial.channel(*users)
    question = await trial.mentioned(users[0], channel, first)
    await trial.answer_to(question)
    follow_up = await trial.mentioned(users[0], channel, then, thread=question)
    return channel, follow_up, await trial.answer_to(follow_up)


def choices(message: Message) -> list[str]:
    """Return what is written on the buttons to choose with."""
    return [
        str(one["text"]["text"])
        for one in elements(message)
        if str(one["action_id"]).startswith("gl:o:")
    ]


def turns_of(trial: Trial, question: str) -> list[dict[str, object]]:
    """Return the stored turns in which something was asked."""
    turns = [json.loads(str(row[0])) for row in rows_of(trial.bot.folder / "data", _TURNS)]
    return [one for one in turns if one["user_input"] == question]


async def shown_with(trial: Trial, channel: Channel, words: str) -> Message:
    """Wait for a message of the bot that has these words."""
    found = lambda: next((m for m in trial.from_bot(channel) if words in m.shown), None)  # noqa: E731
    return await trial.until(found, words)


async def test_what_was_understood_stands_above_the_answer(trial: Trial) -> None:
    _, _, answer = await followed(trial, trial.user())
    assert answer.shown.startswith(UNDERSTOOD)
    assert "guns of a wrecked frigate" in answer.shown
    assert NOT_MEANT in [one["action_id"] for one in elements(answer)]


async def test_its_asker_corrects_it_in_a_form_that_holds_what_was_understood(
    trial: Trial,
) -> None:
    ann = trial.user()
    channel, _, answer = await followed(trial, ann)
    click = await trial.world.click(ann, answer, NOT_MEANT)
    await click.ack()
    [view] = click.opened
    assert "What was the fog bell of Arden cast from?" in str(view.body)
    trial.server.faults.delivery(Duplicate(2), "view_submission")
    await (await trial.world.submit_view(ann, view, question=MEANT)).ack()
    corrected = await shown_with(trial, channel, "colza oil")
    assert "Understood as" not in corrected.shown
    assert len(turns_of(trial, MEANT)) == 1


async def test_nobody_else_corrects_it_and_what_is_gone_cannot_be_corrected(trial: Trial) -> None:
    ann, bob = trial.user(), trial.user()
    _, follow_up, answer = await followed(trial, ann, bob)
    foreign = await trial.world.click(bob, answer, NOT_MEANT)
    assert (await trial.result_of(foreign)).shown == i18n.text("card-section-not-yours")
    click = await trial.world.click(ann, answer, NOT_MEANT)
    await click.ack()
    [view] = click.opened
    await trial.world.delete(follow_up)
    await trial.until(lambda: answer.deleted or None, "nothing of the answer")
    sent = await trial.world.submit_view(ann, view, question=MEANT_LATER)
    await sent.ack()
    assert i18n.text("answer-gone") in str(view.body)
    assert turns_of(trial, MEANT_LATER) == []


async def test_where_several_things_may_be_meant_its_asker_chooses_once(trial: Trial) -> None:
    ann, bob = trial.user(), trial.user()
    _, _, back = await followed(trial, ann, bob, first="What turns the lens?", then=UNCLEAR)
    assert back.shown.startswith(i18n.text("answer-which-one"))
    assert choices(back) == CHOICES
    foreign = await trial.world.click(bob, back, "gl:o:0")
    assert (await trial.result_of(foreign)).shown == i18n.text("card-section-not-yours")
    await (await trial.world.click(ann, back, "gl:o:0")).ack()
    await trial.until(lambda: turns_of(trial, CHOICES[0]) or None, "the answer")
    again = await trial.world.click(ann, back, "gl:o:0")
    assert (await trial.result_of(again)).shown == i18n.text("card-section-asked")
    assert len(turns_of(trial, CHOICES[0])) == 1
