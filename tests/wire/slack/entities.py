"""What a Slack consists of, as plain records; ids and timestamps are texts as on the wire."""

from dataclasses import dataclass, field
from enum import StrEnum

from tests.wire.slack.errors import Json


class ChannelKind(StrEnum):
    """Slack's kinds of conversation, named as in an event's `channel_type`."""

    PUBLIC = "channel"
    PRIVATE = "group"
    IM = "im"
    MPIM = "mpim"

    @property
    def family(self) -> str:
        """Return the word that scopes and subscriptions use: channels, groups, im or mpim."""
        return {"channel": "channels", "group": "groups"}.get(self.value, self.value)


@dataclass(eq=False)
class Workspace:
    """A team; `enterprise_id` for those of an Enterprise Grid."""

    id: str
    name: str
    domain: str
    enterprise_id: str | None = None
    subteams: dict[str, "Subteam"] = field(default_factory=dict)


@dataclass(eq=False)
class Subteam:
    """A user group, mentioned as `<!subteam^ID>`."""

    id: str
    handle: str
    members: set[str]
    disabled: bool = False


@dataclass(eq=False)
class User:
    """An account of a workspace; `bot` for those of apps."""

    id: str
    name: str
    workspace: Workspace
    bot: bool = False
    admin: bool = False
    guest: bool = False
    """Restricted to some channels (not: of another workspace)."""
    deleted: bool = False
    locale: str = "en-US"

    def is_of(self, workspace: Workspace) -> bool:
        """Tell whether this is somebody of a workspace, or of its organisation."""
        own, theirs = self.workspace.enterprise_id, workspace.enterprise_id
        return self.workspace is workspace or (own is not None and own == theirs)


@dataclass(eq=False)
class App:
    """An app as its settings page knows it."""

    id: str
    name: str
    client_id: str
    client_secret: str
    signing_secret: str
    verification_token: str
    app_token: str
    """For Socket Mode, with the scope connections:write."""
    scopes: frozenset[str]
    """Bot scopes that an installation asks for."""
    events: frozenset[str]
    """Subscriptions, such as `message.im`."""
    commands: frozenset[str] = frozenset({"/ask"})
    escaped: frozenset[str] = frozenset()
    """Commands whose mentions and channels are told by their ids."""
    shortcuts: dict[str, str] = field(default_factory=dict)
    """Callback ids, with `message_action` or `shortcut`."""
    redirect_urls: tuple[str, ...] = ()
    distributed: bool = False
    """Sold outside the Marketplace: history is nearly closed to it."""
    token_rotation: bool = False
    org_wide: bool = False
    """Whether who installs it in a workspace of an organisation does so in all of them."""
    home_tab: bool = True
    is_agent: bool = True
    """Whether its manifest has `agent_view`."""
    request_url: str | None = None
    """Where HTTP deliveries go; None: Socket Mode."""
    socket_mode: bool = True


@dataclass(eq=False)
class Installation:
    """An app in a workspace, with its bot and token."""

    app: App
    workspace: Workspace
    bot: User
    bot_id: str
    token: str
    scopes: frozenset[str]
    installer: User
    active: bool = True
    refused_with: str = "account_inactive"
    """What calls with its token get once it is no longer active."""
    expires_at: float | None = None
    refresh_token: str | None = None


@dataclass(eq=False)
class Channel:
    """A conversation; one shared through Slack Connect has several workspaces."""

    id: str
    kind: ChannelKind
    name: str
    workspaces: list[Workspace]
    creator: User
    created: int
    members: dict[str, User] = field(default_factory=dict)
    archived: bool = False
    general: bool = False
    messages: dict[str, "Message"] = field(default_factory=dict)
    """By timestamp, ascending; without ephemeral and deleted ones."""

    @property
    def shared(self) -> bool:
        """Whether it belongs to more than one workspace."""
        return len(self.workspaces) > 1

    @property
    def private(self) -> bool:
        """Whether only members see it."""
        return self.kind is not ChannelKind.PUBLIC


