"""Answers in a session of Slack's: its status and title, its stop button, its stream's end."""

import asyncio
from dataclasses import replace

import pytest

from adapters.chat.incoming_message import TITLED
from adapters.slack.reply import SlackReply
from adapters.slack.streaming import AgentSessions, Session, digest, title_of
from core.storage.inbox.base import Job, Kind
from tests.samples import URL, request
from tests.wire.replies.jobs import QUESTION, Kept, finished
from tests.wire.replies.slack.jobs import (
    about_command,
    about_message,
    body,
    by_bot,
    labels,
    notes,
    workspaces_of,
)
from tests.wire.slack import Message, Refused, SlackServer, User, World

SET_STATUS, STOP, UPDATE = "agents.sessions.setStatus", "chat.stopStream", "chat.update"


@pytest.fixture
async def question(world: World, ann: User) -> Message:
    return await world.say(ann, world.channel, QUESTION)


@pytest.fixture
async def sessions(server: SlackServer) -> AgentSessions:
    return AgentSessions(workspaces_of(server))


async def opened(server: SlackServer, job: Job, session: Session) -> SlackReply:
    return await SlackReply.open(
        workspaces_of(server), job, Kept(job.posted), session, asker="ann", interval=0.0
    )


async def test_an_answer_ends_in_one_call_with_what_is_below_it(
    server: SlackServer, world: World, question: Message, sessions: AgentSessions
) -> None:
    job = about_message(question)
    reply = await opened(server, job, sessions.of(job))
    (message,) = by_bot(world)
    assert labels(message) == []
    session = world.sessions[question.channel.id, question.ts]
    assert (session.status, session.title) == ("processing", QUESTION)
    await reply.update("A tree [1]. And")
    await world.until(lambda: "A tree" in message.shown)
    await reply.finish(finished(job, "A tree [1]. And more [1]."))
    await sessions.end(job)
    assert message.text == "A tree [1]. And more [1]."
    assert labels(message) == ["Helpful", "Not helpful", "Delete this answer", "Evidence"]
    assert notes(message).startswith(f"From [1] <{URL}|")
    assert message.metadata is not None
    assert (message.edited_ts, world.history.of(UPDATE)) == (None, [])
    assert session.statuses == ["processing", "active"]
    assert len(world.history.of(SET_STATUS)) == 1
    *_, write = message.task_cards
    assert write["sources"] == [{"type": "url", "url": URL, "text": "Heaps › Definition"}]
    assert {card["status"] for card in message.task_cards} == {"complete"}
    assert all(len(card["title"]) <= 75 for card in message.task_cards)


async def test_a_text_that_was_taken_back_is_replaced(
    server: SlackServer, world: World, question: Message, sessions: AgentSessions
) -> None:
    job = about_message(question)
    reply = await opened(server, job, sessions.of(job))
    (message,) = by_bot(world)
    await reply.update("A wrong sentence. And")
    await world.until(lambda: "wrong" in message.shown)
    await reply.finish(finished(job))
    await sessions.end(job)
    assert body(message) == "A tree [1]."
    assert world.sessions[question.channel.id, question.ts].status == "active"


async def test_a_stream_that_slack_stopped_becomes_a_whole_answer(
    server: SlackServer, world: World, ann: User, question: Message, sessions: AgentSessions
) -> None:
    job = about_message(question)
    reply = await opened(server, job, sessions.of(job))
    session = world.sessions[question.channel.id, question.ts]
    await world.agents.stop(ann, session)
    await reply.finish(finished(job))
    await sessions.end(job)
    assert [body(one) for one in by_bot(world)] == ["A tree [1]."]
    assert session.status == "active"


@pytest.mark.parametrize("late", [True, False], ids=["unknown method", "no agent"])
async def test_without_sessions_there_is_the_older_status_and_a_button(
    server: SlackServer, world: World, question: Message, sessions: AgentSessions, late: bool
) -> None:
    world.agent_sessions = not late
    world.app.is_agent = late
    for _ in range(2):
        job = about_message(question, key=f"slack:{_}")
        sessions.of(job).begin(question.ts)
        await world.until(lambda: world.statuses or None)
        reply = await opened(server, job, sessions.of(job))
        assert labels(by_bot(world)[-1]) == ["Stop"]
        await reply.finish(finished(job))
        await sessions.end(job)
        assert body(by_bot(world)[-1]) == "A tree [1]."
        assert not world.statuses
    assert len(world.history.of(SET_STATUS)) == 1


async def test_without_the_event_of_the_stop_button_the_answer_has_its_own(
    server: SlackServer, world: World, question: Message, sessions: AgentSessions
) -> None:
    world.app.events -= {"agent_session_stopped"}
    job = about_message(question)
    await opened(server, job, sessions.of(job))
    assert labels(by_bot(world)[0]) == ["Stop"]
    await sessions.end(job)
    assert world.sessions[question.channel.id, question.ts].status == "active"


async def test_a_status_that_slack_refuses_hinders_no_answer(
    server: SlackServer, world: World, question: Message, sessions: AgentSessions
) -> None:
    server.faults.api(Refused("team_access_not_granted"), SET_STATUS, times=None)
    job = about_message(question)
    reply = await opened(server, job, sessions.of(job))
    await reply.finish(finished(job))
    await sessions.end(job)
    assert [body(one) for one in by_bot(world)] == ["A tree [1]."]


