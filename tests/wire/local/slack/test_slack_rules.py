"""What the local Slack refuses, as the platform does, asked by the real slack_sdk."""

from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.wire.slack import Channel, ChannelKind, SlackServer, User, World
from tests.wire.slack.trial import raw, refusal

Json = dict[str, Any]


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def section(text: str) -> Json:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def actions(*elements: Json) -> Json:
    return {"type": "actions", "elements": list(elements)}


def button(**fields: Any) -> Json:
    return {"type": "button", "text": plain("go"), "action_id": "go", **fields}


def feedback(**fields: Any) -> Json:
    sides = {f"{s}_button": {"text": plain(s), "value": s} for s in ("positive", "negative")}
    return {"type": "feedback_buttons", "action_id": "f", **sides, **fields}


@pytest.mark.parametrize(
    "block",
    [
        section("x" * 3001),
        section(""),
        {"type": "header", "text": plain("x" * 151)},
        {"type": "header", "text": {"type": "mrkdwn", "text": "x"}},
        {"type": "context", "elements": [plain("x")] * 11},
        actions(*[button(action_id=f"a{n}") for n in range(26)]),
        actions(button(), button()),
        actions(button(text=plain("x" * 76))),
        actions(button(value="x" * 2001)),
        actions(button(action_id="x" * 256)),
        actions(button(style="loud")),
        actions(button(colour="red")),
        actions(feedback()),
        {"type": "context_actions", "elements": [button()]},
        {"type": "context_actions", "elements": [feedback(positive_button=None)]},
        {"type": "context_actions", "elements": [feedback()] * 6},
        {"type": "markdown", "text": "x" * 12_001},
        {"type": "divider", "text": plain("x")},
        {"type": "section"},
        {"type": "rich_text", "elements": [{"type": "text", "text": "bare"}, {"type": "what"}]},
        {"type": "poem", "text": "x"},
        {"type": "divider", "block_id": "x" * 256},
    ],
)
async def test_blocks_that_break_a_rule_are_refused(
    client: AsyncWebClient, world: World, block: Json
) -> None:
    with pytest.raises(SlackApiError) as refused:
        await client.chat_postMessage(channel=world.channel.id, text="t", blocks=[block])
    assert refused.value.response["error"] == "invalid_blocks"
    assert "json-pointer:/blocks/0" in refused.value.response["response_metadata"]["messages"][0]
    assert world.transcript(world.channel) == []


async def test_sums_over_a_message_are_limited(client: AsyncWebClient, world: World) -> None:
    async def post(*blocks: Json) -> str:
        return await refusal(
            lambda: client.chat_postMessage(channel=world.channel.id, text="t", blocks=blocks)
        )

    markdown = {"type": "markdown", "text": "x" * 7000}
    assert await post(markdown, markdown) == "invalid_blocks"
    assert await post(*[{"type": "divider"}] * 51) == "invalid_blocks"
    assert await post(*[section("x" * 3000)] * 5) == "msg_blocks_too_long"
    twice = {"type": "divider", "block_id": "same"}
    assert await post(twice, twice) == "invalid_blocks"


async def test_texts_have_their_limits(server: SlackServer, world: World) -> None:
    async def call(method: str, **body: Any) -> Json:
        return (await raw(server, method, {"channel": world.channel.id, **body}))[1]

    assert (await call("chat.postMessage", text=" "))["error"] == "no_text"
    sent = await call("chat.postMessage", text="x" * 40_001)
    assert len(world.transcript(world.channel)[0].text) == 40_000
    late = await call("chat.update", ts=sent["ts"], text="x" * 4_001)
    assert late["error"] == "msg_too_long"
    both = await call("chat.postMessage", text="t", markdown_text="also")
    assert both["error"] == "markdown_text_conflict"
    long = await call("chat.postMessage", markdown_text="x" * 12_001)
    assert long["error"] == "msg_too_long"


