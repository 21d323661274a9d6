"""The bot as an agent on Slack: its tab, what its user looks at, its sessions and its Home."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.books import COVERED, COVERED_FACT
from tests.wire.bot_process import NO_WAIT
from tests.wire.discord_bot import FOREIGN_FACT
from tests.wire.slack import AgentSession, Message, RateLimited, ServerError
from tests.wire.slack_bot import Trial, a_trial, labels

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_agents"),
]
TITLE = "How often does the keeper trim the wick of the lamp?"
SET_STATUS = "assistant.threads.setStatus"
DECORATIONS = (SET_STATUS, "assistant.threads.setSuggestedPrompts", "views.publish")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(
    one_course: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Trial]:
    async with a_trial(one_course, tmp_path_factory.mktemp("agents")) as trial:
        yield trial


@pytest.fixture
def trial(running: Trial) -> Iterator[Trial]:
    yield running
    running.check_manners()


def session_of(trial: Trial, root: Message) -> AgentSession | None:
    return trial.world.sessions.get((root.channel.id, root.ts))


async def test_opening_the_tab_greets_once_and_suggests_what_the_course_answers(
    trial: Trial,
) -> None:
    world, ann = trial.world, trial.user()
    place = world.dm(ann)
    await world.open_home(ann, "messages")
    shown = await trial.until(lambda: world.prompts.get(place.id), "prompts")
    assert shown.title == "About Arden"
    assert 1 <= len(shown.prompts) <= 4
    (greeting,) = trial.from_bot(place)
    assert "I answer from Arden here." in greeting.shown
    assert greeting.thread_ts is None
    calls = len(world.history.of("assistant.threads.setSuggestedPrompts"))
    await world.open_home(ann, "messages")
    await trial.until(
        lambda: len(world.history.of("assistant.threads.setSuggestedPrompts")) > calls or None
    )
    assert trial.from_bot(place) == [greeting]
    for prompt in shown.prompts:
        answer = await trial.answer_to(await world.say(ann, place, prompt["message"]))
        assert "[1]" in answer.shown
        assert "not cover" not in answer.shown


async def test_the_answer_to_a_prompt_stands_in_a_session_below_it(trial: Trial) -> None:
    world, ann = trial.world, trial.user()
    root = await world.say(ann, world.dm(ann), COVERED)
    answer = await trial.answer_to(root)
    assert COVERED_FACT in answer.shown
    assert (answer.thread_ts, answer.edited_ts, answer.streamed) == (root.ts, None, True)
    assert "gl:vote" in labels(answer)
    assert {card["status"] for card in answer.task_cards} == {"complete"}
    session = await trial.until(lambda: session_of(trial, root))
    await trial.until(lambda: session.status == "active" or None, "the end of the session")
    assert session.title == TITLE
    assert session.statuses[0] == "processing"
    follow_up = await world.say(ann, root.channel, "Why is that done?", thread=root)
    await trial.answer_to(follow_up)
    assert session.title == TITLE


async def test_a_question_in_a_channel_has_a_session_too(trial: Trial) -> None:
    ann = trial.user()
    root = await trial.mentioned(ann, trial.channel(ann), COVERED)
    assert COVERED_FACT in (await trial.answer_to(root)).shown
    session = await trial.until(lambda: session_of(trial, root))
    await trial.until(lambda: session.status == "active" or None)
    assert session.statuses[0] == "processing"


PICTURE = {"graph.png": (b"\x89PNG\r\n\x1a\n", "image/png")}


@pytest.mark.parametrize(
    ("text", "more"), [("a", {}), ("", {"files": PICTURE}), ("wick " * 900, {})]
)
async def test_a_refused_mention_opens_no_thread(
    trial: Trial, text: str, more: dict[str, Any]
) -> None:
    ann = trial.user()
    root = await trial.mentioned(ann, trial.channel(ann), text, **more)
    refusal = await trial.refusal_of(root)
    await trial.quiet()
    assert refusal.thread_ts is None
    assert trial.from_bot(root.channel, ann) == [refusal]
    assert session_of(trial, root) is None


async def test_a_refused_question_in_a_thread_leaves_no_status(trial: Trial) -> None:
    ann = trial.user()
    root = await trial.mentioned(ann, trial.channel(ann), COVERED)
    await trial.answer_to(root)
    await trial.refusal_of(await trial.mentioned(ann, root.channel, "a", thread=root))
    await trial.quiet()
    session = session_of(trial, root)
    assert session is not None
    assert session.status == "active"


async def test_a_private_command_shows_a_sign_of_life_at_once(trial: Trial) -> None:
    ann = trial.user()
    command = await trial.world.slash(ann, trial.channel(ann), "/ask", f"private {COVERED}")
    acknowledged = await command.ack()
    assert acknowledged is not None
    assert acknowledged["text"].startswith("Looking it up")
    assert command.messages[0].visible_to == ann.id
    assert COVERED_FACT in (await trial.result_of(command)).shown
    (shown,) = trial.world.answers_to(command)
    assert not shown.shown.startswith("Looking it up"), "the answer takes its place"


async def test_a_private_answer_outlives_a_failure_of_slacks(trial: Trial) -> None:
    ann = trial.user()
    trial.server.faults.api(ServerError(503), "response_url")
    command = await trial.world.slash(ann, trial.channel(ann), "/ask", f"private {COVERED}")
    assert COVERED_FACT in (await trial.result_of(command)).shown
    assert len(trial.world.answers_to(command)) == 1


async def test_who_asks_by_a_command_is_named_and_led_to_the_answer(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    command = await trial.world.slash(ann, channel, "/ask", COVERED)
    assert await command.ack() is None
    question = await trial.until(lambda: next(iter(trial.from_bot(channel)), None))
    await trial.answer_to(question)
    assert f"Asked by {ann.name}" in question.shown
    link = await trial.until(lambda: next(iter(command.messages), None))
    assert link.visible_to == ann.id
    assert trial.world.permalink(question, trial.world.workspace) in link.shown


async def test_home_shows_no_deleted_thread(trial: Trial) -> None:
    world, ann = trial.world, trial.user()
    place, home = world.dm(ann), (world.app.id, ann.id)
    gone = await world.say(ann, place, COVERED)
    answer = await trial.answer_to(gone)
    await world.delete(gone)
    await trial.until(lambda: answer.deleted or None)
    await trial.answer_to(await trial.mentioned(ann, trial.channel(ann), "What is the lamp?"))
    await world.open_home(ann)
    view = await trial.until(lambda: world.homes.get(home))
    shown = str(view.body["blocks"])
    assert "What is the lamp?" in shown
    assert "[deleted]" not in shown
    assert "trim the wick" not in shown.partition("recent threads")[2]


async def test_what_its_user_looks_at_is_kept_for_the_next_question(trial: Trial) -> None:
    world, ann = trial.world, trial.user()
    place = world.dm(ann)
    await world.agents.look_at(ann, trial.channel(ann))
    shown = await trial.until(lambda: world.prompts.get(place.id), "prompts")
    assert shown.title == "About Arden"
    assert COVERED_FACT in (await trial.answer_to(await world.say(ann, place, COVERED))).shown


async def test_what_its_user_looks_at_chooses_the_course_and_says_which(
    two_courses: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    async with a_trial(two_courses, tmp_path_factory.mktemp("looking")) as trial:
        world, ann = trial.world, trial.user()
        place, channel = world.dm(ann), trial.channel(ann)
        bound = await world.slash(world.owner, channel, "/course", "bind vault")
        assert "Done" in (await trial.result_of(bound)).shown
        await world.open_home(ann, "messages", beside=channel)
        shown = await trial.until(lambda: world.prompts.get(place.id), "prompts")
        assert shown.title == "About The vault"
        question = "With which words does the vault of Bellhaven open?"
        answer = await trial.answer_to(await world.say(ann, place, question))
        assert FOREIGN_FACT in answer.shown
        assert "the course of what you look at" in answer.shown
        await world.agents.look_at(ann, None)
        menu = await trial.answer_to(await world.say(ann, place, question))
        assert FOREIGN_FACT not in menu.shown
        assert labels(menu) == ["gl:course"]


async def test_an_edited_question_names_its_session_anew(trial: Trial) -> None:
    world, ann = trial.world, trial.user()
    root = await world.say(ann, world.dm(ann), COVERED)
    answer = await trial.answer_to(root)
    session = await trial.until(lambda: session_of(trial, root))
    await world.edit(root, "What does the keeper trim?")
    await trial.until(lambda: session.title == "What does the keeper trim?" or None, "a new title")
    await trial.until(lambda: answer.edited_ts or None)


async def test_a_title_that_somebody_gave_is_kept_when_the_question_is_edited(
    trial: Trial,
) -> None:
    world, ann = trial.world, trial.user()
    root = await world.say(ann, world.dm(ann), COVERED)
    answer = await trial.answer_to(root)
    session = await trial.until(lambda: session_of(trial, root))
    await trial.until(lambda: session.status == "active" or None)
    await world.agents.rename(ann, session, "For the exam")
    statuses = len(session.statuses)
    await world.edit(root, "What does the keeper trim?")
    await trial.until(lambda: answer.edited_ts or None, "the new answer")
    await trial.until(lambda: len(session.statuses) >= statuses + 2 or None, "the session's end")
    await world.say(ann, root.channel, "Why is that done?", thread=root)
    await trial.quiet()
    assert session.title == "For the exam"
    renamed = [c for c in world.history.of("agents.sessions.rename") if root.ts in str(c.arguments)]
    assert not renamed


async def test_a_status_does_not_wait_for_an_answer_that_never_comes(
    one_course: Path, tmp_path: Path
) -> None:
    settings = {"INBOX__USER_PER_MINUTE": "1", **NO_WAIT}
    async with a_trial(one_course, tmp_path, settings=settings) as trial:
        world, ann = trial.world, trial.user()
        world.agent_sessions, place = False, world.dm(ann)
        for _ in range(2):  # the answer, and that it was one too many
            await trial.answer_to(await world.say(ann, place, COVERED))
        await trial.until(lambda: not world.statuses or None, "an end of the status")
        answers = trial.from_bot(place)
        await world.say(ann, place, COVERED)
        await trial.quiet()
        assert trial.from_bot(place) == answers
        await trial.until(lambda: not world.statuses or None, "an end of the status")


async def test_what_only_decorates_stops_when_slack_takes_no_more_of_it(
    one_course: Path, tmp_path: Path
) -> None:
    async with a_trial(one_course, tmp_path) as trial:
        world, ann = trial.world, trial.user()
        world.agent_sessions, place = False, world.dm(ann)
        await world.open_home(ann, "messages")
        await trial.until(lambda: world.prompts.get(place.id))
        before = {method: len(world.history.of(method)) for method in DECORATIONS}
        for method in DECORATIONS:
            trial.server.faults.api(RateLimited(600), method)
        for _ in range(3):
            await world.open_home(ann)
            await world.open_home(ann, "messages")
            await trial.answer_to(await world.say(ann, place, COVERED))
            await trial.until(
                lambda: all(len(world.history.of(one)) > before[one] for one in DECORATIONS)
            )
            await trial.quiet()
        for method in DECORATIONS:
            later = world.history.of(method)[before[method] :]
            assert [call.status for call in later] == [429]
