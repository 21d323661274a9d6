"""Finds the messages of an answer again, so that nothing is posted twice."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from adapters.slack.replies.blocks import pressed

Json = Mapping[str, Any]

EVENT_TYPE = "glossator_answer"
QUESTION_PART = -1
"""The question that the bot posts for the user who asked with a command."""
NOTICE_PART = -2
"""What an asker reads meanwhile where Slack shows nothing to one reader alone."""


def metadata(key: str, part: int) -> dict[str, Any]:
    """Return what Slack keeps with a message: the event that it answers, and which part it is."""
    return {"event_type": EVENT_TYPE, "event_payload": {"key": key, "part": part}}


def message_id(channel: str, ts: str) -> str:
    """Return what a message is known by in the inbox: timestamps are a channel's own."""
    return f"{channel}:{ts}"


def timestamp(message_id: str) -> str:
    """Return the timestamp of a message by its id in the inbox."""
    return message_id.rpartition(":")[2]


def step_id(request: UUID, name: str) -> str:
    """Return the id of a step of an answer, which Slack shows as a block of that id."""
    return f"{request}:{name}"


def parts_of(
    messages: Iterable[Json], me: str, key: str, request_id: UUID | None
) -> dict[int, str]:
    """Return the timestamps of an answer's parts that are there already, oldest first.

    A stream that has not ended has no metadata yet: it is known by its steps, or its button.
    """
    requests = set() if request_id is None else {request_id}
    found = dict[int, str]()
    for message in _ours(messages, me):
        part = _part_of(message, key, requests)
        if part is not None:
            found.setdefault(part, message["ts"])
    return found


def strays(
    messages: Iterable[Json], me: str, key: str, requests: Collection[UUID], known: Collection[str]
) -> list[str]:
    """Return the timestamps of our messages that answer an event other than the known ones."""
    return [
        str(message["ts"])
        for message in _ours(messages, me)
        if message["ts"] not in known and _part_of(message, key, requests) is not None
    ]


def _part_of(message: Json, key: str, requests: Collection[UUID]) -> int | None:
    found = message.get("metadata") or {}
    if found.get("event_type") == EVENT_TYPE:
        payload = found.get("event_payload") or {}
        return payload.get("part") if payload.get("key") == key else None
    return 0 if requests and not _requests(message).isdisjoint(requests) else None


def _requests(message: Json) -> set[UUID]:
    """Return the requests that a message's buttons and steps belong to."""
    blocks = message.get("blocks") or ()
    actions = (element for block in blocks for element in _elements(block))
    steps = (step for block in blocks for step in _steps(block))
    of_buttons = {button[1] for action in actions if (button := pressed(action))}
    return of_buttons | {request for step in steps if (request := _request_of(step))}


def _steps(block: Json) -> Iterable[Json]:
    """Return the steps in a block: Slack shows each by itself, or all in a plan."""
    if block.get("type") == "plan":
        return block.get("tasks") or ()
    return (block,) if block.get("type") == "task_card" else ()


def _request_of(step: Json) -> UUID | None:
    try:
        return UUID(str(step.get("task_id")).partition(":")[0])
    except ValueError:
        return None


def _elements(block: Json) -> Iterable[Json]:
    return (block.get("elements") or ()) if block.get("type") == "actions" else ()


def _ours(messages: Iterable[Json], me: str) -> Iterator[Json]:
    return (message for message in messages if message.get("user") == me)
