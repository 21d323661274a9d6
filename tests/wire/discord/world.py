"""A small Discord to act in: people, places, and what people do there."""

from typing import Any

from tests.wire.discord.commands import CHAT_INPUT, MESSAGE_MENU, Commands
from tests.wire.discord.entities import (
    Application,
    Attachment,
    Channel,
    Guild,
    Message,
    MessageFlag,
    User,
)
from tests.wire.discord.errors import Json
from tests.wire.discord.history import History
from tests.wire.discord.interaction_payloads import (
    command_data,
    component_data,
    interaction_payload,
    message_menu_data,
    modal_data,
)
from tests.wire.discord.interactions import Callback, Interaction, Interactions, InteractionType
from tests.wire.discord.limits import Limits
from tests.wire.discord.message_payloads import poll_payload
from tests.wire.discord.permissions import Permission
from tests.wire.discord.posting import Posting
from tests.wire.discord.setup import Setup
from tests.wire.discord.state import Event
from tests.wire.discord.threads import Threads
from tests.wire.discord.uploads import content_type


class World(Setup):
    """All state of a local Discord, with one bot, one guild and one channel to begin with."""

    def __init__(self, limits: Limits | None = None) -> None:
        super().__init__(limits=limits or Limits())
        self.history = History()
        self.posting = Posting(self)
        self.threads = Threads(self, self.posting)
        self.commands = Commands(self)
        self.interactions = Interactions(self, self.posting)
        self.owner: User = self.add_user("owner")
        self.application: Application = self.add_application("glossator")
        self.guild: Guild = self.add_guild("Course", self.owner)
        self.channel: Channel = self.add_channel(self.guild, "general")
        self.install(self.application, self.guild)

    @property
    def bot(self) -> User:
        """The account of the first application."""
        return self.application.user

    async def say(
        self,
        user: User,
        channel: Channel,
        text: str = "",
        *,
        reply_to: Message | None = None,
        ping: bool = True,
        forward_of: Message | None = None,
        files: dict[str, bytes] | None = None,
        poll: tuple[str, ...] = (),
        components: list[Json] | None = None,
    ) -> Message:
        """Post a message as a person, or as another bot, would.

        `ping`: whether a reply notifies whom it answers. A mention is written `<@id>`. `poll`: a
        question and its answers, which may be given at any time. `components`: those of the second
        version, in place of a text.
        """
        body: Json = {"content": text}
        if reply_to or forward_of:
            target = reply_to or forward_of
            assert target is not None
            body["message_reference"] = {
                "type": 1 if forward_of else 0,
                "channel_id": str(target.channel.id),
                "message_id": str(target.id),
            }
        everything = ["users", "roles", "everyone"]
        body["allowed_mentions"] = {"parse": everything, "replied_user": ping}
        if poll:
            body["poll"] = poll_payload(*poll)
        if components is not None:
            body |= {"components": components, "flags": int(MessageFlag.IS_COMPONENTS_V2)}
        return self.posting.create(user, channel, body, _uploads(files))

    async def edit(self, message: Message, text: str) -> Message:
        """Change a person's message."""
        allowed = {"parse": ["users", "roles", "everyone"], "replied_user": True}
        return self.posting.edit(message, {"content": text, "allowed_mentions": allowed}, {})

    async def delete(self, message: Message) -> None:
        """Delete a message, as its author or a moderator would."""
        self.posting.delete(message)

    async def unfurl(self, message: Message, *embeds: Json) -> None:
        """Attach link previews to a message: an update that is no edit."""
        message.embeds = [{"type": "link", **embed} for embed in embeds]
        self.posting.refresh(message)

    async def open_thread(self, user: User, parent: Channel | Message, name: str) -> Channel:
        """Begin a thread on a message or in a channel."""
        if isinstance(parent, Message):
            return self.threads.from_message(user, parent, {"name": name})
        return self.threads.without_message(user, parent, {"name": name, "type": 11})

    async def archive(self, thread: Channel, *, locked: bool = False) -> None:
        """Archive a thread, as its moderators or a quiet week would."""
        owner = self.users[thread.guild.owner_id if thread.guild else 0]
        self.threads.change(owner, thread, {"archived": True, "locked": locked})

    async def open_post(
        self,
        user: User,
        forum: Channel,
        name: str,
        text: str,
        tags: tuple[int, ...] = (),
        files: dict[str, bytes] | None = None,
    ) -> Channel:
        """Begin a forum post; its first message has the post's id."""
        body = {"name": name, "message": {"content": text}, "applied_tags": list(tags)}
        return self.threads.post(user, forum, body, _uploads(files))

    async def slash(
        self,
        user: User,
        channel: Channel,
        command: str,
        *,
        application: Application | None = None,
        **options: Any,
    ) -> Interaction:
        """Use a slash command; `command` may name subcommands: "course bind".

        Options take plain values, or a User, Role or Channel where the command wants one.

        Raises:
            LookupError: The command or an option is not registered.
            ValueError: Discord's client would not send these options.
        """
        name, *path = command.split()
        found = self._command(CHAT_INPUT, name, user, channel, application)
        data = command_data(found, path, options, guild=channel.guild)
        return self._begin(InteractionType.COMMAND, user, channel, data, application)

    async def autocomplete(
        self,
        user: User,
        channel: Channel,
        command: str,
        focused: str,
        *,
        application: Application | None = None,
        **options: Any,
    ) -> list[Json]:
        """Type into the option `focused` and return the choices that the bot offers."""
        name, *path = command.split()
        found = self._command(CHAT_INPUT, name, user, channel, application)
        data = command_data(found, path, options, focused, channel.guild)
        kind = InteractionType.AUTOCOMPLETE
        interaction = self._begin(kind, user, channel, data, application)
        await interaction.response(self.limits.first_response)
        return interaction.choices or []

    async def context_menu(
        self,
        user: User,
        message: Message,
        command: str,
        *,
        application: Application | None = None,
    ) -> Interaction:
        """Use a message's context menu."""
        found = self._command(MESSAGE_MENU, command, user, message.channel, application)
        data = message_menu_data(found, message, self)
        kind = InteractionType.COMMAND
        return self._begin(kind, user, message.channel, data, application, menu=True)

    async def click(
        self, user: User, message: Message, custom_id: str, values: list[str] | None = None
    ) -> Interaction:
        """Press a button, or choose `values` of a select."""
        if message.deleted or not self.sees(user, message):
            raise LookupError("the user does not see this message")
        application = self.applications[message.author.id]
        data = component_data(message, custom_id, values)
        kind = InteractionType.COMPONENT
        return self._begin(kind, user, message.channel, data, application, message=message)

    async def submit_modal(self, opened: Interaction, **fields: Any) -> Interaction:
        """Fill in and send the modal that answered an interaction; fields by custom id."""
        if opened.callback is not Callback.MODAL or opened.modal is None:
            raise LookupError("no modal was shown")
        return self._begin(
            InteractionType.MODAL_SUBMIT,
            opened.user,
            opened.channel,
            modal_data(opened.modal, fields),
            opened.application,
            message=opened.message,
            parent=opened,
        )

    async def react(self, user: User, message: Message, emoji: str) -> None:
        """Add a reaction."""
        self.posting.react(user, message, emoji)

    async def take_back(self, user: User, message: Message, emoji: str) -> None:
        """Remove a reaction of one's own."""
        self.posting.take_back(user, message, emoji)

    def sees(self, user: User, message: Message) -> bool:
        """Tell whether a user is shown a message."""
        if message.deleted:
            return False
        if message.ephemeral:
            return message.visible_to == user.id
        return self.may(message.channel, user, Permission.VIEW_CHANNEL)

    def transcript(self, channel: Channel, user: User | None = None) -> list[Message]:
        """Return what a channel shows, to one user with the ephemeral messages for them."""
        shown = [m for m in self.messages.values() if m.channel is channel and not m.deleted]
        if user is not None:
            return [message for message in shown if self.sees(user, message)]
        return [message for message in shown if not message.flags & MessageFlag.EPHEMERAL]

    def _command(
        self,
        kind: int,
        name: str,
        user: User,
        channel: Channel,
        application: Application | None,
    ) -> Json:
        guild_id = channel.guild.id if channel.guild else None
        found = self.commands.named(application or self.application, kind, name, guild_id)
        needed = Permission(int(found["default_member_permissions"] or 0))
        if channel.guild and not self._is_shown(found, channel, user, needed):
            raise LookupError(f"{user.name} is not shown the command {name!r}")
        contexts = found.get("contexts")
        if contexts is not None and (0 if channel.guild else 1) not in contexts:
            raise LookupError(f"the command {name!r} is not for this kind of channel")
        return found

    def _is_shown(self, command: Json, channel: Channel, user: User, needed: Permission) -> bool:
        """Tell whether a command is shown to a member, by its declaration or by the admins."""
        assert channel.guild is not None
        member = channel.guild.members.get(user.id)
        shown_to = channel.guild.commands_shown_to.get(command["name"], set())
        allowed = member is not None and not shown_to.isdisjoint({*member.roles, user.id})
        return allowed or self.may(channel, user, needed)

    def _begin(
        self,
        kind: InteractionType,
        user: User,
        channel: Channel,
        data: Json,
        application: Application | None,
        **more: Any,
    ) -> Interaction:
        application = application or self.application
        interaction = self.interactions.begin(kind, application, user, channel, data, **more)
        self.tell(
            Event(
                "INTERACTION_CREATE",
                interaction_payload(interaction),
                channel.guild,
                channel,
                only_to=frozenset({application.id}),
            )
        )
        return interaction


def _uploads(files: dict[str, bytes] | None) -> dict[str, Attachment]:
    return {
        f"files[{number}]": Attachment(0, name, content, content_type(name))
        for number, (name, content) in enumerate((files or {}).items())
    }
