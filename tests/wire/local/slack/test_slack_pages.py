"""How the local Slack hands out long conversations: page by page, as the platform does."""

from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.wire.slack import SlackServer, User, World

Json = dict[str, Any]


async def test_history_is_paged_and_scarce_for_distributed_apps(
    server: SlackServer, client: AsyncWebClient, world: World, ann: User
) -> None:
    root = await world.say(ann, world.channel, "root")
    said = [await world.say(ann, world.channel, f"number {n}", thread=root) for n in range(20)]
    place: Json = {"channel": world.channel.id, "ts": root.ts}
    texts: list[str] = []
    async for page in await client.conversations_replies(**place, limit=8):
        first, *replies = page["messages"]
        assert (first["ts"], first["reply_count"]) == (root.ts, 20)
        texts += [message["text"] for message in replies]
    assert texts == [m.text for m in said]
    listed = await client.conversations_history(channel=world.channel.id)
    assert [m["text"] for m in listed["messages"]] == ["root"]

    world.clock.advance(1)
    world.app.distributed = True
    world.limits.distributed_history = (1, 60.0)
    short = await client.conversations_replies(**place, limit=100)
    assert (len(short["messages"]), short["has_more"]) == (15, True)
    with pytest.raises(SlackApiError) as refused:
        await client.conversations_replies(**place)
    assert refused.value.response.status_code == 429
    world.clock.advance(60)
    await client.conversations_replies(**place)


async def test_a_page_begins_where_the_last_one_ended_whatever_is_said_or_deleted_between(
    client: AsyncWebClient, world: World, ann: User
) -> None:
    said = [await world.say(ann, world.channel, f"number {n}") for n in range(20)]
    asked: Json = {"channel": world.channel.id, "oldest": said[0].ts, "limit": 8}
    first = await client.conversations_history(**asked)
    await world.delete(said[-1])
    await world.say(ann, world.channel, "one more")
    await world.say(ann, world.channel, "and one more")
    cursor = first["response_metadata"]["next_cursor"]
    second = await client.conversations_history(**asked, cursor=cursor)
    pages = [[m["text"] for m in page["messages"]] for page in (first, second)]
    assert pages == [[f"number {n}" for n in range(begin, begin - 8, -1)] for begin in (19, 11)]
    cursor = second["response_metadata"]["next_cursor"]
    third = await client.conversations_history(**asked, cursor=cursor)
    assert [m["text"] for m in third["messages"]] == ["number 3", "number 2", "number 1"]
    assert (third["has_more"], third["response_metadata"]["next_cursor"]) == (False, "")
