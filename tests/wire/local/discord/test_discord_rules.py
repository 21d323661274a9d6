"""The local Discord refuses what Discord refuses."""

import json
from typing import Any

import pytest

from tests.wire.discord import (
    ChannelType,
    DiscordServer,
    Permission,
    User,
    World,
)
from tests.wire.discord.trial import call

ROW: Any = {"type": 1, "components": [{"type": 2, "style": 1, "label": "a", "custom_id": "a"}]}
QUESTION: Any = {"type": 3, "name": "question", "description": "What?", "required": True}
ASK: Any = {"name": "ask", "description": "Ask.", "options": [QUESTION]}


async def post(server: DiscordServer, body: Any, path: str = "") -> tuple[int, int, Any]:
    """Post a body and return status, error code and errors."""
    path = path or f"/channels/{server.world.channel.id}/messages"
    status, answer = await call(server, "POST", path, body)
    return status, answer.get("code", 0), answer.get("errors")


async def register(server: DiscordServer, *commands: Any) -> None:
    path = f"/applications/{server.world.application.id}/commands"
    status, answer = await call(server, "PUT", path, list(commands))
    assert status == 200, answer


def button(**fields: Any) -> Any:
    return {"type": 1, "components": [{"type": 2, "style": 1, "label": "a", **fields}]}


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"content": "x" * 2001}, "content"),
        ({"content": "😀" * 1001}, "content"),
        ({"content": "x", "nonce": "n" * 26}, "nonce"),
        ({"embeds": [{"title": "x" * 257}]}, "embeds.0.title"),
        ({"embeds": [{"description": "x" * 4097}]}, "embeds.0.description"),
        ({"embeds": [{"fields": [{"name": "n", "value": "x" * 1025}]}]}, "embeds.0.fields.0.value"),
        ({"embeds": [{"fields": [{"name": "n", "value": ""}]}]}, "embeds.0.fields.0.value"),
        ({"embeds": [{"description": "x" * 3001}] * 2}, "embeds"),
        ({"embeds": [{"title": "x"}] * 11}, "embeds"),
        ({"embeds": [{"title": "x", "url": "javascript:x"}]}, "embeds.0.url"),
        ({"components": [button(custom_id="x" * 101)]}, "components.0.components.0.custom_id"),
        (
            {"components": [button(custom_id="x", label="l" * 81)]},
            "components.0.components.0.label",
        ),
        ({"components": [button()]}, "components.0.components.0.custom_id"),
        ({"components": [ROW, ROW]}, "components"),
        ({"components": [button(custom_id=str(n)) for n in range(6)]}, "components"),
        ({"components": [{"type": 10, "content": "v2"}]}, "components.0.type"),
        ({"content": "x", "allowed_mentions": {"parse": ["all"]}}, "allowed_mentions.parse.0"),
        (
            {"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]}},
            "allowed_mentions",
        ),
        ({"content": "x", "message_reference": {"message_id": "1"}}, "message_reference"),
    ],
)
async def test_a_bad_form_is_refused_where_it_is_bad(
    server: DiscordServer, body: Any, path: str
) -> None:
    status, code, errors = await post(server, body)
    assert (status, code) == (400, 50035)
    for key in path.split("."):
        errors = errors[key]
    assert '"_errors"' in json.dumps(errors)
    assert server.world.transcript(server.world.channel) == []


async def test_an_empty_message_is_refused(server: DiscordServer) -> None:
    assert (await post(server, {"content": " \n "}))[:2] == (400, 50006)


async def test_missing_permissions_are_told_apart(server: DiscordServer, world: World) -> None:
    other = world.add_channel(world.guild, "other")
    path = f"/channels/{other.id}/messages"
    for deny, body, code in [
        (Permission.VIEW_CHANNEL, {"content": "x"}, 50001),
        (Permission.SEND_MESSAGES, {"content": "x"}, 50013),
        (Permission.EMBED_LINKS, {"embeds": [{"title": "x"}]}, 50013),
    ]:
        world.restrict(other, world.bot, deny=deny)
        assert (await post(server, body, path))[:2] == (403, code)
    world.restrict(other, world.bot)
    _, sent = await call(server, "POST", path, {"content": "x"})
    world.restrict(other, world.bot, deny=Permission.EMBED_LINKS)
    edit = await call(server, "PATCH", f"{path}/{sent['id']}", {"embeds": [{"title": "x"}]})
    assert edit[1]["code"] == 50013
    assert len(world.history.invalid_requests) == 4
    assert (await post(server, {"content": "x"}, "/channels/1/messages"))[:2] == (404, 10003)


