"""Answers through the real discord.py where Discord refuses: permissions, threads, tokens."""

import asyncio
import logging
from dataclasses import replace
from datetime import timedelta

import discord
import pytest

from adapters.discord.reply import DiscordReply, abandon, notify, tidy
from adapters.discord.surroundings import MOST_EARLY
from core.domain import now
from core.domain.errors import DeliveryError
from core.storage.inbox.base import Job, Posted
from tests.wire.discord import (
    Channel,
    DiscordServer,
    Permission,
    RateLimited,
    ServerError,
    User,
    World,
)
from tests.wire.discord_bot import labels
from tests.wire.replies.discord.jobs import (
    about_interaction,
    about_message,
    acknowledge,
    answered,
    by_bot,
    deferred,
    long_text,
    opened,
    thread_of,
    used,
)
from tests.wire.replies.jobs import QUESTION, Kept, again, finished

POST = "POST /channels/{channel_id}/messages"
EDIT = "PATCH /channels/{channel_id}/messages/{message_id}"
ORIGINAL = "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original"

DELETE = "DELETE /webhooks/{webhook_id}/{webhook_token}/messages/@original"


# --- refusals ------------------------------------------------------------------------------


async def test_an_outage_is_told_as_one_that_may_pass(
    client: discord.Client, server: DiscordServer, ann: User
) -> None:
    question = await server.world.say(ann, server.world.channel, QUESTION)
    server.faults.rest(ServerError(503), POST)
    with pytest.raises(DeliveryError) as failure:
        await opened(client, about_message(question))
    assert not failure.value.permanent


async def test_a_long_rate_limit_is_waited_out_by_the_worker(
    client: discord.Client, server: DiscordServer, ann: User
) -> None:
    question = await server.world.say(ann, server.world.channel, QUESTION)
    server.faults.rest(RateLimited(120.0), POST)
    with pytest.raises(DeliveryError) as failure:
        await opened(client, about_message(question))
    assert failure.value.retry_after == pytest.approx(120, abs=1)