async def test_who_takes_over_ends_the_status_of_who_died(
    server: SlackServer, world: World, question: Message, sessions: AgentSessions
) -> None:
    job = about_message(question)
    sessions.of(job).begin(question.ts)
    session = await world.until(lambda: world.sessions.get((question.channel.id, question.ts)))
    heir = AgentSessions(workspaces_of(server))
    await heir.end(replace(job, fence=2))
    assert session.status == "active"


async def test_a_question_that_is_edited_gives_its_thread_another_title(
    world: World, question: Message, sessions: AgentSessions
) -> None:
    first = about_message(question)
    again = _edited(first, "What is a tree?")
    for job in (first, again):
        sessions.of(job).begin(question.ts)
        await sessions.end(job)
    assert world.sessions[question.channel.id, question.ts].title == "What is a tree?"


async def test_a_title_that_somebody_gave_is_kept(
    world: World, ann: User, question: Message, sessions: AgentSessions
) -> None:
    first = about_message(question)
    sessions.of(first).begin(question.ts)
    await sessions.end(first)
    session = world.sessions[question.channel.id, question.ts]
    await world.agents.rename(ann, session, "For the exam")
    again = _edited(first, "What is a tree?")
    sessions.of(again).begin(question.ts)
    await sessions.end(again)
    assert (session.title, session.status) == ("For the exam", "active")


def _edited(job: Job, text: str) -> Job:
    """Return the job that answers the question of another anew, as its editor's event makes it."""
    arrival = job.arrival
    assert arrival.request is not None
    titled = digest(title_of(arrival.request.query_text))
    return replace(
        job,
        arrival=replace(
            arrival,
            key=f"{arrival.key}:edit:1",
            kind=Kind.REDO,
            request=request(query_text=text),
            address={**arrival.address, TITLED: titled},
        ),
    )


async def test_a_command_is_answered_in_a_session_below_its_question(
    server: SlackServer, world: World, ann: User, sessions: AgentSessions
) -> None:
    job = about_command(world, ann)
    reply = await opened(server, job, sessions.of(job))
    await reply.finish(finished(job))
    await sessions.end(job)
    question, answer = by_bot(world)
    assert notes(question) == "Asked by ann"
    assert world.sessions[question.channel.id, question.ts].statuses == ["processing", "active"]
    link = next(one for one in by_bot(world, ann) if one.ephemeral)
    assert link.visible_to == ann.id
    assert world.permalink(question, world.workspace) in notes(link)
    assert answer.thread_ts == question.ts


async def test_a_finished_stream_says_that_nothing_is_being_done(
    server: SlackServer, world: World, question: Message, sessions: AgentSessions
) -> None:
    job = about_message(question)
    reply = await opened(server, job, sessions.of(job))
    await reply.finish(finished(job))
    (stop,) = world.history.of(STOP)
    assert stop.arguments["session_status"] == "active"


async def test_a_stream_that_is_replaced_leaves_its_session_at_work(
    server: SlackServer, world: World, question: Message, sessions: AgentSessions
) -> None:
    job = about_message(question)
    reply = await opened(server, job, sessions.of(job))
    (message,) = by_bot(world)
    await reply.update("A wrong sentence. And")
    await world.until(lambda: "wrong" in message.shown)
    await reply.withdraw()
    await world.until(lambda: world.history.of(STOP) or None)
    session = world.sessions[question.channel.id, question.ts]
    assert session.status == "processing"
    await reply.finish(finished(job))
    await sessions.end(job)
    assert session.status == "active"


async def test_a_workspace_whose_streams_know_no_status_has_its_answer_streamed(
    server: SlackServer, world: World, question: Message, sessions: AgentSessions
) -> None:
    server.faults.api(Refused("invalid_arguments"), STOP)
    job = about_message(question)
    reply = await opened(server, job, sessions.of(job))
    await reply.finish(finished(job))
    refused, stop = world.history.of(STOP)
    assert ("session_status" in refused.arguments, "session_status" in stop.arguments) == (
        True,
        False,
    )
    assert world.history.of(UPDATE) == []


async def test_one_refusal_turns_sessions_off_for_a_while_and_not_for_good(
    server: SlackServer, world: World, question: Message
) -> None:
    shared = workspaces_of(server, minute=0.02)  # ten minutes are 0.2 seconds
    sessions = AgentSessions(shared)
    server.faults.api(Refused("unknown_method"), SET_STATUS)
    for number in range(2):
        job = about_message(question, key=f"slack:{number}")
        session = sessions.of(job)
        reply = await SlackReply.open(shared, job, Kept(), session, interval=0.0)
        await reply.finish(finished(job))
        await sessions.end(job)
        assert bool(world.sessions) == bool(number)
        assert not world.statuses
        await asyncio.sleep(0.25)
    assert world.sessions[question.channel.id, question.ts].status == "active"


async def test_one_refusal_turns_streams_off_for_a_while_and_not_for_good(
    server: SlackServer, world: World, question: Message
) -> None:
    shared = workspaces_of(server, minute=0.02)
    server.faults.api(Refused("unknown_method"), "chat.startStream")
    for number in range(2):
        job = about_message(question, key=f"slack:{number}")
        reply = await SlackReply.open(shared, job, Kept(), interval=0.0)
        await reply.finish(finished(job))
        assert bool(world.history.of(STOP)) == bool(number)
        await asyncio.sleep(0.25)
