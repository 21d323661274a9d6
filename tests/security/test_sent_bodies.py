"""Each message that leaves says by itself that it pings nobody and previews nothing.

What it shows is escaped as well; this is the second lock, looked at alone.
"""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import aiohttp
import discord
import pytest

from adapters.discord import notices as ephemeral
from adapters.discord import rest as discord_rest
from adapters.discord.client import Client
from adapters.discord.outbound import placeholder, sentence
from adapters.slack import rest as slack_rest
from adapters.slack.client import Budget, SlackClient
from adapters.slack.installations import Workspace
from adapters.slack.outbound import sentence as slack_sentence

NOBODY: Mapping[str, Any] = {"parse": []}
NO_PREVIEW = discord.MessageFlags(suppress_embeds=True).value
REQUEST = UUID(int=7)


class Http:
    """Takes down what Discord is sent."""

    def __init__(self) -> None:
        self.bodies: list[Mapping[str, Any]] = []

    async def request(self, route: Any, **given: Any) -> Mapping[str, Any]:
        self.bodies.append(given["json"])
        return {"id": "1", "content": ""}

    async def edit_original_interaction_response(self, *_: Any, **given: Any) -> Any:
        self.bodies.append(given["payload"])
        return {"id": "1"}


def nothing_to_check() -> None:
    pass


async def test_every_message_to_discord_allows_no_mention_and_no_preview(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    http = Http()
    client = SimpleNamespace(http=http, user=SimpleNamespace(id=1))
    rest = discord_rest.Rest(cast("discord.Client", client), nothing_to_check)
    webhook = SimpleNamespace(session=None, proxy=None, proxy_auth=None)
    monkeypatch.setattr(discord_rest.Rest, "_webhook", lambda *_: webhook)
    monkeypatch.setattr(discord_rest, "async_context", SimpleNamespace(get=lambda: http))
    for post in (sentence("Hello @everyone"), placeholder(REQUEST)):
        await rest.post(1, post, nonce="n")
        await rest.post(1, post, nonce="n", reply_to=2)
        await rest.edit(1, "2", post)
        await rest.edit_original(1, "token", post)
    assert len(http.bodies) == 8
    for body in http.bodies:
        allowed = dict(body["allowed_mentions"])
        assert not allowed.pop("replied_user", False)
        assert allowed == NOBODY
        assert body["flags"] & NO_PREVIEW


class Response:
    """Takes down what a click is answered with."""

    def __init__(self, kind: Any) -> None:
        self.type = kind
        self.told: list[Mapping[str, Any]] = []

    def is_done(self) -> bool:
        return self.type is not None

    async def send_message(self, text: str = "", **given: Any) -> None:
        self.told.append(given)


@pytest.mark.parametrize("kind", [None, discord.InteractionResponseType.deferred_channel_message])
async def test_every_call_of_discord_py_that_sends_names_its_mentions(kind: Any) -> None:
    response = Response(kind)

    async def edit_original_response(**given: Any) -> None:
        response.told.append(given)

    interaction: Any = SimpleNamespace(
        response=response,
        edit_original_response=edit_original_response,
        followup=SimpleNamespace(send=edit_original_response),
    )
    await ephemeral.tell(interaction, "Hello @everyone")
    await ephemeral.tell_instead(interaction, "Hello @everyone")
    await ephemeral.show(interaction, [sentence("Hello @everyone")] * 2)
    assert [told["allowed_mentions"].to_dict() for told in response.told] == [NOBODY] * 4


async def test_a_discord_client_mentions_nobody_unless_it_is_told_to() -> None:
    async def prepare(_: Client) -> None:
        pass

    watch = aiohttp.TraceConfig()
    client = Client(cast("Any", None), message_content=True, prepare=prepare, watch=watch)
    assert client.allowed_mentions is not None
    assert client.allowed_mentions.to_dict() == NOBODY


class Slack(SlackClient):
    """Takes down what Slack is sent."""

    def __init__(self) -> None:
        super().__init__(None, "xoxb-1")
        self.bodies: list[Mapping[str, Any]] = []

    async def api_call(self, method: str, **given: Any) -> Any:  # type: ignore[override]
        self.bodies.append(given["json"])
        return SimpleNamespace(data={"ok": True, "ts": "1.0"})


async def test_every_message_to_slack_finds_no_names_and_fetches_no_preview(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client, post = Slack(), slack_sentence("Hello @here")
    rest = slack_rest.Rest(client, Workspace(Budget(minute=0.1)), nothing_to_check)
    sent: list[Mapping[str, Any]] = client.bodies

    class Webhook:
        def __init__(self, url: str, **_: Any) -> None:
            self.retry_handlers: list[Any] | None = None

        async def send_dict(self, body: Mapping[str, Any]) -> Any:
            assert self.retry_handlers == []
            sent.append(body)
            return SimpleNamespace(status_code=200, body="ok", headers={})

    monkeypatch.setattr(slack_rest, "AsyncWebhookClient", Webhook)
    await rest.post("C1", "1.0", post, {})
    await rest.update("C1", "1.0", post, {})
    assert await rest.update_if_spare("C1", "1.0", post, {})
    await rest.whisper("C1", None, "U1", post)
    await rest.respond("https://hooks.slack.com/x", post, replaces=True)
    assert len(sent) == 5
    for body in sent:
        assert (body["unfurl_links"], body["unfurl_media"]) == (False, False)
        assert (body["link_names"], body["parse"]) == (False, "none")
    await rest.begin_stream("C1", "1.0", ("U1", "T1"), [])
    assert (sent[-1]["unfurl_links"], sent[-1]["unfurl_media"]) == (False, False)
