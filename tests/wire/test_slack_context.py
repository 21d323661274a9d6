"""What "this" and "that" mean on Slack: files, forwards, app messages, and what stands above."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from core.domain.i18n import text
from tests.books import COVERED, COVERED_FACT, VERBATIM
from tests.wire.slack import Channel, Message, User
from tests.wire.slack_bot import Trial, a_trial, elements
from tests.wire.test_slack_bot_follow_ups import choices

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_context"),
]

CANNOT_READ_IMAGES = "I can't read images; please paste the text."
BELL = "How much does the fog bell of Arden weigh?"
BELL_FACT = "half a ton"
FILLER = "I have read the whole chapter twice and made notes of all that seemed to matter. " * 40
PICTURE = {"graph.png": (b"\x89PNG\r\n\x1a\n", "image/png")}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(
    one_course: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Trial]:
    async with a_trial(one_course, tmp_path_factory.mktemp("context")) as trial:
        yield trial


@pytest.fixture
def trial(running: Trial) -> Iterator[Trial]:
    yield running
    running.check_manners()


async def asked(trial: Trial, said: str, **more: object) -> Message:
    """Ask by a direct message of somebody new, and return the answer."""
    ann = trial.user()
    return await trial.answer_to(await trial.world.say(ann, trial.world.dm(ann), said, **more))  # type: ignore[arg-type]


async def by_command(trial: Trial, user: User, channel: Channel, said: str) -> Message:
    """Ask by a command, and return the answer below the question that the bot posts."""
    known = {one.ts for one in trial.from_bot(channel)}
    await (await trial.world.slash(user, channel, "/ask", said)).ack()

    def posted() -> Message | None:
        return next((one for one in trial.from_bot(channel) if one.ts not in known), None)

    return await trial.answer_to(await trial.until(posted, "a question"))


async def test_a_pasted_text_is_read_from_its_file(trial: Trial) -> None:
    files = {"message.txt": (f"{FILLER}\n\n{BELL}\n".encode(), "text/plain")}
    assert BELL_FACT in (await asked(trial, "", files=files)).shown


async def test_a_question_about_a_file_is_about_its_text(trial: Trial) -> None:
    files = {"notes.md": (VERBATIM.encode(), "text/markdown")}
    assert "This passage stands" in (await asked(trial, "Where is this from?", files=files)).shown


async def test_an_image_is_named_and_never_passed_over(trial: Trial) -> None:
    assert CANNOT_READ_IMAGES in (await asked(trial, "", files=PICTURE)).shown
    both = (await asked(trial, COVERED, files=PICTURE)).shown
    assert COVERED_FACT in both
    assert "I can't read images, so this answers your words alone." in both


async def test_a_mention_that_points_takes_the_question_above_it(trial: Trial) -> None:
    ann, ben = trial.user(), trial.user()
    channel = trial.channel(ann, ben)
    await trial.world.say(ann, channel, BELL)
    await trial.world.say(ben, channel, "no idea")
    assert BELL_FACT in (await trial.ask(ben, channel, "can you answer that?")).shown


async def test_a_mention_finds_the_message_by_its_author_and_its_place(trial: Trial) -> None:
    iker, ann, ben = trial.user(), trial.user(), trial.user()
    channel = trial.channel(iker, ann, ben)
    await trial.world.say(iker, channel, BELL)
    await trial.world.say(ann, channel, "Which oil does the lamp of the lighthouse burn?")
    for _ in range(20):
        await trial.world.say(ben, channel, "see you at lunch")
    for words in (
        f"what {iker.name} asked",
        f"can you answer <@{iker.id}>",
        "the first question please",
    ):
        assert BELL_FACT in (await trial.ask(ben, channel, words)).shown, words
    assert "colza" in (await trial.ask(ann, channel, "can you answer my question?")).shown


async def test_where_two_messages_fit_it_asks_which(trial: Trial) -> None:
    ann, ben = trial.user(), trial.user()
    channel = trial.channel(ann, ben)
    other = "Which oil does the lamp of the lighthouse burn?"
    await trial.world.say(ann, channel, BELL)
    await trial.world.say(ann, channel, other)
    asked_back = await trial.ask(ben, channel, "can you answer that?")
    assert asked_back.shown.startswith(text("answer-which-one"))
    assert choices(asked_back) == [BELL, other]
    known = trial.from_bot(channel)
    pressed = [e for e in elements(asked_back) if str(e["action_id"]).startswith("gl:o:")]
    await (await trial.world.click(ben, asked_back, str(pressed[0]["action_id"]))).ack()

    def answered() -> Message | None:
        said = [one for one in trial.from_bot(channel) if one not in known]
        return next((one for one in said if BELL_FACT in one.shown), None)

    await trial.until(answered, "the answer to the one that was chosen")


async def test_what_nobody_asked_is_said_not_to_be_there(trial: Trial) -> None:
    ann, ben = trial.user(), trial.user()
    channel = trial.channel(ann, ben)
    await trial.world.say(ben, channel, BELL)
    question = await trial.mentioned(ann, channel, "can you answer my question?")
    assert (await trial.refusal_of(question)).shown == text("asking-which-message")


async def test_what_has_a_name_is_asked_for_by_it(trial: Trial) -> None:
    ann, ben = trial.user(), trial.user()
    channel = trial.channel(ann, ben)
    await trial.world.say(ben, channel, BELL)
    assert BELL_FACT not in (await trial.ask(ann, channel, "What is opinion?")).shown


async def test_a_thread_is_read_at_its_end(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    root = await trial.world.say(ann, channel, "Shall we meet on Monday or on Tuesday?")
    for number in range(30):
        said = f"Message {number}: we could also meet in the library."
        await trial.world.say(ann, channel, said, thread=root)
    await trial.world.say(ann, channel, BELL, thread=root)
    said = f"{trial.mention} can you answer that?"
    question = await trial.world.say(ann, channel, said, thread=root)
    assert BELL_FACT in (await trial.answer_to(question)).shown


async def test_a_forwarded_message_of_an_app_is_read(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": VERBATIM}}]
    posted = await trial.world.say(ann, channel, "", blocks=blocks)
    forwarded = await trial.world.say(ann, trial.world.dm(ann), "", share_of=posted)
    assert "This passage stands" in (await trial.answer_to(forwarded)).shown


async def test_a_long_question_is_taken_whole(trial: Trial) -> None:
    question = f"{FILLER}{BELL}"
    assert 3_000 < len(question) < 4_000
    assert BELL_FACT in (await asked(trial, question)).shown


async def test_a_question_beyond_all_bounds_is_refused_in_words(trial: Trial) -> None:
    refused = await asked(trial, FILLER * 2 + BELL)
    assert "4,000" in refused.shown


async def test_a_command_goes_on_with_its_askers_last_one_there(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    await by_command(trial, ann, channel, "What does the fog bell do?")
    answer = await by_command(trial, ann, channel, "How much does it weigh?")
    assert BELL_FACT in answer.shown


async def test_an_answer_of_the_bots_own_is_explained_without_its_numbers(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    answer = await trial.ask(ann, channel, BELL)
    assert "[1]" in answer.shown
    shortcut = await trial.world.shortcut(ann, "explain", answer)
    await shortcut.ack()
    await (await trial.world.submit_view(ann, None, **{"who-sees": "private"})).ack()
    shown = (await trial.result_of(shortcut)).shown
    assert "This passage stands" in shown
    assert "not from this book" not in shown


def a_table(*rows: tuple[str, ...]) -> dict[str, object]:
    """Return a table as Slack's client sends one that was pasted from a spreadsheet."""

    def cell(number: int, written: str) -> dict[str, object]:
        if number % 2:
            return {"type": "raw_text", "text": written}
        words = [{"type": "text", "text": written}]
        section = {"type": "rich_text_section", "elements": words}
        return {"type": "rich_text", "elements": [section]}

    cells = [[cell(number, one) for number, one in enumerate(row)] for row in rows]
    return {"type": "table", "rows": cells}


