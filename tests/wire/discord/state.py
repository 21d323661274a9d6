"""The state that a local Discord holds, and the feed of what happens in it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.wire.discord.clock import Snowflakes
from tests.wire.discord.entities import (
    Application,
    Attachment,
    Channel,
    ChannelType,
    Guild,
    Message,
    User,
)
from tests.wire.discord.errors import Json, refusal
from tests.wire.discord.limits import Limits
from tests.wire.discord.permissions import Permission, in_channel, in_view
from tests.wire.local_platform import LocalPlatform


@dataclass(frozen=True)
class Event:
    """Something that happened, before it is cut to what a reader may see.

    `message` is set for events that show one: each reader gets its own rendering.
    """

    name: str
    data: Json
    guild: Guild | None = None
    channel: Channel | None = None
    message: Message | None = None
    only_to: frozenset[int] | None = None
    """Ids of users, when it is not for everyone who sees the channel."""


@dataclass(frozen=True)
class Notification:
    """A user pinged by a message or an edit."""

    message: Message
    user_id: int
    cause: str
    """user, role, everyone, here or reply."""
    edited: bool


@dataclass(frozen=True)
class Preview:
    """A URL that Discord would fetch for a message."""

    message: Message
    url: str


@dataclass
class State(LocalPlatform[Event]):
    """Everything there is; parts of the server change it and emit events."""

    limits: Limits = field(default_factory=Limits)
    odd_messages: dict[int, Callable[[Json], Any]] = field(default_factory=dict)
    """What the history shows in place of messages, by their ids."""
    odd_events: dict[str, Callable[[Json], Any]] = field(default_factory=dict)
    """What the gateway sends in place of events, by their names."""
    hidden: set[int] = field(default_factory=set)
    """Guilds that an outage hides from the gateway."""
    users: dict[int, User] = field(default_factory=dict)
    applications: dict[int, Application] = field(default_factory=dict)
    guilds: dict[int, Guild] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    """Categories, threads and direct conversations included."""
    messages: dict[int, Message] = field(default_factory=dict)
    """Every message ever, ephemeral and deleted ones included."""
    attachments: dict[int, Attachment] = field(default_factory=dict)
    notified: list[Notification] = field(default_factory=list)
    previews: list[Preview] = field(default_factory=list)
    typing: list[tuple[int, int]] = field(default_factory=list)
    """Pairs of channel and user."""
    cdn: str = "https://cdn.discordapp.com"

    def __post_init__(self) -> None:
        self.snowflakes = Snowflakes(self.clock)

    def find_channel(self, channel_id: Any) -> Channel:
        """Return a channel or refuse with 10003."""
        channel = self.channels.get(_number(channel_id))
        if channel is None:
            raise refusal(10003)
        return channel

    def find_guild(self, guild_id: Any) -> Guild:
        """Return a guild or refuse with 10004."""
        guild = self.guilds.get(_number(guild_id))
        if guild is None:
            raise refusal(10004)
        return guild

    def visible_channel(self, channel_id: Any, user: User) -> Channel:
        """Return a channel that the user may see, or refuse with 10003 or 50001."""
        channel = self.find_channel(channel_id)
        if not self.may(channel, user, Permission.VIEW_CHANNEL):
            raise refusal(50001)
        return channel

    def may(self, channel: Channel, user: User, wanted: Permission) -> bool:
        """Tell whether a user holds all wanted permissions in a channel."""
        return in_channel(channel, user.id) & wanted == wanted

    def views(self, channel: Channel, user: User) -> bool:
        """Tell whether a user may view a channel of a guild, or something in a category."""
        assert channel.guild is not None
        return in_view(channel, user.id, self.channels_of(channel.guild))

    def require(self, channel: Channel, user: User, wanted: Permission) -> None:
        """Refuse with 50013 unless the user holds all wanted permissions."""
        if not self.may(channel, user, wanted):
            raise refusal(50013)

    def find_message(self, channel: Channel, message_id: Any) -> Message:
        """Return a message that the channel shows, or refuse with 10008."""
        message = channel.messages.get(_number(message_id))
        if message is None:
            raise refusal(10008)
        return message

    def threads_of(self, channel: Channel) -> list[Channel]:
        """Return a channel's threads, the oldest first."""
        return [c for c in self.channels.values() if c.thread and c.parent is channel]

    def channels_of(self, guild: Guild) -> Iterable[Channel]:
        """Return a guild's channels, categories and threads."""
        return [channel for channel in self.channels.values() if channel.guild is guild]

    def direct_channel(self, one: User, other: User) -> Channel:
        """Return the conversation of two users, made when there is none."""
        for channel in self.channels.values():
            if channel.kind is ChannelType.DM and set(channel.recipients) == {one.id, other.id}:
                return channel
        channel = Channel(self.snowflakes.next(), ChannelType.DM, "")
        channel.recipients = {one.id: one, other.id: other}
        self.channels[channel.id] = channel
        return channel

    def application_of(self, user: User) -> Application | None:
        """Return the application behind a bot's account."""
        return self.applications.get(user.id)


def _number(value: Any) -> int:
    return int(value) if str(value).isdecimal() else -1
