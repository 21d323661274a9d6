"""The people and the places of a run, on both platforms."""

from collections.abc import Iterator
from itertools import count, cycle

from tests.chaos.ground import Ground
from tests.wire import discord, slack

_SERVERS, _CHANNELS, _USERS = 4, 20, 96
"""On Discord, the channels are shared out between the servers.

They come in turn, so that conversations alone come to no limit of a person or a channel.
"""


class Scene:
    """Who is there, and where they talk."""

    def __init__(self, ground: Ground) -> None:
        self.here = ground.slack.world
        there = self.there = ground.discord.world
        self.servers = [there.guild]
        for number in range(1, _SERVERS):
            self.servers.append(there.add_guild(f"Course {number}", there.owner))
            there.install(there.application, self.servers[-1])
        self._numbers = count(1)
        self._on_discord = cycle([self.newcomer_there() for _ in range(_USERS)])
        self._on_slack_all = [self.newcomer_here() for _ in range(_USERS)]
        self._on_slack = cycle(self._on_slack_all)
        self._there = cycle([self.new_channel_there() for _ in range(_CHANNELS)])
        self._here = cycle([self.new_channel_here() for _ in range(_CHANNELS)])
        self.off_there = self.new_channel_there()
        self.off_here = self.new_channel_here()

    def somebody_there(self) -> discord.User:
        """Return whose turn it is on Discord."""
        return next(self._on_discord)

    def somebody_here(self) -> slack.User:
        """Return whose turn it is on Slack."""
        return next(self._on_slack)

    def somewhere_there(self) -> discord.Channel:
        """Return the channel whose turn it is on Discord."""
        return next(self._there)

    def somewhere_here(self) -> slack.Channel:
        """Return the channel whose turn it is on Slack."""
        return next(self._here)

    def newcomer_there(self) -> discord.User:
        """Return somebody who has said nothing yet, a member of every server."""
        return self.there.add_user(f"user{next(self._numbers)}", *self.servers)

    def newcomer_here(self) -> slack.User:
        """Return somebody of the workspace who has said nothing yet."""
        return self.here.add_user(f"user{next(self._numbers)}", self.here.workspace)

    def new_channel_there(self) -> discord.Channel:
        """Make a channel, in the server whose turn it is."""
        number = next(self._numbers)
        return self.there.add_channel(self.servers[number % _SERVERS], f"channel-{number}")

    def new_channel_here(self, *members: slack.User) -> slack.Channel:
        """Make a channel with the bot in it, with all who talk in channels or with some."""
        here = self.here
        people = members or tuple(self._on_slack_all)
        name = f"channel-{next(self._numbers)}"
        return here.add_channel(here.workspace, name, members=(here.owner, here.bot, *people))

    def switched_off(self) -> Iterator[tuple[str, str, str]]:
        """Yield the channels that the bot stays out of: platform, workspace, channel."""
        assert self.off_there.guild is not None
        yield "discord", str(self.off_there.guild.id), str(self.off_there.id)
        yield "slack", self.here.workspace.id, self.off_here.id
