"""What goes wrong between Slack and a bot, and that the local Slack can do all of it."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

from tests.wire.slack import (
    Behind,
    Drop,
    Duplicate,
    Echo,
    Lose,
    NoAck,
    RateLimited,
    Refused,
    ServerError,
    SlackServer,
    Slow,
    User,
    World,
)
from tests.wire.slack.faults import ApiFault
from tests.wire.slack.trial import TrialApp, by_socket, refusal


@pytest.fixture
async def app(server: SlackServer) -> AsyncIterator[TrialApp]:
    app = TrialApp(server)
    app.keep("message")
    async with by_socket(app, server, sockets=2):
        yield app


def texts(app: TrialApp) -> list[str]:
    return [body["event"]["text"] for body in app.incoming]


async def test_the_default_client_posts_twice_when_the_answer_is_lost(
    server: SlackServer, world: World
) -> None:
    client = AsyncWebClient(token=world.installation.token, base_url=server.api_url)
    server.faults.api(Drop(applied=True), "chat.postMessage")
    await client.chat_postMessage(channel=world.channel.id, text="once?")
    assert len(world.transcript(world.channel)) == 2


@pytest.mark.parametrize(
    ("fault", "shown"),
    [
        (ServerError(500), 0),
        (ServerError(503, applied=True), 1),
        (Drop(), 0),
        (Drop(applied=True), 1),
        (Refused("internal_error"), 0),
        (Refused("fatal_error", applied=True), 1),
    ],
)
async def test_a_write_fails_before_or_after_it_was_applied(
    server: SlackServer, client: AsyncWebClient, world: World, fault: ApiFault, shown: int
) -> None:
    server.faults.api(fault, "chat.postMessage")
    with pytest.raises((SlackApiError, aiohttp.ClientError)):
        await client.chat_postMessage(channel=world.channel.id, text="hello")
    assert len(world.transcript(world.channel)) == shown
    (call,) = world.history.of("chat.postMessage")
    assert call.applied is bool(shown)


async def test_a_429_closes_the_channel_until_its_time_is_over(
    server: SlackServer, world: World
) -> None:
    handler = AsyncRateLimitErrorRetryHandler(max_retry_count=1)
    client = AsyncWebClient(
        token=world.installation.token, base_url=server.api_url, retry_handlers=[handler]
    )
    server.faults.api(RateLimited(1), "chat.postMessage")
    await client.chat_postMessage(channel=world.channel.id, text="patient")
    assert [call.status for call in world.history.of("chat.postMessage")] == [429, 200]
    assert not world.history.early_requests


async def test_a_slow_answer_is_a_timeout_for_an_impatient_client(
    server: SlackServer, world: World
) -> None:
    client = AsyncWebClient(
        token=world.installation.token, base_url=server.api_url, timeout=0, retry_handlers=[]
    )
    client.session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=0.1))
    server.faults.api(Slow(0.3, applied=True), "chat.postMessage")
    async with client.session:
        with pytest.raises(TimeoutError):
            await client.chat_postMessage(channel=world.channel.id, text="slow")
    assert len(world.transcript(world.channel)) == 1


@pytest.mark.costly
async def test_one_envelope_comes_twice(
    server: SlackServer, app: TrialApp, world: World, ann: User
) -> None:
    world.limits.ack = 0.2
    server.faults.delivery(Duplicate(4), "message")
    await world.say(ann, world.channel, "hello")
    await asyncio.sleep(0.5)
    assert len(app.incoming) == 4, "all of them are acknowledged, none is sent again"
    envelopes = {d.envelope_id for d in world.history.delivered("message")}
    assert (len(envelopes), len({b["event_id"] for b in app.incoming})) == (1, 1)


async def test_one_message_comes_under_eleven_event_ids(
    server: SlackServer, app: TrialApp, world: World, ann: User
) -> None:
    server.faults.delivery(Echo(11), "message")
    said = await world.say(ann, world.channel, "hello")
    await world.until(lambda: len(app.incoming) == 11)
    assert len({body["event_id"] for body in app.incoming}) == 11
    assert {body["event"]["ts"] for body in app.incoming} == {said.ts}


async def test_an_unacknowledged_event_is_delivered_again(
    server: SlackServer, app: TrialApp, world: World, ann: User
) -> None:
    server.faults.delivery(NoAck(), "message")
    await world.say(ann, world.channel, "hello")
    await world.until(lambda: len(app.incoming) == 2)
    await world.until(lambda: world.history.delivered("message")[-1].acked_at)
    first, second = world.history.delivered("message")
    assert first.event_id == second.event_id
    assert (first.envelope_id != second.envelope_id, second.attempt) == (True, 1)


async def test_events_are_lost_or_overtaken(
    server: SlackServer, app: TrialApp, world: World, ann: User
) -> None:
    server.faults.delivery(Lose(), "message")
    await world.say(ann, world.channel, "lost")
    server.faults.delivery(Behind("message"), "message")
    await world.say(ann, world.channel, "first")
    await world.say(ann, world.channel, "second")
    await world.until(lambda: len(app.incoming) == 2)
    assert texts(app) == ["second", "first"]
    assert [payload["event"]["text"] for payload in world.history.lost] == ["lost"]


async def test_payloads_go_to_either_socket(
    server: SlackServer, app: TrialApp, world: World, ann: User
) -> None:
    for number in range(20):
        await world.say(ann, world.channel, f"{number}")
    await world.until(lambda: len(app.incoming) == 20)
    assert len(server.sockets.of(world.app)) == 2
    await world.until(lambda: all(d.acked_at for d in world.history.delivered("message")))


@pytest.mark.parametrize("way", ["warn", "refresh", "link_disabled", "close", "drop"])
async def test_sockets_end_and_nothing_is_lost(
    server: SlackServer, app: TrialApp, world: World, ann: User, way: str
) -> None:
    before = server.sockets.opened
    await getattr(server.sockets, way)()
    await world.say(ann, world.channel, "still there?")
    await world.until(lambda: server.sockets.opened >= before + 2, timeout=10)
    await world.say(ann, world.channel, "and now?")
    await world.until(lambda: {"still there?", "and now?"} <= set(texts(app)), timeout=10)
    assert not world.history.lost


async def test_without_a_socket_events_are_given_up_after_all_attempts(
    server: SlackServer, world: World, ann: User
) -> None:
    world.limits.retry_delays = (0.0, 60.0, 300.0)
    await world.say(ann, world.channel, "anybody?")
    for seconds in (60, 300):
        await asyncio.sleep(0.05)
        world.clock.advance(seconds)
    await world.until(lambda: world.history.lost)
    assert [d.failure for d in world.history.deliveries] == ["connection_failed"] * 4


async def test_an_eleventh_socket_is_sent_away(server: SlackServer, world: World) -> None:
    client = AsyncWebClient(base_url=server.api_url)
    async with aiohttp.ClientSession() as session:
        sockets = []
        for _ in range(11):
            answer = await client.apps_connections_open(app_token=world.app.app_token)
            sockets.append(await session.ws_connect(answer["url"]))
        assert (await sockets[9].receive_json())["num_connections"] == 10
        assert (await sockets[10].receive_json())["reason"] == "too_many_websockets"
        await server.sockets.disable(world.app)
        assert (await sockets[0].receive_json())["type"] == "hello"
        assert (await sockets[0].receive_json())["reason"] == "link_disabled"
    token = world.app.app_token
    assert await refusal(lambda: client.apps_connections_open(app_token=token)) == "access_denied"


async def test_a_late_acknowledgement_is_a_failure_for_the_user(
    app: TrialApp, world: World, ann: User
) -> None:
    world.limits.ack = 0.1

    @app.bolt.command("/ask")
    async def ask(ack: AsyncAck) -> None:
        await asyncio.sleep(0.2)
        await ack()

    interaction = await world.slash(ann, world.channel, "/ask", "?")
    with pytest.raises(AssertionError, match="operation_timeout"):
        await interaction.ack()


async def test_edits_deletions_and_broadcasts_have_subtypes(
    app: TrialApp, world: World, ann: User
) -> None:
    said = await world.say(ann, world.channel, "frist")
    await world.edit(said, "first")
    await world.say(ann, world.channel, "news", thread=said, broadcast=True)
    await world.delete(said)
    await world.say(ann, world.channel, "build passed", webhook="ci")
    await world.until(lambda: len(app.incoming) == 5)
    assert sorted(app.types()) == [
        "message",
        "message/bot_message",
        "message/message_changed",
        "message/message_changed",
        "message/thread_broadcast",
    ]
    assert world.transcript(world.channel)[0].subtype == "tombstone"
    (integration,) = [b["event"] for b in app.incoming if "bot_id" in b["event"]]
    assert "user" not in integration
