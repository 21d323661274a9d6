"""Messages made, changed and deleted, with everything that follows from it."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.wire.slack.entities import Channel, Installation, Message, Upload, User
from tests.wire.slack.errors import Json, SlackError
from tests.wire.slack.mentions import pinged, previewed
from tests.wire.slack.payloads import message_payload
from tests.wire.slack.state import Notification, Preview

if TYPE_CHECKING:
    from tests.wire.slack.setup import Setup


@dataclass
class Draft:
    """What is to be posted, checked already."""

    text: str = ""
    blocks: list[Json] = field(default_factory=list)
    attachments: list[Json] = field(default_factory=list)
    files: list[Upload] = field(default_factory=list)
    metadata: Json | None = None
    thread_ts: str | None = None
    broadcast: bool = False
    username: str | None = None
    unfurls: bool = True
    names: bool = False
    """Whether plain `@name` mentions (link_names, or parse=full)."""


class Posting:
    """Changes what channels show, and tells apps and people."""

    def __init__(self, world: "Setup") -> None:
        self._world = world

    def create(
        self,
        author: User,
        channel: Channel,
        draft: Draft,
        *,
        installation: Installation | None = None,
        visible_to: User | None = None,
    ) -> Message:
        """Post a message, or show an ephemeral one to one reader."""
        message = self._made(author, channel, draft, installation)
        if visible_to is not None:
            message.visible_to, message.unfurls = visible_to.id, False
        self.show(message, names=draft.names)
        return message

    def show(self, message: Message, *, names: bool = False) -> None:
        """Let a message that was just made appear."""
        self._world.messages.append(message)
        self.announce(message, names=names)
        if not message.ephemeral:
            message.channel.messages[message.ts] = message
            self._world.events.posted(message)
            self.finish_status(message)
        self._world.changed("posted", message)

    def edit(self, message: Message, before: Json, *, names: bool = False) -> None:
        """Let a change appear that was made to a message; `before` is what it looked like."""
        message.revisions.append(message.text)
        self.announce(message, names=names, edited=True)
        if not message.ephemeral:
            self._world.events.edited(message, before)
        self._world.changed("edited", message)

    def delete(self, message: Message) -> None:
        """Delete a message; a thread's first one leaves a tombstone."""
        before = message_payload(message)
        if self._world.replies_to(message) and message.subtype != "tombstone":
            message.subtype, message.text = "tombstone", "This message was deleted."
            message.blocks, message.attachments = [], []
        else:
            message.deleted = True
            message.channel.messages.pop(message.ts, None)
        if not message.ephemeral:
            self._world.events.deleted(message, before)
        self._world.changed("deleted", message)

    def react(self, user: User, message: Message, name: str) -> None:
        """Add a reaction."""
        users = message.reactions.setdefault(name, [])
        if user.id in users:
            raise SlackError("already_reacted")
        users.append(user.id)
        self._world.events.reacted(user, message, name, "added")
        self._world.changed("reacted", message, name)

    def take_back(self, user: User, message: Message, name: str) -> None:
        """Remove a user's reaction."""
        users = message.reactions.get(name, [])
        if user.id not in users:
            raise SlackError("no_reaction")
        users.remove(user.id)
        if not users:
            del message.reactions[name]
        self._world.events.reacted(user, message, name, "removed")
        self._world.changed("reacted", message, name)

    def announce(self, message: Message, *, names: bool = False, edited: bool = False) -> None:
        """Record whom a message newly pings and which links it newly lets Slack fetch."""
        told = {n.user_id for n in self._world.notified if n.message is message}
        for user_id, cause in pinged(message, self._world, names=names).items():
            if user_id not in told:
                self._world.notified.append(Notification(message, user_id, cause, edited))
        fetched = {p.url for p in self._world.previews if p.message is message}
        for url in previewed(message):
            if url not in fetched:
                self._world.previews.append(Preview(message, url))

    def finish_status(self, message: Message) -> None:
        """End what an app said it was doing: its answer is here."""
        if message.installation is not None and message.thread_ts is not None:
            self._world.statuses.pop((message.channel.id, message.thread_ts), None)

    def _made(
        self,
        author: User,
        channel: Channel,
        draft: Draft,
        installation: Installation | None,
    ) -> Message:
        subtype = "bot_message" if draft.username else "file_share" if draft.files else None
        if draft.broadcast and draft.thread_ts:
            subtype = "thread_broadcast"
        return Message(
            ts=self._world.timestamps.next(),
            channel=channel,
            author=author,
            at=self._world.clock.now(),
            text=draft.text[: self._world.limits.text],
            blocks=draft.blocks,
            attachments=draft.attachments,
            files=draft.files,
            metadata=draft.metadata,
            thread_ts=draft.thread_ts,
            subtype=subtype,
            username=draft.username,
            installation=installation,
            unfurls=draft.unfurls,
            revisions=[draft.text],
        )