async def test_threads_have_their_rules(server: DiscordServer, world: World, ann: User) -> None:
    said = await world.say(ann, world.channel, "a question")
    threads = f"/channels/{world.channel.id}/messages/{said.id}/threads"
    for name in ("", " ", "x" * 101):
        assert (await post(server, {"name": name}, threads))[1] == 50035
    bad_time = {"name": "x", "auto_archive_duration": 61}
    assert (await post(server, bad_time, threads))[1] == 50035
    assert (await post(server, {"name": "x"}, threads))[0] == 201
    assert (await post(server, {"name": "x"}, threads))[1] == 160004
    thread = world.channels[said.id]
    path = f"/channels/{thread.id}/messages"
    status, sent = await call(server, "POST", path, {"content": "an answer"})
    assert status == 200
    await world.archive(thread)
    edit = await call(server, "PATCH", f"{path}/{sent['id']}", {"content": "changed"})
    assert edit[1]["code"] == 50083
    assert (await post(server, {"content": "wakes it"}, path))[0] == 200
    assert thread.thread is not None
    assert not thread.thread.archived
    await world.archive(thread)
    listed = await call(server, "GET", f"/channels/{world.channel.id}/threads/archived/public")
    assert [found["id"] for found in listed[1]["threads"]] == [str(thread.id)]


async def test_a_forum_takes_posts_only(server: DiscordServer, world: World) -> None:
    forum = world.add_channel(world.guild, "questions", ChannelType.FORUM)
    assert (await post(server, {"content": "x"}, f"/channels/{forum.id}/messages"))[1] == 50008
    assert (await post(server, {"name": "x"}, f"/channels/{forum.id}/threads"))[1] == 50035


@pytest.mark.parametrize(
    "command",
    [
        {"name": "Ask", "description": "x"},
        {"name": "x" * 33, "description": "x"},
        {"name": "ask", "description": ""},
        {"name": "ask", "description": "x" * 101},
        {"name": "Explain", "type": 3, "description": "x"},
        {"name": "ask", "description": "x", "contexts": [3]},
        {**ASK, "options": [QUESTION, QUESTION]},
        {**ASK, "options": [{**QUESTION, "name": f"o{n}"} for n in range(26)]},
        {**ASK, "options": [{**QUESTION, "choices": [{"name": "", "value": "x"}]}]},
    ],
)
async def test_a_bad_command_is_not_registered(server: DiscordServer, command: Any) -> None:
    path = f"/applications/{server.world.application.id}/commands"
    status, answer = await call(server, "POST", path, command)
    assert (status, answer["code"]) == (400, 50035)


async def test_interactions_have_their_times(
    server: DiscordServer, world: World, ann: User
) -> None:
    await register(server, ASK)
    used = await world.slash(ann, world.channel, "ask", question="x")
    callback = f"/interactions/{used.id}/{used.token}/callback"
    webhook = f"/webhooks/{world.application.id}/{used.token}"
    assert (await post(server, {"content": "early"}, webhook))[1] == 10015
    assert (await post(server, {"type": 7}, callback))[1] == 50035
    assert (await post(server, {"type": 5}, callback))[0] == 204
    assert (await post(server, {"type": 5}, callback))[1] == 40060
    world.clock.advance(899)
    assert (await post(server, {"content": "in time"}, webhook))[0] == 200
    world.clock.advance(2)
    assert (await post(server, {"content": "late"}, webhook))[1] == 50027
    late = await world.slash(ann, world.channel, "ask", question="x")
    world.clock.advance(3.1)
    answer = {"type": 4, "data": {"content": "x"}}
    path = f"/interactions/{late.id}/{late.token}/callback"
    assert (await post(server, answer, path))[1] == 10062


async def test_answers_are_reached_by_their_token(
    server: DiscordServer, world: World, ann: User
) -> None:
    await register(server, ASK)
    used = await world.slash(ann, world.channel, "ask", question="x")
    body = {"type": 4, "data": {"content": "one", "flags": 64}}
    await post(server, body, f"/interactions/{used.id}/{used.token}/callback")
    webhook = f"/webhooks/{world.application.id}/{used.token}"
    _, second = await call(server, "POST", webhook, {"content": "two", "flags": 64})
    original, further = f"{webhook}/messages/@original", f"{webhook}/messages/{second['id']}"
    assert (await call(server, "GET", original))[1]["content"] == "one"
    assert (await call(server, "PATCH", further, {"content": "2"}))[1]["flags"] == 64
    assert [m.content for m in world.transcript(world.channel, ann)] == ["one", "2"]
    for path in (original, further):
        assert (await call(server, "DELETE", path))[0] == 204
        assert (await call(server, "GET", path))[1]["code"] == 10008
    assert world.transcript(world.channel, ann) == []


