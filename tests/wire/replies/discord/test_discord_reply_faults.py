"""Answers through the real discord.py while Discord, the network or a process fails."""

import asyncio
import random
from contextlib import suppress

import discord
import pytest

from adapters.discord.reply import tell_reader, tidy
from core.domain.errors import DeliveryError, Unclear
from core.storage.inbox.base import LeaseLost, Posted
from tests.wire.discord import (
    DiscordServer,
    Drop,
    Faults,
    RateLimited,
    ServerError,
    Slow,
    User,
    World,
)
from tests.wire.discord.entities import texts
from tests.wire.discord.faults import RestFault
from tests.wire.replies.discord.jobs import (
    about_interaction,
    about_message,
    answered,
    by_bot,
    deferred,
    long_text,
    opened,
    thread_of,
)
from tests.wire.replies.jobs import QUESTION, Kept, again

POST = "POST /channels/{channel_id}/messages"
THREAD = "POST /channels/{channel_id}/messages/{message_id}/threads"
EDIT = "PATCH /channels/{channel_id}/messages/{message_id}"
DELETE = "DELETE /channels/{channel_id}/messages/{message_id}"
FOLLOW_UP = "POST /webhooks/{webhook_id}/{webhook_token}"
ORIGINAL = "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original"
FAULTS: list[RestFault] = [
    ServerError(502),
    ServerError(502, applied=True),
    ServerError(500, applied=True),
    Drop(),
    Drop(applied=True),
    RateLimited(0.1),
    RateLimited(0.1, "shared"),
    RateLimited(0.1, "global"),
    Slow(0.2, applied=True),
]


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let discord.py wait a tenth of a second where it waits longer."""
    sleep = asyncio.sleep

    async def briefly(seconds: float, result: object = None) -> object:
        return await sleep(min(seconds, 0.1), result)

    monkeypatch.setattr(asyncio, "sleep", briefly)


# --- a write that may have been applied ---------------------------------------------------


@pytest.mark.costly
@pytest.mark.parametrize("fault", FAULTS, ids=repr)
@pytest.mark.parametrize("route", [POST, THREAD, EDIT])
async def test_whatever_happens_to_a_request_a_mention_is_answered_once(
    client: discord.Client,
    server: DiscordServer,
    ann: User,
    hurried: None,
    route: str,
    fault: RestFault,
) -> None:
    world = server.world
    question = await world.say(ann, world.channel, QUESTION)
    server.faults.rest(fault, route, times=2)
    kept = Kept()
    job = about_message(question, open_thread=route != POST)
    await answered(client, job, kept, long_text(5))
    shown = by_bot(world, world.channel if route == POST else thread_of(world, question))
    assert [one.text[:3] for one in shown] == ["0. ", "2. ", "4. "]
    assert kept.posted.messages == tuple(str(one.id) for one in shown)


@pytest.mark.parametrize("fault", FAULTS, ids=repr)
@pytest.mark.parametrize("ephemeral", [False, True], ids=["public", "private"])
async def test_whatever_happens_to_a_request_a_command_is_answered_once(
    client: discord.Client,
    server: DiscordServer,
    ann: User,
    hurried: None,
    ephemeral: bool,
    fault: RestFault,
) -> None:
    world = server.world
    interaction = deferred(world, ann, ephemeral=ephemeral)
    for route in (ORIGINAL, THREAD, POST):
        server.faults.rest(fault, route)
    await answered(client, about_interaction(interaction, ephemeral=ephemeral), text=long_text(3))
    answer, *more = by_bot(world, world.channel, ann)
    assert answer is interaction.original
    assert len(more) == (1 if ephemeral else 0)
    if not ephemeral:
        assert len(by_bot(world, thread_of(world, answer))) == 1


@pytest.mark.parametrize("fault", FAULTS, ids=repr)
async def test_whatever_happens_to_a_deletion_nothing_of_the_longer_answer_stays(
    client: discord.Client, server: DiscordServer, ann: User, hurried: None, fault: RestFault
) -> None:
    world = server.world
    question = await world.say(ann, world.channel, QUESTION)
    kept = Kept()
    job = about_message(question)
    await answered(client, job, kept, long_text(5))
    server.faults.rest(fault, DELETE)
    await answered(client, again(job, kept), kept)
    (answer,) = by_bot(world, thread_of(world, question))
    assert kept.posted.messages == (str(answer.id),)


# --- a process that died ------------------------------------------------------------------


@pytest.mark.parametrize("later", [0.0, 600.0], ids=["at once", "after the nonce's window"])
@pytest.mark.parametrize("open_thread", [True, False], ids=["thread", "reply"])
async def test_a_placeholder_that_nobody_kept_is_found_and_not_posted_again(
    client: discord.Client, world: World, ann: User, open_thread: bool, later: float
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    job = about_message(question, open_thread=open_thread)
    kept = Kept()
    if open_thread:
        await opened(client, job, kept)
        kept.posted = Posted()
        kept.is_lost = False
    else:
        kept.is_lost_before_keeping = True
        with pytest.raises(LeaseLost):
            await opened(client, job, kept)
        kept = Kept()
    world.clock.advance(later)
    await answered(client, again(job, kept), kept)
    place = thread_of(world, question) if open_thread else world.channel
    (answer,) = by_bot(world, place)
    assert answer.text.startswith("A tree [1].")
    assert kept.posted.messages == (str(answer.id),)


@pytest.mark.parametrize("later", [0.0, 600.0], ids=["at once", "after the nonce's window"])
@pytest.mark.parametrize("lost", [1, 2])
async def test_parts_that_nobody_kept_are_found_and_not_posted_again(
    client: discord.Client, world: World, ann: User, lost: int, later: float
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    kept = Kept()
    job = about_message(question)
    await answered(client, job, kept, long_text(5))
    kept.posted = Posted(kept.posted.messages[:lost], kept.posted.thread)
    world.clock.advance(later)
    await answered(client, again(job, kept), kept, long_text(5))
    shown = by_bot(world, thread_of(world, question))
    assert [one.text[:3] for one in shown] == ["0. ", "2. ", "4. "]
    assert kept.posted.messages == tuple(str(one.id) for one in shown)


async def test_the_thread_of_a_command_is_found_again(
    client: discord.Client, world: World, ann: User
) -> None:
    kept = Kept()
    job = about_interaction(deferred(world, ann))
    await opened(client, job, kept)
    kept.posted = Posted(kept.posted.messages)
    await answered(client, again(job, kept), kept)
    (answer,) = by_bot(world, world.channel)
    assert kept.posted == Posted((str(answer.id),), str(answer.id))


async def test_a_post_nobody_knows_of_is_in_doubt_and_tidied_away(
    client: discord.Client, server: DiscordServer, ann: User, hurried: None
) -> None:
    world = server.world
    question = await world.say(ann, world.channel, QUESTION)
    job = about_message(question, open_thread=False)
    kept = Kept()
    server.faults.rest(Drop(applied=True), POST, times=3)
    with pytest.raises(DeliveryError) as failure:
        await opened(client, job, kept)
    assert not failure.value.permanent
    assert kept.is_in_doubt
    assert len(by_bot(world, world.channel)) == 1
    await tidy(client, again(job, kept))
    await tidy(client, again(job, kept))
    assert by_bot(world, world.channel) == []


async def test_tidying_leaves_what_is_known_and_what_answers_others(
    client: discord.Client, world: World, ann: User
) -> None:
    questions = [await world.say(ann, world.channel, QUESTION) for _ in range(2)]
    jobs = [about_message(question, open_thread=False) for question in questions]
    keepers = [Kept(), Kept()]
    for job, kept in zip(jobs, keepers, strict=True):
        await answered(client, job, kept, long_text(3))
    shown = by_bot(world, world.channel)
    await tidy(client, again(jobs[0], keepers[0]))
    assert by_bot(world, world.channel) == shown


async def test_the_same_answer_to_another_question_is_not_taken_for_ours(
    client: discord.Client, world: World, ann: User
) -> None:
    questions = [await world.say(ann, world.channel, QUESTION) for _ in range(2)]
    jobs = [about_message(question, open_thread=False) for question in questions]
    placeholder = Kept()
    await opened(client, jobs[0], placeholder)
    await answered(client, jobs[1], text=long_text(5))
    await answered(client, again(jobs[0], placeholder), placeholder, long_text(5))
    shown = by_bot(world, world.channel)
    assert [one.replied for one in shown].count(questions[0]) == 3
    assert [one.replied for one in shown].count(questions[1]) == 3


# --- waiting -------------------------------------------------------------------------------


async def test_an_answer_given_up_during_a_global_limit_holds_nobody_else_back(
    client: discord.Client, server: DiscordServer, ann: User
) -> None:
    world = server.world
    questions = [await world.say(ann, world.channel, QUESTION) for _ in range(2)]
    server.faults.rest(RateLimited(0.5, "global"), THREAD)
    given_up = asyncio.create_task(opened(client, about_message(questions[0])))
    await world.until(lambda: world.history.of(THREAD))
    await asyncio.sleep(0.1)
    given_up.cancel()
    async with asyncio.timeout(5):
        await answered(client, about_message(questions[1]))
    assert len(by_bot(world, thread_of(world, questions[1]))) == 1


@pytest.mark.parametrize("route", ["a message", "a command"])
async def test_what_waited_out_a_limit_does_not_spoil_what_others_finished_meanwhile(
    client: discord.Client, server: DiscordServer, ann: User, route: str
) -> None:
    world, kept = server.world, Kept()
    if route == "a message":
        job = about_message(await world.say(ann, world.channel, QUESTION))
    else:
        job = about_interaction(deferred(world, ann))
    reply = await opened(client, job, kept)
    edit = EDIT if route == "a message" else ORIGINAL
    server.faults.rest(RateLimited(0.6), edit)
    before = len(world.history.of(edit))
    await reply.update("A tr")
    await world.until(lambda: len(world.history.of(edit)) > before)
    kept.is_lost = True  # the process stands still; another one takes the answer over
    await asyncio.sleep(1.5)
    assert len(world.history.of(edit)) == before + 1, "it is not tried again"
    await answered(client, again(job, kept))
    sent = ["\n".join(texts(call.body["components"])) for call in world.history.of(edit)[before:]]
    assert len(sent) >= 2
    assert "A tree" in sent[-1]


async def test_many_answers_in_one_channel_keep_to_the_buckets(
    server: DiscordServer, ann: User, client: discord.Client
) -> None:
    world = server.world
    world.limits.buckets[POST] = (5, 0.5)
    world.limits.buckets[EDIT] = (5, 0.5)
    questions = [await world.say(ann, world.channel, QUESTION) for _ in range(8)]
    jobs = [about_message(question, open_thread=False) for question in questions]
    await asyncio.gather(*(answered(client, job) for job in jobs))
    assert len(by_bot(world, world.channel)) == 8


@pytest.mark.costly
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["thread", "reply", "command", "private"])
async def test_through_a_storm_of_faults_and_forgotten_posts_there_is_one_answer(
    client: discord.Client,
    server: DiscordServer,
    ann: User,
    hurried: None,
    kind: str,
    seed: int,
) -> None:
    world, chance = server.world, random.Random(seed)
    server.faults = server.rest.faults = Faults(seed)
    if kind in {"thread", "reply"}:
        question = await world.say(ann, world.channel, QUESTION)
        job = about_message(question, open_thread=kind == "thread")
    else:
        private = kind == "private"
        job = about_interaction(deferred(world, ann, ephemeral=private), ephemeral=private)
    for fault in FAULTS:
        server.faults.rest(fault, probability=0.05, times=None)
    kept = Kept()
    for attempt in range(60):
        kept.is_lost = False
        kept.is_lost_before_keeping = chance.random() < 0.3
        if attempt == 50:
            server.faults.heal()
        with suppress(DeliveryError, LeaseLost):
            await answered(client, job, kept, long_text(5))
            break
        job = again(job, kept)
    assert attempt < 55, "it arrives at last"
    shown = [one for place in list(world.channels.values()) for one in by_bot(world, place, ann)]
    beginnings = [one.text.removeprefix(f"> {QUESTION}\n")[:3] for one in shown]
    if kind == "private":  # Discord shows nobody what was sent to one reader: it may come twice
        beginnings = [*dict.fromkeys(beginnings)]
    assert beginnings == ["0. ", "2. ", "4. "]


# --- what is sent once --------------------------------------------------------------------


@pytest.mark.parametrize("fault", [RateLimited(0.3), RateLimited(0.3, "shared")], ids=repr)
async def test_a_private_sentence_refused_for_now_is_sent_again(
    client: discord.Client, server: DiscordServer, ann: User, fault: RestFault
) -> None:
    interaction = deferred(server.world, ann)
    server.faults.rest(fault, FOLLOW_UP, times=2)
    await tell_reader(client, about_interaction(interaction), Kept(), "Please wait.")
    assert [one.text for one in interaction.follow_ups] == ["Please wait."]


@pytest.mark.parametrize("applied", [True, False])
async def test_a_private_sentence_that_may_be_shown_is_not_sent_again(
    client: discord.Client, server: DiscordServer, ann: User, applied: bool
) -> None:
    interaction = deferred(server.world, ann)
    server.faults.rest(ServerError(502, applied=applied), FOLLOW_UP)
    with pytest.raises(Unclear):
        await tell_reader(client, about_interaction(interaction), Kept(), "Please wait.")
    assert len(interaction.follow_ups) == int(applied)
