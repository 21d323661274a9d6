"""Every way to ask in Slack, over sockets and over HTTP, answered by the unmodified bot."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.books import COVERED, COVERED_FACT, VERBATIM
from tests.wire.slack import Behind, Message
from tests.wire.slack_bot import Transport, Trial, a_trial
from tests.wire.stored import places_of

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_entry_points"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["socket", "http"])
async def running(
    request: pytest.FixtureRequest, one_course: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Trial]:
    transport: Transport = request.param
    folder = tmp_path_factory.mktemp("entries")
    async with a_trial(one_course, folder, transport=transport) as trial:
        yield trial


@pytest.fixture
def trial(running: Trial) -> Iterator[Trial]:
    yield running
    running.check_manners()


async def test_a_mention_is_answered_in_a_thread_on_the_question(trial: Trial) -> None:
    ann = trial.user()
    answer = await trial.ask(ann, trial.channel(ann), COVERED)
    assert COVERED_FACT in answer.shown


async def test_a_direct_message_is_a_question(trial: Trial) -> None:
    ann = trial.user()
    answer = await trial.answer_to(await trial.world.say(ann, trial.world.dm(ann), COVERED))
    assert COVERED_FACT in answer.shown


async def test_ask_posts_the_question_and_answers_below_it(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    command = await trial.world.slash(ann, channel, "/ask", COVERED)
    assert await command.ack() is None
    question = await trial.until(lambda: next(iter(trial.from_bot(channel)), None))
    answer = await trial.answer_to(question)
    assert "trim the wick" in question.shown
    assert COVERED_FACT in answer.shown


async def test_ask_private_shows_the_answer_to_the_asker_alone(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    command = await trial.world.slash(ann, channel, "/ask", f"private {COVERED}")
    answer = await trial.result_of(command)
    assert COVERED_FACT in answer.shown
    assert answer.visible_to == ann.id
    assert not trial.from_bot(channel)


async def test_ask_can_look_in_one_section_only(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    text = f"private in “trimming the wick” {COVERED}"
    answer = await trial.result_of(await trial.world.slash(ann, channel, "/ask", text))
    assert COVERED_FACT in answer.shown
    asked = 'in "Trimming the wick" How much does the fog bell of Arden weigh?'
    await (await trial.world.slash(ann, channel, "/ask", asked)).ack()
    question = await trial.until(lambda: next(iter(trial.from_bot(channel)), None))
    assert question.shown.startswith("> How much does the fog bell of Arden weigh?")
    assert "half a ton" not in (await trial.answer_to(question)).shown


async def test_of_a_section_that_is_not_there_the_asker_alone_is_told(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    command = await trial.world.slash(ann, channel, "/ask", f'in "Keeping bees" {COVERED}')
    told = await trial.result_of(command)
    assert told.visible_to == ann.id
    assert told.shown == "This course has no section called “Keeping bees”."
    assert not trial.from_bot(channel)


async def test_ask_without_a_question_is_told_how(trial: Trial) -> None:
    ann = trial.user()
    command = await trial.world.slash(ann, trial.channel(ann), "/ask", "private")
    assert "question" in (await trial.result_of(command)).shown


async def test_a_follow_up_in_the_thread_needs_no_mention(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    first = await trial.ask(ann, channel, COVERED)
    follow_up = await trial.world.say(
        ann, channel, "And how heavy is the fog bell of Arden?", thread=first.thread_ts
    )
    assert "half a ton" in (await trial.answer_to(follow_up)).shown


async def test_quoted_lines_are_explained(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    text = f"{trial.mention}\n&gt; {VERBATIM}"
    question = await trial.world.say(ann, channel, text)
    assert "wick" in (await trial.answer_to(question)).shown


async def test_the_shortcut_asks_what_and_explains_in_the_thread(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    passage = await trial.world.say(trial.world.owner, channel, VERBATIM)
    shortcut = await trial.world.shortcut(ann, "explain", passage)
    await shortcut.ack()
    [view] = shortcut.opened
    assert VERBATIM in str(view.body)
    fields = {"who-sees": "public"}
    await (await trial.world.submit_view(ann, view, **fields)).ack()
    answer = await trial.answer_to(passage)
    assert "wick" in answer.shown


async def test_the_shortcut_explains_privately_on_request(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    passage = await trial.world.say(trial.world.owner, channel, VERBATIM)
    shortcut = await trial.world.shortcut(ann, "explain", passage)
    await shortcut.ack()
    fields = {"question": "What darkens the prisms?", "who-sees": "private"}
    await (await trial.world.submit_view(ann, None, **fields)).ack()
    answer = await trial.result_of(shortcut)
    assert answer.visible_to == ann.id
    assert not trial.from_bot(channel)


async def test_the_home_tells_what_there_is_and_what_is_stored(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    await trial.ask(ann, channel, COVERED)
    await trial.world.open_home(ann)
    home = await trial.until(lambda: trial.world.homes.get((trial.world.app.id, ann.id)))
    shown = str(home.body)
    assert "Arden" in shown
    assert "trim the wick" in shown
    assert "1 question with its answer" in shown
    deletion = await trial.world.click(ann, home, "gl:g")
    await deletion.ack()
    await trial.until(lambda: "Nothing is stored about you" in str(home.body) or None)


async def test_an_edited_question_is_answered_anew_in_place(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    question = await trial.world.say(ann, channel, f"{trial.mention} {COVERED}")
    answer = await trial.answer_to(question)
    await trial.world.edit(question, f"{trial.mention} How much does the fog bell weigh?")
    await trial.until(lambda: "half a ton" in answer.shown or None)
    assert len(trial.from_bot(channel)) == 1


async def test_a_mention_that_is_added_by_an_edit_is_a_question(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    message = await trial.world.say(ann, channel, COVERED)
    await trial.quiet()
    assert not trial.from_bot(channel)
    await trial.world.edit(message, f"{trial.mention} {COVERED}")
    assert COVERED_FACT in (await trial.answer_to(message)).shown
    await trial.world.edit(message, f"{trial.mention} How much does the fog bell weigh?")
    await trial.until(lambda: "half a ton" in trial.from_bot(channel)[0].shown or None)
    assert len(trial.from_bot(channel)) == 1


async def test_a_deleted_question_takes_its_answer_along(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    question = await trial.world.say(ann, channel, f"{trial.mention} heliotrope {COVERED}")
    await trial.answer_to(question)
    stored = (trial.bot.folder / "data", "heliotrope")
    assert places_of(*stored), "the search finds what there is"
    await trial.world.delete(question)
    await trial.until(lambda: not trial.from_bot(channel) or None)
    await trial.quiet()
    assert trial.from_bot(channel) == []
    assert places_of(*stored) == set()


async def test_a_question_that_was_deleted_before_it_is_heard_is_neither_answered_nor_kept(
    trial: Trial,
) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    for name in ("message", "app_mention"):
        trial.server.faults.delivery(Behind("app_home_opened", seconds=60.0), name)
    question = await trial.world.say(ann, channel, f"{trial.mention} zanzibar {COVERED}")
    await trial.world.delete(question)
    await trial.until(lambda: told_of(trial, question, "message_deleted") == 1 or None)
    await trial.world.open_home(ann)
    await trial.until(lambda: told_of(trial, question, None) == 2 or None)
    await trial.quiet()
    assert trial.from_bot(channel) == []
    assert places_of(trial.bot.folder / "data", "zanzibar", ann.id) == set()


def told_of(trial: Trial, message: Message, subtype: str | None) -> int:
    """Return how many of Slack's events about a message the bot has acknowledged."""
    delivered = [d for d in trial.world.history.deliveries if d.acked_at is not None]
    events = [d.payload["event"] for d in delivered if "event" in d.payload]
    about = [e for e in events if message.ts in (e.get("ts"), e.get("deleted_ts"))]
    return sum(e.get("subtype") == subtype for e in about)
