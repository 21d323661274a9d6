"""A small Slack to act in: people, places, and what people do there."""

from collections.abc import Callable, Mapping
from typing import Any

from tests.wire.slack.agents import Agents
from tests.wire.slack.entities import (
    App,
    Channel,
    Installation,
    Message,
    Upload,
    User,
    View,
    Workspace,
)
from tests.wire.slack.errors import Json
from tests.wire.slack.escaping import escaped
from tests.wire.slack.interaction_payloads import (
    action_payload,
    command_payload,
    find_action,
    shortcut_payload,
    typed,
    view_event_payload,
)
from tests.wire.slack.interactions import Interaction, Interactions, InteractionType
from tests.wire.slack.limits import Limits
from tests.wire.slack.modals import Modals
from tests.wire.slack.oauth import OAuth, query_of
from tests.wire.slack.payloads import message_payload
from tests.wire.slack.posting import Draft, Posting
from tests.wire.slack.response_urls import ResponseUrls
from tests.wire.slack.setup import Setup
from tests.wire.slack.shares import shared
from tests.wire.slack.streams import Streams


class World(Setup):
    """All state of a local Slack, with one workspace, one channel and one app to begin with."""

    def __init__(self, limits: Limits | None = None) -> None:
        super().__init__(limits=limits or Limits())
        self.posting = Posting(self)
        self.streams = Streams(self, self.posting)
        self.interactions = Interactions(self)
        self.modals = Modals(self)
        self.agents = Agents(self)
        self.response_urls = ResponseUrls(self)
        self.oauth = OAuth(self)
        self.socket_url: Callable[[App], str] = lambda app: ""
        self.workspace: Workspace = self.add_workspace("Course")
        self.owner: User = self.owner_of(self.workspace)
        self.app: App = self.add_app("glossator")
        self.installation: Installation = self.install(self.app, self.workspace)
        members = (self.owner, self.bot)
        self.channel: Channel = self.add_channel(self.workspace, "questions", members=members)

    @property
    def bot(self) -> User:
        """The first app's account in the first workspace."""
        return self.installation.bot

    def dm(self, user: User, app: App | None = None) -> Channel:
        """Return the direct conversation of a user with an app."""
        installation = self.installation_for(app or self.app, user)
        return self.direct_channel(user, installation.bot)

    async def say(
        self,
        user: User,
        channel: Channel,
        text: str = "",
        *,
        thread: Message | str | None = None,
        broadcast: bool = False,
        blocks: list[Json] | None = None,
        share_of: Message | None = None,
        link_to: Message | None = None,
        webhook: str | None = None,
        files: Mapping[str, tuple[bytes, str]] | None = None,
        attachments: list[Json] | None = None,
    ) -> Message:
        """Post a message as a person, or as another bot, would.

        The text is as on the wire: a mention is `<@U…>`, `&` is `&amp;`. `share_of` forwards a
        message, `link_to` unfurls its permalink; `webhook` names an old-style integration, whose
        messages have no user; `files` are contents and media types by name, `attachments` the
        tables that a person pastes: Slack's client puts these there.

        Raises:
            ValueError: The user is not in the channel, or may not see what they share, or there
                is no such thread.
        """
        if user.id not in channel.members:
            raise ValueError(f"{user.name} is not in {channel.name}")
        quoted = share_of or link_to
        if quoted is not None and not self.sees(user, quoted):
            raise ValueError(f"{user.name} does not see that message")
        draft = Draft(text, blocks or [], username=webhook, broadcast=broadcast)
        draft.thread_ts = _root(thread) if isinstance(thread, Message) else thread
        if draft.thread_ts and draft.thread_ts not in channel.messages:
            raise ValueError(f"{channel.name} has no thread {draft.thread_ts}")
        if quoted is not None:
            link = self.permalink(quoted, user.workspace)
            draft.attachments = [shared(quoted, link, by_link=link_to is not None)]
        draft.attachments += attachments or []
        for name, (content, mimetype) in (files or {}).items():
            about = (None, content, name, mimetype, self.base_url)
            upload = Upload(self.new_id("F"), name, len(content), *about)
            self.uploads[upload.id] = upload
            draft.files.append(upload)
        return self.posting.create(user, channel, draft)

    async def edit(self, message: Message, text: str) -> Message:
        """Change a person's message."""
        before = message_payload(message)
        message.text, message.blocks = text, []
        message.edited_ts = self.timestamps.next()
        self.posting.edit(message, before)
        return message

    async def delete(self, message: Message) -> None:
        """Delete a message, as its author or an admin would."""
        self.posting.delete(message)

    async def unfurl(self, message: Message, *attachments: Json) -> None:
        """Attach link previews to a message: a message_changed that is no edit."""
        before = message_payload(message)
        message.attachments = [*message.attachments, *attachments]
        self.events.edited(message, before)

    async def react(self, user: User, message: Message, name: str) -> None:
        """Add a reaction."""
        self.posting.react(user, message, name)

    async def take_back(self, user: User, message: Message, name: str) -> None:
        """Remove a reaction of one's own."""
        self.posting.take_back(user, message, name)

    async def join(self, user: User, channel: Channel) -> None:
        """Join a channel, or invite a bot into it; the apps in it are told."""
        self.enter(user, channel)

    async def leave(self, user: User, channel: Channel) -> None:
        """Leave a channel, or throw a bot out of it."""
        channel.members.pop(user.id, None)

    async def slash(
        self, user: User, channel: Channel, command: str, text: str = "", app: App | None = None
    ) -> Interaction:
        """Use a slash command in a channel; there are none in threads.

        Raises:
            LookupError: The command is not the app's, or the app lacks the scope.
        """
        installation = self.installation_for(app or self.app, user)
        known = command in installation.app.commands and "commands" in installation.scopes
        if not known or not self.reads(user, channel):
            raise LookupError(f"{user.name} has no command {command!r} here")
        kind = InteractionType.COMMAND
        if command in installation.app.escaped:
            users, channels = list(self.users.values()), list(self.channels.values())
            text = escaped(text, user.workspace, users, channels)
        interaction = self.interactions.begin(kind, installation, user, channel)
        payload = command_payload(self, interaction, command, text)
        return self.interactions.send(interaction, command, payload)

    async def shortcut(
        self, user: User, callback_id: str, message: Message | None = None, app: App | None = None
    ) -> Interaction:
        """Use a message shortcut, or a global one where no message is given.

        Raises:
            LookupError: The app has no such shortcut, or the user does not see the message.
        """
        installation = self.installation_for(app or self.app, user)
        kind = InteractionType.MESSAGE_SHORTCUT if message else InteractionType.SHORTCUT
        known = installation.app.shortcuts.get(callback_id) == kind.value
        if not known or (message is not None and not self.sees(user, message)):
            raise LookupError(f"{user.name} has no shortcut {callback_id!r} here")
        channel = message.channel if message else None
        interaction = self.interactions.begin(kind, installation, user, channel, message=message)
        payload = shortcut_payload(self, interaction, callback_id)
        return self.interactions.send(interaction, kind.value, payload)

    async def click(
        self, user: User, holder: Message | View, action_id: str, choice: str | None = None
    ) -> Interaction:
        """Press a button, or choose the value `choice` of a menu or of feedback buttons.

        Raises:
            LookupError: The user does not see it.
        """
        action = find_action(holder, action_id, choice)
        if isinstance(holder, View):
            return self._click_in_view(user, holder, action)
        if holder.installation is None or not self.sees(user, holder):
            raise LookupError("the user does not see this message")
        kind = InteractionType.BLOCK_ACTIONS
        interaction = self.interactions.begin(
            kind, holder.installation, user, holder.channel, message=holder
        )
        payload = action_payload(self, interaction, action)
        return self.interactions.send(interaction, kind.value, payload)

    async def submit_view(self, user: User, view: View | None = None, **fields: Any) -> Interaction:
        """Fill in and send the modal a user sees; fields by action id or block id.

        Raises:
            LookupError: No modal is shown, or it has no such field.
            ValueError: Slack's client would not send this.
        """
        view = self._modal(user, view)
        view.values, view.errors = typed(view, fields), {}
        return self._view_event(InteractionType.VIEW_SUBMISSION, view)

    async def close_view(self, user: User, view: View | None = None) -> Interaction | None:
        """Close the modal a user sees; the app hears of it if it asked to."""
        view = self._modal(user, view)
        self.modals.close(view, all_of_them=bool(view.body.get("clear_on_close")))
        if not view.body.get("notify_on_close"):
            return None
        return self._view_event(InteractionType.VIEW_CLOSED, view)

    async def open_home(
        self,
        user: User,
        tab: str = "home",
        app: App | None = None,
        *,
        beside: Channel | None = None,
    ) -> None:
        """Look at an app's Home (or `messages`, beside a channel); it shows what is in `homes`."""
        installation = self.installation_for(app or self.app, user)
        self.agents.look(user, beside)
        view = self.homes.get((installation.app.id, user.id))
        self.events.home_opened(installation, user, self.dm(user, app), tab, view)

    async def allow(self, url: str, workspace: Workspace, user: User | None = None) -> str:
        """Allow what an OAuth page asks; return the address the browser goes to next."""
        return self.oauth.approve(query_of(url), workspace, user or self.owner_of(workspace))

    def transcript(
        self, channel: Channel, user: User | None = None, *, thread: str | None = None
    ) -> list[Message]:
        """Return what a channel shows, threads included or one alone; to a user also theirs."""
        shown = [m for m in self.messages if m.channel is channel and not m.deleted]
        if thread is not None:
            shown = [m for m in shown if thread in (m.ts, m.thread_ts)]
        if user is not None:
            return [message for message in shown if self.sees(user, message)]
        return [message for message in shown if not message.ephemeral]

    def permalink(self, message: Message, workspace: Workspace) -> str:
        """Return a message's address."""
        name = f"p{message.ts.replace('.', '')}"
        link = f"https://{workspace.domain}.slack.com/archives/{message.channel.id}/{name}"
        if message.is_reply:
            link += f"?thread_ts={message.thread_ts}&cid={message.channel.id}"
        return link

    def answers_to(self, interaction: Interaction) -> list[Message]:
        """Return what was shown for a deed: by response_url, or to its user alone in the thread."""
        pressed = interaction.message
        thread = pressed.thread_ts if pressed is not None else None
        whispered = [
            message
            for message in self.messages
            if thread is not None
            and (message.visible_to, message.thread_ts) == (interaction.user.id, thread)
            and message.at >= interaction.started
        ]
        return interaction.messages + [m for m in whispered if m not in interaction.messages]

    def response_url(self, interaction: Interaction) -> str:
        """Return where an interaction is answered without a token."""
        return f"{self.base_url}/commands/{interaction.secret}"

    def _click_in_view(self, user: User, view: View, action: Json) -> Interaction:
        if view.closed or view.user is not user:
            raise LookupError("the user does not see this view")
        kind = InteractionType.BLOCK_ACTIONS
        interaction = self.interactions.begin(kind, view.installation, user, None, view=view)
        payload = action_payload(self, interaction, action)
        return self.interactions.send(interaction, kind.value, payload)

    def _view_event(self, kind: InteractionType, view: View) -> Interaction:
        interaction = self.interactions.begin(kind, view.installation, view.user, None, view=view)
        cleared = bool(view.body.get("clear_on_close"))
        payload = view_event_payload(interaction, cleared=cleared)
        return self.interactions.send(interaction, kind.value, payload)

    def _modal(self, user: User, view: View | None) -> View:
        shown = self.modals.top(user)
        if shown is None or (view is not None and view is not shown):
            raise LookupError(f"{user.name} sees no such modal")
        return shown


def _root(message: Message) -> str:
    return message.thread_ts or message.ts
