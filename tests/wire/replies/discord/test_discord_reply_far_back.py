"""Finding what a dead process posted on Discord when many messages were written since."""

import discord
import pytest

from adapters.discord.reply import tidy
from adapters.discord.rest import Rest
from core.storage.inbox.base import Job, LeaseLost, Posted
from tests.wire.discord import Channel, User, World
from tests.wire.replies.discord.jobs import (
    about_message,
    answered,
    by_bot,
    long_text,
    opened,
    thread_of,
)
from tests.wire.replies.jobs import QUESTION, Kept, again

MANY = 120
"""More than Discord gives in one page."""
HOURS = 7_200.0
"""Seconds; no nonce is known any more by then."""


async def chatter(world: World, user: User, channel: Channel) -> None:
    for number in range(MANY):
        await world.say(user, channel, f"number {number}")


async def waited(world: World, ann: User) -> Job:
    """Return the job of a question behind which much was written before its turn came."""
    question = await world.say(ann, world.channel, QUESTION)
    await chatter(world, ann, world.channel)
    return about_message(question, open_thread=False)


async def left_behind(client: discord.Client, job: Job) -> None:
    """Have a process die when it has posted a message that it could not keep."""
    kept = Kept()
    kept.is_lost_before_keeping = True
    with pytest.raises(LeaseLost):
        await opened(client, job, kept)


async def test_a_placeholder_far_behind_its_question_is_found_and_not_posted_again(
    client: discord.Client, world: World, ann: User
) -> None:
    job = await waited(world, ann)
    await left_behind(client, job)
    world.clock.advance(HOURS)
    kept = Kept()
    await answered(client, again(job, kept), kept)
    (answer,) = by_bot(world, world.channel)
    assert answer.text.startswith("A tree [1].")


async def test_parts_far_behind_the_first_are_found_and_not_posted_again(
    client: discord.Client, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    job, kept = about_message(question), Kept()
    await opened(client, job, kept)
    thread = thread_of(world, question)
    await chatter(world, ann, thread)
    await answered(client, again(job, kept), kept, long_text(5))
    shown = by_bot(world, thread)
    kept.posted = Posted(kept.posted.messages[:1], kept.posted.thread)
    world.clock.advance(HOURS)
    await answered(client, again(job, kept), kept, long_text(5))
    assert by_bot(world, thread) == shown


async def test_an_orphan_far_behind_its_question_is_tidied_away(
    client: discord.Client, world: World, ann: User
) -> None:
    job = await waited(world, ann)
    await left_behind(client, job)
    world.clock.advance(HOURS)
    kept = Kept()
    await answered(client, job, kept)
    assert len(by_bot(world, world.channel)) == 2
    await tidy(client, again(job, kept))
    (answer,) = by_bot(world, world.channel)
    assert kept.posted.messages == (str(answer.id),)


async def test_no_more_messages_are_looked_at_than_are_enough(
    client: discord.Client, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    await chatter(world, ann, world.channel)
    rest = Rest(client, lambda: None)
    found = await rest.messages_after(world.channel.id, question.id, most=100)
    assert [one["content"] for one in found] == [f"number {n}" for n in range(100)]
    assert len(await rest.messages_after(world.channel.id, question.id)) == MANY
