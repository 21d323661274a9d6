"""A thread the bot first meets is read once; a link to a message quotes it, for who may read it."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from core.domain import i18n
from tests.books import COVERED, COVERED_FACT, VERBATIM
from tests.wire.slack import Channel, ChannelKind, Message, RateLimited
from tests.wire.slack_bot import Trial, a_trial

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_threads"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(
    one_course: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Trial]:
    async with a_trial(one_course, tmp_path_factory.mktemp("threads")) as trial:
        yield trial


@pytest.fixture
def trial(running: Trial) -> Iterator[Trial]:
    yield running
    running.check_manners()


def calls(trial: Trial, method: str) -> int:
    """Return how often the bot has called a method."""
    return len(trial.world.history.of(method))


async def asked_below(trial: Trial, root: Message, text: str) -> Message:
    """Mention the bot in a thread, and return its answer."""
    author = trial.user()
    root.channel.members[author.id] = author
    question = await trial.world.say(author, root.channel, text, thread=root)
    return await trial.answer_to(question)


async def test_what_was_said_before_is_read_once_a_minute_and_else_the_answer_says_so(
    trial: Trial,
) -> None:
    ann, ben = trial.user(), trial.user()
    channel = trial.channel(ann, ben)
    root = await trial.world.say(ann, channel, COVERED)
    await trial.world.say(ben, channel, "No idea.", thread=root)
    question = f"{trial.mention} can you answer that?"

    answer = await asked_below(trial, root, question)
    assert COVERED_FACT in answer.shown
    assert i18n.text("notice-thread-partly-seen") not in answer.shown
    assert calls(trial, "conversations.replies") == 1

    other = await trial.world.say(ann, channel, COVERED)
    soon = await asked_below(trial, other, question)
    assert i18n.text("notice-thread-partly-seen") in soon.shown
    again = await asked_below(trial, root, f"{trial.mention} how heavy is the fog bell of Arden?")
    assert "half a ton" in again.shown
    assert i18n.text("notice-thread-partly-seen") not in again.shown
    assert calls(trial, "conversations.replies") == 1


async def test_a_question_that_begins_a_thread_reads_nothing(trial: Trial) -> None:
    ann, before = trial.user(), calls(trial, "conversations.replies")
    assert COVERED_FACT in (await trial.ask(ann, trial.channel(ann), COVERED)).shown
    assert calls(trial, "conversations.replies") == before


async def _about(trial: Trial, channel: Channel, link: str) -> Message:
    """Ask about a linked message in a channel, and return the answer."""
    ann = trial.user()
    return await trial.ask(ann, channel, f"What does this say, asks {ann.name}? <{link}>")


async def test_a_link_to_a_message_of_the_same_channel_is_its_quote(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    quoted = await trial.world.say(ann, channel, VERBATIM)
    reply = await trial.world.say(ann, channel, VERBATIM, thread=quoted)
    for message in (quoted, reply):
        link = trial.world.permalink(message, trial.world.workspace)
        assert "This passage stands in" in (await _about(trial, channel, link)).shown
    bare = await trial.ask(ann, channel, f"<{link}>")
    assert "This passage stands in" in bare.shown


async def test_a_link_into_a_channel_that_the_asker_is_not_in_stays_text(trial: Trial) -> None:
    insider, ann = trial.user(), trial.user()
    secret = trial.channel(insider, kind=ChannelKind.PRIVATE)
    quoted = await trial.world.say(insider, secret, VERBATIM)
    link = trial.world.permalink(quoted, trial.world.workspace)
    question = f"private What does this say? <{link}>"
    asked = await trial.world.slash(ann, trial.channel(ann), "/ask", question)
    assert "This passage stands in" not in (await trial.result_of(asked)).shown
    read = [c for c in trial.world.history.calls if c.arguments.get("channel") == secret.id]
    assert {call.method for call in read} == {"conversations.members"}


async def test_a_link_into_another_channel_is_a_quote_only_where_the_asker_alone_sees_the_answer(
    trial: Trial,
) -> None:
    ann = trial.user()
    secret, here = trial.channel(ann, kind=ChannelKind.PRIVATE), trial.channel(ann)
    quoted = await trial.world.say(ann, secret, VERBATIM)
    question = f"What does this say? <{trial.world.permalink(quoted, trial.world.workspace)}>"
    public = await trial.ask(ann, here, question)
    assert "This passage stands in" not in public.shown
    assert not [c for c in trial.world.history.calls if c.arguments.get("channel") == secret.id]
    private = await trial.world.slash(ann, here, "/ask", f"private {question}")
    assert "This passage stands in" in (await trial.result_of(private)).shown
    direct = await trial.world.say(ann, trial.world.dm(ann), question)
    assert "This passage stands in" in (await trial.answer_to(direct)).shown


async def test_a_link_into_another_workspace_stays_text(trial: Trial) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    quoted = await trial.world.say(ann, channel, VERBATIM)
    link = trial.world.permalink(quoted, trial.world.workspace)
    elsewhere = link.replace("https://", "https://other-")
    assert "This passage stands in" not in (await _about(trial, channel, elsewhere)).shown


async def test_a_link_that_cannot_be_read_now_stays_text_and_nobody_waits_for_it(
    trial: Trial,
) -> None:
    ann = trial.user()
    channel = trial.channel(ann)
    quoted = await trial.world.say(ann, channel, VERBATIM)
    link = trial.world.permalink(quoted, trial.world.workspace)
    trial.server.faults.api(RateLimited(30), "conversations.history")
    for _ in range(2):
        assert "This passage stands in" not in (await _about(trial, channel, link)).shown
    trial.server.faults.heal()
