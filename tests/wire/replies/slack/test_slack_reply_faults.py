"""Answers through the real slack_sdk while Slack, the network or a process fails."""

import asyncio
import random
from contextlib import suppress
from dataclasses import replace

import pytest

from adapters.slack.installations import Workspaces
from adapters.slack.reply import abandon, tell, tidy
from core.domain.errors import DeliveryError, Unclear
from core.storage.inbox.base import LeaseLost, Posted
from tests.wire.pace import Figure
from tests.wire.replies.jobs import QUESTION, Kept, again, finished, long_text
from tests.wire.replies.slack.jobs import (
    about_command,
    about_message,
    about_whisper,
    answered,
    body,
    by_bot,
    ids,
    labels,
    opened,
    workspaces_of,
)
from tests.wire.slack import (
    Drop,
    Faults,
    Limits,
    RateLimited,
    Refused,
    ServerError,
    SlackServer,
    Slow,
    User,
    World,
)
from tests.wire.slack.faults import ApiFault

POST, UPDATE, DELETE = "chat.postMessage", "chat.update", "chat.delete"
START, APPEND, STOP = "chat.startStream", "chat.appendStream", "chat.stopStream"
FAULTS: list[ApiFault] = [
    ServerError(502),
    ServerError(502, applied=True),
    ServerError(500, applied=True),
    Drop(),
    Drop(applied=True),
    Refused("internal_error"),
    Refused("fatal_error", applied=True),
    RateLimited(1),
    Slow(0.2, applied=True),
]
LONG = long_text(25)


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a doubtful post be looked for sooner; windows stay closed as long as Slack says."""
    monkeypatch.setattr("adapters.slack.answer_messages._SETTLES_IN", 0.05)
    monkeypatch.setattr("adapters.slack.rest._PAUSES", (0.05, 0.05, None))
    monkeypatch.setattr("adapters.slack.client._POSTS_EVERY", 0.0)


def assert_whole(world: World, text: str) -> None:
    """Assert that the bot shows one answer, all of it, in order."""
    shown = by_bot(world)
    assert "".join("".join(map(body, shown)).split()) == "".join(text.split())
    assert [labels(one) for one in shown[:-1]] == [[]] * (len(shown) - 1)
    assert labels(shown[-1]) == ["Helpful", "Not helpful", "Delete this answer", "Evidence"]
    assert all(one.stream is None for one in shown)


# --- a write that may have been applied ---------------------------------------------------


@pytest.mark.costly
@pytest.mark.parametrize("fault", FAULTS, ids=repr)
@pytest.mark.parametrize("method", [POST, UPDATE, START, APPEND, STOP])
async def test_whatever_happens_to_a_call_there_is_one_whole_answer(
    server: SlackServer, ann: User, method: str, fault: ApiFault
) -> None:
    world, shared = server.world, workspaces_of(server, streams=method in {START, APPEND, STOP})
    question = await world.say(ann, world.channel, QUESTION)
    server.faults.api(fault, method, times=2 if method != POST else 1)
    kept = Kept()
    job = about_message(question)
    reply = await opened(shared, job, kept)
    await reply.update("A heap is a tree. And")
    await asyncio.sleep(0.02)
    await reply.finish(finished(job, LONG))
    assert_whole(world, LONG)
    assert kept.posted.messages == ids(*by_bot(world))


@pytest.mark.parametrize("fault", FAULTS, ids=repr)
async def test_whatever_happens_to_the_posted_question_there_is_one_of_it(
    shared: Workspaces, server: SlackServer, ann: User, fault: ApiFault
) -> None:
    server.faults.api(fault, POST)
    await answered(shared, about_command(server.world, ann))
    question, answer = by_bot(server.world)
    assert (body(question), body(answer)) == (f"> {QUESTION}", "A tree [1].")


@pytest.mark.costly
@pytest.mark.parametrize("fault", FAULTS, ids=repr)
async def test_whatever_happens_to_a_deletion_nothing_of_the_longer_answer_stays(
    shared: Workspaces, server: SlackServer, ann: User, fault: ApiFault
) -> None:
    world = server.world
    kept = Kept()
    job = about_message(await world.say(ann, world.channel, QUESTION))
    await answered(shared, job, kept, LONG)
    server.faults.api(fault, DELETE)
    await answered(shared, again(job, kept), kept)
    (answer,) = by_bot(world)
    assert kept.posted.messages == ids(answer)


@pytest.mark.parametrize(
    "fault",
    [Drop(), Drop(applied=True), ServerError(503), ServerError(503, applied=True), RateLimited(1)],
    ids=repr,
)
@pytest.mark.parametrize("times", [1, 2])
async def test_a_private_answer_to_a_command_is_shown_once_whatever_happens_to_it(
    server: SlackServer, ann: User, fault: ApiFault, times: int
) -> None:
    world, shared = server.world, workspaces_of(server)
    job = about_whisper(world, await world.slash(ann, world.channel, "/ask", QUESTION))
    server.faults.api(fault, "response_url", times=times)
    await answered(shared, job)
    assert [body(one) for one in by_bot(world, ann)] == ["A tree [1]."]


@pytest.mark.parametrize("fault", [Drop(), ServerError(503)], ids=repr)
async def test_a_private_answer_comes_in_the_channel_where_the_commands_address_is_dead(
    server: SlackServer, ann: User, fault: ApiFault
) -> None:
    world, shared = server.world, workspaces_of(server)
    job = about_whisper(world, await world.slash(ann, world.channel, "/ask", QUESTION))
    server.faults.api(fault, "response_url", times=None)
    await answered(shared, job)
    assert [body(one) for one in by_bot(world, ann)] == ["A tree [1]."]
    assert world.history.of("chat.postEphemeral")


async def test_a_private_answer_waits_for_the_commands_address_where_the_bot_is_no_member(
    server: SlackServer, ann: User
) -> None:
    world, shared = server.world, workspaces_of(server)
    await world.leave(world.bot, world.channel)
    job = about_whisper(world, await world.slash(ann, world.channel, "/ask", QUESTION))
    server.faults.api(ServerError(503), "response_url", times=4)
    await answered(shared, job)
    assert [body(one) for one in by_bot(world, ann)] == ["A tree [1]."]


async def test_what_a_press_has_answered_alone_takes_the_place_of_nothing(
    server: SlackServer, ann: User
) -> None:
    world, shared = server.world, workspaces_of(server)
    interaction = await world.slash(ann, world.channel, "/ask", QUESTION)
    job, kept = about_whisper(world, interaction, commanded=False), Kept()
    server.faults.api(Drop(applied=True), "response_url")
    with pytest.raises(Unclear):  # it would be shown twice
        await answered(shared, job, kept)
    assert [body(one) for one in by_bot(world, ann)] == ["A tree [1]."]
    (sent,) = world.history.of("response_url")
    assert not sent.arguments["replace_original"]


@pytest.mark.parametrize("commanded", [True, False])
async def test_a_failure_of_slacks_keeps_no_private_answer_from_its_reader(
    server: SlackServer, ann: User, commanded: bool
) -> None:
    world, shared = server.world, workspaces_of(server)
    interaction = await world.slash(ann, world.channel, "/ask", QUESTION)
    job = about_whisper(world, interaction, commanded=commanded)
    server.faults.api(ServerError(503), "response_url", times=3)
    server.faults.api(ServerError(503), "chat.postEphemeral")
    await answered(shared, job)
    assert [body(one) for one in by_bot(world, ann)] == ["A tree [1]."]


# --- a process that died ------------------------------------------------------------------


async def test_a_placeholder_that_nobody_kept_is_found_and_not_posted_again(
    shared: Workspaces, world: World, ann: User
) -> None:
    job = about_message(await world.say(ann, world.channel, QUESTION))
    kept = Kept()
    kept.is_lost_before_keeping = True
    with pytest.raises(LeaseLost):
        await opened(shared, job, kept)
    kept = Kept()
    await answered(shared, again(job, kept), kept)
    assert_whole(world, "A tree [1].")
    assert kept.posted.messages == ids(*by_bot(world))


@pytest.mark.costly
@pytest.mark.parametrize("known", [0, 1, 2])
async def test_parts_that_nobody_kept_are_found_and_not_posted_again(
    shared: Workspaces, world: World, ann: User, known: int
) -> None:
    kept = Kept()
    job = about_message(await world.say(ann, world.channel, QUESTION))
    await answered(shared, job, kept, LONG)
    kept.posted = Posted(kept.posted.messages[:known])
    await answered(shared, again(job, kept), kept, LONG)
    assert_whole(world, LONG)
    assert kept.posted.messages == ids(*by_bot(world))
    assert len(world.history.of("conversations.replies")) == 1


async def test_a_question_that_nobody_kept_is_found_and_not_posted_again(
    shared: Workspaces, world: World, ann: User
) -> None:
    kept = Kept()
    kept.is_lost_before_keeping = True
    with pytest.raises(LeaseLost):
        await opened(shared, about_command(world, ann), kept)
    kept = Kept()
    await answered(shared, again(about_command(world, ann), kept), kept)
    assert len(by_bot(world)) == 2


async def test_a_growing_answer_of_a_dead_process_is_taken_over_where_it_stands(
    shared: Workspaces, world: World, ann: User
) -> None:
    kept = Kept()
    job = about_message(await world.say(ann, world.channel, QUESTION))
    reply = await opened(shared, job, kept)
    await reply.update("A heap is a tree. And")
    await world.until(lambda: "A heap is a tree." in by_bot(world)[0].shown)
    await answered(shared, again(job, kept), kept)
    assert_whole(world, "A tree [1].")


@pytest.mark.costly
async def test_an_orphan_is_tidied_away_and_nothing_else(
    shared: Workspaces, world: World, ann: User
) -> None:
    job = about_message(await world.say(ann, world.channel, QUESTION))
    other = about_message(await world.say(ann, world.channel, QUESTION))
    kept = Kept()
    orphaned = Kept()
    orphaned.is_lost_before_keeping = True
    with pytest.raises(LeaseLost):
        await opened(shared, job, orphaned)
    await answered(shared, job, kept, LONG)
    await answered(shared, other)
    assert len(by_bot(world)) == 5
    await tidy(shared, again(job, kept))
    await tidy(shared, again(job, kept))
    shown = by_bot(world)
    theirs = [one for one in shown if one.thread_ts == other.arrival.address["message"]]
    assert kept.posted.messages == ids(*(one for one in shown if one not in theirs))
    assert len(theirs) == 1


async def test_a_stray_question_is_tidied_away(shared: Workspaces, world: World, ann: User) -> None:
    stray, kept = Kept(), Kept()
    stray.is_lost_before_keeping = True
    with pytest.raises(LeaseLost):
        await opened(shared, about_command(world, ann), stray)
    await answered(shared, about_command(world, ann), kept)
    await tidy(shared, again(about_command(world, ann), kept))
    question, answer = by_bot(world)
    assert kept.posted == Posted(ids(answer), question.ts)


# --- storms -------------------------------------------------------------------------------


@pytest.mark.costly
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["message", "command"])
async def test_through_a_storm_of_faults_and_forgotten_posts_there_is_one_answer(
    shared: Workspaces, server: SlackServer, ann: User, kind: str, seed: int
) -> None:
    world, chance = server.world, random.Random(seed)
    server.faults = server.web_api.faults = Faults(seed)
    if kind == "message":
        job = about_message(await world.say(ann, world.channel, QUESTION))
    else:
        job = about_command(world, ann)
    for fault in FAULTS:
        if not isinstance(fault, RateLimited):
            server.faults.api(fault, probability=0.05, times=None)
    kept = Kept()
    for attempt in range(60):
        kept.is_lost = False
        kept.is_lost_before_keeping = chance.random() < 0.3
        if attempt == 50:
            server.faults.heal()
        with suppress(DeliveryError, LeaseLost):
            await answered(shared, job, kept, LONG)
            break
        job = again(job, kept)
    assert attempt < 55, "it arrives at last"
    server.faults.heal()
    await tidy(shared, again(job, kept))
    shown = by_bot(world)[1 if kind == "command" else 0 :]
    assert "".join("".join(map(body, shown)).split()) == "".join(LONG.split())
    assert all(one.stream is None for one in shown)


@pytest.mark.costly
@pytest.mark.parametrize("minute", [6.0, pytest.param(60.0, marks=pytest.mark.slow)])
async def test_thirty_answers_at_once_keep_to_the_tiers(
    monkeypatch: pytest.MonkeyPatch, minute: float, figure: Figure
) -> None:
    """The tiers hold, and all answers end; a minute may be shorter."""
    limits = Limits(posts_in_a_channel=(1, minute / 60))
    limits.methods = {name: (count, minute) for name, (count, _) in limits.methods.items()}
    limits.other_methods = (20, minute)
    monkeypatch.setattr("adapters.slack.client._POSTS_EVERY", minute / 50)
    async with SlackServer(limits) as server:
        world = server.world
        ann = world.add_user("ann", world.workspace, world.channel)
        shared = workspaces_of(server, minute=minute)
        questions = [await world.say(ann, world.channel, QUESTION) for _ in range(30)]
        time = asyncio.get_running_loop().time
        placeholders, ends = list[float](), list[float]()

        async def answer(number: int) -> None:
            job = about_message(questions[number])
            asked = time()
            reply = await opened(shared, job)
            placeholders.append(time() - asked)
            for _ in range(8):
                await reply.update(f"A sentence about {number}. " * 12)
                await asyncio.sleep(0.1)
            written = time()
            await reply.finish(finished(job, f"Answer {number} [1]."))
            ends.append(time() - written)

        await asyncio.gather(*(answer(number) for number in range(30)))
        figure(
            f"30 threads at once, a minute of {minute:.0f} s: last end {max(ends):.2f} s after "
            f"its text, slowest placeholder {max(placeholders):.1f} s"
        )
        assert {body(one) for one in by_bot(world)} == {f"Answer {n} [1]." for n in range(30)}
        refused = {call.method for call in world.history.calls if call.status == 429}
        assert refused <= {POST}, "a post may come a little too early on a slow machine"
        assert not world.history.early_requests
        assert world.history.of(APPEND)


@pytest.mark.parametrize("streams", [True, False])
async def test_who_asked_in_a_channel_that_is_closed_meanwhile_is_told_directly(
    server: SlackServer, ann: User, streams: bool
) -> None:
    world, shared, kept = server.world, workspaces_of(server, streams=streams), Kept()
    question = await world.say(ann, world.channel, QUESTION)
    job = about_message(question)
    reply = await opened(shared, job, kept)
    world.channel.archived = True
    with pytest.raises(DeliveryError) as failure:
        await reply.finish(finished(job))
    assert failure.value.permanent
    await abandon(shared, replace(job, posted=kept.posted), failure.value)
    (told,) = [one for one in world.transcript(world.dm(ann), ann) if one.author is world.bot]
    assert told.shown.startswith("I cannot answer you where you asked")
    assert world.permalink(question, world.workspace) in told.shown


# --- what is sent once --------------------------------------------------------------------


async def test_a_private_answer_is_sent_again_however_often_slack_says_later(
    server: SlackServer, ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.slack.rest._MOST_REFUSALS", 1)
    question, kept = await server.world.say(ann, server.world.channel, QUESTION), Kept()
    server.faults.api(RateLimited(1), "chat.postEphemeral", times=2)
    await tell(workspaces_of(server), about_message(question), kept, "Please wait.")
    assert [body(one) for one in by_bot(server.world, ann)] == ["Please wait."]


async def test_a_private_answer_waits_for_a_window_that_is_closed(
    server: SlackServer, ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.slack.client._LONGEST_WAIT", 0.1)
    shared, world = workspaces_of(server), server.world
    shared.of(world.workspace.id, None).budget.close("chat.postEphemeral", 1.0)
    question = await world.say(ann, world.channel, QUESTION)
    job = about_message(question)
    private = replace(job.arrival, address={**job.arrival.address, "ephemeral": True})
    await answered(shared, replace(job, arrival=private))
    (answer,) = by_bot(world, ann)
    assert body(answer).startswith("A tree [1].")
