"""Whom a message pings, what is fetched for it, who may read it, and what it must look like."""

from typing import Any

import jsonschema
import pytest

from tests.wire.discord import DiscordServer, User, World
from tests.wire.discord.message_payloads import message_payload
from tests.wire.discord.schema import DESCRIPTION, Description
from tests.wire.discord.trial import call


async def test_pings_follow_the_allowances_of_every_send_and_edit(
    server: DiscordServer, world: World, ann: User, messages: str
) -> None:
    role = world.add_role(world.guild, "students")
    world.join(ann, world.guild, role)
    text = f"<@{ann.id}> <@&{role.id}> @everyone `<@{world.owner.id}>`"
    silent: Any = {"content": text, "allowed_mentions": {"parse": []}}
    _, sent = await call(server, "POST", messages, silent)
    assert world.notified == []
    assert sent["mentions"] == []
    await call(server, "PATCH", f"{messages}/{sent['id']}", {"content": text})
    pinged = {(note.user_id, note.cause, note.edited) for note in world.notified}
    assert pinged == {(ann.id, "user", True), (world.owner.id, "everyone", True)}


async def test_a_reply_pings_unless_told_not_to(
    server: DiscordServer, world: World, ann: User, messages: str
) -> None:
    said = await world.say(ann, world.channel, "a question")
    reply: Any = {"content": "x", "message_reference": {"message_id": str(said.id)}}
    await call(server, "POST", messages, reply | {"allowed_mentions": {"parse": []}})
    assert world.notified == []
    await call(server, "POST", messages, reply)
    assert [(note.user_id, note.cause) for note in world.notified] == [(ann.id, "reply")]


async def test_an_answer_to_an_interaction_pings_users_alone_by_default(
    server: DiscordServer, world: World, ann: User
) -> None:
    path = f"/applications/{world.application.id}/commands"
    await call(server, "POST", path, {"name": "ask", "description": "Ask."})
    used = await world.slash(ann, world.channel, "ask")
    body = {"type": 4, "data": {"content": f"@everyone <@{ann.id}>"}}
    await call(server, "POST", f"/interactions/{used.id}/{used.token}/callback", body)
    assert [(note.user_id, note.cause) for note in world.notified] == [(ann.id, "user")]


@pytest.mark.parametrize(
    ("body", "urls"),
    [
        ({"content": "see https://a.example/x."}, ["https://a.example/x"]),
        ({"content": "[label](https://a.example/x)"}, ["https://a.example/x"]),
        ({"content": "<https://a.example/x> `https://b.example`"}, []),
        ({"content": "[label](<https://a.example/x>)"}, []),
        ({"content": "https://a.example/x", "flags": 4}, []),
        ({"content": "```\nhttps://a.example\n```"}, []),
        ({"embeds": [{"title": "x", "image": {"url": "https://a.example/i"}}]},
         ["https://a.example/i"]),
    ],
)  # fmt: skip
async def test_previews_are_known(
    server: DiscordServer, messages: str, body: Any, urls: list[str]
) -> None:
    assert (await call(server, "POST", messages, body))[0] == 200
    assert [preview.url for preview in server.world.previews] == urls


async def test_without_the_intent_rest_empties_content_too(
    server: DiscordServer, world: World, ann: User, messages: str
) -> None:
    world.application.message_content = False
    await world.say(ann, world.channel, "not for the bot")
    await world.say(ann, world.channel, f"<@{world.bot.id}> hello")
    _, listed = await call(server, "GET", messages)
    assert [message["content"] for message in listed] == [f"<@{world.bot.id}> hello", ""]


@pytest.mark.costly
@pytest.mark.skipif(not DESCRIPTION.exists(), reason="the platform's description is not at hand")
async def test_the_fast_check_agrees_with_jsonschema(
    server: DiscordServer, world: World, ann: User
) -> None:
    said = await world.say(ann, world.channel, "x", files={"a.txt": b"x"})
    row = {"type": 1, "components": [{"type": 2, "style": 1, "label": "a", "custom_id": "a"}]}
    body: Any = {"content": "y", "embeds": [{"title": "t"}], "components": [row]}
    message = world.posting.create(world.bot, world.channel, body, {})
    await world.open_thread(ann, said, "thread")
    description = Description(DESCRIPTION)
    route = "GET /channels/{channel_id}/messages/{message_id}"
    schema = {
        **description.schema(route, "200"),
        "components": {"schemas": description.schemas},
    }
    reference = jsonschema.Draft202012Validator(schema)
    for payload in (message_payload(said, ann), message_payload(message, ann)):
        assert description.accepts(route, "200", payload)
        for broken in _broken(payload):
            assert description.accepts(route, "200", broken) == reference.is_valid(broken)


def _broken(payload: Any) -> list[Any]:
    """Return copies of a payload, each with one value gone or of another type."""
    wrong: list[Any] = [None, -1, "x", [], {}, [{"type": 1}]]
    made = [{**payload, key: value} for key in payload for value in wrong]
    gone = [{other: payload[other] for other in payload if other != key} for key in payload]
    return made + gone