async def test_a_user_cannot_send_what_the_client_would_not(
    server: DiscordServer, world: World, ann: User
) -> None:
    restricted = {**ASK, "name": "staff", "default_member_permissions": "32", "contexts": [0]}
    await register(server, ASK, restricted)
    with pytest.raises(ValueError, match="required"):
        await world.slash(ann, world.channel, "ask")
    with pytest.raises(LookupError, match="no options"):
        await world.slash(ann, world.channel, "ask", question="x", other="y")
    with pytest.raises(LookupError, match="not shown"):
        await world.slash(ann, world.channel, "staff", question="x")
    await world.slash(world.owner, world.channel, "staff", question="x")


async def test_a_modal_has_limits(server: DiscordServer, world: World, ann: User) -> None:
    await register(server, ASK)
    used = await world.slash(ann, world.channel, "ask", question="x")
    field = {"type": 4, "custom_id": "f", "style": 1, "label": "l" * 46}
    modal = {
        "title": "t" * 46,
        "custom_id": "m",
        "components": [{"type": 1, "components": [field]}],
    }
    path = f"/interactions/{used.id}/{used.token}/callback"
    _, code, errors = await post(server, {"type": 9, "data": modal}, path)
    assert (code, set(errors)) == (50035, {"title", "components"})


async def test_old_messages_are_edited_seldom(
    server: DiscordServer, world: World, messages: str
) -> None:
    _, sent = await call(server, "POST", messages, {"content": "x"})
    world.clock.advance(3601)
    codes = [
        (await call(server, "PATCH", f"{messages}/{sent['id']}", {"content": str(n)}))[0]
        for n in range(6)
    ]
    assert codes == [200] * 5 + [429]


async def test_the_global_limit_spares_interactions(
    server: DiscordServer, world: World, ann: User
) -> None:
    await register(server, ASK)
    world.clock.advance(1)
    world.limits.global_requests = 2
    used = await world.slash(ann, world.channel, "ask", question="x")
    statuses = [(await post(server, {"content": "x"}))[0] for _ in range(3)]
    assert statuses == [200, 200, 429]
    path = f"/interactions/{used.id}/{used.token}/callback"
    assert (await post(server, {"type": 5}, path))[0] == 204


async def test_a_body_that_nobody_understands_fails_the_test() -> None:
    with pytest.raises(AssertionError, match="not understood"):
        async with DiscordServer() as server:
            assert (await post(server, {"poll": {"question": {"text": "?"}}}))[0] == 400


async def test_private_threads_are_private(server: DiscordServer, world: World, ann: User) -> None:
    path = f"/channels/{world.channel.id}/threads"
    status, made = await call(server, "POST", path, {"name": "secret", "type": 12})
    assert status == 201
    thread = world.channels[int(made["id"])]
    assert not world.may(thread, ann, Permission.VIEW_CHANNEL)
    added = f"/channels/{thread.id}/thread-members/{ann.id}"
    assert (await call(server, "PUT", added))[0] == 204
    assert world.may(thread, ann, Permission.VIEW_CHANNEL)


async def test_someone_who_closed_direct_messages_gets_none(
    server: DiscordServer, world: World, ann: User
) -> None:
    ann.open_to_direct = False
    _, opened = await call(server, "POST", "/users/@me/channels", {"recipient_id": str(ann.id)})
    path = f"/channels/{opened['id']}/messages"
    assert (await post(server, {"content": "x"}, path))[:2] == (403, 50007)


async def test_an_unknown_route_fails_the_test_that_called_it() -> None:
    with pytest.raises(AssertionError, match="unknown route: GET /api/v10/nothing"):
        async with DiscordServer() as server:
            assert (await call(server, "GET", "/nothing"))[0] == 404


async def test_a_wrong_token_is_unauthorized(server: DiscordServer) -> None:
    assert (await call(server, "GET", "/users/@me", token="x"))[0] == 401
