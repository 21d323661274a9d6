"""Answers through the real discord.py: where they stand, and what readers see of them."""

import asyncio
from dataclasses import replace

import discord
import pytest

from adapters.discord.reply import DiscordReply, notify, retract, tell_reader
from core.domain import ContextMode
from core.domain.errors import Stopped
from core.storage.inbox.base import Kind, LeaseLost, Posted
from tests.samples import request
from tests.wire.discord import (
    MessageFlag,
    MessageType,
    Permission,
    User,
    World,
)
from tests.wire.replies.discord.jobs import (
    about_interaction,
    about_message,
    acknowledge,
    answered,
    by_bot,
    deferred,
    labels,
    long_text,
    opened,
    thread_of,
    used,
)
from tests.wire.replies.jobs import QUESTION, Kept, Killed, again, finished

STOPPED = Stopped.user_message
UNBOUND = "No course is set in this channel."
EDIT = "PATCH /channels/{channel_id}/messages/{message_id}"


# --- where an answer stands ---------------------------------------------------------------


async def test_a_mention_is_answered_in_a_thread_named_by_the_question(
    client: discord.Client, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    kept = Kept()
    reply = await opened(client, about_message(question), kept)
    thread = thread_of(world, question)
    (placeholder,) = by_bot(world, thread)
    assert (thread.name, placeholder.text) == (QUESTION, "Searching the book …")
    assert labels(placeholder) == ["Stop"]
    assert kept.posted == reply.posted == Posted((str(placeholder.id),), str(thread.id))
    await reply.finish(finished(about_message(question)))
    assert by_bot(world, thread) == [placeholder]
    assert placeholder.text.startswith("A tree [1].\n\n-# From [1] [Heaps › Definition](<https://")
    assert labels(placeholder) == ["Helpful", "Not helpful", "Evidence"]
    assert placeholder.flags & MessageFlag.SUPPRESS_EMBEDS
    assert by_bot(world, world.channel) == []


async def test_a_follow_up_in_a_thread_is_answered_by_a_reply_there(
    client: discord.Client, world: World, ann: User
) -> None:
    thread = await world.open_thread(ann, world.channel, "Heaps")
    question = await world.say(ann, thread, "and why?")
    reply = await answered(client, about_message(question, open_thread=False))
    (answer,) = by_bot(world, thread)
    assert (answer.kind, answer.replied) == (MessageType.REPLY, question)
    assert reply.posted == Posted((str(answer.id),))


async def test_where_no_thread_may_be_opened_the_answer_is_a_reply(
    client: discord.Client, world: World, ann: User
) -> None:
    world.restrict(world.channel, world.bot, deny=Permission.CREATE_PUBLIC_THREADS)
    question = await world.say(ann, world.channel, QUESTION)
    reply = await answered(client, about_message(question))
    (answer,) = by_bot(world, world.channel)
    assert (answer.replied, reply.posted) == (question, Posted((str(answer.id),)))


async def test_where_threads_are_read_only_the_answer_is_a_reply(
    client: discord.Client, world: World, ann: User
) -> None:
    world.restrict(world.channel, world.bot, deny=Permission.SEND_MESSAGES_IN_THREADS)
    question = await world.say(ann, world.channel, QUESTION)
    await answered(client, about_message(question), text=long_text(4))
    assert len(by_bot(world, world.channel)) == 2
    thread = thread_of(world, question)
    assert by_bot(world, thread) == []
    assert thread.thread is not None
    assert thread.thread.archived, "an empty thread is put away"


async def test_a_direct_message_is_answered_where_it_stands(
    client: discord.Client, world: World, ann: User
) -> None:
    direct = world.direct_channel(world.bot, ann)
    question = await world.say(ann, direct, QUESTION)
    await answered(client, about_message(question, open_thread=False))
    assert [one.replied for one in by_bot(world, direct)] == [question]


async def test_a_command_is_answered_in_place_and_a_thread_goes_on_from_there(
    client: discord.Client, world: World, ann: User
) -> None:
    interaction = deferred(world, ann)
    reply = await answered(client, about_interaction(interaction), text=long_text(5))
    (answer,) = by_bot(world, world.channel)
    assert answer is interaction.original
    assert answer.text.startswith(f"> {QUESTION}\n0. A heap")
    thread = thread_of(world, answer)
    parts = by_bot(world, thread)
    assert thread.name == QUESTION
    assert len(parts) == 2
    assert labels(parts[-1]) == ["Helpful", "Not helpful", "Evidence"]
    assert reply.posted == Posted(tuple(str(one.id) for one in (answer, *parts)), str(thread.id))


async def test_a_long_private_answer_goes_on_for_its_asker_alone(
    client: discord.Client, world: World, ann: User
) -> None:
    interaction = deferred(world, ann, ephemeral=True)
    job, kept = about_interaction(interaction, ephemeral=True), Kept()
    reply = await answered(client, job, kept, long_text(6))
    answer, *parts = by_bot(world, world.channel, ann)
    assert answer is interaction.original
    assert len(parts) == 2
    assert all(one.ephemeral for one in (answer, *parts))
    assert not any("The rest does not fit here." in one.text for one in (answer, *parts))
    assert [labels(one) for one in (answer, *parts)][:2] == [[], []]
    assert labels(parts[-1]) == ["Helpful", "Not helpful", "Evidence", "Share"]
    assert by_bot(world, world.channel) == []
    assert reply.posted == Posted(tuple(str(one.id) for one in (answer, *parts)))
    await answered(client, again(job, kept), kept, long_text(6))
    assert by_bot(world, world.channel, ann) == [answer, *parts]


async def test_a_token_that_dies_within_a_private_answer_sends_the_rest_directly(
    client: discord.Client, world: World, ann: User
) -> None:
    job, kept = about_interaction(deferred(world, ann, ephemeral=True), ephemeral=True), Kept()
    reply = await opened(client, job, kept)
    world.clock.advance(901)
    await reply.finish(finished(job, long_text(6)))
    assert by_bot(world, world.channel) == []
    assert by_bot(world, world.direct_channel(world.bot, ann))


async def test_a_command_in_a_thread_is_answered_in_one_message(
    client: discord.Client, world: World, ann: User
) -> None:
    thread = await world.open_thread(ann, world.channel, "Heaps")
    interaction = deferred(world, ann, channel=thread)
    job = about_interaction(interaction, open_thread=False)
    await answered(client, job, text=long_text(5))
    assert by_bot(world, thread) == [interaction.original]


async def test_a_shared_answer_stands_in_the_channel_below_its_question(
    client: discord.Client, world: World, ann: User
) -> None:
    job = about_message(await world.say(ann, world.channel, QUESTION))
    address = {**job.arrival.address, "message": None}
    shared = replace(job, arrival=replace(job.arrival, address=address))
    await answered(client, shared)
    (answer,) = by_bot(world, world.channel)
    assert answer.replied is None
    assert answer.text.startswith(f"> {QUESTION}\nA tree [1].")
    assert thread_of(world, answer).name == QUESTION


# --- how it comes about -------------------------------------------------------------------


async def test_an_answer_grows_by_edits_and_ends_whole(
    client: discord.Client, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    job = about_message(question)
    reply = await opened(client, job)
    for word in ("A ", "complete ", "binary ", "tree "):
        await reply.update(word)
        await asyncio.sleep(0.05)
    await reply.finish(finished(job, "A complete binary tree [1]."))
    (answer,) = by_bot(world, thread_of(world, question))
    grown = answer.revisions[1:-1]
    assert grown[0] == "A …"
    assert grown[-1] == "A complete binary tree …"
    assert answer.text.startswith("A complete binary tree [1].")


async def test_while_there_is_no_text_the_reader_is_told_what_is_read(
    client: discord.Client, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    reply = await opened(client, about_message(question))
    (message,) = by_bot(world, thread_of(world, question))
    await reply.reading(("3.2 *Ownership* & <@1>", "4 Borrowing"))
    await world.until(lambda: message.text.startswith("Reading “3.2"))
    shown = message.text.replace("\\", "").replace("\u200b", "")
    assert shown == "Reading “3.2 *Ownership* & <@1>”, “4 Borrowing” …"
    assert labels(message) == ["Stop"]
    await reply.update("A heap")
    await world.until(lambda: message.text == "A heap …")
    await reply.finish(finished(about_message(question)))


async def test_an_answer_that_comes_at_once_does_not_tell_what_is_read(
    client: discord.Client, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    reply = await opened(client, about_message(question))
    await reply.reading(("Heaps",))
    await reply.finish(finished(about_message(question)))
    (message,) = by_bot(world, thread_of(world, question))
    assert not any("Reading" in revision for revision in message.revisions)


async def test_many_deltas_are_few_edits(client: discord.Client, world: World, ann: User) -> None:
    job = about_message(await world.say(ann, world.channel, QUESTION))
    reply = await DiscordReply.open(client, job, Kept(), interval=0.2)
    for number in range(50):
        await reply.update(f"{number} ")
        await asyncio.sleep(0.01)
    await reply.finish(finished(job))
    assert len(world.history.of(EDIT)) <= 6


async def test_what_is_withdrawn_is_shown_no_more(
    client: discord.Client, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    reply = await opened(client, about_message(question))
    (answer,) = by_bot(world, thread_of(world, question))
    await reply.update("Wrong")
    await world.until(lambda: answer.text == "Wrong …")
    await reply.withdraw()
    await world.until(lambda: answer.text == "Searching the book …")
    await reply.update("Right")
    await world.until(lambda: answer.text == "Right …")
    searching = "Searching the book …"
    assert answer.revisions == [searching, "Wrong …", searching, "Right …"]


async def test_a_stopped_answer_is_a_sentence_without_buttons(
    client: discord.Client, world: World, ann: User
) -> None:
    question, kept = await world.say(ann, world.channel, QUESTION), Kept()
    reply = await opened(client, about_message(question), kept)
    await reply.update("A tree")
    await reply.leave()
    await tell_reader(client, replace(about_message(question), posted=reply.posted), kept, STOPPED)
    (answer,) = by_bot(world, thread_of(world, question))
    assert (answer.text, labels(answer)) == (STOPPED, [])


async def test_a_refusal_is_told_once_as_a_reply(
    client: discord.Client, world: World, ann: User
) -> None:
    question, kept = await world.say(ann, world.channel, QUESTION), Kept()
    job = about_message(question, refusal=UNBOUND)
    for _ in range(2):
        await tell_reader(client, replace(job, posted=kept.posted), kept, UNBOUND)
    (answer,) = by_bot(world, world.channel)
    assert {*answer.revisions} == {UNBOUND}
    assert question.thread is None
    assert not kept.settled, "a reply can be found again"


async def test_a_public_response_that_is_refused_is_gone_and_told_alone(
    client: discord.Client, world: World, ann: User
) -> None:
    interaction, kept = used(world, ann), Kept()
    acknowledge(world, interaction)
    reply = await opened(client, about_interaction(interaction), kept)
    await reply.update("A tree")
    await reply.leave()
    job = replace(about_interaction(interaction), posted=reply.posted)
    await tell_reader(client, job, kept, STOPPED)
    assert by_bot(world, world.channel) == []
    (told,) = interaction.follow_ups
    assert (told.text, told.ephemeral) == (STOPPED, True)
    assert kept.settled


@pytest.mark.parametrize("dies", [False, True], ids=["at once", "after a crash"])
async def test_a_refusal_after_a_public_acknowledgement_is_told_alone(
    client: discord.Client, world: World, ann: User, dies: bool
) -> None:
    interaction, kept = used(world, ann), Kept()
    acknowledge(world, interaction)
    asked = about_interaction(interaction)
    job = replace(asked, arrival=replace(asked.arrival, refusal=STOPPED, request=None))
    if dies:
        kept.dies = True
        with pytest.raises(Killed):
            await tell_reader(client, job, kept, STOPPED)
        kept.dies = False
    await tell_reader(client, job, kept, STOPPED)
    assert by_bot(world, world.channel) == []
    told = [(one.text, one.ephemeral) for one in interaction.follow_ups]
    assert told == ([] if dies else [(STOPPED, True)])  # at most once


async def test_who_dies_before_a_private_sentence_has_sent_none(
    client: discord.Client, world: World, ann: User
) -> None:
    interaction, kept = used(world, ann), Kept()
    acknowledge(world, interaction)
    kept.dies = True
    with pytest.raises(Killed):
        await tell_reader(client, about_interaction(interaction), kept, STOPPED)
    assert by_bot(world, world.channel, ann) == []
    assert interaction.follow_ups == []


@pytest.mark.parametrize("text", ["A tree [1].", long_text(5)], ids=["short", "long"])
async def test_a_retracted_public_answer_leaves_no_open_thread_named_by_its_question(
    client: discord.Client, world: World, ann: User, text: str
) -> None:
    interaction, kept = deferred(world, ann), Kept()
    job = about_interaction(interaction)
    await answered(client, job, kept, text)
    assert interaction.original is not None
    thread = thread_of(world, interaction.original)
    await tell_reader(client, again(job, kept), kept, STOPPED)
    assert thread.name != QUESTION
    assert thread.thread is not None
    assert thread.thread.archived
    assert by_bot(world, thread) == by_bot(world, world.channel) == []
    assert [one.text for one in interaction.follow_ups] == [STOPPED]


async def test_a_late_notice_leaves_a_private_answer_as_it_is(
    client: discord.Client, world: World, ann: User
) -> None:
    interaction = deferred(world, ann, ephemeral=True)
    job = about_interaction(interaction, ephemeral=True)
    await answered(client, job)
    await notify(client, job, "Yours waits its turn.")
    assert interaction.original is not None
    assert interaction.original.text.startswith("A tree [1].")
    (notice,) = interaction.follow_ups
    assert (notice.text, notice.ephemeral) == ("Yours waits its turn.", True)


async def test_a_private_answer_takes_the_place_of_an_early_notice(
    client: discord.Client, world: World, ann: User
) -> None:
    interaction = deferred(world, ann, ephemeral=True)
    job = about_interaction(interaction, ephemeral=True)
    await notify(client, job, "Yours waits its turn.")
    await answered(client, job)
    (answer,) = by_bot(world, world.channel, ann)
    assert answer.text.startswith("A tree [1].")


async def test_an_edited_question_is_answered_anew_on_the_same_messages(
    client: discord.Client, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    long = await answered(client, about_message(question), text=long_text(5))
    first, *_ = by_bot(world, thread_of(world, question))
    redo = about_message(question, key="k:edit:1", kind=Kind.REDO, posted=long.posted)
    kept = Kept(long.posted)
    reply = await opened(client, redo, kept)
    assert first.text == "Searching the book …"
    await reply.finish(finished(redo, "Short [1]."))
    assert by_bot(world, thread_of(world, question)) == [first]
    assert first.text.startswith("Short [1].")
    assert kept.posted.messages == (str(first.id),)


async def test_a_quoted_question_offers_to_ask_again_without_its_quote(
    client: discord.Client, world: World, ann: User
) -> None:
    quoted = request(context_mode=ContextMode.SELECTED_TEXT, selected_text="A heap is a tree.")
    question = await world.say(ann, world.channel, QUESTION)
    await answered(client, about_message(question, asked=quoted))
    (answer,) = by_bot(world, thread_of(world, question))
    assert "Ask again without the quote" in labels(answer)


async def test_whoever_lost_the_lease_sends_nothing_more(
    client: discord.Client, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    kept = Kept()
    job = about_message(question)
    reply = await opened(client, job, kept)
    kept.is_lost = True
    calls = len(world.history.calls)
    with pytest.raises(LeaseLost):
        await reply.finish(finished(job))
    assert len(world.history.calls) == calls


async def test_a_retracted_answer_is_gone_and_retracting_it_again_is_no_error(
    client: discord.Client, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    kept = Kept()
    job = about_message(question)
    await answered(client, job, kept, long_text(5))
    thread = thread_of(world, question)
    assert thread.thread is not None
    thread.thread.archived = True
    for _ in range(2):
        await retract(client, again(job, kept))
    assert by_bot(world, thread) == []
