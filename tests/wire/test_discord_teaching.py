"""A question that the book does not answer goes to the staff, and their answer comes back."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.books import COVERED, UNCOVERED
from tests.wire.bot_process import PATIENCE
from tests.wire.discord import Channel, Interaction, Message, User
from tests.wire.discord.interactions import Callback
from tests.wire.discord_bot import Trial, a_trial, button, is_finished, labels
from tests.wire.stored import rows_of

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("discord_teaching"),
]

CLAIMED = "SELECT 1 FROM queue_cards WHERE message = ? AND claimed_until IS NOT NULL"
NEAR = "How often does the keeper have to trim the lamp's wick?"
OFFERED = f"The staff answered: “{COVERED}”"
SAID = "A helicase does, but that is not part of this course."


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def trial(one_course: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Trial]:
    async with a_trial(one_course, tmp_path_factory.mktemp("teaching")) as trial:
        yield trial
        trial.world.notified.clear()  # those that the tests have looked at


async def press(trial: Trial, user: User, message: Message, label: str) -> Interaction:
    click = await trial.world.click(user, message, button(message, label))
    await click.response(PATIENCE)
    assert click.responded_after is not None
    assert click.responded_after < 3
    return click


def told(interaction: Interaction) -> str:
    assert interaction.original is not None
    assert interaction.ephemeral
    return interaction.original.text


async def queue(trial: Trial, channel: Channel) -> Message:
    """Return the queue as the server's owner sees it."""
    shown = await trial.world.slash(trial.world.owner, channel, "course queue")
    await shown.response(PATIENCE)
    assert shown.ephemeral
    assert shown.original is not None
    return shown.original


async def passed_on(trial: Trial, user: User, channel: Channel, question: str) -> Message:
    """Ask something, and pass it on to the staff; return the bot's answer."""
    answer = await trial.ask(user, channel, question)
    assert "Ask the staff" in labels(answer)
    asked = await press(trial, user, answer, "Ask the staff")
    assert told(asked).startswith("The staff of the course have your question")
    return answer


async def reply_in(trial: Trial, channel: Channel, said: str) -> Message:
    def there() -> Message | None:
        shown = trial.from_bot(channel)
        return next((m for m in shown if said in m.text and is_finished(m)), None)

    return await trial.until(there, f"the reply {said!r}")


async def test_the_whole_loop(trial: Trial) -> None:
    ann, ben, owner = trial.user(), trial.user(), trial.world.owner
    channel = trial.channel()
    answer = await passed_on(trial, ann, channel, UNCOVERED)
    again = await press(trial, ann, answer, "Ask the staff")
    assert told(again).startswith("The staff of the course have your question")
    waiting = await queue(trial, channel)
    assert UNCOVERED in waiting.text
    assert "not covered" in waiting.text
    taken = await press(trial, owner, waiting, "Take")
    assert taken.callback is Callback.UPDATE_MESSAGE
    assert "yours for 30 minutes" in waiting.text
    form = await press(trial, owner, waiting, "Answer")
    assert form.callback is Callback.MODAL
    sent = await trial.world.submit_modal(form, answer=SAID)
    await sent.response(PATIENCE)
    assert told(sent) == "Sent to the person who asked, and kept for who asks next."
    reply = await reply_in(trial, answer.channel, SAID)
    assert f"<@{ann.id}>" in reply.text
    assert "not from the book" in reply.text
    notified = [n.user_id for n in trial.world.notified if n.message.author is trial.world.bot]
    assert notified == [ann.id]
    twice = await trial.world.submit_modal(form, answer=SAID)
    await twice.response(PATIENCE)
    assert "answered" in told(twice)
    assert len([m for m in trial.from_bot(answer.channel) if SAID in m.text]) == 1
    assert "No question waits" in (await queue(trial, channel)).text
    trial.world.notified.clear()
    shown = await trial.ask(ben, trial.channel(), UNCOVERED.upper())
    assert SAID in shown.text
    assert not [n for n in trial.world.notified if n.message.author is trial.world.bot]


