"""What a bot looks up in the local Slack, and the small deeds beside answering."""

import asyncio

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from tests.wire.slack import ChannelKind, SlackServer, User, World
from tests.wire.slack.trial import TrialApp, by_socket, refusal


async def test_a_bot_learns_who_and_where_it_is(client: AsyncWebClient, world: World) -> None:
    me = await client.auth_test()
    assert (me["user_id"], me["team_id"]) == (world.bot.id, world.workspace.id)
    assert "chat:write" in me.headers["x-oauth-scopes"]
    assert (await client.bots_info(bot=me["bot_id"]))["bot"]["app_id"] == world.app.id
    assert (await client.team_info())["team"]["domain"] == "course"


async def test_conversations_are_looked_up(client: AsyncWebClient, world: World, ann: User) -> None:
    found = (await client.conversations_info(channel=world.channel.id))["channel"]
    assert (found["name"], found["creator"]) == ("questions", world.owner.id)
    members = await client.conversations_members(channel=world.channel.id)
    assert set(members["members"]) == {world.owner.id, world.bot.id, ann.id}
    opened = await client.conversations_open(users=ann.id, return_im=True)
    assert (opened["channel"]["is_im"], opened["channel"]["user"]) == (True, ann.id)
    world.add_channel(world.workspace, "s", ChannelKind.PRIVATE, members=(ann, world.bot))
    listed = await client.users_conversations(types="public_channel,private_channel")
    assert [channel["name"] for channel in listed["channels"]] == ["questions", "s"]


async def test_a_bot_joins_a_channel_and_is_told(
    client: AsyncWebClient, server: SlackServer, world: World, ann: User
) -> None:
    app = TrialApp(server)
    app.keep("member_joined_channel", "reaction_added")
    other = world.add_channel(world.workspace, "other", members=(ann,))
    async with by_socket(app, server):
        await client.conversations_join(channel=other.id)
        await world.until(lambda: app.incoming)
        assert app.incoming[0]["event"]["user"] == world.bot.id
        said = await world.say(ann, other, "nice")
        await world.react(ann, said, "eyes")
        await world.until(lambda: len(app.incoming) == 2)
    at = {"channel": other.id, "timestamp": said.ts}
    await client.reactions_add(**at, name="eyes")
    assert await refusal(lambda: client.reactions_add(**at, name="eyes")) == "already_reacted"
    await client.reactions_remove(**at, name="eyes")
    assert await refusal(lambda: client.reactions_remove(**at, name="eyes")) == "no_reaction"


@pytest.mark.costly
async def test_an_app_hears_of_reactions_that_are_added_and_removed(
    server: SlackServer, world: World, ann: User
) -> None:
    world.app.events |= {"reaction_removed"}
    app = TrialApp(server)
    app.keep("reaction_added", "reaction_removed")
    async with by_socket(app, server):
        said = await world.say(ann, world.channel, "nice")
        await world.react(ann, said, "eyes")
        await world.take_back(ann, said, "eyes")
        await world.until(lambda: len(app.incoming) == 2)
    told = [(one["event"]["type"], one["event"]["reaction"]) for one in app.incoming]
    assert told == [("reaction_added", "eyes"), ("reaction_removed", "eyes")]
    assert said.reactions == {}


async def test_only_its_reader_sees_an_ephemeral_message(
    client: AsyncWebClient, world: World, ann: User
) -> None:
    here = world.channel.id
    await client.chat_postEphemeral(channel=here, user=ann.id, text="psst")
    assert [m.text for m in world.transcript(world.channel, ann)] == ["psst"]
    assert not world.transcript(world.channel)
    assert not world.transcript(world.channel, world.owner)
    bob = world.add_user("bob", world.workspace)
    assert (
        await refusal(lambda: client.chat_postEphemeral(channel=here, user=bob.id, text="t"))
        == "user_not_in_channel"
    )


async def test_a_reply_has_a_permalink_into_its_thread(
    client: AsyncWebClient, world: World, ann: User
) -> None:
    root = await world.say(ann, world.channel, "root")
    reply = await world.say(ann, world.channel, "reply", thread=root)
    found = await client.chat_getPermalink(channel=world.channel.id, message_ts=reply.ts)
    assert found["permalink"].startswith(f"https://course.slack.com/archives/{world.channel.id}/p")
    assert f"thread_ts={root.ts}" in found["permalink"]


async def test_the_oauth_page_offers_every_workspace(server: SlackServer, world: World) -> None:
    app = world.add_app("shared", redirect_urls=("http://127.0.0.1:1/cb",))
    other = world.add_workspace("Other")
    asked = {"client_id": app.client_id, "scope": "chat:write", "state": "s"}
    allow = f"{world.base_url}/oauth/v2/allow"
    async with aiohttp.ClientSession() as session:
        async with session.get(server.authorization_url, params=asked) as response:
            page = await response.text()
        assert "Allow in Course" in page
        assert "Allow in Other" in page
        chosen = {**asked, "team": other.id}
        async with session.get(allow, params=chosen, allow_redirects=False) as response:
            assert response.status == 302
            assert response.headers["Location"].startswith("http://127.0.0.1:1/cb?code=")
        wrong = {**asked, "redirect_uri": "http://evil.example/cb"}
        async with session.get(server.authorization_url, params=wrong) as response:
            assert (response.status, await response.text()) == (400, "bad_redirect_uri")


async def test_a_second_front_end_sees_every_change(
    client: AsyncWebClient, world: World, ann: User
) -> None:
    feed = world.feed()
    first = asyncio.ensure_future(anext(feed))
    await asyncio.sleep(0)
    await client.chat_postMessage(channel=world.channel.id, text="hello")
    assert (await first).name == "posted"
    await feed.aclose()


async def test_revoking_its_token_ends_the_installation(
    client: AsyncWebClient, server: SlackServer, world: World
) -> None:
    app = TrialApp(server)
    async with by_socket(app, server):
        assert not (await client.auth_revoke(test=True))["revoked"]
        assert (await client.auth_revoke())["revoked"]
        await world.until(lambda: world.history.delivered("app_uninstalled"))
    told = world.history.delivered("tokens_revoked")[0].payload["event"]
    assert told["tokens"] == {"oauth": [], "bot": [world.bot.id]}
    assert await refusal(client.auth_test) == "token_revoked"
    assert world.installation_of(world.app, world.workspace) is None
