"""Shared messages, as the attachments that Slack's client makes of them."""

from tests.wire.slack.entities import Message
from tests.wire.slack.errors import Json
from tests.wire.slack.payloads import message_payload


def shared(message: Message, permalink: str, *, by_link: bool) -> Json:
    """Return a message as an attachment: forwarded, or unfurled from a permalink in a text."""
    payload = message_payload(message)
    shown: Json = {"blocks": payload.get("blocks", [])}
    if message.attachments:
        shown["attachments"] = payload["attachments"]
    quoted: Json = {
        "team": message.author.workspace.id,
        "channel": message.channel.id,
        "ts": message.ts,
        "message": shown,
    }
    attachment: Json = {
        "ts": message.ts,
        "author_id": message.author.id,
        "author_name": message.author.name,
        "author_subname": message.author.name,
        "channel_id": message.channel.id,
        "channel_team": message.channel.workspaces[0].id,
        "from_url": permalink,
        "original_url": permalink,
        "is_msg_unfurl": True,
        "message_blocks": [quoted],
        "fallback": f"[{message.author.name}]: {message.text}",
        "text": message.text,
        "mrkdwn_in": ["text"],
        "footer": "Slack Conversation",
    }
    if files := payload.get("files"):
        attachment["files"] = files
    return attachment if by_link else attachment | {"is_share": True}
