"""What one process was refused is known to the others, where there may be others."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import aiohttp
import discord
import pytest
from slack_sdk.errors import SlackApiError
from sqlalchemy import event, text
from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.chat.acceptor import Unreadable
from adapters.discord.rest import shared_limits
from adapters.slack.catch_up import History
from adapters.slack.client import ClosedMethods, SlackClient
from adapters.slack.installations import Workspaces
from adapters.slack.modals import open_modal
from adapters.slack.refusals import TooMany
from adapters.slack.rest import Lookups, Rest
from adapters.slack.sockets import socket_address
from adapters.slack.streaming import AgentSessions
from core.domain.telemetry import NO_METER
from core.storage.database import create_engine, reading
from core.storage.leases import RateLimitWindows
from tests.wire.discord import DiscordServer
from tests.wire.discord import RateLimited as DiscordRateLimited
from tests.wire.replies.slack.jobs import Tokens, about_message
from tests.wire.slack import Limits, RateLimited, SlackServer


@pytest.fixture
async def windows(database_url: str) -> AsyncIterator[tuple[RateLimitWindows, RateLimitWindows]]:
    """Two processes' knowledge of one database."""
    engines = [create_engine(database_url), create_engine(database_url)]
    yield RateLimitWindows(engines[0]), RateLimitWindows(engines[1])
    for engine in engines:
        await engine.dispose()


Both = tuple[RateLimitWindows, RateLimitWindows]
is_shared = pytest.mark.parametrize(
    "dialect", [pytest.param("postgresql", marks=pytest.mark.postgres)]
)


@is_shared
async def test_what_one_closes_is_closed_for_the_other(windows: Both) -> None:
    one, other = windows
    await one.close("a", 30.0)
    assert 20.0 < await other.seconds_left("a", "b") <= 30.0
    assert await other.seconds_left("b") == 0.0
    await other.close("a", 1.0)
    assert await one.seconds_left("a") > 20.0, "the longer one counts"


@is_shared
async def test_a_window_opens_when_its_time_is_over(windows: Both) -> None:
    one, other = windows
    await one.close("a", 0.05)
    await asyncio.sleep(0.1)
    assert await other.seconds_left("a") == 0.0


@is_shared
async def test_the_clock_of_this_machine_is_not_asked(windows: Both) -> None:
    closed, sent = windows[0], list[object]()
    event.listen(
        closed._engine.sync_engine,
        "before_cursor_execute",
        lambda *told: sent.extend(told[3]),  # the parameters
    )
    await closed.close("a", 30.0)
    assert 20.0 < await closed.seconds_left("a") <= 30.0
    assert "a" in sent
    assert not [value for value in sent if isinstance(value, datetime)]
    async with reading(closed._engine) as db:
        left = await db.scalar(text("SELECT until - clock_timestamp() FROM closed_windows"))
    assert timedelta(seconds=20) < left <= timedelta(seconds=30)


async def test_a_file_is_one_processs_own(engine: AsyncEngine) -> None:
    closed = RateLimitWindows(engine)
    await closed.close("a", 30.0)
    is_file = engine.dialect.name == "sqlite"
    assert (await closed.seconds_left("a") == 0.0) is is_file


async def test_a_database_that_is_away_is_in_nobodys_way() -> None:
    engine = create_engine("postgresql://nobody@127.0.0.1:9/none")
    closed = RateLimitWindows(engine)
    await closed.close("a", 30.0)
    assert await closed.seconds_left("a") == 0.0
    await engine.dispose()


@is_shared
async def test_a_method_that_slack_refused_one_process_is_not_called_by_another(
    windows: Both,
) -> None:
    async with SlackServer(Limits.relaxed()) as server:
        world = server.world
        place = (world.workspace.id, None)
        rests = [
            await Rest.of(Workspaces(Tokens(server, ClosedMethods(one))), place, _nothing)
            for one in windows
        ]
        server.faults.api(RateLimited(2), "auth.test")
        with pytest.raises(TooMany):
            await rests[0]._send("auth.test", {})
        with pytest.raises(TooMany) as refusal:
            await rests[1]._send("auth.test", {})
        assert 1.0 < refusal.value.seconds <= 2.0
        assert len(world.history.of("auth.test")) == 1
        assert await rests[1].me() == world.installation.bot.id, "it waits, and then calls"
        assert world.history.early_requests == []


@is_shared
async def test_what_is_looked_up_in_slack_waits_for_the_same_windows(windows: Both) -> None:
    async with SlackServer(Limits.relaxed()) as server:
        world = server.world
        place, user = (world.workspace.id, None), {"user": world.owner.id}
        first, second = [Lookups(Workspaces(Tokens(server, ClosedMethods(one)))) for one in windows]
        server.faults.api(RateLimited(2), "users.info")
        assert await first.call(place, "users.info", **user) is None
        assert await second.call(place, "users.info", **user) is None
        assert len(world.history.of("users.info")) == 1


@is_shared
async def test_what_was_missed_in_slack_is_looked_for_through_the_same_windows(
    windows: Both,
) -> None:
    async with SlackServer(Limits.relaxed()) as server:
        world = server.world
        place, method = (world.workspace.id, None), "users.conversations"
        rest, other = [Workspaces(Tokens(server, ClosedMethods(one))) for one in windows]
        server.faults.api(RateLimited(2), method)
        with pytest.raises(TooMany):
            await (await Rest.of(rest, place, _nothing))._send(method, {})
        channels = await History(other, place, Unreadable("slack", (), NO_METER)).channels()
        assert [channel["id"] for channel in channels] == [world.channel.id]
        assert world.history.early_requests == []


