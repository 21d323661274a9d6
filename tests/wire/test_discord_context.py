"""What "this" and "that" mean on Discord: files, forwards, polls, titles, and what stands above."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from core.domain.i18n import text
from tests.books import COVERED, COVERED_FACT, VERBATIM
from tests.wire.bot_process import PATIENCE
from tests.wire.discord import ChannelType, Message
from tests.wire.discord_bot import Trial, a_trial, button, labels

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("discord_context"),
]

CANNOT_READ_IMAGES = "I can't read images; please paste the text."
BELL = "How much does the fog bell of Arden weigh?"
BELL_FACT = "half a ton"
FILLER = "I have read the whole chapter twice and made notes of all that seemed to matter. " * 20


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


async def replied(trial: Trial, target: Message, said: str) -> Message:
    """Reply to a message with a mention of the bot, and return the answer."""
    asked = await trial.world.say(
        trial.user(), target.channel, f"{trial.mention} {said}", reply_to=target
    )
    return await trial.answer_to(asked)


async def test_a_pasted_text_is_read_from_its_file(trial: Trial) -> None:
    files = {"message.txt": f"{FILLER}\n\n{BELL}\n".encode()}
    answer = await trial.ask(trial.user(), trial.channel(), "", files=files)
    assert BELL_FACT in answer.text


async def test_a_question_about_a_file_is_about_its_text(trial: Trial) -> None:
    files = {"notes.md": VERBATIM.encode()}
    answer = await trial.ask(trial.user(), trial.channel(), "Where is this from?", files=files)
    assert "This passage stands" in answer.text


async def test_an_image_is_named_and_never_passed_over(trial: Trial) -> None:
    picture = {"graph.png": b"\x89PNG\r\n\x1a\n"}
    alone = await trial.ask(trial.user(), trial.channel(), "", files=picture)
    assert alone.text.startswith(CANNOT_READ_IMAGES)
    beside = await trial.ask(trial.user(), trial.channel(), COVERED, files=picture)
    assert COVERED_FACT in beside.text
    assert "I can't read images, so this answers your words alone." in beside.text
    shown = await trial.world.say(trial.user(), trial.channel(), "", files=picture)
    assert (await replied(trial, shown, "explain this")).text.startswith(CANNOT_READ_IMAGES)


async def test_a_binary_file_under_a_texts_name_is_no_text(trial: Trial) -> None:
    files = {"message.txt": bytes(range(256)) * 20}
    answer = await trial.ask(trial.user(), trial.channel(), "", files=files)
    assert answer.text.startswith("I can't read this file; please paste the text.")


async def test_the_menu_explains_a_file_and_names_what_it_cannot_read(trial: Trial) -> None:
    ann, channel = trial.user(), trial.channel()
    text = await trial.world.say(ann, channel, "", files={"a.txt": VERBATIM.encode()})
    explained = await trial.world.context_menu(ann, text, "Explain this passage")
    assert "This passage stands" in (await trial.result_of(explained)).text
    image = await trial.world.say(ann, channel, "", files={"a.png": b"\x89PNG\r\n\x1a\n"})
    refused = await trial.world.context_menu(ann, image, "Explain this passage")
    assert (await trial.result_of(refused)).text == CANNOT_READ_IMAGES


async def test_a_mention_that_points_takes_the_question_above_it(trial: Trial) -> None:
    channel = trial.channel()
    await trial.world.say(trial.user(), channel, BELL)
    await trial.world.say(trial.user(), channel, "no idea")
    for words in ("can you answer that?", "please help"):
        assert BELL_FACT in (await trial.ask(trial.user(), channel, words)).text


async def test_a_mention_finds_the_message_by_its_author_and_its_place(trial: Trial) -> None:
    channel, iker, ann, ben = trial.channel(), trial.user(), trial.user(), trial.user()
    await trial.world.say(iker, channel, BELL)
    await trial.world.say(ann, channel, "Which oil does the lamp of the lighthouse burn?")
    for _ in range(20):
        await trial.world.say(ben, channel, "see you at lunch")
    for words in (
        f"what {iker.name} asked",
        f"can you answer <@{iker.id}>",
        "the first question please",
    ):
        assert BELL_FACT in (await trial.ask(ben, channel, words)).text, words
    assert "colza" in (await trial.ask(ann, channel, "can you answer my question?")).text


async def test_a_caret_points_at_the_message_above(trial: Trial) -> None:
    channel = trial.channel()
    await trial.world.say(trial.user(), channel, BELL)
    assert BELL_FACT in (await trial.ask(trial.user(), channel, "^")).text


async def test_where_two_messages_fit_it_asks_which(trial: Trial) -> None:
    channel, ann, ben = trial.channel(), trial.user(), trial.user()
    other = "Which oil does the lamp of the lighthouse burn?"
    await trial.world.say(ann, channel, BELL)
    await trial.world.say(ann, channel, other)
    asked_back = await trial.ask(ben, channel, "can you answer that?")
    assert asked_back.text.startswith(text("answer-which-one"))
    assert labels(asked_back) == [BELL, other]
    foreign = await trial.world.click(ann, asked_back, button(asked_back, BELL))
    await foreign.response(PATIENCE)
    assert foreign.ephemeral
    chosen = await trial.world.click(ben, asked_back, button(asked_back, BELL))
    assert BELL_FACT in (await trial.result_of(chosen)).text


async def test_what_nobody_asked_is_said_not_to_be_there(trial: Trial) -> None:
    channel, ann = trial.channel(), trial.user()
    await trial.world.say(trial.user(), channel, BELL)
    answer = await trial.ask(ann, channel, "can you answer my question?")
    assert answer.text == text("asking-which-message")


async def test_what_has_a_name_is_asked_for_by_it(trial: Trial) -> None:
    channel = trial.channel()
    await trial.world.say(trial.user(), channel, BELL)
    answer = await trial.ask(trial.user(), channel, "What is opinion?")
    assert BELL_FACT not in answer.text
    root = await trial.world.say(trial.user(), channel, BELL)
    thread = await trial.world.open_thread(trial.user(), root, "bells")
    answer = await trial.ask(trial.user(), thread, "What is opinion?")
    assert BELL_FACT not in answer.text


async def test_a_mention_that_points_takes_the_passage_above_it(trial: Trial) -> None:
    channel = trial.channel()
    await trial.world.say(trial.user(), channel, VERBATIM)
    answer = await trial.ask(trial.user(), channel, "explain this please")
    assert "This passage stands" in answer.text


async def test_a_mention_that_points_at_an_image_says_so(trial: Trial) -> None:
    channel = trial.channel()
    picture = {"board.png": b"\x89PNG\r\n\x1a\n"}
    await trial.world.say(trial.user(), channel, "", files=picture)
    answer = await trial.ask(trial.user(), channel, "what does this mean?")
    assert answer.text.startswith(CANNOT_READ_IMAGES)


async def test_a_thread_is_read_from_its_end(trial: Trial) -> None:
    ann, channel = trial.user(), trial.channel()
    root = await trial.world.say(ann, channel, "Shall we meet on Monday or on Tuesday?")
    thread = await trial.world.open_thread(ann, root, "study group")
    for number in range(30):
        await trial.world.say(ann, thread, f"Message {number}: we could also meet in the library.")
    await trial.world.say(ann, thread, BELL)
    assert BELL_FACT in (await trial.ask(ann, thread, "can you answer that?")).text


async def test_the_title_of_a_post_is_part_of_it(trial: Trial) -> None:
    forum = trial.channel(ChannelType.FORUM)
    ann = trial.user()
    post = await trial.world.open_post(ann, forum, BELL, f"{trial.mention} see the title")
    first = next(m for m in trial.said() if m.id == post.id)
    assert BELL_FACT in (await trial.answer_to(first)).text


@pytest.mark.parametrize("said", ["", "?", "^^", "please help", "<:wick:123456789012345678>"])
async def test_the_title_of_a_post_is_the_question_where_its_text_asks_nothing(
    trial: Trial, said: str
) -> None:
    forum, ann = trial.channel(ChannelType.FORUM), trial.user()
    post = await trial.world.open_post(ann, forum, BELL, f"{trial.mention} {said}")
    first = next(m for m in trial.said() if m.id == post.id)
    answer = await trial.answer_to(first)
    assert BELL_FACT in answer.text
    assert answer.channel is post


async def test_the_title_of_a_post_with_a_file_alone_is_the_question(trial: Trial) -> None:
    forum, ann = trial.channel(ChannelType.FORUM), trial.user()
    title, files = "Where is this from?", {"notes.md": VERBATIM.encode()}
    post = await trial.world.open_post(ann, forum, title, trial.mention, files=files)
    first = next(m for m in trial.said() if m.id == post.id)
    assert "This passage stands" in (await trial.answer_to(first)).text


async def test_a_poll_is_read(trial: Trial) -> None:
    poll = (BELL, "a ton", "half a ton")
    shown = await trial.world.say(trial.user(), trial.channel(), poll=poll)
    answer = await replied(trial, shown, "can you answer this?")
    assert BELL_FACT in answer.text


async def test_an_embed_that_is_forwarded_is_read(trial: Trial) -> None:
    ann, channel = trial.user(), trial.channel()
    shown = await trial.world.say(ann, channel, "https://example.org")
    await trial.world.unfurl(shown, {"type": "rich", "title": "Bells", "description": VERBATIM})
    forwarded = await trial.world.say(
        ann, trial.world.direct_channel(ann, trial.world.bot), forward_of=shown
    )
    assert "This passage stands" in (await trial.answer_to(forwarded)).text


async def test_a_card_of_another_bots_is_read(trial: Trial) -> None:
    other = trial.world.add_user("cards", trial.world.guild, bot=True)
    card = {"type": 17, "components": [{"type": 10, "content": VERBATIM}]}
    shown = await trial.world.say(other, trial.channel(), components=[card])
    assert "This passage stands" in (await replied(trial, shown, "where is this from?")).text
    explained = await trial.world.context_menu(trial.user(), shown, "Explain this passage")
    assert "This passage stands" in (await trial.result_of(explained)).text


async def test_a_long_question_is_taken_whole(trial: Trial) -> None:
    question = f"{FILLER}{BELL}"
    assert 1_500 < len(question) < 2_000
    by_mention = await trial.ask(trial.user(), trial.channel(), question)
    assert BELL_FACT in by_mention.text
    asked = await trial.world.slash(trial.user(), trial.channel(), "ask", question=question)
    assert BELL_FACT in (await trial.result_of(asked)).text


async def test_a_command_goes_on_with_its_askers_last_one_there(trial: Trial) -> None:
    ann, channel = trial.user(), trial.channel()
    first = await trial.world.slash(ann, channel, "ask", question="What does the fog bell do?")
    await trial.result_of(first)
    second = await trial.world.slash(ann, channel, "ask", question="How much does it weigh?")
    assert BELL_FACT in (await trial.result_of(second)).text


async def test_an_answer_of_the_bots_own_is_explained_without_its_numbers(trial: Trial) -> None:
    ann, channel = trial.user(), trial.channel()
    answer = await trial.ask(ann, channel, BELL)
    explained = await trial.world.context_menu(ann, answer, "Explain this passage")
    shown = (await trial.result_of(explained)).text
    assert "This passage stands" in shown
    assert "not from this book" not in shown
