"""Messages as the wire shows them, and what a bot may read of them."""

import copy
from collections.abc import Mapping

from tests.wire.discord.clock import timestamp
from tests.wire.discord.component_checks import walk
from tests.wire.discord.entities import Attachment, Channel, Message, MessageFlag, User
from tests.wire.discord.errors import Json
from tests.wire.discord.payloads import channel_payload, member_payload, user_payload

_PRIVILEGED = {"content": "", "embeds": [], "attachments": [], "components": []}


def message_payload(message: Message, reader: User, content_intent: bool = True) -> Json:
    """Return a message as a bot or user reads it over REST."""
    payload = _own_fields(message, reader)
    if message.replied is not None:
        payload["referenced_message"] = None
        if not message.replied.deleted:
            quoted = _own_fields(message.replied, reader)
            payload["referenced_message"] = _readable(
                quoted, message.replied, reader, content_intent
            )
    return _readable(payload, message, reader, content_intent)


def dispatched(message: Message, reader: User, content_intent: bool) -> Json:
    """Return a message as the gateway shows it: with guild and member, if not ephemeral."""
    payload = message_payload(message, reader, content_intent)
    guild = message.channel.guild
    payload["channel_type"] = int(message.channel.kind)
    if guild is None or message.ephemeral:
        return payload
    payload["guild_id"] = str(guild.id)
    if member := guild.members.get(message.author.id):
        payload["member"] = member_payload(member)
    for user, shown in zip(message.mentions, payload["mentions"], strict=True):
        if mentioned := guild.members.get(user.id):
            shown["member"] = member_payload(mentioned)
    return payload


def attachment_payload(attachment: Attachment, channel: Channel) -> Json:
    """Return an attachment."""
    url = f"{attachment.cdn}/attachments/{channel.id}/{attachment.id}/{attachment.filename}"
    payload: Json = {
        "id": str(attachment.id),
        "filename": attachment.filename,
        "size": len(attachment.content),
        "url": url,
        "proxy_url": url,
        "content_type": attachment.content_type,
    }
    if attachment.description:
        payload["description"] = attachment.description
    return payload


def poll_payload(question: str, *answers: str) -> Json:
    """Return a poll without an end, whose `expiry` is null, as Discord documents it."""
    numbered = enumerate(answers, start=1)
    return {
        "question": {"text": question},
        "answers": [{"answer_id": n, "poll_media": {"text": text}} for n, text in numbered],
        "expiry": None,
        "allow_multiselect": False,
        "layout_type": 1,
        "results": {"answer_counts": [], "is_finalized": False},
    }


def snapshot(message: Message) -> Json:
    """Return the copy of a message that a forward carries."""
    return {
        "message": {
            "type": int(message.kind),
            "content": message.content,
            "mentions": [user_payload(user) for user in message.mentions],
            "mention_roles": [str(role) for role in message.mention_roles],
            "attachments": [attachment_payload(a, message.channel) for a in message.attachments],
            "embeds": list(message.embeds),
            "timestamp": timestamp(message.created_at),
            "edited_timestamp": timestamp(message.edited_at) if message.edited_at else None,
            "flags": int(message.flags & ~MessageFlag.HAS_THREAD),
            "components": _components(message),
        }
    }


def _own_fields(message: Message, reader: User) -> Json:
    payload: Json = {
        "id": str(message.id),
        "type": int(message.kind),
        "channel_id": str(message.channel.id),
        "author": user_payload(message.author),
        "content": message.content,
        "timestamp": timestamp(message.created_at),
        "edited_timestamp": timestamp(message.edited_at) if message.edited_at else None,
        "tts": False,
        "mention_everyone": message.mention_everyone,
        "mentions": [user_payload(user) for user in message.mentions],
        "mention_roles": [str(role) for role in message.mention_roles],
        "attachments": [attachment_payload(a, message.channel) for a in message.attachments],
        "embeds": list(message.embeds),
        "components": _components(message),
        "pinned": message.pinned,
        "flags": int(message.flags),
    }
    payload |= _of_applications(message, reader)
    if message.reference is not None:
        payload["message_reference"] = dict(message.reference)
    if message.snapshots:
        payload["message_snapshots"] = [dict(copy) for copy in message.snapshots]
    if message.poll is not None:
        payload["poll"] = dict(message.poll)
    if message.reactions:
        payload["reactions"] = _reactions(message, reader)
    if message.thread is not None:
        payload["thread"] = channel_payload(message.thread)
    return payload


def _components(message: Message) -> list[Json]:
    """Return components whose pictures have the addresses that Discord serves them by."""
    components = copy.deepcopy(message.components)
    files = {f"attachment://{file.filename}": file for file in message.attachments}
    for component in walk(components):
        for item in component.get("items") or []:
            item |= {"description": item.get("description"), "spoiler": item.get("spoiler", False)}
            item["media"] = _media(str(item["media"]["url"]), files, message)
    return components


def _media(url: str, files: Mapping[str, Attachment], message: Message) -> Json:
    if url not in files:
        return {"id": str(message.id), "url": url, "proxy_url": url}
    file = attachment_payload(files[url], message.channel)
    shown = {key: file[key] for key in ("id", "url", "proxy_url", "content_type")}
    return {**shown, "attachment_id": file["id"]}


def _of_applications(message: Message, reader: User) -> Json:
    payload: Json = {}
    if message.nonce is not None and message.author is reader:
        payload["nonce"] = message.nonce
    if message.application_id is not None:
        payload["application_id"] = str(message.application_id)
    if message.interaction is not None:
        payload["interaction_metadata"] = message.interaction
        payload["webhook_id"] = str(message.application_id)
    return payload


def _reactions(message: Message, reader: User) -> list[Json]:
    return [
        {
            "emoji": {"id": None, "name": emoji},
            "count": len(users),
            "count_details": {"burst": 0, "normal": len(users)},
            "burst_colors": [],
            "me_burst": False,
            "me": reader.id in users,
        }
        for emoji, users in message.reactions.items()
    ]


def _readable(payload: Json, message: Message, reader: User, content_intent: bool) -> Json:
    """Empty what the privileged intent guards, unless the message concerns the reader."""
    if (
        content_intent
        or message.author is reader
        or reader in message.mentions
        or message.channel.guild is None
        or message.interaction is not None
    ):
        return payload
    for carried in payload.get("message_snapshots", []):
        carried["message"] = carried["message"] | _PRIVILEGED
    payload.pop("poll", None)
    return payload | _PRIVILEGED
