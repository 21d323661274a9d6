"""Threads: begun, joined, archived and listed."""

from typing import Any

from tests.wire.discord.entities import (
    SYSTEM_MESSAGES,
    Channel,
    ChannelType,
    Message,
    MessageFlag,
    MessageType,
    ThreadState,
    User,
)
from tests.wire.discord.errors import FormErrors, Json, invalid, refusal
from tests.wire.discord.payloads import thread_member_payload
from tests.wire.discord.permissions import Permission
from tests.wire.discord.posting import Posting
from tests.wire.discord.state import Event, State
from tests.wire.discord.uploads import Files

_ARCHIVE_AFTER = (60, 1440, 4320, 10080)


class Threads:
    """Makes threads and changes them."""

    def __init__(self, state: State, posting: Posting) -> None:
        self._state = state
        self._posting = posting

    def from_message(self, user: User, message: Message, body: Json) -> Channel:
        """Begin a thread on a message, whose id it takes."""
        self._admit(user, message.channel, body, ChannelType.TEXT)
        if message.id in self._state.channels:
            raise refusal(160004)
        if message.kind in SYSTEM_MESSAGES:
            raise refusal(50024)
        thread = self._begin(user, message.channel, body, message.id)
        message.thread = thread
        message.flags |= MessageFlag.HAS_THREAD
        self._posting.refresh(message)
        self._posting.system(
            MessageType.THREAD_STARTER, message.author, thread, "", _pointer(message)
        )
        return thread

    def without_message(self, user: User, channel: Channel, body: Json) -> Channel:
        """Begin a thread that hangs on no message; the channel gets a notice of it."""
        self._admit(user, channel, body, ChannelType.TEXT)
        kind = body.get("type", 12)
        if kind not in (11, 12):
            raise invalid("type", "BASE_TYPE_CHOICES", "Value must be one of (11, 12).")
        private = kind == ChannelType.PRIVATE_THREAD
        if private:
            self._state.require(channel, user, Permission.CREATE_PRIVATE_THREADS)
        thread = self._begin(user, channel, body, self._state.snowflakes.next(), private=private)
        if not private:
            reference = {"type": 0, "channel_id": str(thread.id)}
            if channel.guild:
                reference["guild_id"] = str(channel.guild.id)
            self._posting.system(MessageType.THREAD_CREATED, user, channel, thread.name, reference)
        return thread

    def post(self, user: User, forum: Channel, body: Json, files: Files) -> Channel:
        """Begin a forum post; its first message has the post's id."""
        self._admit(user, forum, body, ChannelType.FORUM)
        first = body.get("message")
        if not isinstance(first, dict):
            raise invalid("message", "BASE_TYPE_REQUIRED", "This field is required")
        known = {tag.id for tag in forum.tags}
        tags = [int(tag) for tag in body.get("applied_tags") or []]
        if len(tags) > 5 or not set(tags) <= known:
            raise invalid("applied_tags", "INVALID_FORUM_TAG", "Unknown tag")
        message = self._posting.draft(user, forum, first, files)
        thread = self._begin(user, forum, body, message.id, tags=tags)
        message.channel = thread
        self._posting.publish(message, first.get("allowed_mentions"))
        return thread

    def change(self, user: User, thread: Channel, body: Json) -> Channel:
        """Rename, archive, lock or retag a thread."""
        state = thread.thread
        assert state is not None
        moderator = self._state.may(thread, user, Permission.MANAGE_THREADS)
        if not moderator and state.owner_id != user.id:
            raise refusal(50013)
        if "locked" in body and not moderator:
            raise refusal(50013)
        if state.archived and body.get("archived") is not False:
            raise refusal(50083)
        if state.locked and not moderator:
            raise refusal(50013)
        _check(body, required=False)
        thread.name = body.get("name", thread.name).strip()
        state.auto_archive_duration = body.get("auto_archive_duration", state.auto_archive_duration)
        state.locked = body.get("locked", state.locked)
        if "applied_tags" in body:
            state.applied_tags = [int(tag) for tag in body["applied_tags"]]
        if body.get("archived", state.archived) != state.archived:
            state.archived = body["archived"]
            state.archive_timestamp = self._state.clock.wall()
        self._state.tell(Event("THREAD_UPDATE", {}, thread.guild, thread))
        return thread

    def join(self, thread: Channel, user: User) -> None:
        """Make a user a member of a thread."""
        state = self._alive(thread)
        if user.id in state.members:
            return
        state.members[user.id] = self._state.clock.wall()
        self._members_changed(thread, {"added_members": [thread_member_payload(thread, user.id)]})

    def leave(self, thread: Channel, user: User) -> None:
        """End a user's membership of a thread."""
        state = self._alive(thread)
        if state.members.pop(user.id, None):
            self._members_changed(thread, {"removed_member_ids": [str(user.id)]})

    def remove(self, thread: Channel) -> None:
        """Delete a thread with all that is in it."""
        del self._state.channels[thread.id]
        data: Json = {"id": str(thread.id), "type": int(thread.kind)}
        if thread.guild and thread.parent:
            data |= {"guild_id": str(thread.guild.id), "parent_id": str(thread.parent.id)}
        self._state.tell(Event("THREAD_DELETE", data, thread.guild, thread.parent))

    def _admit(self, user: User, channel: Channel, body: Json, kind: ChannelType) -> None:
        if channel.guild is None or channel.thread or channel.kind is not kind:
            raise refusal(50024)
        forum = kind is ChannelType.FORUM
        needed = Permission.SEND_MESSAGES if forum else Permission.CREATE_PUBLIC_THREADS
        self._state.require(channel, user, needed)
        _check(body, required=True)

    def _begin(self, user: User, parent: Channel, body: Json, thread_id: int, *,
               private: bool = False, tags: list[int] | None = None) -> Channel:  # fmt: skip
        now = self._state.clock.wall()
        kind = ChannelType.PRIVATE_THREAD if private else ChannelType.PUBLIC_THREAD
        thread = Channel(thread_id, kind, body["name"].strip(), parent.guild, parent)
        thread.thread = ThreadState(
            user.id, now, now, body.get("auto_archive_duration") or 4320, applied_tags=tags or []
        )
        thread.thread.members[user.id] = now
        self._state.channels[thread.id] = thread
        self._state.tell(Event("THREAD_CREATE", {"newly_created": True}, parent.guild, thread))
        return thread

    def _alive(self, thread: Channel) -> ThreadState:
        if thread.thread is None:
            raise refusal(50024)
        if thread.thread.archived:
            raise refusal(50083)
        return thread.thread

    def _members_changed(self, thread: Channel, change: Json) -> None:
        assert thread.guild is not None
        assert thread.thread is not None
        data = {
            "id": str(thread.id),
            "guild_id": str(thread.guild.id),
            "member_count": min(len(thread.thread.members), 50),
            **change,
        }
        self._state.tell(Event("THREAD_MEMBERS_UPDATE", data, thread.guild, thread))


def _check(body: Json, *, required: bool) -> None:
    errors = FormErrors()
    if required or "name" in body:
        if body.get("name") is None:
            errors.required("name")
        else:
            errors.text("name", body["name"], 100)
            if not str(body["name"]).strip():
                errors.required("name")
    duration: Any = body.get("auto_archive_duration")
    if duration is not None and duration not in _ARCHIVE_AFTER:
        errors.choice("auto_archive_duration", _ARCHIVE_AFTER)
    errors.check()


def _pointer(message: Message) -> Json:
    pointer = {
        "type": 0,
        "channel_id": str(message.channel.id),
        "message_id": str(message.id),
    }
    if message.channel.guild:
        pointer["guild_id"] = str(message.channel.guild.id)
    return pointer
