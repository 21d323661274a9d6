"""Whom a message pings, what Slack would fetch for it, and how a typed text is shown."""

import json
from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from tests.wire.slack import ChannelKind, User, World
from tests.wire.slack.payloads import message_payload

Json = dict[str, Any]


def rich(element: Json) -> list[Json]:
    part = {"type": "rich_text_section", "elements": [element]}
    return [{"type": "rich_text", "elements": [part]}]


def mrkdwn(text: str) -> list[Json]:
    return [{"type": "section", "text": {"type": "mrkdwn", "text": text}}]


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ({"text": "hello <@ANN>"}, "user"),
        ({"text": "hello <@ANN|ann>"}, "user"),
        ({"text": "<!here>"}, "here"),
        ({"text": "<!channel|everybody>"}, "channel"),
        ({"text": "<!everyone>"}, "everyone"),
        ({"text": "<!subteam^TEAM>"}, "subteam"),
        ({"text": "x", "blocks": mrkdwn("<@ANN>")}, "user"),
        ({"text": "<@ANN>", "blocks": mrkdwn("x")}, "user"),
        ({"text": "x", "blocks": rich({"type": "user", "user_id": "ANN"})}, "user"),
        ({"text": "x", "blocks": rich({"type": "broadcast", "range": "here"})}, "here"),
        ({"text": "x", "blocks": [{"type": "markdown", "text": "<@ANN>"}]}, "user"),
        ({"text": "@ann", "link_names": True}, "user"),
        ({"text": "@channel", "parse": "full"}, "channel"),
        ({"text": "@ann"}, None),
        ({"text": "&lt;@ANN&gt; &lt;!here&gt;"}, None),
        ({"text": "x", "blocks": rich({"type": "text", "text": "<@ANN> @here"})}, None),
    ],
)
async def test_mentions_are_found_in_text_and_blocks(
    client: AsyncWebClient, world: World, ann: User, message: Json, cause: str | None
) -> None:
    team = world.add_subteam(world.workspace, "students", ann)
    written = json.dumps(message).replace("ANN", ann.id).replace("TEAM", team.id)
    await client.chat_postMessage(channel=world.channel.id, **json.loads(written))
    found = {n.cause for n in world.notified if n.user_id == ann.id}
    assert found == ({cause} if cause else set())


async def test_streams_and_edits_are_read_as_well(
    client: AsyncWebClient, world: World, ann: User
) -> None:
    place = world.dm(ann)
    question = await world.say(ann, place, "hello")
    stream = await client.chat_startStream(channel=place.id, thread_ts=question.ts)
    at = {"channel": place.id, "ts": stream["ts"]}
    await client.chat_appendStream(**at, markdown_text=f"I ask <@{ann.id[:4]}")
    assert not world.notified
    await client.chat_appendStream(**at, markdown_text=f"{ann.id[4:]}>")
    assert [n.user_id for n in world.notified] == [ann.id]


async def test_nobody_is_pinged_where_they_cannot_look(
    client: AsyncWebClient, world: World
) -> None:
    bob = world.add_user("bob", world.workspace)
    members = (world.owner, world.bot)
    secret = world.add_channel(world.workspace, "s", ChannelKind.PRIVATE, members=members)
    await client.chat_postMessage(channel=secret.id, text=f"<@{bob.id}>")
    assert not world.notified


@pytest.mark.parametrize(
    ("message", "urls"),
    [
        ({"text": "see https://a.example/x."}, ["https://a.example/x"]),
        ({"text": "<https://a.example/?a=1&amp;b=2|here>"}, ["https://a.example/?a=1&b=2"]),
        ({"text": "t", "blocks": mrkdwn("<https://a.example|a>")}, ["https://a.example"]),
        (
            {"text": "t", "blocks": [{"type": "markdown", "text": "[a](https://a.example/b)"}]},
            ["https://a.example/b"],
        ),
        (
            {"text": "t", "blocks": rich({"type": "link", "url": "https://a.example"})},
            ["https://a.example"],
        ),
        ({"text": "https://a.example", "unfurl_links": False}, ["https://a.example"]),
        ({"text": "https://a.example", "unfurl_links": False, "unfurl_media": False}, []),
        (
            {
                "text": "t",
                "unfurl_links": False,
                "unfurl_media": False,
                "blocks": [{"type": "image", "image_url": "https://i.example", "alt_text": "i"}],
            },
            ["https://i.example"],
        ),
    ],
)
async def test_links_are_fetched_unless_both_previews_are_declined(
    client: AsyncWebClient, world: World, message: Json, urls: list[str]
) -> None:
    await client.chat_postMessage(channel=world.channel.id, **message)
    assert [preview.url for preview in world.previews] == urls


async def test_a_typed_text_is_shown_as_rich_text(world: World, ann: User) -> None:
    text = f"&gt; a &lt; b\n<@{world.bot.id}> *why* <https://a.example|this>?\n```\nx = 1\n```"
    said = await world.say(ann, world.channel, text)
    (block,) = message_payload(said)["blocks"]
    quote, words, code = block["elements"]
    assert quote == {
        "type": "rich_text_quote",
        "elements": [{"type": "text", "text": "a < b"}],
    }
    assert [part["type"] for part in words["elements"]] == [
        "user",
        "text",
        "text",
        "text",
        "link",
        "text",
    ]
    assert code["elements"][0]["text"] == "x = 1"


async def test_a_shared_message_is_an_attachment(world: World, ann: User) -> None:
    passage = await world.say(world.owner, world.channel, "Prices rise.")
    forward = await world.say(ann, world.dm(ann), "why?", share_of=passage)
    (attachment,) = message_payload(forward)["attachments"]
    assert attachment["is_share"]
    assert attachment["text"] == "Prices rise."
    assert attachment["from_url"] == world.permalink(passage, world.workspace)
    secret = world.add_channel(world.workspace, "s", ChannelKind.PRIVATE, members=(world.owner,))
    hidden = await world.say(world.owner, secret, "the exam")
    with pytest.raises(ValueError, match="does not see"):
        await world.say(ann, world.channel, "look", share_of=hidden)
