"""An agent on the local Slack: its manifest, its tab, its sessions and its streams."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from slack_sdk.web.async_client import AsyncWebClient

from tests.wire.slack import SlackError, SlackServer, User, World
from tests.wire.slack.manifest import check_manifest
from tests.wire.slack.state import Dispatch
from tests.wire.slack.trial import raw, refusal

DOCS = Path(__file__).parents[4] / "docs"


def manifest(name: str = "slack-manifest.yaml") -> Any:
    return yaml.safe_load((DOCS / name).read_text("utf-8"))


def wrong_with(changed: Any) -> list[str]:
    with pytest.raises(SlackError, match="invalid_manifest") as refused:
        check_manifest(changed)
    return list(refused.value.body["errors"])


def incoming(world: World) -> list[Dispatch]:
    dispatches: list[Dispatch] = []
    world.listen(dispatches.append)
    return dispatches


def test_the_manifest_of_the_handbook_makes_an_agent(world: World) -> None:
    assert world.add_app_of(manifest()).is_agent


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        (
            ("features", "assistant_view"),
            {"assistant_description": "x"},
            "is not allowed for new apps",
        ),
        (("features", "agent_view", "agent_description"), "x" * 301, "less than 301"),
        (("features", "agent_view", "suggested_prompts"), [{"title": "x"}], "field: message"),
        (("features", "agent_view", "assistant_description"), "x", "additional property"),
        (("features", "shortcuts", 0, "name"), "x" * 25, "less than 25"),
        (("oauth_config", "scopes", "bot"), ["chat:write"], "needs assistant:write"),
        (("oauth_config", "scopes", "bot"), ["assistant:write", "chat:wrote"], "unknown scope"),
        (("settings", "socket_mode_enabled"), False, "request_url"),
        (
            ("settings", "event_subscriptions", "bot_events"),
            ["assistant_thread_started"],
            "unknown event",
        ),
    ],
)
def test_what_is_wrong_with_a_manifest_is_named(
    path: tuple[str | int, ...], value: object, complaint: str
) -> None:
    changed = copy.deepcopy(manifest())
    holder = changed
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    assert any(complaint in found for found in wrong_with(changed))


async def test_an_event_needs_its_scope(world: World) -> None:
    changed = manifest()
    changed["oauth_config"]["scopes"]["bot"].remove("reactions:read")
    assert "reaction_added needs the scope reactions:read" in str(wrong_with(changed))


async def test_an_agent_is_told_what_its_user_looks_at(world: World, ann: User) -> None:
    told = incoming(world)
    await world.open_home(ann, "messages", beside=world.channel)
    message = await world.say(ann, world.channel, "A heap.")
    await world.agents.look_at(ann, world.channel, message)
    question = await world.say(ann, world.dm(ann), "What is a heap?")
    await world.agents.look_at(ann, None)
    events = [d.payload["event"] for d in told if d.payload["event"].get("channel", "")[:1] == "D"]
    opened, moved, asked, away = events
    channel = {"type": "slack#/types/channel_id", "value": world.channel.id}
    assert opened["context"]["entities"] == [{**channel, "team_id": world.workspace.id}]
    assert moved["context"] == asked["app_context"]
    assert moved["context"]["entities"][0]["value"] == {
        "channel_id": world.channel.id,
        "message_ts": message.ts,
    }
    assert away["context"] == {}
    assert (asked["ts"], "thread_ts" in asked) == (question.ts, False)


async def test_an_agent_suggests_without_a_thread(
    world: World, ann: User, client: AsyncWebClient
) -> None:
    place, prompts = world.dm(ann), [{"title": "Heaps", "message": "What is a heap?"}]
    await client.assistant_threads_setSuggestedPrompts(
        channel_id=place.id, title="Ask", prompts=prompts
    )
    assert world.prompts[place.id].prompts == prompts
    root = await world.say(ann, place, "Hello")
    await client.assistant_threads_setSuggestedPrompts(
        channel_id=place.id, thread_ts=root.ts, prompts=[*prompts, *prompts]
    )
    assert world.prompts[place.id].prompts == prompts
    assert world.mistakes.pop() == "prompts of an agent have no thread_ts"


async def test_a_session_has_a_status_a_title_and_a_stop_button(
    world: World, ann: User, client: AsyncWebClient
) -> None:
    told = incoming(world)
    root = await world.say(ann, world.channel, "What is a heap?")
    where: Any = {"channel_id": world.channel.id, "thread_ts": root.ts}
    rename = client.agents_sessions_rename
    assert await refusal(lambda: rename(**where, title="Heaps")) == "session_not_found"
    found = await client.agents_sessions_setStatus(**where, status="processing", title="A heap")
    assert (found["status"], found["title"], found.get("warning")) == ("processing", "A heap", None)
    await client.agents_sessions_setStatus(**where, status="processing", title="Another")
    session = world.sessions[world.channel.id, root.ts]
    assert session.title == "A heap"
    await rename(**where, title="Heaps")
    assert session.title == "Heaps"
    stream = await client.chat_startStream(
        channel=world.channel.id,
        thread_ts=root.ts,
        recipient_user_id=ann.id,
        recipient_team_id=world.workspace.id,
        chunks=[{"type": "task_update", "id": "1", "title": "Search", "status": "in_progress"}],
    )
    await world.agents.stop(ann, session)
    stopped = told[-1].payload["event"]
    assert (stopped["type"], stopped["user"]) == ("agent_session_stopped", ann.id)
    assert stopped["streaming_message_ts"] == [stream["ts"]]
    append = client.chat_appendStream
    again = await refusal(
        lambda: append(channel=world.channel.id, ts=stream["ts"], markdown_text="More")
    )
    assert again == "message_not_in_streaming_state"
    assert session.status == "processing"  # the app has to say so itself
    await client.agents_sessions_setStatus(**where, status="active")
    with pytest.raises(LookupError, match="no stop button"):
        await world.agents.stop(ann, session)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"status": "is thinking"}, "invalid_arguments"),
        ({"title": "x" * 201}, "invalid_arguments"),
        ({"thread_ts": "1.2"}, "thread_not_found"),
        ({"thread_ts": None}, "invalid_arguments"),
    ],
)
async def test_a_session_that_cannot_be_is_refused(
    world: World, ann: User, client: AsyncWebClient, change: Any, error: str
) -> None:
    root = await world.say(ann, world.channel, "What is a heap?")
    where = {"channel_id": world.channel.id, "thread_ts": root.ts, "status": "processing"}
    call = client.agents_sessions_setStatus
    assert await refusal(lambda: call(**{**where, **change})) == error


async def test_who_has_no_sessions_is_told_so(
    world: World, ann: User, client: AsyncWebClient
) -> None:
    root = await world.say(ann, world.channel, "What is a heap?")
    where: Any = {"channel_id": world.channel.id, "thread_ts": root.ts, "status": "processing"}
    call = client.agents_sessions_setStatus
    world.app.events -= {"agent_session_stopped"}
    assert (await call(**where))["warning"] == "missing_agent_session_stopped_event_subscription"
    world.app.is_agent = False
    assert await refusal(lambda: call(**where)) == "not_authorized"
    world.agent_sessions = False
    assert await refusal(lambda: call(**where)) == "unknown_method"


async def test_a_stream_ends_with_its_blocks_and_its_session(
    world: World, ann: User, client: AsyncWebClient
) -> None:
    root = await world.say(ann, world.dm(ann), "What is a heap?")
    where: Any = {"channel": root.channel.id, "thread_ts": root.ts}
    await client.agents_sessions_setStatus(
        channel_id=root.channel.id, thread_ts=root.ts, status="processing"
    )
    task: Any = {"type": "task_update", "id": "1", "title": "Search", "status": "complete"}
    stream = await client.chat_startStream(**where, chunks=[task])
    source = {"type": "url", "url": "https://book.example/heaps", "text": "Heaps"}
    note = {"type": "context", "elements": [{"type": "mrkdwn", "text": "Small print"}]}
    done = await client.chat_stopStream(
        channel=root.channel.id,
        ts=stream["ts"],
        chunks=[{**task, "sources": [source]}, {"type": "markdown_text", "text": "A tree."}],
        blocks=[note],
    )
    kinds = [block["type"] for block in done["message"]["blocks"]]
    assert kinds == ["task_card", "rich_text", "context"]
    assert done["message"]["blocks"][0]["sources"] == [source]
    assert world.sessions[root.channel.id, root.ts].status == "active"
    assert "edited" not in done["message"]


@pytest.mark.parametrize(
    "chunk",
    [
        {"sources": [{"type": "url", "url": "chapter.html", "text": "Heaps"}]},
        {"sources": [{"type": "url", "url": "https://book.example"}]},
        {"title": "x" * 257},
        {"url": "https://book.example"},
    ],
)
async def test_a_step_that_cannot_be_is_refused(
    server: SlackServer, ann: User, chunk: dict[str, Any]
) -> None:
    world = server.world
    root = await world.say(ann, world.dm(ann), "What is a heap?")
    task = {"type": "task_update", "id": "1", "title": "Search", "status": "complete", **chunk}
    body = {"channel": root.channel.id, "thread_ts": root.ts, "chunks": [task]}
    _, found = await raw(server, "chat.startStream", body)
    assert found["error"] == "invalid_chunks"
    both = {**body, "chunks": [], "markdown_text": "x"}
    assert (await raw(server, "chat.startStream", both))[1]["ok"]


async def test_text_and_chunks_exclude_each_other(server: SlackServer, ann: User) -> None:
    root = await server.world.say(ann, server.world.dm(ann), "What is a heap?")
    chunks = [{"type": "markdown_text", "text": "x"}]
    body = {"channel": root.channel.id, "thread_ts": root.ts, "chunks": chunks}
    _, found = await raw(server, "chat.startStream", {**body, "markdown_text": "x"})
    assert found["error"] == "cannot_provide_both_markdown_text_and_chunks"


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ([[{"type": "raw_text", "text": "a"}]], None),
        ([[{"type": "raw_text", "text": ""}]], "invalid_blocks"),
        ([[{"type": "mrkdwn", "text": "a"}]], "invalid_blocks"),
        ([[{"type": "raw_text", "text": "a"}] * 21], "invalid_blocks"),
        ([[{"type": "raw_text", "text": "a"}]] * 101, "invalid_blocks"),
        ([[{"type": "raw_text", "text": "a" * 9_000}]] * 2, "invalid_blocks"),
    ],
)
async def test_a_table_has_its_limits(
    world: World, client: AsyncWebClient, rows: Any, error: str | None
) -> None:
    table = {"type": "table", "rows": rows}

    async def post() -> Any:
        return await client.chat_postMessage(channel=world.channel.id, text="x", blocks=[table])

    if error is None:
        assert (await post())["ok"]
    else:
        assert await refusal(post) == error
