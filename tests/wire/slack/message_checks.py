"""What Slack refuses in the body of a message."""

import json
from typing import Any

from tests.wire.slack.block_checks import check_message_blocks, check_sources
from tests.wire.slack.errors import Complaints, Json, SlackError
from tests.wire.slack.limits import Limits

_CHUNKS = {
    "markdown_text": ("text",),
    "task_update": ("id", "title", "status"),
    "plan_update": ("title",),
    "blocks": ("blocks",),
}
_TASK_STATES = ("pending", "in_progress", "complete", "error")


def check_attachments(attachments: Any, limits: Limits) -> list[Json]:
    """Return a message's attachments, or refuse them."""
    if not isinstance(attachments, list) or not all(isinstance(a, dict) for a in attachments):
        raise SlackError("invalid_attachments")
    if len(attachments) > limits.attachments:
        raise SlackError("too_many_attachments")
    for attachment in attachments:
        if attachment.get("blocks"):
            check_message_blocks(attachment["blocks"], limits)
    return attachments


def check_metadata(metadata: Any, limits: Limits) -> Json | None:
    """Return a message's metadata, None for an empty object, or refuse it."""
    if metadata in ({}, None):
        return None
    well_formed = (
        isinstance(metadata, dict)
        and isinstance(metadata.get("event_type"), str)
        and isinstance(metadata.get("event_payload"), dict)
    )
    if not well_formed:
        raise SlackError("invalid_metadata_format")
    if len(json.dumps(metadata)) > limits.metadata:
        raise SlackError("metadata_too_large")
    found: Json = metadata
    return found


def check_chunks(chunks: Any, limits: Limits) -> list[Json]:
    """Return a streaming call's chunks, or refuse them."""
    if not isinstance(chunks, list) or not all(isinstance(chunk, dict) for chunk in chunks):
        raise SlackError("invalid_chunks", "must be an array of objects [json-pointer:/chunks]")
    for number, chunk in enumerate(chunks):
        _check_chunk(chunk, f"/chunks/{number}", limits)
    if sum(len(str(chunk.get("text", ""))) for chunk in chunks) > limits.markdown:
        raise SlackError("msg_too_long")
    return chunks


def _check_chunk(chunk: Json, at: str, limits: Limits) -> None:
    kind = str(chunk.get("type"))
    if kind not in _CHUNKS:
        raise SlackError("invalid_chunks", f"unsupported type: {kind} [json-pointer:{at}/type]")
    for name in _CHUNKS[kind]:
        if chunk.get(name) in (None, ""):
            missing = f"missing required field: {name} [json-pointer:{at}]"
            raise SlackError("invalid_chunks", missing)
    if kind == "task_update" and chunk["status"] not in _TASK_STATES:
        raise SlackError("invalid_chunks", f"unknown status [json-pointer:{at}/status]")
    if kind == "task_update":
        _check_task(chunk, at)
    if kind == "blocks":
        check_message_blocks(chunk["blocks"], limits)


def _check_task(task: Json, at: str) -> None:
    """Refuse a step that is no task_update: its texts are plain, its sources are URLs."""
    found = Complaints()
    known = {"type", "id", "title", "status", "details", "output", "sources"}
    found.fields(at, task, frozenset(known))
    for name in ("title", "details", "output"):
        if name in task:
            found.text(f"{at}/{name}", task[name], 256)
    check_sources(found, f"{at}/sources", task.get("sources", []))
    if found.found:
        raise SlackError("invalid_chunks", *found.found)
