"""Finding what a dead process posted in Slack when many messages were written since."""

import pytest

from adapters.slack import rest
from adapters.slack.installations import Workspaces
from adapters.slack.reply import tidy
from core.storage.inbox.base import Job, LeaseLost, Posted
from tests.wire.replies.jobs import QUESTION, Kept, again
from tests.wire.replies.slack.jobs import (
    about_command,
    about_message,
    answered,
    body,
    by_bot,
    ids,
    opened,
)
from tests.wire.slack import Message, SlackServer, User, World

MANY = 120
"""More than Slack gives in one page."""


async def chatter(world: World, user: User, root: Message | None = None) -> None:
    for number in range(MANY):
        await world.say(user, world.channel, f"number {number}", thread=root)


async def left_behind(shared: Workspaces, job: Job) -> None:
    """Have a process die when it has posted a message that it could not keep."""
    kept = Kept()
    kept.is_lost_before_keeping = True
    with pytest.raises(LeaseLost):
        await opened(shared, job, kept)


@pytest.mark.costly
async def test_a_question_posted_long_ago_is_found_and_not_posted_again(
    shared: Workspaces, world: World, ann: User
) -> None:
    job = about_command(world, ann)
    await left_behind(shared, job)
    await chatter(world, ann)
    kept = Kept()
    await answered(shared, again(job, kept), kept)
    assert [body(one) for one in by_bot(world)] == [f"> {QUESTION}", "A tree [1]."]


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_placeholder_in_a_long_thread_is_found_and_not_posted_again(
    shared: Workspaces, world: World, ann: User, when: str
) -> None:
    question = await world.say(ann, world.channel, QUESTION)
    job = about_message(question)
    if when == "before":
        await chatter(world, ann, question)
    await left_behind(shared, job)
    if when == "after":
        await chatter(world, ann, question)
    kept = Kept()
    await answered(shared, again(job, kept), kept)
    assert [body(one) for one in by_bot(world)] == ["A tree [1]."]


@pytest.mark.parametrize("in_channel", [True, False])
async def test_an_orphan_of_long_ago_is_tidied_away(
    shared: Workspaces, world: World, ann: User, in_channel: bool
) -> None:
    question = None if in_channel else await world.say(ann, world.channel, QUESTION)
    job = about_command(world, ann) if question is None else about_message(question)
    await left_behind(shared, job)
    (orphan,) = by_bot(world)
    await chatter(world, ann, question)
    kept = Kept()
    await answered(shared, job, kept)
    assert orphan in by_bot(world)
    await tidy(shared, again(job, kept))
    assert orphan not in by_bot(world)
    assert kept.posted.messages == ids(by_bot(world)[-1])


async def test_no_more_pages_are_read_than_the_most(
    shared: Workspaces, world: World, ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rest, "_MOST_PAGES", 1)
    job = about_command(world, ann)
    await chatter(world, ann)
    kept = Kept(Posted())
    await answered(shared, again(job, kept), kept)
    assert len(by_bot(world)) == 2
    assert len(world.history.of("conversations.history")) == 1


@pytest.fixture
def distributed(server: SlackServer) -> World:
    """Return a world whose app gets fifteen messages a page."""
    server.world.app.distributed = True
    return server.world


async def test_where_slack_gives_few_messages_a_page_the_cursor_is_followed(
    shared: Workspaces, distributed: World, ann: User
) -> None:
    job = about_command(distributed, ann)
    await left_behind(shared, job)
    await chatter(distributed, ann)
    kept = Kept()
    await answered(shared, again(job, kept), kept)
    assert len(by_bot(distributed)) == 2
    assert len(distributed.history.of("conversations.history")) == 9


async def test_where_slack_gives_few_messages_a_page_the_janitor_reads_one(
    shared: Workspaces, distributed: World, ann: User
) -> None:
    kept = Kept()
    question = await distributed.say(ann, distributed.channel, QUESTION)
    job = about_message(question)
    await answered(shared, job, kept)
    await chatter(distributed, ann, question)
    await tidy(shared, again(job, kept))
    assert len(distributed.history.of("conversations.replies")) == 1