async def test_only_staff_see_the_queue_and_its_buttons_are_checked_again(trial: Trial) -> None:
    ann, channel = trial.user(), trial.channel()
    await passed_on(trial, ann, channel, "Which king ordered the first railway to Lisbon?")
    waiting = await queue(trial, channel)
    with pytest.raises(LookupError):
        await trial.world.slash(ann, channel, "course queue")
    with pytest.raises(LookupError, match="does not see"):
        await press(trial, ann, waiting, "Take")
    closed = await press(trial, trial.world.owner, waiting, "Dismiss")
    assert closed.callback is Callback.UPDATE_MESSAGE
    assert "closed" in waiting.text
    assert "Take" not in labels(waiting)


async def test_staff_verify_an_answer_of_the_bot(trial: Trial) -> None:
    ann, owner, channel = trial.user(), trial.world.owner, trial.channel()
    answer = await trial.ask(ann, channel, COVERED)
    form = await trial.world.context_menu(owner, answer, "Verify answer")
    await form.response(PATIENCE)
    assert form.callback is Callback.MODAL
    sent = await trial.world.submit_modal(form, answer="Every four hours [1].")
    await sent.response(PATIENCE)
    assert told(sent).startswith("Kept, revision 1")
    shown = await trial.ask(trial.user(), trial.channel(), COVERED)
    assert "Every four hours" in shown.text
    assert "Checked by the course's staff, " in shown.text
    near = await trial.ask(ann, trial.channel(), NEAR)
    assert OFFERED in near.text
    await press(trial, ann, near, "Show the staff's answer")
    read = await reply_in(trial, near.channel, "Every four hours")
    assert read.text.index(OFFERED) < read.text.index("Every four hours")
    other = await trial.ask(trial.user(), trial.channel(), NEAR)
    assert "Every four hours" not in other.text, "a click was taken for a judgement"
    listed = await trial.world.slash(owner, channel, "course verified")
    await listed.response(PATIENCE)
    assert listed.original is not None
    assert "0 more wordings" in listed.original.text
    assert f"“{NEAR}”" in listed.original.text
    await press(trial, owner, listed.original, "Same question")
    assert "one more wording" in listed.original.text
    assert "Same question" not in labels(listed.original)
    plainly = await trial.ask(trial.user(), trial.channel(), NEAR)
    assert plainly.text.index(OFFERED) < plainly.text.index("Every four hours")
    edit = await press(trial, owner, listed.original, "Edit")
    kept = await trial.world.submit_modal(edit, answer="Each fourth hour [1].")
    await kept.response(PATIENCE)
    assert told(kept).startswith("Kept, revision 2")
    assert "Each fourth hour" in (await trial.ask(ann, trial.channel(), COVERED)).text


async def test_a_private_question_is_answered_directly(trial: Trial) -> None:
    ann, owner, channel = trial.user(), trial.world.owner, trial.channel()
    question = "Who composed the opera about the iron bridge?"
    asked = await trial.world.slash(ann, channel, "ask", question=question, private=True)
    answer = await trial.result_of(asked)
    await press(trial, ann, answer, "Ask the staff")
    waiting = await queue(trial, channel)
    form = await press(trial, owner, waiting, "Answer")
    sent = await trial.world.submit_modal(form, answer="Nobody knows that.")
    await sent.response(PATIENCE)
    direct = trial.world.direct_channel(ann, trial.world.bot)
    await reply_in(trial, direct, "Nobody knows that.")
    assert not [m for m in trial.from_bot(channel) if "Nobody knows that." in m.text]


async def test_a_vote_against_an_answer_offers_the_staff(trial: Trial) -> None:
    ann, channel = trial.user(), trial.channel()
    answer = await trial.ask(ann, channel, "How much does the fog bell of Arden weigh?")
    assert "Ask the staff" not in labels(answer)
    form = await press(trial, ann, answer, "Not helpful")
    sent = await trial.world.submit_modal(form, reason="too short")
    await sent.response(PATIENCE)
    assert sent.original is not None
    asked = await press(trial, ann, sent.original, "Ask the staff")
    assert told(asked).startswith("The staff of the course have your question")
    assert "voted down" in (await queue(trial, channel)).text


async def card_in(trial: Trial, channel: Channel, question: str, state: str) -> Message:
    """Wait for the card of a question in a channel, in a state."""

    def there() -> Message | None:
        shown = [m for m in trial.from_bot(channel) if question in m.text]
        return next((m for m in shown if f"· {state}" in m.text), None)

    return await trial.until(there, f"a card of {question!r} that is {state}")


