"""What the page is sent of one message on Slack."""

from datetime import UTC, datetime

from tests.wire.playground.uploads import PICTURES
from tests.wire.slack.entities import Message, Upload, User
from tests.wire.slack.errors import Json
from tests.wire.slack.rich_text import rich_text


def message_view(message: Message, reader: User) -> Json:
    """Return a message with all that it shows as blocks."""
    return {
        "id": message.ts,
        "channel_id": message.channel.id,
        "thread": message.thread_ts,
        "is_reply": message.is_reply,
        "broadcast": message.subtype == "thread_broadcast",
        "author": {"id": message.author.id},
        "timestamp": datetime.fromtimestamp(float(message.ts), UTC).isoformat(),
        "text": message.text,
        "blocks": _blocks(message),
        "shared": [_shared(attachment) for attachment in message.attachments],
        "files": [_file(file) for file in message.files],
        "reactions": [
            {"name": name, "count": len(users), "mine": reader.id in users}
            for name, users in message.reactions.items()
        ],
        "tasks": [*message.task_cards],
        "growing": message.stream is not None,
        "edited": message.edited_ts is not None and not message.author.bot,
        "ephemeral": message.ephemeral,
    }


def _blocks(message: Message) -> list[Json]:
    if message.streamed:
        return [{"type": "markdown", "text": message.text}, *message.blocks]
    return message.blocks or rich_text(message.text, "text")


def _shared(attachment: Json) -> Json:
    """Return a message that another one carries, or any other attachment."""
    quoted = attachment.get("message_blocks") or [{"message": {"blocks": []}}]
    return {
        "author": attachment.get("author_id"),
        "text": str(attachment.get("text") or attachment.get("fallback") or ""),
        "blocks": quoted[0]["message"]["blocks"],
    }


def _file(file: Upload) -> Json:
    is_picture = file.mimetype in PICTURES
    return {"id": file.id, "name": file.name, "size": file.length, "picture": is_picture}
