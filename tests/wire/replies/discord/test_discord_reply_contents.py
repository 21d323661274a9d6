"""Answers through the real discord.py: pictures, and what is planted to ping and to link."""

import asyncio
import re

import discord
import pytest

from adapters.discord.outbound import evidence, layout
from core.domain import ContextMode
from tests.samples import chunk, request
from tests.wire.discord import (
    Permission,
    User,
    World,
)
from tests.wire.discord.component_checks import BUTTON, CONTAINER, GALLERY, STRING_SELECT, walk
from tests.wire.replies.discord.jobs import (
    about_interaction,
    about_message,
    answered,
    by_bot,
    deferred,
    opened,
    thread_of,
)
from tests.wire.replies.jobs import QUESTION, finished


@pytest.mark.costly
async def test_a_formula_that_cannot_be_read_is_attached_as_a_picture(
    client: discord.Client, world: World, ann: User
) -> None:
    matrix = r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}"
    question = await world.say(ann, world.channel, QUESTION)
    await answered(client, about_message(question), text=f"It is $${matrix}$$ [1].")
    (answer,) = by_bot(world, thread_of(world, question))
    (picture,) = answer.attachments
    assert (picture.filename, picture.description) == ("picture-1.png", matrix)
    assert picture.content.startswith(b"\x89PNG")
    (gallery,) = (part for part in walk(answer.components) if part["type"] == GALLERY)
    (item,) = gallery["items"]
    assert item["media"]["url"] == "attachment://picture-1.png"
    assert item["description"] == matrix


WIDE = (
    "Types of whole numbers [1].\n\n| type | bytes | from | to | signed |\n|---|--:|--:|--:|:-:|\n"
    + "".join(f"| i{n} | {n} | -{n} | {n} | yes |\n" for n in (8, 16, 32, 64))
    + "\nThat is all of them."
)


@pytest.mark.costly
async def test_a_table_of_more_than_three_columns_is_a_picture_where_it_stands(
    client: discord.Client, world: World, ann: User
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    await answered(client, about_message(question), text=WIDE)
    (answer,) = by_bot(world, thread_of(world, question))
    (picture,) = answer.attachments
    assert picture.content.startswith(b"\x89PNG")
    assert picture.description is not None
    assert picture.description.startswith(
        "type | bytes | from | to | signed\ni8 | 8 | -8 | 8 | yes"
    )
    card = next(part for part in answer.components if part["type"] == CONTAINER)
    above, gallery, below, *_ = card["components"]
    assert above["content"] == "Types of whole numbers [1].\n\n-# Table 1"
    assert [item["media"]["url"] for item in gallery["items"]] == ["attachment://picture-1.png"]
    assert below["content"] == "That is all of them."
    assert "i16" not in answer.text


async def test_without_leave_to_attach_files_a_table_stays_text(
    client: discord.Client, world: World, ann: User
) -> None:
    world.restrict(world.channel, world.bot, deny=Permission.ATTACH_FILES)
    question = await world.say(ann, world.channel, QUESTION)
    await answered(client, about_message(question), text=WIDE)
    (answer,) = by_bot(world, thread_of(world, question))
    assert not answer.attachments
    assert "i16" in answer.text
    assert "Table 1" not in answer.text
    assert answer.text.index("i64") < answer.text.index("That is all of them.")


async def test_of_more_than_three_buttons_the_rest_are_in_a_menu(
    client: discord.Client, world: World, ann: User
) -> None:
    interaction = deferred(world, ann, ephemeral=True)
    await answered(client, about_interaction(interaction, ephemeral=True))
    (answer,) = by_bot(world, world.channel, ann)
    parts = list(walk(answer.components))
    assert [p["label"] for p in parts if p["type"] == BUTTON] == [
        "Helpful",
        "Not helpful",
        "Evidence",
    ]
    (menu,) = (part for part in parts if part["type"] == STRING_SELECT)
    assert [option["label"] for option in menu["options"]] == ["Share"]
    assert menu["placeholder"] == "More …"


async def test_without_leave_to_attach_files_the_formula_stays_code(
    client: discord.Client, world: World, ann: User
) -> None:
    world.restrict(world.channel, world.bot, deny=Permission.ATTACH_FILES)
    matrix = r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}"
    question = await world.say(ann, world.channel, QUESTION)
    text = f"{'A heap is a tree. ' * 198}\n\nIt is $${matrix}$$ [1]."
    await answered(client, about_message(question), text=text)
    _, answer = by_bot(world, thread_of(world, question))
    assert f"`{matrix}`" in answer.text
    assert not answer.attachments


@pytest.mark.parametrize("planted_in", ["question", "quote", "title", "answer", "notice"])
@pytest.mark.parametrize("private", [False, True])
async def test_nobody_is_notified_and_nothing_previewed_wherever_it_is_planted(
    client: discord.Client, world: World, ann: User, planted_in: str, private: bool
) -> None:
    role = world.add_role(world.guild, "tutors", mentionable=True)
    world.join(ann, world.guild, role)
    attack = (
        f"@everyone @here <@{ann.id}> <@!{ann.id}> <@&{role.id}> <#{world.channel.id}> "
        f"https://evil.example/{planted_in} [x](https://evil.example) <https://evil.example> "
        "[y](<https://evil.example>) ![z](https://evil.example/z.png) discord.gg/evil"
    )
    words = dict.fromkeys(["question", "quote", "title", "answer", "notice"], "A heap")
    words[planted_in] = attack
    asked = request(
        query_text=words["question"],
        context_mode=ContextMode.SELECTED_TEXT,
        selected_text=words["quote"],
    )
    interaction = deferred(world, ann, ephemeral=private)
    job = about_interaction(interaction, ephemeral=private, asked=asked)
    reply = await opened(client, job)
    await reply.update(words["answer"])
    await asyncio.sleep(0.05)
    cited = chunk(page_title=words["title"], headings=(words["title"],))
    text = f"{words['answer']} [1]"
    await reply.finish(finished(job, text, cited=cited, notices=(words["notice"],)))
    (answer,) = by_bot(world, world.channel, ann)
    assert "evil.example" not in "".join(re.findall(r"https?://[^\s>)]*", answer.text))
    if not private:
        assert "://" not in thread_of(world, answer).name
    assert not world.notified
    assert not world.previews


async def test_evidence_can_be_posted_as_it_is(
    client: discord.Client, world: World, ann: User
) -> None:
    job = about_message(await world.say(ann, world.channel, QUESTION))
    place = client.get_partial_messageable(world.channel.id)
    for post in evidence(finished(job)):
        await place.send(view=layout(post))
    assert not world.previews