@is_shared
async def test_a_route_that_discord_closed_for_one_process_is_waited_for_by_another(
    windows: Both,
) -> None:
    async with DiscordServer() as server:
        world = server.world
        path = f"{server.api_url}/channels/{world.channel.id}/messages"
        head = {
            "Authorization": f"Bot {world.application.token}",
            "User-Agent": "DiscordBot (x, 1)",
        }
        sessions = [
            aiohttp.ClientSession(headers=head, trace_configs=[shared_limits(one)])
            for one in windows
        ]
        try:
            server.faults.rest(DiscordRateLimited(retry_after=1.0), "GET")
            statuses = []
            for session in sessions:
                async with session.get(path) as response:
                    statuses.append(response.status)
        finally:
            for session in sessions:
                await session.close()
        assert statuses == [429, 200]
        assert world.history.early_requests == []


@is_shared
async def test_a_request_that_would_have_to_wait_for_long_is_not_sent(windows: Both) -> None:
    async with DiscordServer() as server:
        world = server.world
        path = f"{server.api_url}/channels/{world.channel.id}/messages"
        await windows[0].close(f"discord:GET channels/{world.channel.id}/messages", 30.0)
        async with aiohttp.ClientSession(trace_configs=[shared_limits(windows[1])]) as session:
            with pytest.raises(discord.RateLimited) as refusal:
                await session.get(path)
        assert 25.0 < refusal.value.retry_after <= 30.0
        assert world.history.calls == []


def _nothing() -> None:
    """Hold nothing back."""


@is_shared
async def test_processes_that_start_together_wait_for_one_anothers_refusals(windows: Both) -> None:
    async with SlackServer(Limits.relaxed()) as server:
        token, app_token = server.world.installation.token, server.world.app.app_token
        one, other = (
            SlackClient(
                server.api_url, token, closed=ClosedMethods(closed), waits_when_limited=True
            )
            for closed in windows
        )
        for method in ("auth.test", "apps.connections.open"):
            server.faults.api(RateLimited(1), method)
        with pytest.raises(SlackApiError):
            await one.auth_test()
        with pytest.raises(TooMany):
            await socket_address(app_token, one)
        assert (await other.auth_test())["ok"]
        assert await socket_address(app_token, other)
        assert (await one.auth_test())["ok"]
        assert server.world.history.early_requests == []


@is_shared
async def test_what_only_decorates_slack_is_left_out_while_another_process_has_to_wait(
    windows: Both,
) -> None:
    async with SlackServer(Limits.relaxed()) as server:
        world = server.world
        job = about_message(await world.say(world.owner, world.channel, "What is a heap?"))
        sessions = [
            AgentSessions(Workspaces(Tokens(server, ClosedMethods(one)))) for one in windows
        ]
        one, other = (
            SlackClient(server.api_url, world.installation.token, closed=ClosedMethods(closed))
            for closed in windows
        )
        server.faults.api(RateLimited(30), "agents.sessions.setStatus")
        server.faults.api(RateLimited(30), "views.open")
        for client, shown in (*zip((one, other), sessions, strict=True), (one, sessions[0])):
            shown.of(job).begin(job.arrival.address["message"])
            await shown.end(job)
            assert not await open_modal(client, "trigger", {})
        called = [call.method for call in world.history.calls]
        assert called == ["agents.sessions.setStatus", "views.open"]


@is_shared
async def test_who_we_are_is_one_window_for_the_first_call_and_for_those_of_a_workspace(
    windows: Both,
) -> None:
    async with SlackServer(Limits.relaxed()) as server:
        world, place = server.world, (server.world.workspace.id, None)
        first = SlackClient(
            server.api_url, world.installation.token, closed=ClosedMethods(windows[0])
        )
        rest = await Rest.of(Workspaces(Tokens(server, ClosedMethods(windows[1]))), place, _nothing)
        server.faults.api(RateLimited(1), "auth.test")
        with pytest.raises(SlackApiError):
            await first.auth_test()
        assert await rest.me() == world.installation.bot.id, "it waits, and then calls"
        assert [call.status for call in world.history.of("auth.test")] == [429, 200]
        assert world.history.early_requests == []


@is_shared
async def test_a_call_asks_the_database_once(windows: Both) -> None:
    reads = list[str]()

    class Counted(RateLimitWindows):
        async def seconds_left(self, *names: str) -> float:
            reads.extend(names)
            return await windows[0].seconds_left(*names)

    async with SlackServer(Limits.relaxed()) as server:
        place, user = (server.world.workspace.id, None), {"user": server.world.owner.id}
        workspaces = Workspaces(Tokens(server, ClosedMethods(Counted(windows[0]._engine))))
        await (await Rest.of(workspaces, place, _nothing))._send("auth.test", {})
        await Lookups(workspaces).call(place, "users.info", **user)
        await History(workspaces, place, Unreadable("slack", (), NO_METER)).channels()
        assert len(reads) == len(server.world.history.calls) == len(set(reads)) == 3