async def test_places_and_messages_must_be_there(
    client: AsyncWebClient, world: World, ann: User
) -> None:
    elsewhere = world.add_channel(world.workspace, "elsewhere", members=(ann,))
    secret = world.add_channel(world.workspace, "s", ChannelKind.PRIVATE, members=(ann,))
    question = await world.say(ann, world.channel, "hello")
    reply = await world.say(ann, world.channel, "more", thread=question)

    async def post(channel: Channel, **more: Any) -> str:
        return await refusal(lambda: client.chat_postMessage(channel=channel.id, text="t", **more))

    assert await post(elsewhere) == "not_in_channel"
    assert await post(secret) == "channel_not_found"
    assert await post(world.channel, thread_ts="1.000001") == "thread_not_found"
    assert await post(world.channel, thread_ts=reply.ts) == "cannot_reply_to_message"
    assert await post(world.channel, username="Prof") == "missing_scope"
    here = world.channel.id
    assert (
        await refusal(lambda: client.chat_update(channel=here, ts="1.000001", text="t"))
        == "message_not_found"
    )
    assert (
        await refusal(lambda: client.chat_update(channel=here, ts=question.ts, text="t"))
        == "cant_update_message"
    )
    assert (
        await refusal(lambda: client.chat_delete(channel=here, ts=question.ts))
        == "cant_delete_message"
    )
    shown = await client.chat_postEphemeral(channel=here, user=ann.id, text="psst")
    ts = shown["message_ts"]
    assert (
        await refusal(lambda: client.chat_update(channel=here, ts=ts, text="t"))
        == "message_not_found"
    )


async def test_streams_are_kept_in_order(client: AsyncWebClient, world: World, ann: User) -> None:
    question = await world.say(ann, world.channel, "hello")
    here, ts = world.channel.id, question.ts

    async def start(**more: Any) -> str:
        return await refusal(lambda: client.chat_startStream(channel=here, thread_ts=ts, **more))

    assert await start() == "missing_recipient_user_id"
    assert await start(recipient_user_id=ann.id) == "missing_recipient_team_id"
    whom: Json = {"recipient_user_id": ann.id, "recipient_team_id": ann.workspace.id}
    assert await start(**whom, markdown_text="x" * 12_001) == "msg_too_long"
    bad = [{"type": "task_update", "id": "1", "title": "t", "status": "odd"}]
    assert await start(**whom, chunks=bad) == "invalid_chunks"
    stream = await client.chat_startStream(channel=here, thread_ts=ts, **whom)
    at = {"channel": here, "ts": stream["ts"]}
    assert await refusal(lambda: client.chat_appendStream(**at)) == "no_text"
    assert await refusal(lambda: client.chat_update(**at, text="t")) == "streaming_state_conflict"
    await client.chat_appendStream(**at, markdown_text="A ")
    await client.chat_stopStream(**at, markdown_text="number.")
    ended = "message_not_in_streaming_state"
    late = {**at, "markdown_text": "x"}
    assert await refusal(lambda: client.chat_appendStream(**late)) == ended
    assert await refusal(lambda: client.chat_stopStream(**late)) == ended
    await client.chat_update(**at, text="changed")
    assert world.transcript(world.channel)[-1].text == "changed"


async def test_a_stream_nobody_feeds_ends_by_itself(
    client: AsyncWebClient, world: World, ann: User
) -> None:
    place = world.dm(ann)
    question = await world.say(ann, place, "hello")
    stream = await client.chat_startStream(channel=place.id, thread_ts=question.ts)
    world.clock.advance(world.limits.stream_idle + 1)
    assert (
        await refusal(
            lambda: client.chat_appendStream(
                channel=place.id, ts=stream["ts"], markdown_text="late"
            )
        )
        == "message_not_in_streaming_state"
    )


async def test_scopes_and_tokens_are_checked(
    server: SlackServer, client: AsyncWebClient, world: World
) -> None:
    world.installation.scopes -= {"chat:write"}
    with pytest.raises(SlackApiError) as refused:
        await client.chat_postMessage(channel=world.channel.id, text="t")
    body = refused.value.response
    assert (body["error"], body["needed"]) == ("missing_scope", "chat:write")
    assert "app_mentions:read" in body["provided"]
    assert (await raw(server, "auth.test", token="xoxb-no"))[1]["error"] == "invalid_auth"
    assert (await raw(server, "auth.test", token=""))[1]["error"] == "not_authed"
    app_token = world.app.app_token
    found = (await raw(server, "auth.test", token=app_token))[1]
    assert found["error"] == "not_allowed_token_type"
    assert (await raw(server, "apps.connections.open"))[1]["error"] == "not_allowed_token_type"
    world.uninstall(world.app, world.workspace)
    assert await refusal(client.auth_test) == "account_inactive"


async def test_reading_methods_do_not_see_a_json_body(server: SlackServer) -> None:
    body = {"channel": server.world.channel.id}
    _, answer = await raw(server, "conversations.info", body)
    assert answer["error"] == "invalid_arguments"


