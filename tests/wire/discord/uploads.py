"""Files that come with messages."""

import mimetypes
from collections.abc import Mapping

from tests.wire.discord.entities import Attachment, Message
from tests.wire.discord.errors import ApiError, Json, invalid
from tests.wire.discord.state import State

Files = Mapping[str, Attachment]
"""Uploaded files by their form field, such as `files[0]`."""


def attached(
    state: State, message: Message, listed: list[Json] | None, files: Files
) -> list[Attachment]:
    """Return a message's attachments: those it keeps, and those uploaded now."""
    kept = {attachment.id: attachment for attachment in message.attachments}
    entries = listed if listed is not None else [{"id": n} for n in range(len(files))]
    found = []
    for entry in entries:
        if old := kept.get(int(entry["id"])):
            found.append(old)
            continue
        uploaded = files.get(f"files[{entry['id']}]")
        if uploaded is None:
            raise invalid("attachments", "ATTACHMENT_NOT_FOUND", "Attachment data not found")
        found.append(_stored(state, uploaded, entry))
    return found


def _stored(state: State, uploaded: Attachment, entry: Json) -> Attachment:
    if len(uploaded.content) > state.limits.attachment_bytes:
        raise ApiError(413, 40005, "Request entity too large")
    attachment = Attachment(
        state.snowflakes.next(),
        entry.get("filename") or uploaded.filename,
        uploaded.content,
        content_type(entry.get("filename") or uploaded.filename),
        entry.get("description"),
        state.cdn,
    )
    state.attachments[attachment.id] = attachment
    return attachment


def content_type(filename: str) -> str:
    """Return what Discord takes a file for: it goes by the name."""
    kind = mimetypes.guess_type(filename)[0] or "application/octet-stream"
    return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind
