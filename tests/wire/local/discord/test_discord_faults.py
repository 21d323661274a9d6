"""The real discord.py against a local Discord that misbehaves, as the real one does at times."""

import asyncio
from typing import Any

import aiohttp
import discord
import pytest

from tests.pauses import passed_over
from tests.wire.discord import (
    Behind,
    DiscordServer,
    Drop,
    Duplicate,
    Lose,
    NoHeartbeatAck,
    RateLimited,
    ServerError,
    Slow,
    User,
    World,
)
from tests.wire.discord.connection import Op
from tests.wire.discord.trial import INTENTS, TrialBot, running

POST = "POST /channels/{channel_id}/messages"


@pytest.fixture
def channel(bot: TrialBot, world: World) -> Any:
    return bot.get_channel(world.channel.id)


def identifies(world: World) -> int:
    return sum(command.op == Op.IDENTIFY for command in world.history.commands)


@pytest.mark.parametrize("scope", ["user", "shared", "global"])
async def test_a_rate_limit_is_waited_for(
    server: DiscordServer, world: World, channel: Any, scope: str
) -> None:
    server.faults.rest(RateLimited(0.3, scope), POST)
    await channel.send("in time")
    assert [call.status for call in world.history.of(POST)] == [429, 200]
    assert world.history.early_requests == []
    assert len(world.history.invalid_requests) == (scope != "shared")


async def test_a_call_into_a_closed_bucket_is_counted(
    server: DiscordServer, world: World, channel: Any
) -> None:
    server.faults.rest(RateLimited(0.3), POST)
    library = channel._state.http
    library.max_ratelimit_timeout = 0.1
    with pytest.raises(discord.RateLimited):
        await channel.send("impatient")
    library.max_ratelimit_timeout = None
    await asyncio.sleep(0.1)
    await channel.send("too early")
    assert [call.status for call in world.history.early_requests] == [429]


async def test_buckets_close_by_themselves_and_the_library_waits(
    world: World, channel: Any
) -> None:
    world.limits.buckets[POST] = (2, 0.4)
    for number in range(5):
        await channel.send(str(number))
    assert [call.status for call in world.history.of(POST)] == [200] * 5
    assert world.history.of(POST)[-1].at - world.history.of(POST)[0].at >= 0.7
    assert world.history.early_requests == []


async def test_a_write_that_was_applied_before_the_error_needs_a_nonce(
    server: DiscordServer, world: World, channel: Any
) -> None:
    server.faults.rest(ServerError(502, applied=True), POST)
    await channel.send("once", nonce="key")
    assert [message.content for message in world.transcript(world.channel)] == ["once"]
    first, second = world.history.of(POST)
    assert (first.status, first.applied, second.status) == (502, True, 200)


async def test_an_error_before_the_write_applies_nothing(
    server: DiscordServer, world: World, channel: Any
) -> None:
    server.faults.rest(ServerError(503), POST)
    with pytest.raises(discord.DiscordServerError):
        await channel.send("never")
    assert world.transcript(world.channel) == []


@pytest.mark.parametrize("applied", [False, True])
async def test_a_connection_drops_before_or_after_the_write(
    server: DiscordServer, world: World, channel: Any, applied: bool
) -> None:
    server.faults.rest(Drop(applied), POST)
    with pytest.raises((aiohttp.ClientError, OSError)):
        await channel.send("who knows")
    assert len(world.transcript(world.channel)) == applied
    assert world.history.of(POST)[0].status is None


async def test_an_answer_comes_late(server: DiscordServer, channel: Any) -> None:
    server.faults.rest(Slow(0.2), POST)
    with passed_over() as pauses:
        await channel.send("slowly")
    assert 0.2 in [pause.seconds for pause in pauses]


async def test_faults_strike_by_a_seeded_chance(server: DiscordServer) -> None:
    server.faults.rest(ServerError(), POST, times=None, probability=0.3)
    struck = sum(server.faults.next_rest(POST) is not None for _ in range(1000))
    assert 250 < struck < 350
    server.faults.heal()
    assert server.faults.next_rest(POST) is None


async def test_a_closed_session_is_resumed_and_missed_events_replayed(
    server: DiscordServer, bot: TrialBot, world: World, ann: User
) -> None:
    await server.gateway.close(4000)
    await world.say(ann, world.channel, "meanwhile")
    await world.until(lambda: bot.incoming)
    assert (bot.incoming[0].content, bot.resumes, identifies(world)) == ("meanwhile", 1, 1)


async def test_a_replay_repeats_what_was_seen(
    server: DiscordServer, bot: TrialBot, world: World, ann: User
) -> None:
    await world.say(ann, world.channel, "once")
    await world.until(lambda: bot.incoming)
    server.faults.overlap = 1
    await server.gateway.drop()
    await world.until(lambda: bot.resumes == 1)
    assert [message.content for message in bot.incoming] == ["once", "once"]


