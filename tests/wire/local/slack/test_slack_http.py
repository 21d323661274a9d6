"""Deliveries over signed HTTP, and two workspaces that install by OAuth."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from slack_bolt.context.say.async_say import AsyncSay
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_sdk.oauth.installation_store import FileInstallationStore
from slack_sdk.oauth.state_store import FileOAuthStateStore
from slack_sdk.web.async_client import AsyncWebClient

from tests.wire.slack import App, ChannelKind, SlackServer, User, Workspace, World
from tests.wire.slack.callbacks import signed
from tests.wire.slack.trial import TrialApp, by_http, raw, refusal

# slack_sdk sends client id and secret in a way that aiohttp will drop.
pytestmark = pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning")


class Endpoint:
    """A bare web server that answers deliveries as a test says."""

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.headers: dict[str, str] = {}
        self.requests: list[Any] = []
        self.url = ""

    async def serve(self, request: web.Request) -> web.Response:
        body = await request.json()
        if body["type"] == "url_verification":
            return web.Response(text=body["challenge"])
        self.requests.append((body, request.headers))
        status = self.statuses.pop(0) if self.statuses else 200
        return web.Response(status=status, headers=self.headers)


@pytest.fixture
async def endpoint(server: SlackServer) -> AsyncIterator[Endpoint]:
    endpoint = Endpoint()
    app = web.Application()
    app.router.add_post("/slack/events", endpoint.serve)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    await server.subscribe(f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events")
    yield endpoint
    await runner.cleanup()


async def test_a_failing_endpoint_is_tried_four_times(
    endpoint: Endpoint, world: World, ann: User
) -> None:
    endpoint.statuses = [500, 404, 302, 200]
    await world.say(ann, world.channel, "hello")
    await world.until(lambda: len(endpoint.requests) == 4)
    numbers = [headers.get("X-Slack-Retry-Num") for _, headers in endpoint.requests]
    assert numbers == [None, "1", "2", "3"]
    assert endpoint.requests[1][1]["X-Slack-Retry-Reason"] == "http_error"
    assert len({body["event_id"] for body, _ in endpoint.requests}) == 1
    assert not world.history.lost


async def test_an_endpoint_may_decline_retries(endpoint: Endpoint, world: World, ann: User) -> None:
    endpoint.statuses, endpoint.headers = [500], {"X-Slack-No-Retry": "1"}
    await world.say(ann, world.channel, "hello")
    await world.until(lambda: world.history.lost)
    assert len(endpoint.requests) == 1


async def test_an_endpoint_must_return_the_challenge(server: SlackServer, world: World) -> None:
    with pytest.raises(AssertionError, match="to the challenge"):
        await server.subscribe(server.api_url + "auth.test")
    assert world.app.request_url is None


async def test_bolt_refuses_what_is_not_signed(server: SlackServer, world: World) -> None:
    app = TrialApp(server)
    body = json.dumps({"type": "event_callback", "event": {"type": "message"}})
    now = int(world.clock.wall().timestamp())
    good = signed(world.app.signing_secret, body, str(now))
    stale = signed(world.app.signing_secret, body, str(now - 400))
    forged = signed("another secret", body, str(now))
    async with by_http(app, server) as url, aiohttp.ClientSession() as session:
        for headers, text, status in (
            (stale, body, 401),
            (forged, body, 401),
            (good, body + " ", 401),
            ({}, body, 401),
        ):
            headers = {**headers, "Content-Type": "application/json"}
            async with session.post(url, data=text, headers=headers) as response:
                assert response.status == status


async def test_two_workspaces_install_and_one_uninstalls(
    server: SlackServer, world: World, tmp_path: Path
) -> None:
    app = world.add_app("shared", redirect_urls=("http://127.0.0.1/slack/oauth_redirect",))
    other = world.add_workspace("Other", enterprise_id="E1")
    settings = AsyncOAuthSettings(
        client_id=app.client_id,
        client_secret=app.client_secret,
        scopes=sorted(app.scopes),
        installation_store=FileInstallationStore(
            base_dir=str(tmp_path / "installed"), client_id=app.client_id
        ),
        state_store=FileOAuthStateStore(expiration_seconds=60, base_dir=str(tmp_path / "state")),
        authorization_url=server.authorization_url,
        state_validation_enabled=False,
    )
    bolt = TrialApp(server, settings, app)

    @bolt.bolt.event("app_mention")
    async def mentioned(body: dict[str, Any], say: AsyncSay) -> None:
        bolt.incoming.append(body)
        await say(f"for {body['team_id']}")

    wanted = "chat:write,app_mentions:read,channels:history"
    asked = f"{server.authorization_url}?client_id={app.client_id}&scope={wanted}&state=s"
    async with by_http(bolt, server) as url, aiohttp.ClientSession() as session:
        for workspace in (world.workspace, other):
            back = await world.allow(asked, workspace)
            query = back.partition("?")[2]
            redirect = url.replace("/slack/events", f"/slack/oauth_redirect?{query}")
            async with session.get(redirect) as response:
                assert response.status == 200
        tokens = [await _asked_in(world, app, workspace) for workspace in (world.workspace, other)]
        assert bolt.incoming[1]["enterprise_id"] == "E1"
        bolt.keep("app_uninstalled", "tokens_revoked")
        await AsyncWebClient(token=tokens[1], base_url=server.api_url).apps_uninstall(
            client_id=app.client_id, client_secret=app.client_secret
        )
        await world.until(lambda: len(world.history.delivered("app_uninstalled")) == 1)
        gone = (await raw(server, "auth.test", token=tokens[1]))[1]
        assert gone["error"] == "account_inactive"
        assert (await raw(server, "auth.test", token=tokens[0]))[1]["ok"]


async def test_a_code_is_good_once_and_for_its_app(server: SlackServer, world: World) -> None:
    app = world.add_app("shared", redirect_urls=("http://127.0.0.1/cb",), token_rotation=True)
    client = AsyncWebClient(base_url=server.api_url)
    asked = f"{server.authorization_url}?client_id={app.client_id}&scope=chat:write"

    async def code() -> str:
        return (await world.allow(asked, world.workspace)).split("code=")[1].split("&")[0]

    async def exchange(code: str, secret: str = app.client_secret) -> Any:
        return await client.oauth_v2_access(
            client_id=app.client_id, client_secret=secret, code=code
        )

    first = await code()
    assert await refusal(lambda: exchange(first, "guess")) == "bad_client_secret"
    granted = await exchange(first)
    assert granted["scope"] == "chat:write"
    assert await refusal(lambda: exchange(first)) == "invalid_code"
    late = await code()
    world.clock.advance(601)
    assert await refusal(lambda: exchange(late)) == "code_expired"
    renewed = await client.oauth_v2_access(
        client_id=app.client_id,
        client_secret=app.client_secret,
        grant_type="refresh_token",
        refresh_token=granted["refresh_token"],
    )
    assert renewed["access_token"] != granted["access_token"]
    world.clock.advance(50_000)
    answer = (await raw(server, "auth.test", token=renewed["access_token"]))[1]
    assert answer["error"] == "token_expired"


async def test_a_guest_of_another_workspace_is_a_stranger(
    server: SlackServer, world: World
) -> None:
    other = world.add_workspace("Partner")
    zoe = world.add_user("zoe", other)
    members = (world.owner, world.bot, zoe)
    shared = world.add_channel(
        world.workspace, "joint", ChannelKind.PUBLIC, members=members, shared_with=(other,)
    )
    app = TrialApp(server)
    app.keep("message")
    async with by_http(app, server):
        await world.say(zoe, shared, "hello from afar")
        await world.until(lambda: app.incoming)
        body = app.incoming[0]
        assert body["is_ext_shared_channel"]
        assert (body["event"]["team"], body["team_id"]) == (other.id, other.id)
        assert body["context_team_id"] == world.workspace.id
        assert body["authorizations"][0]["team_id"] == world.workspace.id
        found = await app.client.users_info(user=zoe.id)
        assert found["user"]["is_stranger"]
        listed = await app.client.conversations_info(channel=shared.id)
        assert listed["channel"]["is_ext_shared"]


async def _asked_in(world: World, app: App, workspace: Workspace) -> str:
    """Ask an app in its new workspace, see it answer for that one, and return its token."""
    installation = world.installation_of(app, workspace)
    assert installation is not None
    members = (world.owner_of(workspace), installation.bot)
    channel = world.add_channel(workspace, "here", members=members)
    await world.say(members[0], channel, f"<@{installation.bot.id}> hi")
    shown = await world.until(lambda: world.transcript(channel)[1:])
    assert [message.text for message in shown] == [f"for {workspace.id}"]
    return installation.token
