"""What a thread that the bot is called into says, read to its end."""

from collections.abc import AsyncIterator

import pytest

from adapters.slack.client import ClosedMethods, SlackClient
from adapters.slack.installations import InstalledClients, OneInstallation, Workspaces
from adapters.slack.outbound import Address
from adapters.slack.rest import Lookups
from adapters.slack.surroundings import ThreadReader
from tests.wire.slack import Limits, Message, SlackServer

TEXTS = [f"Message {number} of the thread." for number in range(30)]


@pytest.fixture
async def server() -> AsyncIterator[SlackServer]:
    async with SlackServer(Limits.relaxed()) as server:
        yield server


async def _thread(server: SlackServer, texts: list[str]) -> Message:
    """Let a thread be written, and return the question at its end."""
    world = server.world
    ann = world.add_user("ann", world.workspace, world.channel)
    root = await world.say(ann, world.channel, texts[0])
    for text in texts[1:]:
        await world.say(ann, world.channel, text, thread=root)
    return await world.say(ann, world.channel, "Can you answer that?", thread=root)


async def _read(server: SlackServer, question: Message) -> tuple[list[str], bool]:
    """Return what is read of a question's thread, and whether that is all of it."""
    world = server.world
    one = OneInstallation(SlackClient(server.api_url, world.installation.token))
    clients = InstalledClients(one, server.api_url, ClosedMethods())
    reader = ThreadReader(Lookups(Workspaces(clients), patience=20.0))
    root = question.thread_ts
    assert root is not None
    address = Address(
        team=world.workspace.id,
        enterprise=None,
        channel=question.channel.id,
        root=root,
        thread=root,
        question=question.ts,
        asker=question.author.id,
        ephemeral=False,
        posts_question=False,
        response=None,
    )
    try:
        found, whole = await reader.thread(address, root, question.ts)
    finally:
        await clients.close()
    return [str(one["text"]) for one in found if one["ts"] != question.ts], whole


async def test_a_thread_is_read_to_its_end(server: SlackServer) -> None:
    texts, whole = await _read(server, await _thread(server, TEXTS))
    assert texts == TEXTS
    assert whole
    assert len(server.world.history.of("conversations.replies")) == 1


@pytest.mark.costly
async def test_a_long_thread_is_read_page_by_page(server: SlackServer) -> None:
    many = [f"Message {number} of the thread." for number in range(450)]
    texts, whole = await _read(server, await _thread(server, many))
    assert texts[-1] == many[-1]
    assert whole
    assert len(server.world.history.of("conversations.replies")) == 3


async def test_an_app_that_others_install_reads_one_page_and_knows_that_it_is_not_all(
    server: SlackServer,
) -> None:
    server.world.app.distributed = True
    texts, whole = await _read(server, await _thread(server, TEXTS))
    assert texts == TEXTS[:15]
    assert not whole
