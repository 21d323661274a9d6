"""A local Discord: REST v10 and gateway v10 on loopback, with its limits and its failures.

A test acts in the world, the bot answers over the wire, and the test looks at the world::

    async with DiscordServer(Limits.relaxed()) as discord_server:
        point_library_at(discord_server, monkeypatch)  # or GLOSSATOR_DISCORD__API_URL
        world = discord_server.world  # a guild, a channel, an application, its bot
        ann = world.add_user("ann", world.guild)
        ...  # start the bot with the token world.application.token
        await discord_server.gateway.connected()

        question = await world.say(ann, world.channel, f"<@{world.bot.id}> what is a price?")
        interaction = await world.slash(ann, world.channel, "ask", question="What is a price?")
        await interaction.response()  # the first one; then interaction.original, .follow_ups
        click = await world.click(ann, interaction.original, "helpful")
        answer = await world.until(lambda: world.transcript(world.channel, ann)[1:])

        discord_server.faults.rest(ServerError(502, applied=True), "POST /channels")
        discord_server.faults.gateway(Duplicate(3), "MESSAGE_CREATE")
        await discord_server.gateway.close(4000)
        world.clock.advance(900)  # a token dies

    assert not world.notified, "nobody is pinged"
    assert not world.history.early_requests, "no call into a closed bucket"

Leaving the block fails the test if a route was called that does not exist, or if a body differs
from the platform's own description (`world.history.validated` counts the comparisons).
`world.feed()` yields every event, for a second front end.
`python -m tests.wire.discord --port 0` serves a world by itself and prints its addresses.
"""

from tests.wire.clock import Clock
from tests.wire.discord.entities import (
    Application,
    Channel,
    ChannelType,
    Guild,
    Message,
    MessageFlag,
    MessageType,
    User,
)
from tests.wire.discord.errors import ApiError
from tests.wire.discord.faults import (
    Behind,
    Drop,
    Duplicate,
    Faults,
    Lose,
    NoHeartbeatAck,
    RateLimited,
    ServerError,
    Slow,
)
from tests.wire.discord.interactions import Callback, Interaction
from tests.wire.discord.library import point_library_at
from tests.wire.discord.limits import Limits
from tests.wire.discord.permissions import Permission
from tests.wire.discord.server import DiscordServer
from tests.wire.discord.state import Event
from tests.wire.discord.world import World

__all__ = [
    "ApiError",
    "Application",
    "Behind",
    "Callback",
    "Channel",
    "ChannelType",
    "Clock",
    "DiscordServer",
    "Drop",
    "Duplicate",
    "Event",
    "Faults",
    "Guild",
    "Interaction",
    "Limits",
    "Lose",
    "Message",
    "MessageFlag",
    "MessageType",
    "NoHeartbeatAck",
    "Permission",
    "RateLimited",
    "ServerError",
    "Slow",
    "User",
    "World",
    "point_library_at",
]
