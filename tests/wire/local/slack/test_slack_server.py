"""The real slack-bolt against the local Slack: what a bot does on a good day."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_bolt.context.say.async_say import AsyncSay
from slack_bolt.context.say_stream.async_say_stream import AsyncSayStream
from slack_bolt.context.set_status.async_set_status import AsyncSetStatus
from slack_sdk.web.async_client import AsyncWebClient

from tests.wire.slack import SlackServer, User, World
from tests.wire.slack.trial import TrialApp, by_http, by_socket

Json = dict[str, Any]
FEEDBACK = {
    "type": "context_actions",
    "elements": [
        {
            "type": "feedback_buttons",
            "action_id": "feedback",
            "positive_button": {"text": {"type": "plain_text", "text": "Good"}, "value": "good"},
            "negative_button": {"text": {"type": "plain_text", "text": "Bad"}, "value": "bad"},
        },
        {
            "type": "icon_button",
            "action_id": "remove",
            "icon": "trash",
            "text": {"type": "plain_text", "text": "Delete"},
            "value": "1",
        },
    ],
}


@pytest.fixture
def app(server: SlackServer) -> TrialApp:
    return TrialApp(server)


@pytest.fixture(params=["socket", "http"])
async def running(
    request: pytest.FixtureRequest, app: TrialApp, server: SlackServer
) -> AsyncIterator[None]:
    async with by_socket(app, server) if request.param == "socket" else by_http(app, server):
        yield


@pytest.mark.usefixtures("running")
async def test_one_mention_arrives_twice_and_is_answered_in_its_thread(
    app: TrialApp, world: World, ann: User
) -> None:
    app.keep("message")

    @app.bolt.event("app_mention")
    async def mentioned(body: Json, event: Json, say: AsyncSay) -> None:
        app.incoming.append(body)
        await say("A number.", thread_ts=event["ts"], unfurl_links=False, unfurl_media=False)

    question = await world.say(ann, world.channel, f"<@{world.bot.id}> what is a price?")
    answer = await world.until(lambda: world.transcript(world.channel)[1:])
    assert (answer[0].text, answer[0].thread_ts) == ("A number.", question.ts)
    await world.until(lambda: len(app.incoming) > 1)
    first, second = app.incoming[0], app.incoming[1]
    assert {first["event"]["type"], second["event"]["type"]} == {"message", "app_mention"}
    assert first["event"]["ts"] == second["event"]["ts"] == question.ts
    assert first["event_id"] != second["event_id"]
    assert not world.notified


@pytest.mark.usefixtures("running")
async def test_a_command_is_acknowledged_and_answered_by_its_response_url(
    app: TrialApp, world: World, ann: User
) -> None:
    @app.bolt.command("/ask")
    async def ask(ack: AsyncAck, respond: AsyncRespond, command: Json) -> None:
        await ack("One moment.")
        await respond(f"You asked: {command['text']}", response_type="in_channel")

    interaction = await world.slash(ann, world.channel, "/ask", "What is a price?")
    assert await interaction.ack() == {"text": "One moment."}
    await world.until(lambda: len(interaction.messages) == 2)
    first, second = sorted(interaction.messages, key=lambda m: m.ephemeral, reverse=True)
    assert (first.text, first.visible_to) == ("One moment.", ann.id)
    assert world.transcript(world.channel) == [second]
    assert len(world.transcript(world.channel, ann)) == 2


@pytest.mark.usefixtures("running")
async def test_feedback_and_icon_buttons_are_clicked(
    app: TrialApp, world: World, ann: User
) -> None:
    votes: list[str] = []

    @app.bolt.action("feedback")
    async def voted(ack: AsyncAck, action: Json) -> None:
        await ack()
        votes.append(action["value"])

    @app.bolt.action("remove")
    async def removed(ack: AsyncAck, respond: AsyncRespond) -> None:
        await ack()
        await respond(delete_original=True)

    await app.client.chat_postMessage(
        channel=world.channel.id, text="An answer.", blocks=[FEEDBACK]
    )
    (answer,) = world.transcript(world.channel)
    for _ in range(2):
        await (await world.click(ann, answer, "feedback", "bad")).ack()
    assert votes == ["bad", "bad"], "every click counts: votes must be idempotent"
    await (await world.click(ann, answer, "remove")).ack()
    await world.until(lambda: not world.transcript(world.channel))
    with pytest.raises(LookupError):
        await world.click(ann, answer, "feedback", "good")


async def test_a_click_in_an_ephemeral_message_does_not_repeat_it(
    server: SlackServer, app: TrialApp, world: World, ann: User
) -> None:
    clicks: list[Json] = []

    @app.bolt.action("remove")
    async def shared(ack: AsyncAck, body: Json, respond: AsyncRespond) -> None:
        await ack()
        clicks.append(body)
        await respond("For all.", response_type="in_channel", replace_original=False)

    async with by_socket(app, server):
        here = world.channel.id
        await app.client.chat_postEphemeral(
            channel=here, user=ann.id, text="For you.", blocks=[FEEDBACK]
        )
        (answer,) = world.transcript(world.channel, ann)
        interaction = await world.click(ann, answer, "remove")
        await world.until(lambda: interaction.messages)
    assert clicks[0]["container"]["is_ephemeral"]
    assert "message" not in clicks[0]
    assert [m.text for m in world.transcript(world.channel)] == ["For all."]


@pytest.mark.usefixtures("running")
async def test_a_shortcut_opens_a_modal_that_is_filled_in(
    app: TrialApp, world: World, ann: User
) -> None:
    asked: list[str] = []

    @app.bolt.shortcut("explain")
    async def explain(ack: AsyncAck, shortcut: Json, client: AsyncWebClient) -> None:
        await ack()
        await client.views_open(trigger_id=shortcut["trigger_id"], view=modal())

    @app.bolt.view("explained")
    async def explained(ack: AsyncAck, view: Json) -> None:
        value = view["state"]["values"]["q"]["question"]["value"]
        if len(value) < 3:
            await ack(response_action="errors", errors={"q": "too short"})
            return
        asked.append(value)
        await ack()

    passage = await world.say(ann, world.channel, "> Prices rise.")
    await (await world.shortcut(ann, "explain", passage)).ack()
    await world.until(lambda: world.modals.top(ann))
    with pytest.raises(ValueError, match="must be filled in"):
        await world.submit_view(ann)
    await (await world.submit_view(ann, question="hm")).ack()
    shown = world.modals.top(ann)
    assert shown is not None
    assert shown.errors == {"q": "too short"}
    await (await world.submit_view(ann, question="Why?")).ack()
    assert (asked, world.modals.top(ann)) == (["Why?"], None)


@pytest.mark.usefixtures("running")
async def test_the_home_is_published_when_it_is_opened(
    app: TrialApp, world: World, ann: User
) -> None:
    @app.bolt.event("app_home_opened")
    async def opened(event: Json, client: AsyncWebClient) -> None:
        text = {"type": "mrkdwn", "text": "Your courses"}
        view = {"type": "home", "blocks": [{"type": "section", "text": text}]}
        await client.views_publish(user_id=event["user"], view=view)

    await world.open_home(ann)
    home = await world.until(lambda: world.homes.get((world.app.id, ann.id)))
    assert home.body["blocks"][0]["text"]["text"] == "Your courses"


async def test_an_answer_is_streamed_into_a_thread_of_a_channel(
    server: SlackServer, app: TrialApp, world: World, ann: User
) -> None:
    @app.bolt.event("app_mention")
    async def mentioned(say_stream: AsyncSayStream, set_status: AsyncSetStatus) -> None:
        await set_status("is reading")
        stream = await say_stream(unfurl_links=False, unfurl_media=False)
        await stream.append(markdown_text="See [page 7](https://book.example/7). " * 10)
        await stream.stop()

    async with by_socket(app, server):
        question = await world.say(ann, world.channel, f"<@{world.bot.id}> what is a price?")
        (answer,) = await world.until(lambda: [m for m in world.messages if m.streamed])
        await world.until(lambda: answer.stream is None)
    assert answer.thread_ts == question.ts
    assert answer.text.count("page 7") == 10
    assert [call.error for call in world.history.calls] == [None] * len(world.history.calls)
    assert not world.previews


def modal() -> Json:
    """Return a modal with one question."""
    return {
        "type": "modal",
        "callback_id": "explained",
        "title": {"type": "plain_text", "text": "Explain"},
        "submit": {"type": "plain_text", "text": "Ask"},
        "blocks": [
            {
                "type": "input",
                "block_id": "q",
                "label": {"type": "plain_text", "text": "Question"},
                "element": {"type": "plain_text_input", "action_id": "question"},
            }
        ],
    }