async def test_a_missing_permission_is_final_and_the_log_says_which(
    client: discord.Client, world: World, ann: User, caplog: pytest.LogCaptureFixture
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    world.restrict(world.channel, world.bot, deny=Permission.SEND_MESSAGES)
    with caplog.at_level(logging.WARNING), pytest.raises(DeliveryError) as failure:
        await opened(client, about_message(question, open_thread=False))
    assert failure.value.permanent
    assert "give the bot 'Send Messages'" in caplog.text
    assert QUESTION not in caplog.text


async def test_without_leave_to_read_the_history_it_answers_without_replying(
    client: discord.Client, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    world.restrict(world.channel, world.bot, deny=Permission.READ_MESSAGE_HISTORY)
    await answered(client, about_message(question, open_thread=False))
    (answer,) = by_bot(world, world.channel)
    assert answer.replied is None


async def test_a_deleted_placeholder_is_posted_anew_once(
    client: discord.Client, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    kept = Kept()
    job = about_message(question)
    reply = await opened(client, job, kept)
    thread = thread_of(world, question)
    await world.delete(by_bot(world, thread)[0])
    await reply.update("A tree")
    await reply.finish(finished(job))
    (answer,) = by_bot(world, thread)
    assert kept.posted.messages == (str(answer.id),)
    await world.delete(answer)
    with pytest.raises(DeliveryError) as failure:
        await reply.finish(finished(job, "A graph [1]."))
    assert failure.value.permanent


async def test_a_question_deleted_meanwhile_is_answered_without_its_message(
    client: discord.Client, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    await world.delete(question)
    await answered(client, about_message(question))
    (answer,) = by_bot(world, world.channel)
    assert answer.replied is None


async def test_an_archived_thread_is_opened_again_for_the_answer(
    client: discord.Client, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    job = about_message(question)
    reply = await opened(client, job)
    thread = thread_of(world, question)
    assert thread.thread is not None
    thread.thread.archived = True
    await reply.finish(finished(job))
    assert by_bot(world, thread)[0].text.startswith("A tree [1].")


async def half_answered_in_a_thread_of_their_own(
    client: discord.Client, world: World, ann: User
) -> tuple[Channel, Job, Kept, DiscordReply]:
    world.restrict(world.channel, world.bot, deny=Permission.MANAGE_THREADS)
    root = await world.say(ann, world.channel, "Let us talk")
    thread = await world.open_thread(ann, root, "talk")
    question = await world.say(ann, thread, QUESTION)
    job, kept = about_message(question, open_thread=False), Kept()
    reply = await opened(client, job, kept)
    assert "Stop" in labels(by_bot(world, thread)[0])
    return thread, job, kept, reply


async def abandoned(client: discord.Client, reply: DiscordReply, job: Job, kept: Kept) -> None:
    """Finish an answer where that is refused for good, and do what the worker does then."""
    with pytest.raises(DeliveryError) as failure:
        await reply.finish(finished(job))
    assert failure.value.permanent
    await abandon(client, replace(job, posted=kept.posted), failure.value)


async def test_a_thread_that_is_locked_meanwhile_keeps_no_placeholder(
    client: discord.Client, world: World, ann: User
) -> None:
    thread, job, kept, reply = await half_answered_in_a_thread_of_their_own(client, world, ann)
    assert thread.thread is not None
    thread.thread.locked = True
    await abandoned(client, reply, job, kept)
    assert by_bot(world, thread) == []
    (told,) = by_bot(world, world.direct_channel(ann, world.bot))
    assert "closed to me" in told.text
    assert f"/{thread.id}/{job.arrival.address['message']}" in told.text


async def test_what_is_left_in_an_archived_and_locked_thread_goes_when_it_is_opened_again(
    client: discord.Client, world: World, ann: User
) -> None:
    thread, job, kept, reply = await half_answered_in_a_thread_of_their_own(client, world, ann)
    await world.archive(thread, locked=True)
    await abandoned(client, reply, job, kept)
    (told,) = by_bot(world, world.direct_channel(ann, world.bot))
    assert "closed to me" in told.text
    left = replace(job, posted=Posted())
    with pytest.raises(DeliveryError) as failure:
        await tidy(client, left)
    assert not failure.value.permanent, "a moderator may open it again"
    assert by_bot(world, thread), "Discord deletes nothing in such a thread"
    assert thread.thread is not None
    thread.thread.locked = thread.thread.archived = False
    await tidy(client, left)
    assert by_bot(world, thread) == []


async def test_who_takes_no_direct_messages_finds_a_reaction(
    client: discord.Client, world: World, ann: User
) -> None:
    thread, job, kept, reply = await half_answered_in_a_thread_of_their_own(client, world, ann)
    assert thread.thread is not None
    thread.thread.locked, ann.open_to_direct = True, False
    await abandoned(client, reply, job, kept)
    question = thread.messages[job.arrival.address["message"]]
    assert list(question.reactions) == ["🔇"]


async def test_an_edit_that_fails_for_now_does_not_end_the_answer(
    client: discord.Client, server: DiscordServer, ann: User
) -> None:
    world = server.world
    question = await world.say(ann, world.channel, QUESTION)
    job = about_message(question)
    reply = await opened(client, job)
    server.faults.rest(ServerError(503), EDIT)
    await reply.update("A ")
    await world.until(lambda: world.history.of(EDIT))
    await asyncio.sleep(0.05)
    await reply.update("tree")
    await reply.finish(finished(job))
    assert by_bot(world, thread_of(world, question))[0].text.startswith("A tree [1].")


# --- tokens --------------------------------------------------------------------------------


def expired(job: Job) -> Job:
    """Return the job with a token that is dead by our own clock."""
    dead = now() - timedelta(minutes=1)
    return replace(job, arrival=replace(job.arrival, token_expires_at=dead))


def without_token(job: Job) -> Job:
    """Return the job as it is claimed when its token was over, or could not be unsealed."""
    return replace(job, arrival=replace(job.arrival, token=None))


def old(job: Job) -> Job:
    """Return the job of an interaction that was accepted long ago."""
    return replace(job, accepted_at=now() - timedelta(minutes=15))


@pytest.mark.parametrize("known_dead", [True, False], ids=["by our clock", "by Discord's word"])
async def test_a_dead_token_leaves_a_public_answer_where_it_stands(
    client: discord.Client, world: World, ann: User, known_dead: bool
) -> None:
    kept = Kept()
    job = about_interaction(deferred(world, ann))
    await opened(client, job, kept)
    world.clock.advance(901)
    later = again(old(expired(job) if known_dead else job), kept)
    await answered(client, later, kept)
    (answer,) = by_bot(world, world.channel)
    assert answer.text.startswith(f"> {QUESTION}\nA tree [1].")


@pytest.mark.parametrize("known_dead", [True, False], ids=["by our clock", "by Discord's word"])
async def test_a_command_that_was_never_acknowledged_is_answered_in_the_channel(
    client: discord.Client, world: World, ann: User, known_dead: bool
) -> None:
    job = old(about_interaction(used(world, ann)))
    kept = Kept()
    await answered(client, expired(job) if known_dead else job, kept, long_text(3))
    (answer,) = by_bot(world, world.channel)
    assert len(by_bot(world, thread_of(world, answer))) == 1
    await answered(client, again(job, kept), kept, long_text(3))
    assert by_bot(world, world.channel) == [answer]


@pytest.mark.parametrize("known_dead", [True, False], ids=["by our clock", "by Discord's word"])
async def test_a_dead_token_sends_a_private_answer_directly(
    client: discord.Client, world: World, ann: User, known_dead: bool
) -> None:
    kept = Kept()
    job = about_interaction(deferred(world, ann, ephemeral=True), ephemeral=True)
    await opened(client, job, kept)
    world.clock.advance(901)
    later = again(old(expired(job) if known_dead else job), kept)
    for _ in range(2):
        await answered(client, later, kept)
        later = again(later, kept)
    (answer,) = by_bot(world, world.direct_channel(world.bot, ann))
    assert answer.text.startswith("A tree [1].")
    assert by_bot(world, world.channel) == []


@pytest.mark.parametrize("was_opened", [True, False])
async def test_without_its_token_a_private_answer_goes_directly(
    client: discord.Client, world: World, ann: User, was_opened: bool
) -> None:
    kept = Kept()
    job = about_interaction(deferred(world, ann, ephemeral=True), ephemeral=True)
    if was_opened:
        await opened(client, job, kept)
    later = again(without_token(job), kept)
    for _ in range(2):
        await answered(client, later, kept)
        later = again(later, kept)
    (answer,) = by_bot(world, world.direct_channel(world.bot, ann))
    assert answer.text.startswith("A tree [1].")
    assert by_bot(world, world.channel) == []


async def test_where_channel_and_direct_messages_are_closed_the_answer_is_undeliverable(
    client: discord.Client, world: World, ann: User
) -> None:
    world.restrict(world.channel, world.bot, deny=Permission.VIEW_CHANNEL)
    ann.open_to_direct = False
    job = expired(about_interaction(used(world, ann)))
    with pytest.raises(DeliveryError) as failure:
        await opened(client, job)
    assert failure.value.permanent


async def test_where_the_channel_is_closed_a_command_is_answered_directly(
    client: discord.Client, world: World, ann: User
) -> None:
    world.restrict(world.channel, world.bot, deny=Permission.VIEW_CHANNEL)
    job = expired(about_interaction(used(world, ann)))
    kept = Kept()
    for _ in range(2):
        await answered(client, job, kept, long_text(3))
        job = again(job, kept)
    direct = world.direct_channel(world.bot, ann)
    assert len(by_bot(world, direct)) == 2


async def test_an_answer_that_is_quicker_than_its_acknowledgement_waits_for_it(
    client: discord.Client, world: World, ann: User
) -> None:
    interaction = used(world, ann)
    opening = asyncio.create_task(opened(client, about_interaction(interaction)))
    await world.until(lambda: world.history.of(ORIGINAL))
    acknowledge(world, interaction)
    await opening
    assert by_bot(world, world.channel) == [interaction.original]


@pytest.mark.parametrize("way", ["answer", "notice"])
@pytest.mark.parametrize(
    "accepted", [timedelta(seconds=-4), timedelta(minutes=30)], ids=["just now", "set back since"]
)
async def test_a_clock_that_is_not_discords_does_not_have_it_wait_for_an_acknowledgement(
    client: discord.Client,
    world: World,
    ann: User,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
    accepted: timedelta,
) -> None:
    """The interaction is from half an hour ahead, and was never acknowledged."""
    monkeypatch.setattr("adapters.discord.answer_messages.EARLY_PAUSE", 0.1)
    monkeypatch.setattr("adapters.discord.answer_messages.EARLY_PAUSE", 0.1)
    job = about_interaction(used(world, ann))
    ahead = int(job.arrival.address["interaction"]) + (1_800_000 << 22)
    address = {**job.arrival.address, "interaction": ahead}
    job = replace(job, arrival=replace(job.arrival, address=address), accepted_at=now() + accepted)
    async with asyncio.timeout(10):
        if way == "answer":
            await answered(client, job)
            assert len(by_bot(world, world.channel)) == 1
        else:
            with pytest.raises(DeliveryError) as failure:
                await notify(client, job, "Please wait.")
            assert failure.value.permanent
    assert len(world.history.of(ORIGINAL if way == "answer" else DELETE)) <= MOST_EARLY + 1