def pasted(*rows: tuple[str, ...]) -> list[dict[str, object]]:
    """Return the attachment in which a pasted table comes."""
    return [{"id": 1, "blocks": [a_table(*rows)], "fallback": "[no preview available]"}]


QUESTIONS = (("No.", "Question"), ("1", BELL))
PASSAGES = (("Passage",), (VERBATIM,))


async def test_a_pasted_table_is_read(trial: Trial) -> None:
    answer = await asked(trial, "Where is this from?", attachments=pasted(*PASSAGES))
    assert "This passage stands" in answer.shown


async def test_a_question_that_stands_in_a_table_alone_is_found(trial: Trial) -> None:
    ann, ben = trial.user(), trial.user()
    channel = trial.channel(ann, ben)
    await trial.world.say(ann, channel, "", attachments=pasted(*QUESTIONS))
    assert BELL_FACT in (await trial.ask(ben, channel, "can you answer that?")).shown


async def test_a_shared_table_is_read(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    tables = pasted(*PASSAGES)
    posted = await trial.world.say(ann, channel, "look", attachments=tables)
    forwarded = await trial.world.say(ann, trial.world.dm(ann), "", share_of=posted)
    assert "This passage stands" in (await trial.answer_to(forwarded)).shown


async def test_the_fields_of_an_apps_message_are_read(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    fields = [{"type": "mrkdwn", "text": "*Passage*"}, {"type": "mrkdwn", "text": VERBATIM}]
    blocks = [{"type": "section", "fields": fields}]
    posted = await trial.world.say(ann, channel, "A new passage", blocks=blocks)
    forwarded = await trial.world.say(ann, trial.world.dm(ann), "", share_of=posted)
    assert "This passage stands" in (await trial.answer_to(forwarded)).shown


async def test_a_canvas_is_read_as_its_text(trial: Trial) -> None:
    mention = f"<a>@{trial.world.bot.id}</a>"
    page = (
        "<h1 id='temp:C:a'>Notes</h1>"
        f"<p id='temp:C:b' class='line'>{mention} {VERBATIM}</p>"
        "<ul id='temp:C:c'><li class='checked'>read</li></ul>"
    )
    files = {"Notes": (page.encode(), "application/vnd.slack-docs")}
    answer = (await asked(trial, "Where is this from?", files=files)).shown
    assert "This passage stands" in answer
    assert "<p" not in answer


async def test_a_question_in_a_canvas_is_asked(trial: Trial) -> None:
    page = f"<p class='line'><a>@{trial.world.bot.id}</a> {BELL}</p>"
    files = {"Homework": (page.encode(), "application/vnd.slack-docs")}
    assert BELL_FACT in (await asked(trial, "", files=files)).shown


async def test_a_page_of_html_is_read_as_it_was_written(trial: Trial) -> None:
    files = {"page.html": (f"<p>{VERBATIM}</p>".encode(), "text/html")}
    assert "Trimming the wick" in (await asked(trial, "Where is this from?", files=files)).shown


@pytest.mark.parametrize("kind", ["text/markdown", "text/html", "application/vnd.slack-docs"])
async def test_a_file_that_the_bot_may_not_read_is_refused_and_its_operator_told(
    trial: Trial, kind: str
) -> None:
    installation, files = trial.world.installation, {"notes": (VERBATIM.encode(), kind)}
    installation.scopes -= {"files:read"}
    try:
        bare = (await asked(trial, "", files=files)).shown
        assert "may not read files in this workspace" in bare
        answered = (await asked(trial, COVERED, files=files)).shown
        assert COVERED_FACT in answered
        assert "this answers your words alone" in answered
    finally:
        installation.scopes |= {"files:read"}
    assert "files:read" in trial.bot.log
    assert "Sign in" not in bare + answered
