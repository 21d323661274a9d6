"""The state that a local Slack holds, and the feeds of what happens in it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING

from tests.wire.local_platform import LocalPlatform
from tests.wire.slack.clock import Timestamps
from tests.wire.slack.entities import (
    AgentSession,
    App,
    Channel,
    ChannelKind,
    Installation,
    Message,
    Prompts,
    Upload,
    User,
    View,
    Workspace,
)
from tests.wire.slack.errors import Json, SlackError
from tests.wire.slack.history import History
from tests.wire.slack.limits import Limits

if TYPE_CHECKING:
    from tests.wire.slack.interactions import Interaction


@dataclass(eq=False)
class Dispatch:
    """Something for an app, before it is sent by socket or HTTP."""

    app: App
    kind: str
    """events_api, slash_commands or interactive."""
    name: str
    payload: Json
    interaction: "Interaction | None" = None


@dataclass(frozen=True)
class Change:
    """Something that a person looking on would see; for a second front end."""

    name: str
    """posted, edited, deleted, reacted, home, modal, status, title, session or prompts."""
    subject: Message | View | AgentSession | None = None
    text: str = ""


@dataclass(frozen=True)
class Notification:
    """A user pinged by a message, or named by a later edit."""

    message: Message
    user_id: str
    cause: str
    """user, here, channel, everyone or subteam."""
    edited: bool


@dataclass(frozen=True)
class Preview:
    """A URL that Slack would fetch for a message."""

    message: Message
    url: str


@dataclass
class State(LocalPlatform[Change]):
    """Everything there is; parts of the server change it and emit what apps hear of."""

    limits: Limits = field(default_factory=Limits)
    history: History = field(default_factory=History)
    workspaces: dict[str, Workspace] = field(default_factory=dict)
    users: dict[str, User] = field(default_factory=dict)
    odd_events: dict[str, Callable[[Json], Json]] = field(default_factory=dict)
    """What apps are sent in place of payloads, by the names of what happened."""
    odd_messages: dict[str, Callable[[Json], Json]] = field(default_factory=dict)
    """What the history shows in place of messages, by their timestamps."""
    channels: dict[str, Channel] = field(default_factory=dict)
    apps: dict[str, App] = field(default_factory=dict)
    installations: list[Installation] = field(default_factory=list)
    former: list[Installation] = field(default_factory=list)
    """Installations that ended; their tokens are known, but refused."""
    messages: list[Message] = field(default_factory=list)
    """Every message ever, ephemeral and deleted ones included."""
    views: dict[str, View] = field(default_factory=dict)
    homes: dict[tuple[str, str], View] = field(default_factory=dict)
    """App Homes by app and user."""
    statuses: dict[tuple[str, str], Json] = field(default_factory=dict)
    """What apps say they are doing, by channel and thread."""
    agent_sessions: bool = True
    """Whether the workspace has `agents.sessions.*` by now."""
    sessions: dict[tuple[str, str], AgentSession] = field(default_factory=dict)
    """Of agents, by channel and thread."""
    prompts: dict[str, Prompts] = field(default_factory=dict)
    """What Messages tabs suggest, by direct conversation."""
    looking: dict[str, list[Json]] = field(default_factory=dict)
    """What people look at, by their ids: the entities that agents are told."""
    uploads: dict[str, Upload] = field(default_factory=dict)
    notified: list[Notification] = field(default_factory=list)
    previews: list[Preview] = field(default_factory=list)
    base_url: str = "http://127.0.0.1"

    def __post_init__(self) -> None:
        self.timestamps = Timestamps(self.clock)
        self._numbers = count(1)
        self._listeners: list[Callable[[Dispatch], None]] = []

    def new_id(self, prefix: str) -> str:
        """Return a fresh id such as `C0000000012`."""
        return f"{prefix}{next(self._numbers):010}"

    def listen(self, listener: Callable[[Dispatch], None]) -> None:
        """Call `listener` with everything that apps are to hear."""
        self._listeners.append(listener)

    def emit(self, dispatch: Dispatch) -> None:
        """Hand something to the delivery."""
        if dispatch.name in self.odd_events:
            payload = self.odd_events[dispatch.name](dispatch.payload)
            dispatch = replace(dispatch, payload=payload)
        for listener in self._listeners:
            listener(dispatch)

    def changed(
        self,
        name: str,
        subject: Message | View | AgentSession | None = None,
        text: str = "",
    ) -> None:
        """Tell watchers of what a person looking on would see."""
        self.tell(Change(name, subject, text))

    def installation_of(self, app: App, workspace: Workspace) -> Installation | None:
        """Return where an app is installed and active in a workspace."""
        for installation in self.installations:
            if (installation.app, installation.workspace) == (app, workspace):
                return installation if installation.active else None
        return None

    def installation_for(self, app: App, user: User) -> Installation:
        """Return the installation that serves a user, or raise LookupError."""
        found = self.installation_of(app, user.workspace)
        if found is None:
            raise LookupError(f"{app.name} is not installed in {user.workspace.name}")
        return found

    def sees(self, user: User, message: Message) -> bool:
        """Tell whether a user is shown a message."""
        if message.deleted:
            return False
        if message.visible_to is not None:
            return message.visible_to == user.id
        return self.reads(user, message.channel)

    def reads(self, user: User, channel: Channel) -> bool:
        """Tell whether a user may look into a channel."""
        if user.id in channel.members:
            return True
        insider = user.workspace in channel.workspaces and not user.guest
        return channel.kind is ChannelKind.PUBLIC and insider

    def find_user(self, user_id: str, caller: Installation) -> User:
        """Return a user whom the caller's workspace knows, or refuse."""
        user = self.users.get(user_id)
        if user is None or not self._acquainted(user, caller.workspace):
            raise SlackError("user_not_found")
        return user

    def find_message(self, channel: Channel, ts: str) -> Message:
        """Return a message that the channel shows, or refuse."""
        message = channel.messages.get(ts)
        if message is None:
            raise SlackError("message_not_found")
        return message

    def replies_to(self, message: Message) -> list[Message]:
        """Return what stands in a message's thread, without itself."""
        shown = message.channel.messages.values()
        return [m for m in shown if m.thread_ts == message.ts and m is not message]

    def direct_channel(self, *people: User) -> Channel:
        """Return the conversation of two or more people, made when there is none."""
        ids = {user.id for user in people}
        kind = ChannelKind.IM if len(ids) <= 2 else ChannelKind.MPIM
        for channel in self.channels.values():
            if channel.kind is kind and set(channel.members) == ids:
                return channel
        name = "" if kind is ChannelKind.IM else "mpdm-" + "--".join(u.name for u in people)
        channel = Channel(
            self.new_id("D" if kind is ChannelKind.IM else "G"),
            kind,
            name,
            list(dict.fromkeys(user.workspace for user in people)),
            people[0],
            int(self.clock.wall().timestamp()),
            {user.id: user for user in people},
        )
        self.channels[channel.id] = channel
        return channel

    def _acquainted(self, user: User, workspace: Workspace) -> bool:
        return user.workspace is workspace or any(
            user.id in channel.members and workspace in channel.workspaces
            for channel in self.channels.values()
        )
