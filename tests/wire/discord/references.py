"""Replies and forwards: messages that point at another one."""

from tests.wire.discord.entities import (
    SYSTEM_MESSAGES,
    Channel,
    Message,
    MessageFlag,
    MessageType,
)
from tests.wire.discord.errors import Json, invalid, refusal
from tests.wire.discord.message_payloads import snapshot
from tests.wire.discord.permissions import Permission
from tests.wire.discord.state import State


def refer(state: State, message: Message, reference: Json | None) -> None:
    """Make a new message a reply or a forward, as its reference says."""
    if reference is None:
        return
    forward = reference.get("type") == 1
    source = state.channels.get(int(reference.get("channel_id") or message.channel.id))
    target = source.messages.get(int(reference["message_id"])) if source else None
    if target is None or source is None:
        if forward or reference.get("fail_if_not_exists", True):
            raise invalid("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
        return
    message.reference = {
        "type": int(forward),
        "channel_id": str(source.id),
        "message_id": str(target.id),
    }
    if source.guild:
        message.reference["guild_id"] = str(source.guild.id)
    if forward:
        _forward(state, message, source, target)
    else:
        _reply(state, message, source, target)


def _forward(state: State, message: Message, source: Channel, target: Message) -> None:
    state.require(source, message.author, Permission.VIEW_CHANNEL)
    message.flags |= MessageFlag.HAS_SNAPSHOT
    message.snapshots = [snapshot(target)]


def _reply(state: State, message: Message, source: Channel, target: Message) -> None:
    if source is not message.channel:
        text = "Cannot reply to a message in a different channel"
        raise invalid("message_reference", "MESSAGE_REFERENCE_INVALID", text)
    if target.kind in SYSTEM_MESSAGES:
        text = "Cannot reply to a system message"
        raise invalid("message_reference", "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", text)
    if not state.may(source, message.author, Permission.READ_MESSAGE_HISTORY):
        raise refusal(160002)
    message.kind = MessageType.REPLY
    message.replied = target