async def posted_card(trial: Trial, channel: Channel, question: str) -> Message:
    """Wait for the card of a question, and until the bot knows that it has posted it."""
    card = await card_in(trial, channel, question, "open")
    known = "SELECT 1 FROM queue_cards WHERE message = ? AND claimed_until IS NULL"
    await trial.until(lambda: rows_of(trial.bot.folder / "data", known, str(card.id)) or None)
    return card


async def test_questions_are_posted_into_the_channel_that_staff_chose(trial: Trial) -> None:
    world, ann, owner = trial.world, trial.user(), trial.world.owner
    room, channel = trial.channel(), trial.channel()
    question = "Which emperor ordered the first railway to Lisbon?"
    chosen = await world.slash(owner, room, "course queue", cards="post here")
    await chosen.response(PATIENCE)
    assert "Everyone in this channel" in told(chosen)
    await passed_on(trial, ann, channel, question)
    card = await posted_card(trial, room, question)
    assert labels(card) == ["Take", "Answer", "Dismiss"]
    taken = await press(trial, owner, card, "Take")
    assert taken.callback is Callback.DEFERRED_UPDATE
    assert taken.follow_ups == []
    assert "taken by Owner" in card.text
    with sqlite3.connect(trial.bot.folder / "data" / "glossator.db", timeout=30) as database:
        database.execute("UPDATE queue_cards SET claimed_until = claimed_at")  # is over
    refused = await press(trial, ann, card, "Dismiss")
    assert told(refused) == "Only the staff of a course can do this."
    assert rows_of(trial.bot.folder / "data", CLAIMED, str(card.id)), "her press claims nothing"
    dismissed = await press(trial, owner, card, "Dismiss")
    assert dismissed.callback is Callback.DEFERRED_UPDATE
    closed = await card_in(trial, room, question, "closed")
    assert closed.id == card.id
    assert labels(closed) == []
    assert len([m for m in trial.from_bot(room) if question in m.text]) == 1
    stopped = await world.slash(owner, room, "course queue", cards="stop")
    await stopped.response(PATIENCE)
    assert told(stopped) == "Questions to the staff are no longer posted."


@pytest.mark.parametrize("label", ["Take", "Answer"])
async def test_who_takes_a_question_elsewhere_is_named_on_its_card(
    trial: Trial, label: str
) -> None:
    world, ann, owner = trial.world, trial.user(), trial.world.owner
    room, channel = trial.channel(), trial.channel()
    question = f"Which countess paved the road to Evora for the word {label}?"
    await (await world.slash(owner, room, "course queue", cards="post here")).response(PATIENCE)
    await passed_on(trial, ann, channel, question)
    card = await posted_card(trial, room, question)
    waiting = await queue(trial, channel)
    await (await world.click(owner, waiting, button(card, label))).response(PATIENCE)
    named = await card_in(trial, room, question, "taken by Owner")
    assert named.id == card.id
    await press(trial, owner, card, "Dismiss")
    closed = await card_in(trial, room, question, "closed")
    assert closed.id == card.id
    await (await world.slash(owner, room, "course queue", cards="stop")).response(PATIENCE)


def long_ago(trial: Trial) -> None:
    """Have all that was asked so far be asked an hour before."""
    earlier = "strftime('%Y-%m-%d %H:%M:%f000', accepted_at, '-1 hour')"
    with sqlite3.connect(trial.bot.folder / "data" / "glossator.db", timeout=30) as db:
        db.execute(f"UPDATE inbox SET accepted_at = {earlier}")


async def test_the_same_question_later_leads_to_where_it_was_asked_before(trial: Trial) -> None:
    ann, ben, question = trial.user(), trial.user(), "How long does each keeper stay awake?"
    channel = trial.channel()
    first = await trial.ask(ann, channel, question)
    assert "Asked here before" not in first.text
    long_ago(trial)
    elsewhere = await trial.ask(ben, trial.channel(), question)
    assert "Asked here before" not in elsewhere.text
    again = await trial.ask(ben, channel, question.upper())
    assert "Asked here before, on " in again.text
    assert f"/{first.channel.id}/{first.id}" in again.text