@dataclass(eq=False)
class Upload:
    """A file; of one that an app announced `content` is None until it was uploaded."""

    id: str
    name: str
    length: int
    installation: Installation | None = None
    """The app that announced it; None for a person's."""
    content: bytes | None = None
    title: str = ""
    mimetype: str = "text/plain"
    base: str = "https://files.slack.com"
    """Where its bytes are served."""

    @property
    def is_canvas(self) -> bool:
        """Whether it is a canvas, whose bytes are a page of HTML."""
        return self.mimetype == "application/vnd.slack-docs"


@dataclass
class Stream:
    """A message that is still being streamed."""

    markdown: str = ""
    tasks: dict[str, Json] = field(default_factory=dict)
    plan: str | None = None
    blocks: list[Json] = field(default_factory=list)
    touched: float = 0.0


@dataclass(eq=False)
class Message:
    """A message as it stands; `visible_to` names the one reader of an ephemeral one."""

    ts: str
    channel: Channel
    author: User
    at: float
    """The server's clock at its making."""
    text: str = ""
    blocks: list[Json] = field(default_factory=list)
    """Those that were sent; a text alone is shown as a rich_text block all the same."""
    attachments: list[Json] = field(default_factory=list)
    files: list[Upload] = field(default_factory=list)
    metadata: Json | None = None
    thread_ts: str | None = None
    subtype: str | None = None
    username: str | None = None
    installation: Installation | None = None
    """Set on what an app posted."""
    visible_to: str | None = None
    unfurls: bool = True
    edited_ts: str | None = None
    deleted: bool = False
    stream: Stream | None = None
    streamed: bool = False
    """Whether it was made by streaming; its text is then standard markdown."""
    task_cards: list[Json] = field(default_factory=list)
    reactions: dict[str, list[str]] = field(default_factory=dict)
    revisions: list[str] = field(default_factory=list)
    """Every text the message ever had, the first one first."""

    @property
    def ephemeral(self) -> bool:
        """Whether only one user sees it."""
        return self.visible_to is not None

    @property
    def is_reply(self) -> bool:
        """Whether it stands in a thread without being its first message."""
        return self.thread_ts is not None and self.thread_ts != self.ts

    @property
    def shown(self) -> str:
        """Return all that a reader sees written: the blocks, or the text without any."""
        return "\n".join(part for part in (self._body(), *_attached(self.attachments)) if part)

    def _body(self) -> str:
        if self.streamed:
            return "\n".join(part for part in (self.text, *written(self.blocks)) if part)
        return "\n".join(written(self.blocks)) if self.blocks else self.text


@dataclass(eq=False)
class AgentSession:
    """What an agent does in a thread, as `agents.sessions.*` tell it."""

    installation: Installation
    channel: Channel
    thread_ts: str
    title: str | None = None
    statuses: list[str] = field(default_factory=list)
    """Every status it ever had, the first one first."""

    @property
    def status(self) -> str:
        """Return what its agent does now."""
        return self.statuses[-1] if self.statuses else "active"


@dataclass(eq=False)
class Prompts:
    """What the Messages tab of an agent suggests to ask."""

    title: str | None
    prompts: list[Json]


@dataclass(eq=False)
class View:
    """A modal or an App Home as it stands."""

    id: str
    installation: Installation
    user: User
    body: Json
    """What the app sent, block ids filled in."""
    hash: str
    previous: "View | None" = None
    root_id: str = ""
    closed: bool = False
    errors: dict[str, str] = field(default_factory=dict)
    """What the app said is wrong with the last submission, by block id."""
    values: Json = field(default_factory=dict)
    """The state of the inputs, by block id and action id."""


_UNSEEN = frozenset({"style", "confirm"})


def written(node: object) -> list[str]:
    """Return the texts that blocks show, in order."""
    if isinstance(node, list):
        return [text for item in node for text in written(item)]
    if not isinstance(node, dict):
        return []
    own = [node["text"]] if isinstance(node.get("text"), str) and node["text"] else []
    if node.get("type") == "link" and not own:
        own = [str(node.get("url", ""))]
    return own + [
        text for key, item in node.items() if key not in _UNSEEN for text in written(item)
    ]


def _attached(attachments: list[Json]) -> list[str]:
    return [str(a.get("text") or a.get("fallback") or "") for a in attachments]
