"""Answers as cards: layouts of components, from the first post on."""

import asyncio
from typing import Any
from uuid import uuid4

import discord

from adapters.chat.buttons import Button, custom_id
from adapters.discord.reply import tell_reader
from core.storage.inbox.base import Posted
from tests.wire.discord import DiscordServer, Message, MessageFlag, User, World
from tests.wire.discord.component_checks import BUTTON, CONTAINER, ROW, SEPARATOR, TEXT_DISPLAY
from tests.wire.discord.trial import call
from tests.wire.replies.discord.jobs import (
    about_interaction,
    about_message,
    answered,
    by_bot,
    deferred,
    labels,
    long_text,
    opened,
    thread_of,
)
from tests.wire.replies.jobs import QUESTION, Kept, again, finished


def kinds(message: Message) -> list[Any]:
    """Return the types of a message's components, those of a card in a list of their own."""
    return [
        [inner["type"] for inner in part["components"]]
        if part["type"] == CONTAINER
        else part["type"]
        for part in message.components
    ]


async def test_an_answer_is_a_card_from_its_placeholder_to_its_footnotes(
    client: discord.Client, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    job = about_message(question)
    reply = await opened(client, job)
    (message,) = by_bot(world, thread_of(world, question))
    assert kinds(message) == [[TEXT_DISPLAY], ROW]
    await reply.update("A tree")
    await world.until(lambda: message.text == "A tree …")
    assert kinds(message) == [[TEXT_DISPLAY], ROW]
    assert message.components[0].get("accent_color") is None
    await reply.finish(finished(job))
    card, row = message.components
    assert kinds(message) == [[TEXT_DISPLAY, SEPARATOR, TEXT_DISPLAY], ROW]
    body, _, notes = card["components"]
    assert body["content"] == "A tree [1]."
    assert notes["content"].startswith("-# From [1] [Heaps › Definition](<https://")
    assert card["accent_color"] is not None, "a finished answer is marked"
    assert [part["type"] for part in row["components"]] == [BUTTON] * 3
    assert (message.content, message.embeds) == ("", [])
    assert message.flags & MessageFlag.SUPPRESS_EMBEDS


async def test_the_parts_of_a_long_answer_are_cards_and_the_last_has_the_footnotes(
    client: discord.Client, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    await answered(client, about_message(question), text=long_text(5))
    parts = by_bot(world, thread_of(world, question))
    assert [kinds(one) for one in parts] == [
        [[TEXT_DISPLAY]],
        [[TEXT_DISPLAY]],
        [[TEXT_DISPLAY, SEPARATOR, TEXT_DISPLAY], ROW],
    ]


async def test_a_refusal_that_its_asker_alone_sees_is_a_card(
    client: discord.Client, world: World, ann: User
) -> None:
    interaction = deferred(world, ann, ephemeral=True)
    job = about_interaction(interaction, ephemeral=True)
    await tell_reader(client, job, Kept(), "The book doesn't cover this.")
    original = interaction.original
    assert original is not None
    assert (kinds(original), original.ephemeral) == ([[TEXT_DISPLAY]], True)
    assert original.text == "The book doesn't cover this."


async def old_message(server: DiscordServer, question: Message, **fields: Any) -> Message:
    """Post what the bot posted before its answers were cards, and return it."""
    body = {"content": "Searching the book …", "message_reference": _reference(question), **fields}
    body["allowed_mentions"] = {"parse": []}
    path = f"/channels/{question.channel.id}/messages"
    status, sent = await call(server, "POST", path, body)
    assert status == 200, sent
    return server.world.messages[int(sent["id"])]


def _reference(question: Message) -> dict[str, str]:
    return {"message_id": str(question.id), "channel_id": str(question.channel.id)}


async def test_an_answer_posted_as_content_becomes_a_card_when_it_is_edited(
    client: discord.Client, server: DiscordServer, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    message = await old_message(server, question, embeds=[{"description": "the rest"}])
    kept = Kept(Posted((str(message.id),)))
    await answered(client, again(about_message(question, open_thread=False), kept), kept)
    assert by_bot(world, world.channel) == [message]
    assert message.text.startswith("A tree [1].\n\n-# From [1]")
    assert (message.content, message.embeds, message.is_layout) == ("", [], True)


async def test_an_answer_posted_as_content_is_found_again_by_who_takes_over(
    client: discord.Client, server: DiscordServer, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    job = about_message(question, open_thread=False)
    assert job.arrival.request is not None
    name = custom_id(Button.STOP, job.arrival.request.request_id)
    stop = {"type": BUTTON, "style": 4, "label": "Stop", "custom_id": name}
    row = {"type": ROW, "components": [stop]}
    message = await old_message(server, question, components=[row])
    kept = Kept()
    await answered(client, again(job, kept), kept)
    assert by_bot(world, world.channel) == [message]
    assert labels(message) == ["Helpful", "Not helpful", "Evidence"]


async def test_a_card_is_found_again_by_who_takes_over_also_without_its_nonce(
    client: discord.Client, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    job, kept = about_message(question), Kept()
    await answered(client, job, kept, long_text(5))
    shown = by_bot(world, thread_of(world, question))
    world.clock.advance(600)
    forgotten = Kept(Posted(kept.posted.messages[:1], kept.posted.thread))
    await answered(client, again(job, forgotten), forgotten, long_text(5))
    assert by_bot(world, thread_of(world, question)) == shown
    assert forgotten.posted == kept.posted


async def test_a_lost_card_is_not_told_from_its_like_by_its_buttons_alone(
    client: discord.Client, world: World, ann: User
) -> None:
    first, second = [await world.say(ann, world.channel, QUESTION) for _ in range(2)]
    jobs = [about_message(one, open_thread=False, key=str(uuid4())) for one in (first, second)]
    await asyncio.gather(*(answered(client, job, text=long_text(3)) for job in jobs))
    shown = by_bot(world, world.channel)
    assert len(shown) == 4
    replied = [one.replied for one in shown]
    assert replied.count(first) == replied.count(second) == 2
