"""What a Discord consists of, as plain records; ids are integers here, texts on the wire."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, IntFlag

from tests.wire.discord.errors import Json


class ChannelType(IntEnum):
    """Discord's channel types."""

    TEXT = 0
    DM = 1
    VOICE = 2
    CATEGORY = 4
    NEWS_THREAD = 10
    PUBLIC_THREAD = 11
    PRIVATE_THREAD = 12
    FORUM = 15


class MessageType(IntEnum):
    """Discord's message types."""

    DEFAULT = 0
    THREAD_CREATED = 18
    REPLY = 19
    CHAT_INPUT_COMMAND = 20
    THREAD_STARTER = 21
    CONTEXT_MENU_COMMAND = 23


class MessageFlag(IntFlag):
    """Discord's message flags."""

    SUPPRESS_EMBEDS = 1 << 2
    HAS_THREAD = 1 << 5
    EPHEMERAL = 1 << 6
    LOADING = 1 << 7
    SUPPRESS_NOTIFICATIONS = 1 << 12
    HAS_SNAPSHOT = 1 << 14
    IS_COMPONENTS_V2 = 1 << 15


NO_FLAGS = MessageFlag(0)
SYSTEM_MESSAGES = {MessageType.THREAD_CREATED, MessageType.THREAD_STARTER}


@dataclass(eq=False)
class User:
    """An account; `bot` for those of applications."""

    id: int
    name: str
    bot: bool = False
    open_to_direct: bool = True
    """Whether bots may write to it directly."""
    locale: str = "en-US"


@dataclass(eq=False)
class Application:
    """A bot as the developer portal knows it."""

    user: User
    token: str
    owner: User
    message_content: bool = True
    is_reviewed: bool = False
    """Whether Discord has approved its privileged intents, as it has to from 10,000 users on."""
    """The privileged intents, as switched in the portal."""
    server_members: bool = False
    presences: bool = False
    commands: dict[int, Json] = field(default_factory=dict)
    """Registered application commands; those of guilds have a guild_id."""
    sessions_started: int = 0

    @property
    def id(self) -> int:
        """Return the application's id, which is its user's as well."""
        return self.user.id


@dataclass(eq=False)
class Role:
    """A role; the one with the guild's id is everyone's."""

    id: int
    name: str
    permissions: int
    position: int = 0
    mentionable: bool = False
    bot_id: int | None = None
    """The bot that the role was made for."""


@dataclass(eq=False)
class Member:
    """A user in a guild."""

    user: User
    joined_at: datetime
    roles: list[int] = field(default_factory=list)
    nick: str | None = None


@dataclass(eq=False)
class Guild:
    """A server."""

    id: int
    name: str
    owner_id: int
    created_at: datetime
    roles: dict[int, Role] = field(default_factory=dict)
    members: dict[int, Member] = field(default_factory=dict)
    system_channel: int | None = None
    """The id of the channel for system messages, if there is one."""
    commands_shown_to: dict[str, set[int]] = field(default_factory=dict)
    """Roles and people to whom the admins show a command, in Server Settings, Integrations."""
    locale: str = "en-US"


@dataclass(frozen=True)
class Overwrite:
    """A channel's exception for a role (kind 0) or a member (kind 1)."""

    id: int
    kind: int
    allow: int = 0
    deny: int = 0


@dataclass
class ThreadState:
    """What a thread has beyond a channel."""

    owner_id: int
    created_at: datetime
    archive_timestamp: datetime
    auto_archive_duration: int = 4320
    archived: bool = False
    locked: bool = False
    members: dict[int, datetime] = field(default_factory=dict)
    applied_tags: list[int] = field(default_factory=list)
    messages_sent: int = 0


@dataclass(frozen=True)
class Tag:
    """A forum's tag."""

    id: int
    name: str


@dataclass(frozen=True)
class Attachment:
    """A file of a message, its bytes kept."""

    id: int
    filename: str
    content: bytes
    content_type: str = "application/octet-stream"
    description: str | None = None
    cdn: str = "https://cdn.discordapp.com"
    """Where the bytes are served."""


@dataclass(eq=False)
class Message:
    """A message as it stands; `visible_to` names the one reader of an ephemeral one."""

    id: int
    channel: "Channel"
    author: User
    created_at: datetime
    at: float
    """The server's clock at its making."""
    content: str = ""
    kind: MessageType = MessageType.DEFAULT
    embeds: list[Json] = field(default_factory=list)
    components: list[Json] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    flags: MessageFlag = NO_FLAGS
    mentions: list[User] = field(default_factory=list)
    mention_roles: list[int] = field(default_factory=list)
    mention_everyone: bool = False
    edited_at: datetime | None = None
    nonce: str | int | None = None
    reference: Json | None = None
    replied: "Message | None" = None
    snapshots: list[Json] = field(default_factory=list)
    poll: Json | None = None
    application_id: int | None = None
    """Set on what an application posted."""
    interaction: Json | None = None
    """The metadata of the interaction that it answers."""
    visible_to: int | None = None
    reactions: dict[str, set[int]] = field(default_factory=dict)
    thread: "Channel | None" = None
    pinned: bool = False
    deleted: bool = False
    edits_when_old: list[float] = field(default_factory=list)
    revisions: list[str] = field(default_factory=list)
    """Every content the message ever had, the first one first."""

    @property
    def ephemeral(self) -> bool:
        """Whether only one user sees it."""
        return bool(self.flags & MessageFlag.EPHEMERAL)

    @property
    def loading(self) -> bool:
        """Whether it still says that the bot is thinking."""
        return bool(self.flags & MessageFlag.LOADING)

    @property
    def is_layout(self) -> bool:
        """Whether it consists of components, and never of content and embeds any more."""
        return bool(self.flags & MessageFlag.IS_COMPONENTS_V2)

    @property
    def text(self) -> str:
        """What a person reads in it: its content, or its text displays, a blank line between."""
        return "\n\n".join([self.content, *texts(self.components)]).strip("\n")


@dataclass(eq=False)
class Channel:
    """A channel, category, thread or direct conversation."""

    id: int
    kind: ChannelType
    name: str
    guild: Guild | None = None
    parent: "Channel | None" = None
    position: int = 0
    topic: str | None = None
    nsfw: bool = False
    overwrites: dict[int, Overwrite] = field(default_factory=dict)
    tags: list[Tag] = field(default_factory=list)
    recipients: dict[int, User] = field(default_factory=dict)
    """Of a direct conversation: both sides, the bot included."""
    thread: ThreadState | None = None
    messages: dict[int, Message] = field(default_factory=dict)
    """In ascending order; without ephemeral and deleted ones."""


def texts(components: list[Json]) -> list[str]:
    """Return the contents of all text displays, in order."""
    found: list[str] = []
    for component in components:
        if component.get("type") == 10:
            found.append(str(component.get("content", "")))
        found += texts(component.get("components") or [])
    return found
