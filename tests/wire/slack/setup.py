"""Making the people, places and apps of a local Slack."""

import secrets
from typing import Any

from tests.wire.slack.entities import (
    App,
    Channel,
    ChannelKind,
    Installation,
    Subteam,
    User,
    Workspace,
)
from tests.wire.slack.events import Events
from tests.wire.slack.limits import Limits
from tests.wire.slack.manifest import check_manifest
from tests.wire.slack.state import State

SCOPES = frozenset(
    {
        "app_mentions:read",
        "assistant:write",
        "channels:history",
        "channels:join",
        "channels:read",
        "chat:write",
        "commands",
        "files:read",
        "files:write",
        "groups:history",
        "groups:read",
        "im:history",
        "im:read",
        "im:write",
        "mpim:history",
        "mpim:read",
        "mpim:write",
        "reactions:read",
        "reactions:write",
        "team:read",
        "usergroups:read",
        "users:read",
    }
)
EVENTS = frozenset(
    {
        "agent_session_stopped",
        "app_context_changed",
        "app_home_opened",
        "app_mention",
        "app_uninstalled",
        "member_joined_channel",
        "message.channels",
        "message.groups",
        "message.im",
        "message.mpim",
        "reaction_added",
        "tokens_revoked",
    }
)


class Setup(State):
    """Adds workspaces, users, channels, apps and installations."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits=limits)
        self.events = Events(self)

    def add_workspace(self, name: str, *, enterprise_id: str | None = None) -> Workspace:
        """Make a workspace with its channel #general."""
        domain = name.lower().replace(" ", "-")
        workspace = Workspace(self.new_id("T"), name, domain, enterprise_id)
        self.workspaces[workspace.id] = workspace
        owner = self.add_user(f"{domain}-owner", workspace, admin=True)
        general = self.add_channel(workspace, "general", members=(owner,))
        general.general = True
        return workspace

    def add_user(self, name: str, workspace: Workspace, *channels: Channel, **more: Any) -> User:
        """Make an account, a member of #general (guests excepted) and of the given channels."""
        user = User(self.new_id("U"), name, workspace, **more)
        self.users[user.id] = user
        for channel in channels:
            channel.members[user.id] = user
        if not user.guest and not user.bot:
            for channel in self.channels.values():
                if channel.general and workspace in channel.workspaces:
                    channel.members[user.id] = user
        return user

    def add_channel(
        self,
        workspace: Workspace,
        name: str,
        kind: ChannelKind = ChannelKind.PUBLIC,
        *,
        members: tuple[User, ...] = (),
        shared_with: tuple[Workspace, ...] = (),
    ) -> Channel:
        """Make a public or private channel, shared through Slack Connect if others are named."""
        creator = members[0] if members else self.owner_of(workspace)
        channel = Channel(
            self.new_id("C"),
            kind,
            name,
            [workspace, *shared_with],
            creator,
            int(self.clock.wall().timestamp()),
        )
        self.channels[channel.id] = channel
        channel.members = {user.id: user for user in members}
        return channel

    def add_subteam(self, workspace: Workspace, handle: str, *members: User) -> Subteam:
        """Make a user group."""
        subteam = Subteam(self.new_id("S"), handle, {user.id for user in members})
        workspace.subteams[subteam.id] = subteam
        return subteam

    def enter(self, user: User, channel: Channel) -> None:
        """Make a user a member of a channel, and tell the apps in it."""
        if user.id not in channel.members:
            channel.members[user.id] = user
            self.events.joined(user, channel)

    def owner_of(self, workspace: Workspace) -> User:
        """Return the first account of a workspace, its owner."""
        return next(user for user in self.users.values() if user.workspace is workspace)

    def add_app(self, name: str, **settings: Any) -> App:
        """Make an app, with an answer bot's scopes and subscriptions unless told otherwise."""
        app = App(
            id=self.new_id("A"),
            name=name,
            client_id=f"{secrets.randbelow(10**12)}.{secrets.randbelow(10**12)}",
            client_secret=secrets.token_hex(16),
            signing_secret=secrets.token_hex(16),
            verification_token=secrets.token_hex(12),
            app_token=f"xapp-1-{secrets.token_hex(16)}",
            **{
                "scopes": SCOPES,
                "events": EVENTS,
                "shortcuts": {"explain": "message_action", "gl-verify": "message_action"},
                **settings,
            },
        )
        self.apps[app.id] = app
        return app

    def add_app_of(self, manifest: Any, **settings: Any) -> App:
        """Make an app of a manifest, as the page *Create New App* does.

        Raises:
            SlackError: `invalid_manifest`, with all that is wrong.
        """
        checked = check_manifest(manifest)
        features, hears = checked["features"], checked["settings"]["event_subscriptions"]
        commands = features.get("slash_commands") or []
        return self.add_app(
            checked["display_information"]["name"],
            is_agent="agent_view" in features,
            scopes=frozenset(checked["oauth_config"]["scopes"]["bot"]),
            events=frozenset(hears["bot_events"]),
            commands=frozenset(one["command"] for one in commands),
            escaped=frozenset(one["command"] for one in commands if one.get("should_escape")),
            shortcuts={s["callback_id"]: f"{s['type']}_action" for s in features["shortcuts"]},
            **settings,
        )

    def install(
        self,
        app: App,
        workspace: Workspace,
        installer: User | None = None,
        scopes: frozenset[str] | None = None,
    ) -> Installation:
        """Install an app; again in the same workspace: same token, scopes added."""
        granted = app.scopes if scopes is None else scopes
        existing = self.installation_of(app, workspace)
        if existing is not None:
            existing.scopes |= granted
            return existing
        bot = self._bot_of(app, workspace)
        installation = Installation(
            app,
            workspace,
            bot,
            self.new_id("B"),
            f"xoxb-{workspace.id}-{secrets.token_hex(12)}",
            granted,
            installer or self.owner_of(workspace),
        )
        self.installations.append(installation)
        return installation

    def uninstall(self, app: App, workspace: Workspace) -> None:
        """Take an app out of a workspace: its token dies, its bot leaves, and it is told."""
        installation = self.installation_of(app, workspace)
        if installation is None:
            raise LookupError(f"{app.name} is not installed in {workspace.name}")
        installation.active = False
        self.events.uninstalled(installation)
        self.installations.remove(installation)
        self.former.append(installation)
        for channel in self.channels.values():
            channel.members.pop(installation.bot.id, None)

    def revoke(self, installation: Installation) -> None:
        """Revoke a bot token, the app's last one: the app is uninstalled by it."""
        installation.refused_with = "token_revoked"
        self.uninstall(installation.app, installation.workspace)

    def _bot_of(self, app: App, workspace: Workspace) -> User:
        for ended in self.former:
            if (ended.app, ended.workspace) == (app, workspace):
                return ended.bot
        return self.add_user(app.name, workspace, bot=True)
