"""What every chat platform does for an answer: on Discord, on Slack, and on the smallest one."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, cast

import pytest
from sqlalchemy.ext.asyncio import create_async_engine

from adapters.chat.base import ChatPlatform, ready
from adapters.discord.adapter import DiscordAdapter
from adapters.discord.client import Client
from adapters.slack.adapter import SlackAdapter
from core.storage.inbox.base import Job, LeaseLost
from core.storage.leases import RateLimitWindows
from tests.line_chat.adapter import ROOM, LineChat
from tests.wire import discord, slack
from tests.wire.replies.discord import jobs as discord_jobs
from tests.wire.replies.jobs import Kept, again, finished, job_of
from tests.wire.replies.slack import jobs as slack_jobs

UNUSED = cast("Any", None)
SENTENCE = "The book does not cover this."


@dataclass(frozen=True)
class Station:
    """A platform with one reader, who has asked something."""

    platform: ChatPlatform
    job: Job
    seen: Callable[[], Sequence[str]]
    """Returns the bot's messages, as the reader sees them."""

    def holding(self, text: str) -> list[str]:
        """Return the messages that hold a text."""
        return [one for one in self.seen() if text in one]


class WithoutCommands(DiscordAdapter):
    """Discord's adapter, without what is only there to be asked by."""

    async def _prepare(self, client: Client) -> None:
        """Register nothing."""


async def on_discord(stack: AsyncExitStack, patch: pytest.MonkeyPatch) -> Station:
    server = await stack.enter_async_context(discord.DiscordServer(discord.Limits.relaxed()))
    discord.point_library_at(server, patch)
    world = server.world
    adapter = WithoutCommands(
        token=world.application.token,
        api_url=None,
        message_content=True,
        desk=UNUSED,
        gone=UNUSED,
        cursors=UNUSED,
        context=UNUSED,
        clicks=UNUSED,
        greeter=UNUSED,
        commands=UNUSED,
        wake=lambda: None,
        closed=RateLimitWindows(create_async_engine("sqlite+aiosqlite://")),
        leases=UNUSED,
    )
    await adapter._client.login(world.application.token)
    stack.push_async_callback(adapter._client.close)
    ann = world.add_user("ann", world.guild)
    question = await world.say(ann, world.channel, "What is a heap?")
    job = discord_jobs.about_message(question, open_thread=False)
    return Station(
        adapter,
        job,
        lambda: [
            f"{one.content} {one.components}"
            for one in discord_jobs.by_bot(world, world.channel, ann)
        ],
    )


async def on_slack(stack: AsyncExitStack, patch: pytest.MonkeyPatch) -> Station:
    server = await stack.enter_async_context(slack.SlackServer(slack.Limits.relaxed()))
    world = server.world
    adapter = SlackAdapter(
        workspaces=slack_jobs.workspaces_of(server),
        events=UNUSED,
        intake=UNUSED,
        background=UNUSED,
        transports=(),
        one=None,
        tenants=UNUSED,
        catch_up=UNUSED,
        permalinks=UNUSED,
        threads=UNUSED,
        context=UNUSED,
        roles=UNUSED,
        people=UNUSED,
    )
    ann = world.add_user("ann", world.workspace, world.channel)
    question = await world.say(ann, world.channel, "What is a heap?")
    job = slack_jobs.about_message(question)
    return Station(
        adapter,
        job,
        lambda: [
            slack_jobs.as_read(f"{one.text} {one.blocks}") for one in slack_jobs.by_bot(world, ann)
        ],
    )


async def on_lines(stack: AsyncExitStack, patch: pytest.MonkeyPatch) -> Station:
    chat = LineChat(UNUSED, UNUSED, UNUSED, UNUSED)
    address = {"channel": ROOM, "message": "1"}
    return Station(chat, job_of("line", "line:1", address, None), chat.posts)


@pytest.fixture(params=[on_discord, on_slack, on_lines], ids=["discord", "slack", "line"])
async def station(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Station]:
    async with AsyncExitStack() as stack:
        yield await request.param(stack, monkeypatch)


async def answer(station: Station, kept: Kept, text: str = "A tree [1].") -> Job:
    reply = await station.platform.open(station.job, kept)
    await reply.reading(["Heaps"])
    await reply.update(text)
    await reply.finish(finished(station.job, text))
    assert reply.posted == kept.posted
    await station.platform.ended(station.job)
    return again(station.job, kept)


async def test_it_is_ready_and_named_as_its_jobs_are(station: Station) -> None:
    platform = station.platform
    assert ready({platform.platform: platform}) == [station.job.arrival.platform]


async def test_an_answer_is_shown_once_and_known_by_its_messages(station: Station) -> None:
    kept = Kept()
    await answer(station, kept)
    assert len(station.holding("A tree")) == 1
    assert kept.posted.messages


async def test_an_answer_that_is_given_again_is_not_shown_twice(station: Station) -> None:
    kept = Kept()
    job = await answer(station, kept)
    reply = await station.platform.open(job, kept)
    await reply.finish(finished(job, "A tree [1]."))
    assert len(station.holding("A tree")) == 1


async def test_what_is_withdrawn_is_not_shown_in_the_end(station: Station) -> None:
    kept = Kept()
    reply = await station.platform.open(station.job, kept)
    await reply.update("A queue.")
    await reply.withdraw()
    await reply.finish(finished(station.job, "A tree [1]."))
    assert station.holding("A tree")
    assert not station.holding("A queue.")


async def test_nothing_is_shown_for_a_lease_that_is_lost(station: Station) -> None:
    kept = Kept()
    kept.is_lost = True
    with pytest.raises(LeaseLost):
        await station.platform.open(station.job, kept)
    assert not station.seen()


async def test_a_sentence_instead_of_an_answer_is_shown_once(station: Station) -> None:
    kept = Kept()
    await station.platform.tell(station.job, kept, SENTENCE)
    if not kept.settled:  # else the job has ended, since it could not be found again
        await station.platform.tell(again(station.job, kept), kept, SENTENCE)
    assert len(station.holding(SENTENCE)) == 1


async def test_an_answer_can_be_taken_back_more_than_once(station: Station) -> None:
    job = await answer(station, Kept())
    for _ in range(2):
        await station.platform.retract(job)
    assert not station.holding("A tree")


async def test_tidying_leaves_what_is_known(station: Station) -> None:
    job = await answer(station, Kept())
    await station.platform.tidy(job)
    assert len(station.holding("A tree")) == 1


@pytest.mark.costly
async def test_a_reaction_can_be_shown_and_removed_again_and_again(station: Station) -> None:
    platform = station.platform
    for act in (platform.react, platform.react, platform.unreact, platform.unreact):
        await act(station.job)
    assert not station.seen()