async def test_the_server_asks_to_reconnect(
    server: DiscordServer, bot: TrialBot, world: World
) -> None:
    await server.gateway.reconnect()
    await world.until(lambda: bot.resumes == 1)
    assert identifies(world) == 1


async def test_an_invalid_session_is_resumed_or_begun_anew(
    server: DiscordServer, bot: TrialBot, world: World, ann: User
) -> None:
    await server.gateway.invalidate(resumable=True)
    await world.until(lambda: bot.resumes == 1)
    await server.gateway.invalidate(resumable=False)
    await world.until(lambda: identifies(world) == 2)
    await server.gateway.connected()
    await world.say(ann, world.channel, "back")
    await world.until(lambda: bot.incoming)
    assert [message.content for message in bot.incoming] == ["back"]


async def test_a_session_that_timed_out_is_begun_anew(
    server: DiscordServer, bot: TrialBot, world: World
) -> None:
    await server.gateway.close(4009)
    await world.until(lambda: identifies(world) == 2)
    await server.gateway.connected()
    assert bot.resumes == 0


async def test_missing_acknowledgements_make_the_client_resume(
    server: DiscordServer, world: World
) -> None:
    world.limits.heartbeat_interval = 0.2
    bot = TrialBot(heartbeat_timeout=0.5)
    async with running(bot, server):
        server.faults.gateway(NoHeartbeatAck(), times=None)
        await world.until(lambda: bot.resumes >= 1)
    assert identifies(world) == 1


async def test_a_silent_connection_loses_nothing(
    server: DiscordServer, world: World, ann: User
) -> None:
    world.limits.heartbeat_interval = 0.2
    bot = TrialBot(heartbeat_timeout=0.5)
    async with running(bot, server):
        server.gateway.silence()
        await world.say(ann, world.channel, "into the void")
        await world.until(lambda: bot.incoming)
        assert bot.resumes == 1


async def test_events_come_twice_late_or_never(
    server: DiscordServer, bot: TrialBot, world: World, ann: User
) -> None:
    server.faults.gateway(Duplicate(3), "MESSAGE_CREATE")
    await world.say(ann, world.channel, "thrice")
    server.faults.gateway(Lose(), "MESSAGE_CREATE")
    await world.say(ann, world.channel, "lost")
    server.faults.gateway(Behind("MESSAGE_CREATE"), "MESSAGE_CREATE")
    await world.say(ann, world.channel, "second")
    await world.say(ann, world.channel, "first")
    await world.until(lambda: len(bot.incoming) == 5)
    assert [message.content for message in bot.incoming] == ["thrice"] * 3 + ["first", "second"]


async def test_a_threads_first_message_overtakes_its_creation(
    server: DiscordServer, bot: TrialBot, world: World, ann: User
) -> None:
    server.faults.gateway(Behind("MESSAGE_CREATE"), "THREAD_CREATE")
    forum_like = await world.open_thread(ann, world.channel, "early")
    await world.say(ann, forum_like, "hello")
    await world.until(lambda: bot.threads_seen and len(bot.incoming) == 2)
    assert not isinstance(bot.incoming[0].channel, discord.Thread)


async def test_a_wrong_token_is_refused(server: DiscordServer) -> None:
    server.world.application.token = "changed"
    bot = TrialBot()
    async with bot:
        with pytest.raises(discord.LoginFailure):
            await bot.start("wrong")


async def test_a_missing_privileged_intent_closes_with_4014(
    server: DiscordServer, world: World
) -> None:
    world.application.message_content = False
    bot = TrialBot()
    with pytest.raises(discord.PrivilegedIntentsRequired):
        async with running(bot, server):
            pytest.fail("it connected")


async def test_without_the_content_intent_only_what_concerns_the_bot_is_readable(
    server: DiscordServer, world: World, ann: User
) -> None:
    bot = TrialBot(discord.Intents(guilds=True, messages=True))
    assert INTENTS.message_content
    async with running(bot, server):
        await world.say(ann, world.channel, "not for the bot")
        await world.say(ann, world.channel, f"<@{world.bot.id}> for the bot")
        await world.say(ann, world.direct_channel(world.bot, ann), "in private")
        await world.until(lambda: len(bot.incoming) == 3)
    contents = [message.content for message in bot.incoming]
    assert contents == ["", f"<@{world.bot.id}> for the bot", "in private"]


async def test_identifies_are_counted_and_paced(server: DiscordServer, world: World) -> None:
    world.limits.identify_interval = 0.3
    async with running(TrialBot(), server):
        pass
    second = TrialBot()
    async with running(second, server):
        await server.gateway.connected(timeout=5)
    assert world.application.sessions_started == 2
    assert identifies(world) >= 2
