"""Answers through the real slack_sdk: what one reader sees alone, and what is planted."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.slack.installations import Workspaces
from core.domain import ContextMode, now
from core.domain.errors import DeliveryError
from tests.answered import understood_on_slack
from tests.samples import chunk, request
from tests.wire.replies.jobs import QUESTION, Kept, finished, long_text
from tests.wire.replies.slack.jobs import (
    about_command,
    about_message,
    about_whisper,
    answered,
    body,
    by_bot,
    labels,
    notes,
    opened,
    workspaces_of,
)
from tests.wire.slack import Drop, SlackServer, User, World

PRIVATE_BUTTONS = ["Helpful", "Not helpful", "Evidence", "Share"]


# --- what only one reader sees ----------------------------------------------------------------


@pytest.mark.costly
async def test_a_private_answer_is_one_message_by_one_use_of_the_commands_address(
    server: SlackServer, ann: User
) -> None:
    world, shared = server.world, workspaces_of(server)
    interaction = await world.slash(ann, world.channel, "/ask", f"private {QUESTION}")
    kept = Kept()
    await answered(shared, about_whisper(world, interaction), kept, long_text(40))
    assert by_bot(world) == []
    (answer,) = by_bot(world, ann)
    assert answer.ephemeral
    assert "The rest does not fit here." in notes(answer)
    assert labels(answer) == PRIVATE_BUTTONS
    assert interaction.url_uses == 1
    assert kept.settled, "nobody sends it again"


@pytest.mark.parametrize("used", [0, 5], ids=["too late", "used up"])
async def test_after_the_address_died_the_channel_shows_it_to_the_asker_alone(
    server: SlackServer, ann: User, used: int
) -> None:
    world, shared = server.world, workspaces_of(server)
    interaction = await world.slash(ann, world.channel, "/ask", QUESTION)
    interaction.url_uses = used
    late = now() - timedelta(seconds=1) if not used else None
    await answered(shared, about_whisper(world, interaction, expires_at=late))
    (answer,) = by_bot(world, ann)
    assert (answer.ephemeral, body(answer)) == (True, "A tree [1].")
    assert world.history.of("chat.postEphemeral")


async def test_a_command_where_the_bot_is_no_member_is_answered_to_its_user_alone(
    shared: Workspaces, world: World, ann: User
) -> None:
    await world.leave(world.bot, world.channel)
    interaction = await world.slash(ann, world.channel, "/ask", QUESTION)
    job = about_whisper(world, interaction)
    address = {**job.arrival.address, "ephemeral": False, "post_question": True}
    await answered(shared, replace(job, arrival=replace(job.arrival, address=address)))
    (answer,) = by_bot(world, ann)
    assert (answer.ephemeral, body(answer)) == (True, "A tree [1].")
    assert "Share" in labels(answer)


async def test_what_may_have_been_shown_in_the_channel_is_not_sent_again(
    server: SlackServer, ann: User
) -> None:
    world, shared = server.world, workspaces_of(server)
    interaction = await world.slash(ann, world.channel, "/ask", QUESTION)
    late, kept = now() - timedelta(seconds=1), Kept()
    server.faults.api(Drop(applied=True), "chat.postEphemeral")
    with pytest.raises(DeliveryError):
        await answered(shared, about_whisper(world, interaction, expires_at=late), kept)
    assert kept.settled
    assert len(world.history.of("chat.postEphemeral")) == 1


# --- what is planted --------------------------------------------------------------------------


@pytest.mark.parametrize("planted_in", ["question", "quote", "title", "answer", "notice"])
@pytest.mark.parametrize("kind", ["message", "command", "private"])
async def test_nobody_is_notified_and_nothing_previewed_wherever_it_is_planted(
    server: SlackServer, ann: User, planted_in: str, kind: str
) -> None:
    world, shared = server.world, workspaces_of(server)
    attack = (
        f"<!everyone> <!here> <!channel> <@{ann.id}> <!subteam^S1|@tutors> @here @ann "
        f"https://evil.example/{planted_in} [x](https://evil.example) <https://evil.example|y> "
        "![z](https://evil.example/z.png) <mailto:a@evil.example> `<!here>`\n\n```\n<!here>\n```\n"
    )
    words = dict.fromkeys(["question", "quote", "title", "answer", "notice"], "A heap")
    words[planted_in] = attack
    asked = request(
        query_text=words["question"],
        context_mode=ContextMode.SELECTED_TEXT,
        selected_text=words["quote"],
    )
    if kind == "message":
        job = about_message(await world.say(ann, world.channel, QUESTION), asked=asked)
    elif kind == "command":
        job = about_command(world, ann, asked=asked)
    else:
        interaction = await world.slash(ann, world.channel, "/ask", QUESTION)
        job = about_whisper(world, interaction, asked=asked)
    reply = await opened(shared, job)
    await reply.update(f"{words['answer']}. And so on. And")
    await asyncio.sleep(0.05)
    cited = chunk(page_title=words["title"], headings=(words["title"],))
    text = f"{words['answer']} [1]"
    await reply.finish(finished(job, text, cited=cited, notices=(words["notice"],)))
    shown = by_bot(world, ann)
    assert shown
    for one in shown:
        everything = "".join([one.text, *understood_on_slack(one.blocks), *one.revisions])
        assert "<!" not in everything
        assert "<@" not in everything
        assert "//evil" not in everything
    assert not world.notified
    assert not world.previews


# --- passages ---------------------------------------------------------------------------------


async def test_the_answering_sentence_is_bold_below_its_part_and_its_section(
    shared: Workspaces, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    text = "## What is it?\n\n### Trees › Heaps\n\n**A heap is a tree.** It has a root. [1]"
    await answered(shared, about_message(question), text=text)
    (answer,) = by_bot(world)
    assert body(answer).splitlines() == [
        "## What is it?",
        "### Trees › Heaps",
        "**A heap is a tree.** It has a root. [1]",
    ]
