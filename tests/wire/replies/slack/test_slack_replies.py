"""Answers through the real slack_sdk: where they stand, and what readers see of them."""

import asyncio
from dataclasses import replace

import pytest

from adapters.slack.installations import Workspaces
from adapters.slack.reply import retract, tell
from core.domain import ContextMode
from core.domain.errors import DeliveryError
from core.storage.inbox.base import Kind, LeaseLost, Posted
from tests.samples import URL, request
from tests.wire.replies.jobs import QUESTION, Kept, Killed, again, finished, long_text
from tests.wire.replies.slack.jobs import (
    about_command,
    about_message,
    answered,
    as_read,
    body,
    by_bot,
    ids,
    labels,
    notes,
    opened,
    workspaces_of,
)
from tests.wire.slack import Refused, SlackServer, User, World

BUTTONS = ["Helpful", "Not helpful", "Delete this answer", "Evidence"]


# --- where an answer stands ---------------------------------------------------------------


async def test_a_question_is_answered_in_its_thread_with_footnotes_and_buttons(
    shared: Workspaces, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    kept = Kept()
    reply = await opened(shared, about_message(question), kept)
    (placeholder,) = by_bot(world)
    assert labels(placeholder) == ["Stop"]
    assert kept.posted == reply.posted == Posted(ids(placeholder))
    await reply.finish(finished(about_message(question)))
    assert by_bot(world) == [placeholder]
    assert placeholder.thread_ts == question.ts
    assert body(placeholder) == "A tree [1]."
    assert notes(placeholder).startswith(f"From [1] <{URL}|Heaps › Definition>")
    assert labels(placeholder) == BUTTONS
    assert placeholder.text == "A tree [1]."
    assert placeholder.stream is None
    assert placeholder.metadata is not None
    assert placeholder.metadata["event_payload"]["part"] == 0


async def test_an_answer_is_seen_while_it_is_written(
    shared: Workspaces, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    reply = await opened(shared, about_message(question))
    (message,) = by_bot(world)
    await reply.update("A heap is a tree. Its root is the largest key. And")
    await world.until(lambda: "A heap is a tree." in message.shown)
    assert "Stop" in message.shown
    await reply.update(" this is the end. " + "Then it goes on. " * 30)
    await world.until(lambda: "this is the end" in message.shown)
    await reply.finish(finished(about_message(question)))
    assert body(message) == "A tree [1]."
    assert by_bot(world) == [message]


async def test_what_a_stream_does_tells_the_reader_what_is_being_done(
    server: SlackServer, ann: User
) -> None:
    world = server.world
    question = await world.say(ann, world.channel, QUESTION)
    reply = await opened(workspaces_of(server), about_message(question))
    (message,) = by_bot(world)
    (task,) = message.task_cards
    assert (task["title"], task["status"]) == ("Searching the book …", "in_progress")
    await reply.update("A heap is a tree. And")
    await world.until(lambda: len(message.task_cards) == 2)
    assert [task["status"] for task in message.task_cards] == ["complete", "in_progress"]
    await reply.leave()


async def test_while_there_is_no_text_the_reader_is_told_what_is_read(
    shared: Workspaces, server: SlackServer, ann: User
) -> None:
    world, headings = server.world, ("3.2 *Ownership* & <!here>", "4 Borrowing")
    question = await world.say(ann, world.channel, QUESTION)
    reply = await opened(shared, about_message(question))
    (message,) = by_bot(world)
    await reply.reading(headings)
    reads = "Reading “3.2 *Ownership* & <!here>”, “4 Borrowing” …"

    def told() -> str:
        cards = [str(card["title"]) for card in message.task_cards]
        return as_read("\n".join([*cards, body(message)]))

    await world.until(lambda: reads in told())
    assert "Stop" in message.shown
    await reply.update("A heap is a tree. And")
    await world.until(lambda: "A heap is a tree." in message.shown)
    await reply.finish(finished(about_message(question)))
    assert body(message) == "A tree [1]."
    statuses = {card["status"] for card in message.task_cards}
    assert statuses <= {"complete"}


async def test_an_answer_that_comes_at_once_does_not_tell_what_is_read(
    shared: Workspaces, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    reply = await opened(shared, about_message(question))
    (message,) = by_bot(world)
    await reply.reading(("Heaps",))
    await reply.finish(finished(about_message(question)))
    assert "Reading" not in str([message.revisions, message.task_cards])


async def test_a_withdrawn_text_is_gone_at_once(
    shared: Workspaces, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    reply = await opened(shared, about_message(question))
    (message,) = by_bot(world)
    await reply.update("A wrong sentence. And")
    await world.until(lambda: "wrong" in message.shown)
    await reply.withdraw()
    await world.until(lambda: body(message) == "Searching the book …")
    await reply.update("A right sentence. And")
    await world.until(lambda: "right" in message.shown)
    await reply.finish(finished(about_message(question)))
    assert body(message) == "A tree [1]."


@pytest.mark.costly
async def test_a_long_answer_goes_on_in_the_thread(
    shared: Workspaces, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    kept = Kept()
    text = long_text(40)
    await answered(shared, about_message(question), kept, text)
    shown = by_bot(world)
    assert len(shown) == 4
    assert kept.posted.messages == ids(*shown)
    assert {one.thread_ts for one in shown} == {question.ts}
    assert "".join("".join(map(body, shown)).split()) == "".join(text.split())
    assert [labels(one) for one in shown] == [[], [], [], BUTTONS]
    assert URL in notes(shown[-1])


async def test_a_shorter_answer_anew_takes_the_place_of_the_longer_one(
    shared: Workspaces, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    kept = Kept()
    await answered(shared, about_message(question), kept, long_text(25))
    first = by_bot(world)[0]
    job = about_message(question, posted=kept.posted, kind=Kind.REDO, key="slack:edit")
    await answered(shared, job, kept)
    assert by_bot(world) == [first]
    assert body(first) == "A tree [1]."
    assert kept.posted.messages == ids(first)


async def test_a_command_is_answered_below_its_question(
    shared: Workspaces, world: World, ann: User
) -> None:
    kept = Kept()
    await answered(shared, about_command(world, ann), kept)
    question, answer = by_bot(world)
    assert body(question) == f"> {QUESTION}"
    assert (question.thread_ts, answer.thread_ts) == (None, question.ts)
    assert kept.posted == Posted(ids(answer), question.ts)
    await retract(shared, again(about_command(world, ann), kept))
    assert by_bot(world) == []


async def test_a_question_that_nobody_sees_stands_above_its_answer(
    shared: Workspaces, world: World, ann: User
) -> None:
    explained = await world.say(ann, world.channel, "A heap is a tree.")
    job = about_message(explained)
    address = {**job.arrival.address, "thread": explained.ts, "message": None}
    await answered(shared, replace(job, arrival=replace(job.arrival, address=address)))
    (answer,) = by_bot(world)
    assert body(answer) == f"> {QUESTION}\n\nA tree [1]."


async def test_a_quoted_question_can_be_asked_again_without_its_quote(
    shared: Workspaces, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    asked = request(
        query_text=QUESTION, context_mode=ContextMode.SELECTED_TEXT, selected_text="A heap."
    )
    await answered(shared, about_message(question, asked=asked))
    assert labels(by_bot(world)[0]) == [*BUTTONS, "Ask again without the quote"]


async def test_a_sentence_to_the_asker_takes_the_place_of_what_was_shown(
    shared: Workspaces, world: World, ann: User
) -> None:
    question, kept = await world.say(ann, world.channel, QUESTION), Kept()
    reply = await opened(shared, about_message(question), kept)
    await reply.update("A heap is a tree. And")
    await reply.leave()
    await tell(shared, again(about_message(question), kept), kept, "No section “*x*”.")
    assert by_bot(world) == []
    (told,) = by_bot(world, ann)
    assert (told.visible_to, told.thread_ts) == (ann.id, None)
    assert body(told).replace("\\", "") == "No section “*x*”."
    assert labels(told) == []
    assert kept.settled


async def test_a_refusal_is_one_call_and_no_stream(server: SlackServer, ann: User) -> None:
    world = server.world
    question, kept = await world.say(ann, world.channel, QUESTION), Kept()
    job = about_message(question, refusal="Please wait.")
    await tell(workspaces_of(server), job, kept, "Please wait.")
    assert [body(one) for one in by_bot(world, ann)] == ["Please wait."]
    assert [call.method for call in world.history.calls] == ["chat.postEphemeral"]


async def test_who_dies_before_a_private_sentence_has_sent_none(
    server: SlackServer, ann: User
) -> None:
    world = server.world
    question, kept = await world.say(ann, world.channel, QUESTION), Kept()
    kept.dies = True
    with pytest.raises(Killed):
        await tell(workspaces_of(server), about_message(question), kept, "Please wait.")
    assert by_bot(world, ann) == []


@pytest.mark.costly
async def test_an_answer_is_taken_back(shared: Workspaces, world: World, ann: User) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    kept = Kept()
    await answered(shared, about_message(question), kept, long_text(25))
    await world.delete(by_bot(world)[0])
    await retract(shared, again(about_message(question), kept))
    assert by_bot(world) == []


async def test_a_message_that_somebody_deleted_is_posted_anew(
    shared: Workspaces, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    reply = await opened(shared, about_message(question))
    await world.delete(by_bot(world)[0])
    await reply.finish(finished(about_message(question)))
    assert [body(one) for one in by_bot(world)] == ["A tree [1]."]


async def test_where_the_bot_is_no_member_it_says_so_for_good(
    shared: Workspaces, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    await world.leave(world.bot, world.channel)
    with pytest.raises(DeliveryError, match="invite the bot") as failure:
        await opened(shared, about_message(question))
    assert failure.value.permanent


async def test_who_lost_the_lease_sends_nothing_more(
    shared: Workspaces, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    kept = Kept()
    reply = await opened(shared, about_message(question), kept)
    kept.is_lost = True
    calls = len(world.history.calls)
    with pytest.raises(LeaseLost):
        await reply.finish(finished(about_message(question)))
    assert len(world.history.calls) == calls


# --- where Slack does not stream ------------------------------------------------------------


@pytest.mark.parametrize("method", ["chat.startStream", "chat.appendStream", "chat.stopStream"])
async def test_a_workspace_without_streams_is_served_by_edits_for_good(
    server: SlackServer, ann: User, method: str
) -> None:
    world, shared = server.world, workspaces_of(server)
    server.faults.api(Refused("method_deprecated"), method, times=None)
    for _ in range(2):
        question = await world.say(ann, world.channel, QUESTION)
        reply = await opened(shared, about_message(question))
        await reply.update("A heap is a tree. And")
        await asyncio.sleep(0.05)
        await reply.finish(finished(about_message(question)))
    assert [body(one) for one in by_bot(world)] == ["A tree [1]."] * 2
    assert len(world.history.of("chat.startStream")) == 1


async def test_a_stream_that_ended_by_itself_becomes_a_whole_answer(
    server: SlackServer, ann: User
) -> None:
    world = server.world
    question = await world.say(ann, world.channel, QUESTION)
    reply = await opened(workspaces_of(server), about_message(question))
    world.clock.advance(world.limits.stream_idle + 1)
    await reply.finish(finished(about_message(question)))
    assert [body(one) for one in by_bot(world)] == ["A tree [1]."]
