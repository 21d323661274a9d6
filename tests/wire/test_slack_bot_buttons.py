"""What the buttons under an answer, and the commands about the bot, do in Slack."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import UUID

import pytest
import pytest_asyncio

from core.domain import i18n
from core.storage.sessions import FORGOTTEN_USER
from tests.books import COVERED, COVERED_FACT, VERBATIM
from tests.wire.discord_bot import FOREIGN_FACT
from tests.wire.slack import Behind, Channel, Message, ServerError, Slow, User
from tests.wire.slack_bot import Trial, a_trial, elements, labels
from tests.wire.stored import rows_of

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_buttons"),
]

VOTE, EVIDENCE, WITHOUT_QUOTE, SHARE, DELETE = "gl:vote", "gl:e", "gl:q", "gl:s", "gl:d"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(
    two_courses: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Trial]:
    folder = tmp_path_factory.mktemp("buttons")
    async with a_trial(two_courses, folder) as trial:
        bound = await trial.world.slash(
            trial.world.owner, trial.world.channel, "/course", "bind arden workspace"
        )
        assert "Done, for this workspace" in (await trial.result_of(bound)).shown
        yield trial


@pytest.fixture
def trial(running: Trial) -> Iterator[Trial]:
    yield running
    running.check_manners()


_VOTES = "SELECT helpful, reason FROM votes ORDER BY voted_at"
_TURN = "SELECT user_id, content FROM turns WHERE request_id = ?"


async def told(trial: Trial, user: User, channel: Channel, command: str, text: str = "") -> str:
    """Give a command, and return what its user alone is told."""
    answer = await trial.result_of(await trial.world.slash(user, channel, command, text))
    assert answer.visible_to == user.id
    return answer.shown


def vote(answer: Message, side: str) -> str:
    """Return the value of a vote: `positive` or `negative`."""
    [buttons] = [e for e in elements(answer) if e["action_id"] == VOTE]
    return str(buttons[f"{side}_button"]["value"])


def votes(trial: Trial) -> list[tuple[bool, str | None]]:
    """Return all votes that are stored, whether they are good and why not."""
    found = rows_of(
        trial.bot.folder / "data", "SELECT helpful, reason FROM votes ORDER BY voted_at"
    )
    return [(bool(helpful), None if reason is None else str(reason)) for helpful, reason in found]


async def test_a_vote_is_noted_and_may_be_repeated(trial: Trial) -> None:
    ann = trial.user()
    answer = await trial.ask(ann, trial.channel(ann), COVERED)
    for _ in range(2):
        click = await trial.world.click(ann, answer, VOTE, vote(answer, "positive"))
        assert "noted as helpful" in (await trial.result_of(click)).shown


async def test_not_helpful_asks_why(trial: Trial) -> None:
    ann = trial.user()
    answer = await trial.ask(ann, trial.channel(ann), COVERED)
    click = await trial.world.click(ann, answer, VOTE, vote(answer, "negative"))
    await click.ack()
    [view] = click.opened
    filled = {"because": "aside", "reason": "It is about another lamp."}
    await (await trial.world.submit_view(ann, view, **filled)).ack()
    assert "this helps the people who run the course" in str(view.body)
    assert votes(trial)[-1] == (False, "It answers another question. It is about another lamp.")


async def test_a_reason_says_nothing_of_an_answer_that_was_found_helpful_since(
    trial: Trial,
) -> None:
    ann = trial.user()
    answer = await trial.ask(ann, trial.channel(ann), COVERED)
    click = await trial.world.click(ann, answer, VOTE, vote(answer, "negative"))
    await click.ack()
    [view] = click.opened
    good = await trial.world.click(ann, answer, VOTE, vote(answer, "positive"))
    await trial.result_of(good)
    await (await trial.world.submit_view(ann, view, reason="It is about another lamp.")).ack()
    assert votes(trial)[-1] == (True, None)


async def test_a_click_that_is_delivered_again_later_does_not_undo_a_newer_vote(
    trial: Trial,
) -> None:
    ann = trial.user()
    answer = await trial.ask(ann, trial.channel(ann), COVERED)
    trial.server.faults.delivery(Behind("never", seconds=120.0), "block_actions")
    late = await trial.world.click(ann, answer, VOTE, vote(answer, "positive"))
    newer = await trial.world.click(ann, answer, VOTE, vote(answer, "negative"))
    await newer.ack()
    trial.world.clock.advance(120.0)
    await trial.result_of(late)
    assert votes(trial)[-1] == (False, None)


@pytest.mark.parametrize("who", ["asker", "admin", "named"])
async def test_the_bin_deletes_an_answer_and_its_turn_for_its_asker_and_for_staff(
    trial: Trial, who: str
) -> None:
    ann, ben, tutor = trial.user(), trial.user(), trial.user()
    channel = trial.channel(ann, ben, tutor)
    naming = f"staff add @{tutor.name} arden"
    named = await trial.world.slash(trial.world.owner, channel, "/course", naming)
    assert "is now staff for arden only" in (await trial.result_of(named)).shown
    await (await trial.world.slash(ann, channel, "/ask", COVERED)).ack()
    question = await trial.until(lambda: next(iter(trial.from_bot(channel)), None))
    answer = await trial.answer_to(question)
    [asked] = [UUID(e["value"]) for e in elements(answer) if e["action_id"] == DELETE]
    other = await trial.world.click(ben, answer, DELETE)
    assert (await trial.result_of(other)).shown == i18n.text("answer-not-yours")
    clicker = {"asker": ann, "admin": trial.world.owner, "named": tutor}[who]
    twice = [await trial.world.click(clicker, answer, DELETE) for _ in range(2)]
    told = [(await trial.result_of(click)).shown for click in twice]
    assert told == [i18n.text("answer-deleting")] * 2
    await trial.until(lambda: not trial.from_bot(channel) or None, "nothing of the answer")
    assert answer.deleted
    assert rows_of(trial.bot.folder / "data", _TURN, asked.hex) == [(FORGOTTEN_USER, None)]


async def test_evidence_shows_the_passages_to_the_clicker(trial: Trial) -> None:
    ann = trial.user()
    answer = await trial.ask(ann, trial.channel(ann), COVERED)
    click = await trial.world.click(ann, answer, EVIDENCE)
    await click.ack()
    [view] = click.opened
    assert COVERED_FACT in str(view.body)


async def test_the_question_is_asked_again_without_its_quote(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    text = f"How heavy is the fog bell of Arden?\n&gt; {VERBATIM}"
    answer = await trial.ask(ann, channel, text)
    click = await trial.world.click(ann, answer, WITHOUT_QUOTE)
    await click.ack()
    again = await trial.until(
        lambda: next((m for m in trial.from_bot(channel)[1:] if "half a ton" in m.shown), None)
    )
    assert again.thread_ts == answer.thread_ts
    assert WITHOUT_QUOTE not in labels(again)


async def test_a_private_answer_is_shared_once_by_its_asker(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    private = await trial.world.slash(ann, channel, "/ask", f"private {COVERED}")
    answer = await trial.result_of(private)
    first = await trial.world.click(ann, answer, SHARE)
    assert "Shared in this channel" in (await trial.result_of(first)).shown
    second = await trial.world.click(ann, answer, SHARE)
    assert "shared already" in (await trial.result_of(second)).shown
    question = await trial.until(lambda: next(iter(trial.from_bot(channel)), None))
    assert "trim the wick" in question.shown
    assert COVERED_FACT in (await trial.answer_to(question)).shown
    assert len(trial.from_bot(channel)) == 2


async def test_an_answer_is_not_shared_where_the_bot_may_not_write(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.world.add_channel(trial.world.workspace, "without-bot", members=(ann,))
    private = await trial.world.slash(ann, channel, "/ask", f"private {COVERED}")
    answer = await trial.result_of(private)
    refused = await trial.world.click(ann, answer, SHARE)
    assert (await trial.result_of(refused)).shown == i18n.text("slack-not-in-channel")
    trial.world.enter(trial.world.bot, channel)
    shared = await trial.world.click(ann, answer, SHARE)
    assert "Shared in this channel" in (await trial.result_of(shared)).shown
    question = await trial.until(lambda: next(iter(trial.from_bot(channel)), None))
    assert COVERED_FACT in (await trial.answer_to(question)).shown


async def test_help_sources_and_about_tell_their_user_alone(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    assert "How to ask" in await told(trial, ann, channel, "/glossator", "help")
    assert "Arden" in await told(trial, ann, channel, "/glossator", "sources")
    assert "Glossator" in await told(trial, ann, channel, "/glossator", "about")


async def test_help_answers_questions_from_the_handbook(trial: Trial) -> None:
    ann = trial.user()
    question = "What happens when somebody edits a question?"
    assert "edit" in await told(trial, ann, trial.channel(ann), "/glossator", f"help {question}")


async def test_data_shows_and_deletes_what_is_stored(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    await trial.ask(ann, channel, COVERED)
    stored = await trial.result_of(await trial.world.slash(ann, channel, "/glossator", "data"))
    assert "1 question with its answer" in stored.shown
    await (await trial.world.click(ann, stored, "gl:g")).ack()
    await trial.until(lambda: "All of it is deleted" in stored.shown or None)
    assert "Nothing is stored about you" in await told(trial, ann, channel, "/glossator", "data")


async def exported(trial: Trial, user: User, channel: Channel) -> str:
    """Have all that is stored sent, and return what its user is told in the channel."""
    shown = await trial.result_of(await trial.world.slash(user, channel, "/glossator", "data"))
    pressed = await trial.world.click(user, shown, "gl:j")
    return (await trial.result_of(pressed)).shown


async def test_the_file_of_ones_data_comes_by_direct_message(trial: Trial) -> None:
    ann, ben = trial.user(), trial.user()
    channel = trial.channel(ann, ben)
    await trial.ask(ann, channel, COVERED)
    await trial.ask(ben, channel, "How much does the fog bell of Arden weigh?")
    assert i18n.text("slack-export-in-direct-messages") in await exported(trial, ann, channel)
    direct = trial.world.direct_channel(ann, trial.world.bot)
    _, sent = trial.from_bot(direct, ann)
    (file,) = sent.files
    assert file.content is not None
    stored = json.loads(file.content)["stored"]
    assert [turn["content"]["user_input"] for turn in stored["turns"]] == [COVERED]
    assert ben.id not in file.content.decode()
    assert not [m for m in trial.from_bot(channel) if m.files]


async def test_without_the_scope_for_files_whoever_exports_is_told_so(trial: Trial) -> None:
    ann, installation = trial.user(), trial.world.installation
    channel, scopes = trial.channel(ann), installation.scopes
    installation.scopes = scopes - {"files:write"}
    try:
        assert i18n.text("slack-export-no-files") in await exported(trial, ann, channel)
    finally:
        installation.scopes = scopes
    assert not trial.from_bot(trial.world.direct_channel(ann, trial.world.bot), ann)
    trial.server.faults.api(ServerError(500), "files.completeUploadExternal")
    assert "Please try again" in await exported(trial, ann, channel)


async def test_a_command_is_acknowledged_in_time_though_slack_is_slow(trial: Trial) -> None:
    trial.server.faults.api(Slow(5.0), "users.info", times=2)
    admin = trial.user(admin=True)
    channel = trial.channel(admin)
    assert "can do that" in await told(trial, admin, channel, "/course", "show")


async def test_a_click_is_acknowledged_in_time_though_its_modal_is_slow(trial: Trial) -> None:
    ann = trial.user()
    answer = await trial.ask(ann, trial.channel(ann), COVERED)
    trial.server.faults.api(Slow(5.0), "views.open")
    click = await trial.world.click(ann, answer, EVIDENCE)
    await click.ack()
    assert "Please press the button again" in (await trial.result_of(click)).shown
    assert not click.opened


async def test_a_channel_that_answers_every_message_needs_no_mention(trial: Trial) -> None:
    owner, ann = trial.world.owner, trial.user()
    channel = trial.channel(ann)
    assert "Done" in await told(trial, owner, channel, "/course", "set auto-answer: yes")
    question = await trial.world.say(ann, channel, COVERED)
    assert COVERED_FACT in (await trial.answer_to(question)).shown


async def test_an_edited_question_keeps_the_course_that_its_asker_looked_at(
    trial: Trial,
) -> None:
    ann, owner = trial.user(), trial.world.owner
    channel = trial.channel(ann)
    assert "Done" in await told(trial, owner, channel, "/course", "bind vault")
    place = trial.world.dm(ann)
    await trial.world.open_home(ann, "messages", beside=channel)
    await trial.until(lambda: trial.world.prompts.get(place.id))
    question = await trial.world.say(ann, place, COVERED)
    answer = await trial.answer_to(question)
    assert COVERED_FACT not in answer.shown
    await trial.world.edit(question, "With which words does the vault of Bellhaven open?")
    await trial.until(lambda: FOREIGN_FACT in answer.shown or None)


async def test_course_refuses_what_it_does_not_know(trial: Trial) -> None:
    owner, channel = trial.world.owner, trial.channel()
    assert "The courses are: arden" in await told(trial, owner, channel, "/course", "bind x")
    assert "may be: short" in await told(trial, owner, channel, "/course", "set length: tiny")
    assert "How to set me up" in await told(trial, owner, channel, "/course", "dance")


async def test_people_who_talk_to_each_other_silence_the_bot(trial: Trial) -> None:
    ann, ben = trial.user(), trial.user()
    channel = trial.channel(ann, ben)
    answer = await trial.ask(ann, channel, COVERED)
    await trial.world.say(ann, channel, f"<@{ben.id}> did you know?", thread=answer.thread_ts)
    await trial.world.say(ben, channel, "No, is that so in Arden?", thread=answer.thread_ts)
    await trial.quiet()
    assert len(trial.from_bot(channel)) == 1
    text = f"{trial.mention} how heavy is the fog bell of Arden?"
    back = await trial.world.say(ben, channel, text, thread=answer.thread_ts)
    assert "half a ton" in (await trial.answer_to(back)).shown