async def test_a_method_that_does_not_exist_fails_the_test() -> None:
    with pytest.raises(AssertionError, match=r"unknown method: chat\.whisper"):
        async with SlackServer() as server:
            assert (await raw(server, "chat.whisper"))[1]["error"] == "unknown_method"


async def test_one_post_a_second_in_a_channel() -> None:
    async with SlackServer() as server:
        world = server.world
        client = AsyncWebClient(
            token=world.installation.token, base_url=server.api_url, retry_handlers=[]
        )
        here = world.channel.id
        await client.chat_postMessage(channel=here, text="one")
        for _ in range(2):
            with pytest.raises(SlackApiError) as refused:
                await client.chat_postMessage(channel=here, text="two")
        response = refused.value.response
        assert (response["error"], response.headers["Retry-After"]) == ("ratelimited", "1")
        assert not world.history.early_requests, "it may have been on its way"
        world.clock.advance(0.2)
        await refusal(lambda: client.chat_postMessage(channel=here, text="two"))
        assert len(world.history.early_requests) == 1
        world.clock.advance(0.8)
        await client.chat_postMessage(channel=here, text="two")
        other = world.add_channel(world.workspace, "other", members=(world.bot,))
        await client.chat_postMessage(channel=other.id, text="elsewhere at once")


async def test_views_follow_their_rules(client: AsyncWebClient, world: World, ann: User) -> None:
    interaction = await world.slash(ann, world.channel, "/ask")
    modal = {"type": "modal", "title": plain("x" * 25), "blocks": [section("x")]}

    async def open_modal(view: Json) -> str:
        trigger = interaction.trigger_id
        return await refusal(lambda: client.views_open(trigger_id=trigger, view=view))

    assert await open_modal(modal) == "invalid_arguments"
    modal["title"] = plain("Evidence")
    entry = {"type": "input", "label": plain("q"), "element": {"type": "plain_text_input"}}
    assert await open_modal({**modal, "blocks": [entry]}) == "invalid_arguments"
    assert await open_modal({**modal, "blocks": [section("x")] * 101}) == "invalid_arguments"
    markdown = {"type": "markdown", "text": "x"}
    assert await open_modal({**modal, "blocks": [markdown]}) == "invalid_arguments"
    opened = await client.views_open(trigger_id=interaction.trigger_id, view=modal)
    assert await open_modal(modal) == "exchanged_trigger_id"
    view = {"view_id": opened["view"]["id"], "view": modal}
    assert await refusal(lambda: client.views_update(**view, hash="old")) == "hash_conflict"
    await client.views_update(**view, hash=opened["view"]["hash"])
    interaction = await world.slash(ann, world.channel, "/ask")
    world.clock.advance(3.1)
    assert await open_modal(modal) == "expired_trigger_id"


async def test_a_response_url_has_five_uses_in_half_an_hour(world: World, ann: User) -> None:
    from slack_sdk.webhook.async_client import AsyncWebhookClient

    interaction = await world.slash(ann, world.channel, "/ask")
    hook = AsyncWebhookClient(world.response_url(interaction))
    for number in range(5):
        assert (await hook.send(text=f"{number}")).status_code == 200
    spent = await hook.send(text="6")
    assert (spent.status_code, "used_url" in spent.body) == (404, True)
    assert len(world.transcript(world.channel, ann)) == 5
    other = await world.slash(ann, world.channel, "/ask")
    world.clock.advance(1801)
    late = await AsyncWebhookClient(world.response_url(other)).send(text="late")
    assert "expired_url" in late.body


async def test_a_file_is_shared_once_all_of_it_was_uploaded(
    world: World, client: AsyncWebClient, ann: User
) -> None:
    direct = world.direct_channel(ann, world.bot)
    await client.files_upload_v2(filename="a.json", content="{}", channel=direct.id)
    (message,) = world.transcript(direct, ann)
    assert [(file.name, file.content) for file in message.files] == [("a.json", b"{}")]
    announced = await client.files_getUploadURLExternal(filename="b.json", length=9)
    file_id = announced["file_id"]
    assert announced["upload_url"].endswith(file_id)
    shared: Json = {"files": [{"id": file_id}], "channel_id": direct.id}
    word = await refusal(lambda: client.files_completeUploadExternal(**shared))
    assert word == "file_not_found"
    elsewhere = world.add_channel(world.workspace, "elsewhere")
    upload: Json = {"filename": "c", "content": "c", "channel": elsewhere.id}
    assert await refusal(lambda: client.files_upload_v2(**upload)) == "not_in_channel"
