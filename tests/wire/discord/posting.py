"""Messages written, changed and taken back, under the platform's rules."""

import copy
from dataclasses import dataclass

from tests.wire.discord.component_checks import walk
from tests.wire.discord.entities import (
    SYSTEM_MESSAGES,
    Channel,
    ChannelType,
    Message,
    MessageFlag,
    MessageType,
    User,
)
from tests.wire.discord.errors import ApiError, Json, invalid, refusal
from tests.wire.discord.mentions import pinged, previewed
from tests.wire.discord.message_checks import check_message
from tests.wire.discord.permissions import Permission
from tests.wire.discord.references import refer
from tests.wire.discord.state import Event, Notification, Preview, State
from tests.wire.discord.uploads import Files, attached

_CHANGEABLE = MessageFlag.SUPPRESS_EMBEDS | MessageFlag.SUPPRESS_NOTIFICATIONS
_ADDED = MessageFlag.IS_COMPONENTS_V2
"""Can be set at any time, and never taken away."""


@dataclass
class Origin:
    """Where an application's answer to an interaction comes from."""

    application_id: int
    metadata: Json
    ephemeral: bool
    reader_id: int
    kind: MessageType = MessageType.DEFAULT


class Posting:
    """Posts, edits and deletes messages of users and bots."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._nonces: dict[tuple[int, int, str], Message] = {}

    def create(self, author: User, channel: Channel, body: Json, files: Files) -> Message:
        """Post an ordinary message, or return the one that was posted with the same nonce."""
        known = self._known_by_nonce(author, channel, body)
        if known is not None:
            return known
        check_message(body)
        self._admit(author, channel, body, files)
        message = self._new(author, channel)
        refer(self._state, message, body.get("message_reference"))
        self._fill(message, body, files)
        self._refuse_empty(message)
        message.nonce = body.get("nonce")
        if author.bot:
            message.application_id = author.id
        if message.nonce is not None:
            self._nonces[author.id, channel.id, str(message.nonce)] = message
        self.publish(message, body.get("allowed_mentions"))
        return message

    def draft(self, author: User, channel: Channel, body: Json, files: Files) -> Message:
        """Return a checked message that nobody sees yet: the first one of a forum post."""
        check_message(body)
        self._admit_parts(author, channel, body, files)
        message = self._new(author, channel)
        self._fill(message, body, files)
        self._refuse_empty(message)
        if author.bot:
            message.application_id = author.id
        return message

    def answer(self, origin: Origin, author: User, channel: Channel, body: Json,
               files: Files) -> Message:  # fmt: skip
        """Post what an application answers to an interaction."""
        check_message(body, ephemeral_allowed=True)
        message = self._new(author, channel)
        self._mark(message, origin)
        self._fill(message, body, files)
        self._refuse_empty(message)
        self.publish(message, body.get("allowed_mentions"))
        return message

    def think(self, origin: Origin, author: User, channel: Channel) -> Message:
        """Post the placeholder of a deferred answer."""
        message = self._new(author, channel)
        self._mark(message, origin)
        message.flags |= MessageFlag.LOADING
        self.publish(message, {"parse": []})
        return message

    def system(self, kind: MessageType, author: User, channel: Channel, content: str,
               reference: Json) -> Message:  # fmt: skip
        """Post what the platform itself says about a thread."""
        message = self._new(author, channel)
        message.kind, message.content, message.reference = kind, content, reference
        self.publish(message, {"parse": []})
        return message

    def publish(self, message: Message, allowed: Json | None) -> None:
        """Put a message into its channel and tell everyone whom it concerns."""
        self._state.messages[message.id] = message
        message.revisions.append(message.text)
        if not message.ephemeral:
            message.channel.messages[message.id] = message
            self._wake_thread(message)
        self._reach(message, allowed, edited=False)
        self._announce("MESSAGE_CREATE", message)

    def edit(self, message: Message, body: Json, files: Files) -> Message:
        """Change the given fields of a message; null and absent content differ."""
        was_v2 = message.is_layout
        check_message(body, was_v2=was_v2)
        self._limit_old_edits(message)
        changed = copy.copy(message)
        self._fill(changed, body, files)
        if changed.is_layout and not was_v2 and body.get("embeds", ()) is None:
            changed.embeds = message.embeds  # null takes the content away, and embeds only []
        self._refuse_empty(changed)
        _refuse_mixture(changed)
        for key in ("content", "embeds", "components", "attachments", "flags"):
            setattr(message, key, getattr(changed, key))
        message.flags &= ~MessageFlag.LOADING
        message.edited_at = self._state.clock.wall()
        message.revisions.append(message.text)
        self._reach(message, body.get("allowed_mentions"), edited=True)
        self._announce("MESSAGE_UPDATE", message)
        return message

    def edit_own(self, author: User, message: Message, body: Json, files: Files) -> Message:
        """Change a message over its channel's route."""
        if message.kind in SYSTEM_MESSAGES:
            raise refusal(50021)
        if message.author is not author:
            raise refusal(50005)
        thread = message.channel.thread
        if thread and thread.archived:
            raise refusal(50083)
        # Since March 2023 also in a thread that is active (discordjs/discord.js#9216); deleting
        # one's own is allowed there (discord/discord-api-docs#5919).
        if thread and thread.locked and not self._moderates(author, message.channel):
            raise refusal(160005)
        self._admit_parts(author, message.channel, body, files)
        return self.edit(message, body, files)

    def delete(self, message: Message) -> None:
        """Take a message out of its channel."""
        message.deleted = True
        message.channel.messages.pop(message.id, None)
        guild = message.channel.guild
        data = {"id": str(message.id), "channel_id": str(message.channel.id)}
        if guild is not None and not message.ephemeral:
            data["guild_id"] = str(guild.id)
        self._announce("MESSAGE_DELETE", message, data)

    def delete_as(self, user: User, message: Message) -> None:
        """Delete a message over its channel's route."""
        if message.author is not user:
            self._state.require(message.channel, user, Permission.MANAGE_MESSAGES)
        if message.channel.thread and message.channel.thread.archived:
            raise refusal(50083)
        self.delete(message)

    def refresh(self, message: Message) -> None:
        """Tell of a change that is no edit: a preview was added, a thread begun."""
        self._announce("MESSAGE_UPDATE", message)

    def react(self, user: User, message: Message, emoji: str) -> None:
        """Add a user's reaction."""
        self._state.require(message.channel, user, Permission.ADD_REACTIONS)
        message.reactions.setdefault(emoji, set()).add(user.id)
        self._reacted("MESSAGE_REACTION_ADD", user, message, emoji)

    def take_back(self, user: User, message: Message, emoji: str) -> None:
        """Remove a user's reaction."""
        users = message.reactions.get(emoji, set())
        if user.id not in users:
            raise refusal(10014)
        users.discard(user.id)
        if not users:
            del message.reactions[emoji]
        self._reacted("MESSAGE_REACTION_REMOVE", user, message, emoji)

    def _reacted(self, name: str, user: User, message: Message, emoji: str) -> None:
        data: Json = {
            "user_id": str(user.id),
            "channel_id": str(message.channel.id),
            "message_id": str(message.id),
            "message_author_id": str(message.author.id),
            "emoji": {"id": None, "name": emoji},
            "burst": False,
            "type": 0,
        }
        if message.channel.guild:
            data["guild_id"] = str(message.channel.guild.id)
        self._announce(name, message, data)

    def _known_by_nonce(self, author: User, channel: Channel, body: Json) -> Message | None:
        nonce = body.get("nonce")
        if nonce is None or not body.get("enforce_nonce"):
            return None
        known = self._nonces.get((author.id, channel.id, str(nonce)))
        if known is None or self._state.clock.now() - known.at > self._state.limits.nonce_window:
            return None
        return known

    def _admit(self, author: User, channel: Channel, body: Json, files: Files) -> None:
        state = self._state
        if channel.kind in (ChannelType.CATEGORY, ChannelType.FORUM):
            raise refusal(50008)
        if not all(user.open_to_direct for user in channel.recipients.values()):
            raise refusal(50007)
        in_thread = channel.thread is not None
        needed = Permission.SEND_MESSAGES_IN_THREADS if in_thread else Permission.SEND_MESSAGES
        state.require(channel, author, needed)
        moderator = self._moderates(author, channel)
        if channel.thread and channel.thread.locked and not moderator:
            raise refusal(50083 if channel.thread.archived else 160005)
        self._admit_parts(author, channel, body, files)

    def _moderates(self, user: User, channel: Channel) -> bool:
        return self._state.may(channel, user, Permission.MANAGE_THREADS)

    def _admit_parts(self, author: User, channel: Channel, body: Json, files: Files) -> None:
        if body.get("embeds"):
            self._state.require(channel, author, Permission.EMBED_LINKS)
        if files:
            self._state.require(channel, author, Permission.ATTACH_FILES)

    def _new(self, author: User, channel: Channel) -> Message:
        clock = self._state.clock
        return Message(self._state.snowflakes.next(), channel, author, clock.wall(), clock.now())

    def _mark(self, message: Message, origin: Origin) -> None:
        message.kind = origin.kind
        message.application_id = origin.application_id
        message.interaction = origin.metadata
        if origin.ephemeral:
            message.flags |= MessageFlag.EPHEMERAL
            message.visible_to = origin.reader_id

    def _fill(self, message: Message, body: Json, files: Files) -> None:
        if body.get("sticker_ids") or (body.get("poll") and message.author.bot):
            raise NotImplementedError("stickers, and polls of bots")
        if "poll" in body:
            message.poll = body["poll"]
        if "content" in body:
            message.content = (body["content"] or "").strip()
        if "embeds" in body:
            message.embeds = [_rich(embed) for embed in body["embeds"] or []]
        if "components" in body:
            message.components = _numbered(body["components"] or [])
        if "attachments" in body or files:
            message.attachments = attached(self._state, message, body.get("attachments"), files)
        if body.get("flags") is not None:
            wanted = MessageFlag(body["flags"])
            message.flags = message.flags & ~_CHANGEABLE | wanted & (_CHANGEABLE | _ADDED)

    def _refuse_empty(self, message: Message) -> None:
        if message.is_layout:
            _refuse_missing_files(message)
            if not message.components:
                raise refusal(50006)
        elif not (
            message.content
            or message.embeds
            or message.components
            or message.attachments
            or message.snapshots
            or message.poll
        ):
            raise refusal(50006)

    def _limit_old_edits(self, message: Message) -> None:
        now = self._state.clock.now()
        if now - message.at < self._state.limits.old_message:
            return
        most, window = self._state.limits.edits_when_old
        recent = [at for at in message.edits_when_old if now - at < window]
        if len(recent) >= most:
            text = "Maximum number of edits to messages older than 1 hour reached. Try again later."
            raise ApiError(429, 30046, text, retry_after=window - (now - recent[0]))
        message.edits_when_old[:] = [*recent, now]

    def _wake_thread(self, message: Message) -> None:
        thread = message.channel.thread
        if thread is None:
            return
        thread.messages_sent += 1
        if message.kind in SYSTEM_MESSAGES:
            return
        thread.members.setdefault(message.author.id, self._state.clock.wall())
        if thread.archived:
            thread.archived = False
            thread.archive_timestamp = self._state.clock.wall()
            self._state.tell(Event("THREAD_UPDATE", {}, message.channel.guild, message.channel))

    def _reach(self, message: Message, allowed: Json | None, *, edited: bool) -> None:
        found = pinged(message, self._state.users, allowed)
        message.mentions, message.mention_roles = found.mentioned, found.roles
        message.mention_everyone = found.everyone
        self._state.notified += [
            Notification(message, user_id, cause, edited) for user_id, cause in found.users.items()
        ]
        self._state.previews += [Preview(message, url) for url in previewed(message)]

    def _announce(self, name: str, message: Message, data: Json | None = None) -> None:
        only_to = None
        if message.ephemeral:
            only_to = frozenset({message.author.id, message.visible_to or 0})
        shown = message if data is None else None
        guild = None if message.ephemeral else message.channel.guild
        self._state.tell(Event(name, data or {}, guild, message.channel, shown, only_to))


def _numbered(components: list[Json]) -> list[Json]:
    """Return a copy with the numeric ids that Discord gives to every component."""
    numbered: list[Json] = copy.deepcopy(components)
    taken = {component.get("id") for component in walk(numbered)}
    fresh = (number for number in range(1, 1000) if number not in taken)
    for component in walk(numbered):
        if not component.get("id"):
            component["id"] = next(fresh)
    return numbered


def _refuse_missing_files(message: Message) -> None:
    """Refuse a layout that shows a file which does not come with it."""
    names = {f"attachment://{attachment.filename}" for attachment in message.attachments}
    for component in walk(message.components):
        for item in component.get("items") or []:
            url = item["media"]["url"]
            if url.startswith("attachment://") and url not in names:
                text = "No attachment has the name that a component shows"
                code = "UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND"
                raise invalid("components", code, text)


def _refuse_mixture(message: Message) -> None:
    if message.is_layout and (message.content or message.embeds or message.poll):
        text = "A message with components v2 cannot have content, embeds or a poll"
        raise invalid("flags", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", text)


def _rich(embed: Json) -> Json:
    fields = [{"inline": False, **part} for part in embed.get("fields") or []]
    return {"type": "rich", **embed} | ({"fields": fields} if fields else {})
