"""A question that the book does not answer goes to the staff in Slack, and comes back."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from adapters.slack.modals import FORM
from adapters.slack.outbound import VOTE
from tests.books import COVERED, UNCOVERED
from tests.wire.bot_process import PATIENCE
from tests.wire.slack import Channel, Message, User
from tests.wire.slack.entities import ChannelKind, View
from tests.wire.slack_bot import Trial, a_trial, elements, labels

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_teaching"),
]

NEAR = "How often does the keeper have to trim the lamp's wick?"
OFFERED = f"The staff answered: “{COVERED}”"
SAID = "A helicase does, but that is not part of this course."
KNOWN = "SELECT 1 FROM queue_cards WHERE channel = ? AND message = ? AND claimed_until IS NULL"


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


async def form_of(trial: Trial, user: User) -> View:
    """Wait for the form in which staff answer; what an earlier one says is none."""

    def opened() -> View | None:
        view = trial.world.modals.top(user)
        return view if view is not None and view.body.get("callback_id") == FORM else None

    return await trial.until(opened, "a form to answer in")


async def reply_in(trial: Trial, channel: Channel, user: User, said: str) -> Message:
    return await trial.until(
        lambda: next((m for m in trial.from_bot(channel, user) if said in m.shown), None)
    )


async def test_the_whole_loop(trial: Trial) -> None:
    world, ann, ben, owner = trial.world, trial.user(), trial.user(), trial.world.owner
    channel = trial.channel(ann, owner)
    answer = await trial.ask(ann, channel, UNCOVERED)
    asked = await world.click(ann, answer, "gl:k")
    told = await trial.result_of(asked)
    assert "have your question" in told.shown
    assert told.thread_ts == answer.thread_ts  # where the reply will come
    waiting = await queue(trial, channel)
    assert UNCOVERED in waiting.shown
    taken = await world.click(owner, waiting, "gl:t")
    await trial.until(lambda: "yours for 30 minutes" in waiting.shown or None)
    assert world.answers_to(taken) == []
    await world.click(owner, waiting, "gl:a")
    await world.submit_view(owner, await form_of(trial, owner), answer=SAID)
    reply = await reply_in(trial, channel, ann, SAID)
    assert "not from the book" in reply.shown
    notified = [n.user_id for n in world.notified if not n.edited and n.message.author is world.bot]
    assert notified == [ann.id]
    world.notified.clear()
    shown = await trial.ask(ben, trial.channel(ben), UNCOVERED.upper())
    assert SAID in shown.shown
    assert not world.notified
    assert "No question waits" in (await queue(trial, channel)).shown


async def verify(trial: Trial) -> None:
    """Have the owner verify the answer to COVERED, unless that was done."""
    world, ann, owner = trial.world, trial.user(), trial.world.owner
    kept = "SELECT 1 FROM verified_revisions WHERE answer_text LIKE 'Every four hours%'"
    if execute(trial, kept):
        return
    answer = await trial.ask(ann, trial.channel(ann, owner), COVERED)
    await world.shortcut(owner, "gl-verify", answer)
    await world.submit_view(owner, await form_of(trial, owner), answer="Every four hours [1].")
    await trial.until(lambda: execute(trial, kept) or None, "the answer that staff checked")


async def test_staff_verify_an_answer_by_the_shortcut(trial: Trial) -> None:
    world, ann, owner = trial.world, trial.user(), trial.world.owner
    await verify(trial)
    shown = await trial.ask(ann, trial.channel(ann), COVERED)
    assert "Every four hours" in shown.shown
    assert "Checked by the course's staff, " in shown.shown
    assert shown.shown.index(OFFERED) < shown.shown.index("Every four hours")
    done = world.modals.top(owner)
    assert done is not None
    assert done.body["title"]["text"] == "Verify an answer"


async def test_staff_judge_whether_another_wording_asks_the_same(trial: Trial) -> None:
    world, ann, owner = trial.world, trial.user(), trial.world.owner
    channel = trial.channel(ann, owner)
    await verify(trial)
    near = await trial.ask(ann, channel, NEAR)
    assert OFFERED in near.shown
    await world.click(ann, near, "gl:v")
    read = await reply_in(trial, channel, ann, "Every four hours")
    assert read.shown.index(OFFERED) < read.shown.index("Every four hours")
    other = await trial.ask(ann, trial.channel(ann), NEAR)
    assert "Every four hours" not in other.shown, "a click was taken for a judgement"
    listed = await trial.result_of(await world.slash(owner, channel, "/course", "verified"))
    assert f"“{NEAR}”" in listed.shown
    await world.click(owner, listed, "gl:y")
    confirmed = "SELECT 1 FROM verified_phrasings WHERE state = 'confirmed'"
    await trial.until(lambda: execute(trial, confirmed) or None, "the wording that staff judged")
    plainly = await trial.ask(ann, trial.channel(ann), NEAR)
    assert plainly.shown.index(OFFERED) < plainly.shown.index("Every four hours")


async def test_a_vote_against_an_answer_offers_the_staff(trial: Trial) -> None:
    world, ann = trial.world, trial.user()
    channel = trial.channel(ann)
    answer = await trial.ask(ann, channel, "How much does the fog bell of Arden weigh?")
    assert "gl:k" not in labels(answer)
    [votes] = [e for e in elements(answer) if e["action_id"] == VOTE]
    against = await world.click(ann, answer, VOTE, votes["negative_button"]["value"])
    noted = await trial.result_of(against)
    assert noted.shown.startswith("Noted as not helpful.")
    passed_on = await world.click(ann, noted, "gl:k")
    assert "have your question" in (await trial.result_of(passed_on)).shown
    assert "voted down" in (await queue(trial, channel)).shown


def execute(trial: Trial, statement: str, *values: str) -> list[Any]:
    with sqlite3.connect(trial.bot.folder / "data" / "glossator.db", timeout=30) as db:
        return db.execute(statement, values).fetchall()


async def said_to_course(trial: Trial, user: User, channel: Channel, words: str) -> str:
    channel.members[user.id] = user
    told = await trial.result_of(await trial.world.slash(user, channel, "/course", words))
    assert told.ephemeral
    return told.shown


async def card_in(trial: Trial, channel: Channel, question: str, state: str) -> Message:
    """Wait for the card of a question in a channel, in a state."""

    def there() -> Message | None:
        shown = [m for m in trial.from_bot(channel) if question in m.shown]
        return next((m for m in shown if f"· {state}" in m.shown), None)

    return await trial.until(there, f"a card of {question!r} that is {state}")


async def posted_card(trial: Trial, channel: Channel, question: str) -> Message:
    """Wait for the card of a question, and until the bot knows that it has posted it."""
    card = await card_in(trial, channel, question, "open")
    await trial.until(lambda: execute(trial, KNOWN, channel.id, card.ts) or None)
    return card


async def test_questions_are_posted_into_the_channel_that_staff_chose(trial: Trial) -> None:
    world, ann, owner = trial.world, trial.user(), trial.world.owner
    room, channel = trial.channel(kind=ChannelKind.PRIVATE), trial.channel(ann)
    asked = "Which emperor ordered the first railway to Lisbon?"
    refusal = await said_to_course(trial, ann, channel, "queue post")
    assert "Only the staff" in refusal
    assert "Everyone in this channel" in await said_to_course(trial, owner, room, "queue post")
    answer = await trial.ask(ann, channel, asked)
    passed_on = await world.click(ann, answer, "gl:k")
    await trial.result_of(passed_on)
    card = await posted_card(trial, room, asked)
    assert {"gl:t", "gl:a", "gl:z"} <= set(labels(card))
    taken = await world.click(owner, card, "gl:t")
    await taken.ack(PATIENCE)
    assert f"taken by {owner.name}" in card.shown
    assert world.answers_to(taken) == []
    await world.click(owner, card, "gl:a")
    await world.submit_view(owner, await form_of(trial, owner), answer="None did.")
    await reply_in(trial, channel, ann, "None did.")
    world.notified.clear()
    done = await card_in(trial, room, asked, "answered")
    assert done.ts == card.ts
    assert not labels(done)
    assert len([m for m in trial.from_bot(room) if asked in m.shown]) == 1
    assert not [m for m in trial.from_bot(channel) if "gl:t" in labels(m)]


async def test_a_card_that_was_posted_by_a_bot_that_died_is_found_again(trial: Trial) -> None:
    world, ann, owner = trial.world, trial.user(), trial.world.owner
    room, channel = trial.channel(kind=ChannelKind.PRIVATE), trial.channel(ann)
    asked = "Which admiral drained the lagoon of Tunis?"
    await said_to_course(trial, owner, room, "queue post")
    answer = await trial.ask(ann, channel, asked)
    await trial.result_of(await world.click(ann, answer, "gl:k"))
    card = await posted_card(trial, room, asked)
    assert await trial.bot.stop() == 0
    forgotten = "UPDATE queue_cards SET message = NULL, shown = NULL, claimed_until = NULL"
    execute(trial, f"{forgotten} WHERE channel = ?", room.id)
    await trial.bot.start()
    await trial.until(lambda: execute(trial, KNOWN, room.id, card.ts) or None)
    dismissed = await world.click(owner, card, "gl:z")
    closed = await card_in(trial, room, asked, "closed")
    assert closed.ts == card.ts
    assert world.answers_to(dismissed) == []
    assert len([m for m in trial.from_bot(room) if asked in m.shown]) == 1
    assert "no longer posted" in await said_to_course(trial, owner, room, "queue stop")
    assert "were not posted" in await said_to_course(trial, owner, room, "queue stop")


@pytest.mark.parametrize("button", ["gl:t", "gl:a"])
async def test_who_takes_a_question_elsewhere_is_named_on_its_card(
    trial: Trial, button: str
) -> None:
    world, ann, owner = trial.world, trial.user(), trial.world.owner
    room, channel = trial.channel(kind=ChannelKind.PRIVATE), trial.channel(ann)
    asked = f"Which countess paved the road to Evora by {button}?"
    await said_to_course(trial, owner, room, "queue post")
    answer = await trial.ask(ann, channel, asked)
    await trial.result_of(await world.click(ann, answer, "gl:k"))
    card = await posted_card(trial, room, asked)
    waiting = await queue(trial, channel)
    [own] = [one for one in elements(card) if one["action_id"] == button]
    await world.click(owner, waiting, button, own["value"])
    named = await card_in(trial, room, asked, f"taken by {owner.name}")
    assert named.ts == card.ts
    await world.click(owner, card, "gl:z")
    closed = await card_in(trial, room, asked, "closed")
    assert closed.ts == card.ts
    await said_to_course(trial, owner, room, "queue stop")


async def test_the_card_of_a_deleted_question_goes(trial: Trial) -> None:
    world, ann, owner = trial.world, trial.user(), trial.world.owner
    room, channel = trial.channel(kind=ChannelKind.PRIVATE), trial.channel(ann)
    asked = "Which duchess painted the harbour of Malta?"
    await said_to_course(trial, owner, room, "queue post")
    question = await trial.mentioned(ann, channel, asked)
    answer = await trial.answer_to(question)
    await trial.result_of(await world.click(ann, answer, "gl:k"))
    await card_in(trial, room, asked, "open")
    await world.delete(question)
    await trial.until(lambda: not [m for m in trial.from_bot(room) if asked in m.shown] or None)
    assert "no longer posted" in await said_to_course(trial, owner, room, "queue stop")
    assert asked not in (await queue(trial, channel)).shown


def long_ago(trial: Trial) -> None:
    """Have all that was asked so far be asked an hour before."""
    earlier = "strftime('%Y-%m-%d %H:%M:%f000', accepted_at, '-1 hour')"
    execute(trial, f"UPDATE inbox SET accepted_at = {earlier}")


async def test_the_buttons_on_the_home_tab_show_it_anew(trial: Trial) -> None:
    world, ann, owner = trial.world, trial.user(), trial.world.owner
    answer = await trial.ask(ann, trial.channel(ann), "Which queen painted the bridge of Riga?")
    await trial.result_of(await world.click(ann, answer, "gl:k"))
    await world.open_home(owner)
    home = await trial.until(lambda: world.homes.get((world.app.id, owner.id)))
    await trial.until(lambda: "bridge of Riga" in str(home.body) or None)
    taken = await world.click(owner, home, "gl:t")
    await taken.ack()
    await trial.until(lambda: "yours for 30 minutes" in str(home.body) or None)
    assert str(home.body).count("bridge of Riga") == 1


async def test_a_long_queue_has_further_pages(trial: Trial) -> None:
    world, ann, owner = trial.world, trial.user(), trial.world.owner
    channel = trial.channel(ann, owner)
    asked = [f"Which {who} built the bridge of Avignon?" for who in ("monk", "count", "pope")]
    asked += [f"Which {who} built the gate of Ghent?" for who in ("abbot", "mason")]
    for question in asked:
        answer = await trial.ask(ann, channel, question)
        await trial.result_of(await world.click(ann, answer, "gl:k"))
    page = await queue(trial, channel)
    read = [page.shown]
    while "gl:m" in labels(page):
        page = await trial.result_of(await world.click(owner, page, "gl:m"))
        read.append(page.shown)
    assert len(read) > 1
    assert all(any(question in shown for shown in read) for question in asked)


async def test_the_same_question_later_leads_to_where_it_was_asked_before(trial: Trial) -> None:
    ann, ben, question = trial.user(), trial.user(), "How long does each keeper stay awake?"
    channel = trial.channel(ann, ben)
    first = await trial.ask(ann, channel, question)
    assert "Asked here before" not in first.shown
    long_ago(trial)
    elsewhere = await trial.ask(ben, trial.channel(ben), question)
    assert "Asked here before" not in elsewhere.shown
    again = await trial.ask(ben, channel, question.upper())
    assert "Asked here before, on " in again.shown
    assert f"/archives/{channel.id}/p{first.ts.replace('.', '')}" in again.shown
