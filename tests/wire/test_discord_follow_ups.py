"""A follow-up is shown as it was understood on Discord; its asker corrects it, or chooses."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from core.domain import i18n
from tests.wire.bot_process import PATIENCE
from tests.wire.discord import Channel, Duplicate, Interaction, Message, Permission, User
from tests.wire.discord.interactions import Callback
from tests.wire.discord_bot import Trial, a_trial, button, labels
from tests.wire.stored import rows_of

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("discord_follow_ups"),
]

FIRST, FOLLOW_UP = "How heavy is the fog bell of Arden?", "What was it cast from?"
UNDERSTOOD = "Understood as: “What was the fog bell of Arden cast from?”"
MEANT = "What does the lamp of the lighthouse burn?"
MEANT_LATER = "What does the lamp of the Arden lighthouse burn?"
UNCLEAR = "And the second one?"
CHOICES = [f"{UNCLEAR} (The clockwork)", f"{UNCLEAR} (The lamp)"]
_TURNS = "SELECT content FROM turns WHERE content IS NOT NULL"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def trial(one_course: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Trial]:
    async with a_trial(one_course, tmp_path_factory.mktemp("follow-ups")) as trial:
        yield trial


async def followed(
    trial: Trial, user: User, first: str = FIRST, then: str = FOLLOW_UP
) -> tuple[Channel, Message]:
    """Ask something and then go on from it, and return the place and the second answer."""
    question = await trial.world.say(user, trial.channel(), f"{trial.mention} {first}")
    await trial.answer_to(question)
    assert question.thread is not None
    return question.thread, await trial.ask(user, question.thread, then)


async def pressed(trial: Trial, user: User, message: Message, label: str) -> Interaction:
    """Press a button, and wait for the bot's first response to that."""
    click = await trial.world.click(user, message, button(message, label))
    await click.response(PATIENCE)
    return click


async def told(trial: Trial, click: Interaction) -> str:
    """Return what a press is answered with, to its clicker alone."""
    await trial.until(lambda: (click.original is not None and not click.original.loading) or None)
    assert click.original is not None
    assert click.ephemeral
    return click.original.text


def turns_of(trial: Trial, question: str) -> list[dict[str, object]]:
    """Return the stored turns in which something was asked."""
    turns = [json.loads(str(row[0])) for row in rows_of(trial.bot.folder / "data", _TURNS)]
    return [one for one in turns if one["user_input"] == question]


async def test_what_was_understood_stands_above_the_answer_to_a_follow_up_alone(
    trial: Trial,
) -> None:
    ann = trial.user()
    first = await trial.ask(ann, trial.channel(), FIRST)
    assert "Understood as" not in first.text
    assert "Not what I meant" not in labels(first)
    _, second = await followed(trial, ann)
    assert second.text.startswith(f"-# {UNDERSTOOD}\n")
    assert "guns of a wrecked frigate" in second.text
    assert labels(second)[0] == "Not what I meant"


async def test_its_asker_corrects_it_in_a_form_that_holds_what_was_understood(
    trial: Trial,
) -> None:
    ann = trial.user()
    _, second = await followed(trial, ann)
    modal = await pressed(trial, ann, second, "Not what I meant")
    assert modal.callback is Callback.MODAL
    assert "What was the fog bell of Arden cast from?" in json.dumps(modal.modal)
    trial.server.faults.gateway(Duplicate(2), "INTERACTION_CREATE")
    sent = await trial.world.submit_modal(modal, question=MEANT)
    answer = await trial.result_of(sent)
    assert "colza oil" in answer.text
    assert "Understood as" not in answer.text
    [turn] = turns_of(trial, MEANT)
    assert turn["user_input"] == MEANT


async def test_nobody_else_corrects_it_and_what_is_gone_cannot_be_corrected(trial: Trial) -> None:
    ann, bob = trial.user(), trial.user()
    thread, _ = await followed(trial, ann)
    question = await trial.world.say(ann, thread, f"{trial.mention} {FOLLOW_UP}")
    second = await trial.answer_to(question)
    press = await pressed(trial, bob, second, "Not what I meant")
    assert await told(trial, press) == i18n.text("card-section-not-yours")
    modal = await pressed(trial, ann, second, "Not what I meant")
    await trial.world.delete(question)
    await trial.until(lambda: second.deleted or None, "nothing of the answer")
    sent = await trial.world.submit_modal(modal, question=MEANT_LATER)
    await sent.response(PATIENCE)
    assert await told(trial, sent) == i18n.text("answer-gone")
    assert turns_of(trial, MEANT_LATER) == []


async def test_where_several_things_may_be_meant_its_asker_chooses_once(trial: Trial) -> None:
    ann, bob = trial.user(), trial.user()
    thread, asked_back = await followed(trial, ann, "What turns the lens?", UNCLEAR)
    assert asked_back.text.startswith(i18n.text("answer-which-one"))
    assert labels(asked_back) == CHOICES
    foreign = await pressed(trial, bob, asked_back, CHOICES[0])
    assert await told(trial, foreign) == i18n.text("card-section-not-yours")
    answer = await trial.result_of(await pressed(trial, ann, asked_back, CHOICES[0]))
    assert "clockwork" in answer.text
    again = await pressed(trial, ann, asked_back, CHOICES[0])
    assert await told(trial, again) == i18n.text("card-section-asked")
    assert len(turns_of(trial, CHOICES[0])) == 1
    later = await trial.ask(ann, thread, UNCLEAR)
    assert i18n.text("answer-which-one") not in later.text, "it asks back once in a thread"


async def test_a_greeting_is_no_question_about_what_a_neighbour_said(trial: Trial) -> None:
    channel = trial.channel()
    await trial.world.say(trial.user(), channel, "Does the keeper trim the wick at noon or later?")
    said = await trial.ask(trial.user(), channel, "hello")
    assert said.text == i18n.text("answer-courtesy")


async def test_a_greeting_gets_a_sentence_and_is_not_told_how_long_a_question_is(
    trial: Trial,
) -> None:
    said = await trial.ask(trial.user(), trial.channel(), "hi")
    assert said.text == i18n.text("answer-courtesy")
    assert labels(said) == []


async def test_a_follow_up_in_a_thread_that_is_closed_by_now_is_answered_with_that(
    trial: Trial,
) -> None:
    ann, channel = trial.user(), trial.channel()
    question = await trial.world.say(ann, channel, f"{trial.mention} {FIRST}")
    await trial.answer_to(question)
    thread = question.thread
    assert thread is not None
    before = trial.from_bot(thread)
    trial.world.restrict(channel, trial.world.bot, deny=Permission.SEND_MESSAGES_IN_THREADS)
    asked = await trial.world.say(ann, thread, f"{trial.mention} {FOLLOW_UP}")
    direct = trial.world.direct_channel(ann, trial.world.bot)
    told = await trial.until(lambda: next(iter(trial.from_bot(direct)), None), "a word about it")
    assert told.text.startswith("I cannot answer you where you asked")
    assert f"/{thread.id}/{asked.id}" in told.text
    assert trial.from_bot(thread) == before
    assert "Send Messages in Threads" in trial.bot.log, "the operator reads what is missing"
