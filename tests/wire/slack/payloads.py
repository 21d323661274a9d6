"""People, places and messages as the wire shows them."""

from tests.wire.slack.entities import (
    Channel,
    ChannelKind,
    Installation,
    Message,
    Upload,
    User,
    View,
)
from tests.wire.slack.errors import Json
from tests.wire.slack.rich_text import rich_text
from tests.wire.slack.state import State


def user_payload(user: User, caller: Installation) -> Json:
    """Return a user as `users.info` shows it."""
    enterprise = user.workspace.enterprise_id
    return {
        "id": user.id,
        "team_id": user.workspace.id,
        "name": user.name,
        "deleted": user.deleted,
        "real_name": user.name.title(),
        "tz": "Europe/London",
        "tz_offset": 0,
        "profile": {
            "real_name": user.name.title(),
            "display_name": user.name,
            "real_name_normalized": user.name.title(),
            "display_name_normalized": user.name,
            "team": user.workspace.id,
        },
        "is_admin": user.admin,
        "is_owner": user.admin,
        "is_primary_owner": False,
        "is_restricted": user.guest,
        "is_ultra_restricted": False,
        "is_bot": user.bot,
        "is_app_user": False,
        "is_stranger": user.workspace is not caller.workspace,
        "updated": 1_700_000_000,
    } | ({"enterprise_user": {"enterprise_id": enterprise}} if enterprise else {})


def channel_payload(channel: Channel, caller: Installation) -> Json:
    """Return a conversation as `conversations.info` shows it."""
    payload: Json = {
        "id": channel.id,
        "created": channel.created,
        "is_archived": channel.archived,
        "is_im": channel.kind is ChannelKind.IM,
        "is_org_shared": False,
        "context_team_id": caller.workspace.id,
        "updated": channel.created * 1000,
    }
    if channel.kind is ChannelKind.IM:
        others = [user for user in channel.members if user != caller.bot.id]
        return payload | {"user": others[0] if others else caller.bot.id, "is_user_deleted": False}
    return payload | {
        "name": channel.name,
        "name_normalized": channel.name,
        "is_channel": channel.kind is ChannelKind.PUBLIC,
        "is_group": channel.kind is ChannelKind.PRIVATE,
        "is_mpim": channel.kind is ChannelKind.MPIM,
        "is_private": channel.private,
        "is_general": channel.general,
        "is_member": caller.bot.id in channel.members,
        "is_shared": channel.shared,
        "is_ext_shared": channel.shared,
        "is_pending_ext_shared": False,
        "creator": channel.creator.id,
        "shared_team_ids": [workspace.id for workspace in channel.workspaces],
        "topic": {"value": "", "creator": "", "last_set": 0},
        "purpose": {"value": "", "creator": "", "last_set": 0},
        "num_members": len(channel.members),
    }


def message_payload(message: Message, *, metadata: bool = False) -> Json:
    """Return a message as histories, events and interactions show it."""
    payload: Json = {"type": "message", "ts": message.ts, "text": message.text}
    if message.subtype:
        payload["subtype"] = message.subtype
    payload |= _author(message)
    if (blocks := _blocks(message)) and message.subtype != "tombstone":
        payload["blocks"] = blocks
    if message.attachments:
        payload["attachments"] = numbered(message.attachments)
    if message.files:
        payload["files"] = [file_payload(file) for file in message.files]
    if message.thread_ts:
        payload["thread_ts"] = message.thread_ts
    if message.is_reply:
        parent = message.channel.messages.get(message.thread_ts or "")
        payload["parent_user_id"] = parent.author.id if parent else "USLACKBOT"
    if message.edited_ts:
        payload["edited"] = {"user": message.author.id, "ts": message.edited_ts}
    if message.reactions:
        payload["reactions"] = [
            {"name": name, "users": list(users), "count": len(users)}
            for name, users in message.reactions.items()
        ]
    if message.stream is not None:
        payload["streaming_state"] = "in_progress"
    if metadata and message.metadata:
        payload["metadata"] = message.metadata
    return payload


def file_payload(file: Upload) -> Json:
    """Return a file as messages show it; its bytes are given to who has a token."""
    address = f"{file.base}/files-pri/{file.id}"
    return {
        "id": file.id,
        "name": file.name,
        "title": file.title,
        "mimetype": file.mimetype,
        "size": file.length,
        "mode": "quip" if file.is_canvas else "hosted",
        "url_private": f"{address}/{file.name}",
        "url_private_download": f"{address}/download/{file.name}",
    }


def with_replies(state: State, message: Message, *, metadata: bool = False) -> Json:
    """Return a message as histories show it: a thread's first one with figures of the thread."""
    payload = message_payload(message, metadata=metadata)
    replies = state.replies_to(message)
    if replies:
        authors = list(dict.fromkeys(reply.author.id for reply in replies))
        payload |= {
            "thread_ts": message.ts,
            "reply_count": len(replies),
            "reply_users_count": len(authors),
            "latest_reply": replies[-1].ts,
            "reply_users": authors[:5],
            "is_locked": False,
            "subscribed": False,
        }
    return payload


def view_payload(view: View) -> Json:
    """Return a view as methods and interactions show it."""
    return {
        "id": view.id,
        "team_id": view.user.workspace.id,
        "app_id": view.installation.app.id,
        "app_installed_team_id": view.installation.workspace.id,
        "bot_id": view.installation.bot_id,
        "callback_id": "",
        "private_metadata": "",
        "external_id": "",
        "clear_on_close": False,
        "notify_on_close": False,
        "title": None,
        "submit": None,
        "close": None,
        **view.body,
        "hash": view.hash,
        "root_view_id": view.root_id,
        "previous_view_id": view.previous.id if view.previous else None,
        "state": {"values": view.values},
    }


def numbered(attachments: list[Json]) -> list[Json]:
    """Return attachments with the ids that Slack gives them."""
    return [{"id": number, **each} for number, each in enumerate(attachments, start=1)]


def _blocks(message: Message) -> list[Json]:
    made = [] if message.blocks and not message.streamed else [message.text]
    shown = [b for text in made for b in rich_text(text, f"b{message.ts[-4:]}")]
    return [*map(_task_card, message.task_cards), *shown, *message.blocks]


def _task_card(task: Json) -> Json:
    """Return a step of a stream as the block that it becomes."""
    more: Json = {name: task[name] for name in ("title", "status", "sources") if name in task}
    return {"type": "task_card", "task_id": task["id"], **more}


def _author(message: Message) -> Json:
    if message.subtype == "tombstone":
        return {"user": "USLACKBOT", "hidden": True}
    installation = message.installation
    if message.subtype == "bot_message":
        bot_id = installation.bot_id if installation else f"B{message.author.id[1:]}"
        return {"bot_id": bot_id, "username": message.username or message.author.name}
    author: Json = {"user": message.author.id, "team": message.author.workspace.id}
    if installation is None:
        own = {"bot_id": f"B{message.author.id[1:]}"} if message.author.bot else {}
        return author | (own or {"client_msg_id": _client_id(message)})
    profile = {
        "id": installation.bot_id,
        "app_id": installation.app.id,
        "name": installation.app.name,
        "deleted": False,
        "updated": 1_700_000_000,
        "team_id": installation.workspace.id,
    }
    return author | {
        "bot_id": installation.bot_id,
        "app_id": installation.app.id,
        "bot_profile": profile,
    }


def _client_id(message: Message) -> str:
    digits = message.ts.replace(".", "").zfill(32)[-32:]
    return "-".join([digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]])
