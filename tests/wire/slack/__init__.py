"""A local Slack: Web API, Socket Mode, signed HTTP and OAuth on loopback, with its limits.

A test acts in the world, the bot answers over the wire, and the test looks at the world::

    async with SlackServer(Limits.relaxed()) as server:
        world = server.world  # a workspace, #questions, an app, its bot in the channel
        ann = world.add_user("ann", world.workspace, world.channel)
        client = AsyncWebClient(token=world.installation.token, base_url=server.api_url)
        ...  # AsyncApp(client=client), AsyncSocketModeHandler(app, world.app.app_token)
        await server.sockets.connected()
        # or over HTTP: await server.subscribe("http://127.0.0.1:3000/slack/events")

        question = await world.say(ann, world.channel, f"<@{world.bot.id}> what is a price?")
        interaction = await world.slash(ann, world.channel, "/ask", "What is a price?")
        await interaction.ack()  # then interaction.messages, .opened, .response
        await world.click(ann, answer, "feedback", "good")
        await world.shortcut(ann, "explain", question)
        await world.submit_view(ann, question="why?")
        await world.open_home(ann, "messages", beside=world.channel)  # an agent's conversation
        await world.agents.look_at(ann, world.channel)  # app_context_changed
        answer = await world.until(lambda: world.transcript(world.channel, ann)[1:])

        server.faults.api(ServerError(502, applied=True), "chat.postMessage")
        server.faults.delivery(Echo(11), "message")  # one message, eleven event_ids
        await server.sockets.close(1011)
        world.clock.advance(1800)  # a response_url dies

    assert not world.notified, "nobody is pinged"
    assert not world.history.early_requests, "no call into a closed window"

Leaving the block fails the test if a method or route was called that does not exist, or if an
acknowledgement held what Slack refuses. `world.feed()` yields every visible change, for a second
front end. `python -m tests.wire.slack --port 0` serves a world by itself and prints its tokens.
"""

from tests.wire.clock import Clock
from tests.wire.slack.entities import (
    AgentSession,
    App,
    Channel,
    ChannelKind,
    Installation,
    Message,
    User,
    View,
    Workspace,
)
from tests.wire.slack.errors import SlackError
from tests.wire.slack.faults import (
    Behind,
    Drop,
    Duplicate,
    Echo,
    Faults,
    Lose,
    NoAck,
    RateLimited,
    Refused,
    ServerError,
    Slow,
)
from tests.wire.slack.interactions import Interaction
from tests.wire.slack.limits import Limits
from tests.wire.slack.server import SlackServer
from tests.wire.slack.state import Change
from tests.wire.slack.world import World

__all__ = [
    "AgentSession",
    "App",
    "Behind",
    "Change",
    "Channel",
    "ChannelKind",
    "Clock",
    "Drop",
    "Duplicate",
    "Echo",
    "Faults",
    "Installation",
    "Interaction",
    "Limits",
    "Lose",
    "Message",
    "NoAck",
    "RateLimited",
    "Refused",
    "ServerError",
    "SlackError",
    "SlackServer",
    "Slow",
    "User",
    "View",
    "Workspace",
    "World",
]
