"""Every way to ask on Discord, the unmodified bot running as a process of its own."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.books import COVERED, COVERED_FACT, FOREIGN, UNCOVERED, VERBATIM
from tests.wire.bot_process import NO_WAIT
from tests.wire.discord import Behind, ChannelType, Message, Permission
from tests.wire.discord.component_checks import walk
from tests.wire.discord.entities import MessageType
from tests.wire.discord.interactions import Callback
from tests.wire.discord_bot import SITE, Trial, a_trial, button, is_finished, labels

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group(
        "discord_entry_points"
    ),  # one bot for all, where groups are kept together
]

BELL = "How much does the fog bell of Arden weigh?"
BELL_FACT = "half a ton"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def trial(one_course: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Trial]:
    """One bot for all tests here, each in channels and with people of its own."""
    async with a_trial(one_course, tmp_path_factory.mktemp("entry"), settings=NO_WAIT) as trial:
        yield trial


@pytest.fixture(autouse=True)
def _well_mannered(trial: Trial) -> Iterator[None]:
    yield
    trial.check_manners()


# --- commands -----------------------------------------------------------------------------


async def test_ask_is_answered_in_the_channel_and_a_thread_carries_it_on(trial: Trial) -> None:
    ann, channel = trial.user(), trial.channel()
    asked = await trial.world.slash(ann, channel, "ask", question=COVERED)
    assert await asked.response() is Callback.DEFERRED_MESSAGE
    assert asked.responded_after is not None
    assert asked.responded_after < 3
    answer = await trial.result_of(asked)
    assert not asked.ephemeral
    assert COVERED_FACT in answer.text
    assert f"> {COVERED}" in answer.text, "others see what was asked"
    thread = await trial.until(lambda: answer.thread, "a thread")
    assert thread.name == COVERED
    follow_up = await trial.answer_to(await trial.world.say(ann, thread, BELL))
    assert BELL_FACT in follow_up.text
    assert follow_up.channel is thread


async def test_the_footnotes_lead_into_the_book_and_to_nothing_else(trial: Trial) -> None:
    answer = await trial.ask(trial.user(), trial.channel(), COVERED)
    notes = [line for line in answer.text.splitlines() if line.startswith(("-# From [", "-# ["))]
    assert any(f"](<{SITE}lamp" in note for note in notes), answer.text
    assert answer.text.count("http") == answer.text.count(f"](<{SITE}")
    assert labels(answer) == ["Helpful", "Not helpful", "Evidence"]


async def test_who_asks_too_much_is_told_so_and_nobody_else(trial: Trial) -> None:
    ann, bob, channel = trial.user(), trial.user(), trial.channel()
    public = 0
    for _ in range(13):  # six a minute, and a minute may begin meanwhile
        asked = await trial.world.slash(ann, channel, "ask", question=COVERED)
        told = (await trial.result_of(asked)).text
        if asked.ephemeral:
            break
        public += 1
        assert COVERED_FACT in told
    assert "You are asking very fast" in told
    assert public >= 6
    assert len(trial.from_bot(channel, bob)) == public


async def test_sections_are_suggested_while_somebody_types(trial: Trial) -> None:
    ann, channel = trial.user(), trial.channel()
    choices = await trial.world.autocomplete(
        ann, channel, "ask", "section", question="What turns the lens?", section="clokwork"
    )
    assert choices[0]["value"] == "The lamp › The clockwork"
    nothing = await trial.world.autocomplete(ann, channel, "ask", "section", section="")
    assert {choice["value"] for choice in nothing} >= {"The lamp", "Supplies"}


async def test_a_section_limits_the_search(trial: Trial) -> None:
    ann, channel = trial.user(), trial.channel()
    asked = await trial.world.slash(
        ann,
        channel,
        "ask",
        question="What does the keeper do?",
        section="Duties of the keeper › Fog",
    )
    answer = await trial.result_of(asked)
    assert "bell" in answer.text
    assert "wick" not in answer.text
    unknown = await trial.world.slash(ann, channel, "ask", question=COVERED, section="Cooking")
    assert "no section called “Cooking”" in (await trial.result_of(unknown)).text


async def test_a_private_answer_is_seen_by_its_asker_alone_until_it_is_shared(
    trial: Trial,
) -> None:
    ann, bob, channel = trial.user(), trial.user(), trial.channel()
    asked = await trial.world.slash(ann, channel, "ask", question=COVERED, private=True)
    answer = await trial.result_of(asked)
    assert asked.ephemeral
    assert COVERED_FACT in answer.text
    assert not trial.from_bot(channel, bob)
    custom_id = button(answer, "Share")
    for sentence in ("Shared in this channel.", "It is shared already."):
        click = await trial.world.click(ann, answer, custom_id)
        await click.response()
        assert click.original is not None
        assert click.original.text == sentence
        assert click.ephemeral
    await trial.until(lambda: any(map(is_finished, trial.from_bot(channel, bob))))
    await trial.quiet(channel, bob)
    (shared,) = trial.from_bot(channel, bob)
    assert COVERED_FACT in shared.text
    assert f"> {COVERED}" in shared.text


async def test_a_passage_is_explained_from_the_menu_of_its_message(trial: Trial) -> None:
    ann, bob, channel = trial.user(), trial.user(), trial.channel()
    passage = await trial.world.say(bob, channel, VERBATIM)
    asked = await trial.world.context_menu(ann, passage, "Explain this passage")
    answer = await trial.result_of(asked)
    assert "Trimming the wick" in answer.text
    assert "Ask again without the quote" in labels(answer)


async def test_a_passage_that_is_not_from_the_book_is_said_to_be_none(trial: Trial) -> None:
    ann, channel = trial.user(), trial.channel()
    passage = await trial.world.say(ann, channel, FOREIGN)
    asked = await trial.world.context_menu(ann, passage, "Explain this passage")
    assert "not" in (await trial.result_of(asked)).text
    picture = await trial.world.say(ann, channel, "", files={"chart.png": b"not a picture"})
    nothing = await trial.world.context_menu(ann, picture, "Explain this passage")
    await nothing.response()
    assert nothing.original is not None
    assert "I can't read images" in nothing.original.text


# --- messages -----------------------------------------------------------------------------


async def test_a_mention_is_answered_in_a_thread_on_it(trial: Trial) -> None:
    ann, channel = trial.user(), trial.channel()
    question = await trial.world.say(ann, channel, f"{trial.mention} {COVERED}")
    answer = await trial.answer_to(question)
    assert question.thread is answer.channel
    assert question.thread is not None
    assert question.thread.name == COVERED
    assert COVERED_FACT in answer.text


async def test_a_mention_of_the_bots_own_role_is_one_of_the_bot(trial: Trial) -> None:
    guild = trial.world.guild
    role = next(role for role in guild.roles.values() if role.bot_id == trial.world.bot.id)
    role.mentionable = True
    question = await trial.world.say(trial.user(), trial.channel(), f"<@&{role.id}> {COVERED}")
    assert COVERED_FACT in (await trial.answer_to(question)).text


async def test_a_mention_without_a_question_is_told_how_to_ask(trial: Trial) -> None:
    answer = await trial.ask(trial.user(), trial.channel(), "")
    assert "Put your question into the same message" in answer.text
    assert not labels(answer)


async def test_what_the_book_does_not_say_is_not_said(trial: Trial) -> None:
    answer = await trial.ask(trial.user(), trial.channel(), UNCOVERED)
    assert "[1]" not in answer.text
    assert "Evidence" not in labels(answer)


@pytest.mark.parametrize("way", ["reply", "lines", "forward"])
async def test_a_quote_becomes_the_passage_that_is_explained(trial: Trial, way: str) -> None:
    world, ann, bob, channel = trial.world, trial.user(), trial.user(), trial.channel()
    passage = await world.say(bob, channel, VERBATIM)
    if way == "reply":
        text = f"{trial.mention} why does that matter?"
        question = await world.say(ann, channel, text, reply_to=passage)
    elif way == "lines":
        text = f"> {VERBATIM}\n{trial.mention} why does that matter?"
        question = await world.say(ann, channel, text)
    else:
        direct = world.direct_channel(ann, world.bot)
        question = await world.say(ann, direct, forward_of=passage)
    answer = await trial.answer_to(question)
    assert "Trimming the wick" in answer.text
    assert "Ask again without the quote" in labels(answer)


async def test_direct_messages_are_answered_without_a_mention(trial: Trial) -> None:
    ann = trial.user()
    direct = trial.world.direct_channel(ann, trial.world.bot)
    first = await trial.answer_to(await trial.world.say(ann, direct, COVERED))
    assert COVERED_FACT in first.text
    second = await trial.answer_to(await trial.world.say(ann, direct, BELL))
    assert BELL_FACT in second.text
    asked = await trial.world.slash(ann, direct, "ask", question=COVERED)
    assert COVERED_FACT in (await trial.result_of(asked)).text


async def test_a_thread_is_followed_until_people_talk_and_again_on_mention(trial: Trial) -> None:
    world, ann, bob = trial.world, trial.user(), trial.user()
    answer = await trial.ask(ann, trial.channel(), COVERED)
    thread = answer.channel
    assert BELL_FACT in (await trial.answer_to(await world.say(bob, thread, BELL))).text
    silent = [
        await world.say(ann, thread, "Thank you"),
        await world.say(ann, thread, f"<@{bob.id}> did you know that the bell is so heavy?"),
        await world.say(bob, thread, "What did you think that it weighs?"),
    ]
    back = await trial.answer_to(await world.say(ann, thread, f"{trial.mention} {BELL}"))
    assert BELL_FACT in back.text
    assert not _between(trial, silent[0], back)
    again = await trial.answer_to(await world.say(ann, thread, COVERED))
    assert COVERED_FACT in again.text


async def test_a_thread_of_other_people_is_left_alone(trial: Trial) -> None:
    world, ann = trial.world, trial.user()
    thread = await world.open_thread(ann, trial.channel(), "Lunch")
    await world.say(ann, thread, COVERED)
    await trial.quiet(thread, ann)
    assert not trial.from_bot(thread)


async def test_nobody_else_is_answered(trial: Trial) -> None:
    world, ann, channel = trial.world, trial.user(), trial.channel()
    robot = world.add_user("robot", world.guild, bot=True)
    await world.say(ann, channel, COVERED)
    await world.say(ann, channel, f"@everyone {COVERED}")
    await world.say(ann, channel, f"@here {COVERED}")
    await world.say(robot, channel, f"{trial.mention} {COVERED}")
    await trial.quiet(channel, ann)
    assert not trial.from_bot(channel)
    assert not world.threads_of(channel)


async def test_an_edited_question_is_answered_anew_in_the_same_place(trial: Trial) -> None:
    world, ann, channel = trial.world, trial.user(), trial.channel()
    question = await world.say(ann, channel, f"{trial.mention} {COVERED}")
    answer = await trial.answer_to(question)
    await world.edit(question, f"{trial.mention} {BELL}")
    await trial.until(lambda: BELL_FACT in answer.text and is_finished(answer))
    assert COVERED_FACT not in answer.text
    assert trial.from_bot(answer.channel) == [answer]
    await world.unfurl(question, {"title": "A preview"})
    await trial.quiet(channel, ann)
    assert trial.from_bot(answer.channel) == [answer]


async def test_a_deleted_question_takes_its_answer_with_it(trial: Trial) -> None:
    world, ann, channel = trial.world, trial.user(), trial.channel()
    question = await world.say(ann, channel, f"{trial.mention} {COVERED}")
    answer = await trial.answer_to(question)
    helpful = button(answer, "Helpful")
    other = await trial.answer_to(await world.say(ann, answer.channel, BELL))
    await world.delete(question)
    await trial.until(lambda: answer.deleted, "the removal of the answer")
    assert not other.deleted
    for part in walk(other.components):
        if part.get("label") == "Helpful":
            part["custom_id"] = helpful
    click = await world.click(ann, other, helpful)
    await click.response()
    assert click.original is not None
    assert click.original.text == "This answer is not stored any more."


async def test_a_forum_is_answered_only_where_it_is_set_so(trial: Trial) -> None:
    world, ann = trial.world, trial.user()
    forum = trial.channel(ChannelType.FORUM)
    before = await world.open_post(ann, forum, "Wick", COVERED)
    await trial.quiet(before, ann)
    assert not trial.from_bot(before)
    asked = await world.say(ann, before, f"{trial.mention} {BELL}")
    assert BELL_FACT in (await trial.answer_to(asked)).text
    done = await world.slash(
        world.owner, before, "course set", auto_answer=True, where="this channel"
    )
    await done.response()
    post = await world.open_post(ann, forum, "The wick", COVERED)
    await trial.until(lambda: any(map(is_finished, trial.from_bot(post))))
    (answer,) = trial.from_bot(post)
    assert COVERED_FACT in answer.text
    assert not world.threads_of(post)
    loud = await world.open_post(ann, forum, "Listen", f"@everyone {COVERED}")
    await trial.quiet(loud, ann)
    assert not trial.from_bot(loud)


@pytest.mark.parametrize(
    "denied", [Permission.CREATE_PUBLIC_THREADS, Permission.SEND_MESSAGES_IN_THREADS]
)
async def test_without_the_right_to_open_threads_or_write_in_them_a_reply_answers(
    trial: Trial, denied: Permission
) -> None:
    world, ann, channel = trial.world, trial.user(), trial.channel()
    world.restrict(channel, world.everyone(world.guild), deny=denied)
    question = await world.say(ann, channel, f"{trial.mention} {COVERED}")
    answer = await trial.answer_to(question)
    assert answer.channel is channel
    assert answer.kind is MessageType.REPLY
    assert answer.replied is question
    follow_up = await world.say(ann, channel, BELL, reply_to=answer)
    assert BELL_FACT in (await trial.answer_to(follow_up)).text
    asked = await world.slash(ann, channel, "ask", question=COVERED)
    assert COVERED_FACT in (await trial.result_of(asked)).text
    assert not world.threads_of(channel)


async def test_a_thread_that_discord_tells_of_late_is_answered(trial: Trial) -> None:
    world, ann, channel = trial.world, trial.user(), trial.channel()
    trial.server.faults.gateway(Behind("MESSAGE_CREATE", 30), "THREAD_CREATE")
    thread = await world.open_thread(ann, channel, "The wick")
    question = await world.say(ann, thread, f"{trial.mention} {COVERED}")
    answer = await trial.answer_to(question)
    assert answer.channel is thread
    assert COVERED_FACT in answer.text


def _between(trial: Trial, first: Message, last: Message) -> list[Message]:
    return [m for m in trial.from_bot(first.channel) if first.id < m.id < last.id]
