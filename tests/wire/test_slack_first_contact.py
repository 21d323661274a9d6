"""What a thread that the bot is called into says, read in one call."""

from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import pytest
from adapters.slack.first_contact import FirstContact

from adapters.slack.address import Address
from adapters.slack.client import ClosedMethods, SlackClient
from adapters.slack.installations import InstalledClients, OneInstallation
from adapters.slack.lookups import Lookups
from adapters.slack.workspaces import Workspaces
from core.models import AgentRequest
from tests.wire.slack import Limits, Message, SlackServer

TEXTS = [f"Message {number} of the thread." for number in range(30)]


@pytest.fixture
async def server() -> AsyncIterator[SlackServer]:
    async with SlackServer(Limits.relaxed()) as server:
        yield server


async def _is_new(session_id: UUID) -> bool:
    return False


async def _thread(server: SlackServer, texts: list[str]) -> Message:
    """Let a thread be written, and return the question at its end."""
    world = server.world
    ann = world.add_user("ann", world.workspace, world.channel)
    root = await world.say(ann, world.channel, texts[0])
    for text in texts[1:]:
        await world.say(ann, world.channel, text, thread=root)
    return await world.say(ann, world.channel, "Can you answer that?", thread=root)


async def _completed(server: SlackServer, question: Message) -> AgentRequest:
    """Return the question with what the bot takes along of its thread."""
    world = server.world
    one = OneInstallation(SlackClient(server.api_url, world.installation.token))
    clients = InstalledClients(one, server.api_url, ClosedMethods())
    lookups = Lookups(Workspaces(clients), patience=20.0)
    address = Address(
        team=world.workspace.id,
        enterprise=None,
        channel=question.channel.id,
        root=question.thread_ts,
        thread=question.thread_ts,
        question=question.ts,
        asker=question.author.id,
        ephemeral=False,
        posts_question=False,
        response=None,
    )
    request = AgentRequest(
        request_id=uuid4(),
        course_id="arden",
        query_text=question.text,
        session_id=uuid4(),
        user_id="ann",
    )
    try:
        return await FirstContact(lookups, _is_new).complete(address, request)
    finally:
        await clients.close()


async def test_of_a_long_thread_the_first_message_and_the_latest_are_taken_along(
    server: SlackServer,
) -> None:
    request = await _completed(server, await _thread(server, TEXTS))
    assert [m.text for m in request.thread_messages] == [TEXTS[0], *TEXTS[-14:]]
    assert request.thread_partly_seen
    assert len(server.world.history.of("conversations.replies")) == 1


async def test_a_thread_that_fits_is_taken_along_whole(server: SlackServer) -> None:
    request = await _completed(server, await _thread(server, TEXTS[:15]))
    assert [m.text for m in request.thread_messages] == TEXTS[:15]
    assert not request.thread_partly_seen


async def test_of_what_slack_gives_to_apps_that_others_install_all_is_taken_along(
    server: SlackServer,
) -> None:
    server.world.app.distributed = True
    request = await _completed(server, await _thread(server, TEXTS))
    assert [m.text for m in request.thread_messages] == TEXTS[:15]
    assert request.thread_partly_seen
