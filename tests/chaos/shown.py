"""What a message of the bot's tells of itself, on either platform."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from adapters.chat.buttons import Button, parsed
from adapters.discord.answer_messages import nonce
from adapters.slack.notices import EVENT_TYPE, QUESTION_PART
from adapters.slack.outbound import pressed
from tests.chaos.history import Asked
from tests.wire import discord, slack

Message = discord.Message | slack.Message


def key_of(message: Message, requests: Mapping[UUID, str], asked: Iterable[Asked]) -> str | None:
    """Return the question for which a message was posted, None where nobody asked it.

    Args:
        requests: The keys of all questions by their request ids.
    """
    if isinstance(message, discord.Message):
        return _by_button(message.components, requests) or _by_nonce(message, asked)
    return _by_metadata(message) or _by_button(message.blocks, requests)


def is_question(message: Message) -> bool:
    """Return whether the bot posted what somebody asked with a command, to answer below it."""
    if isinstance(message, discord.Message):
        return False
    found = message.metadata or {}
    is_ours = found.get("event_type") == EVENT_TYPE
    return is_ours and found["event_payload"]["part"] == QUESTION_PART


def is_unfinished(message: Message) -> bool:
    """Return whether a message is a placeholder, or looks as if it were still growing."""
    if isinstance(message, discord.Message):
        return message.loading or _can_be_stopped(message.components)
    return message.stream is not None or _can_be_stopped(message.blocks)


def is_gone(message: Message) -> bool:
    """Return whether a message was deleted, be it that a tombstone stands in its place."""
    if isinstance(message, discord.Message):
        return message.deleted
    return message.deleted or message.subtype == "tombstone"


def _by_button(parts: object, requests: Mapping[UUID, str]) -> str | None:
    """Return the question that a message's buttons belong to."""
    return next((requests[found] for _, found in _buttons(parts) if found in requests), None)


def buttons_in(message: Message) -> list[tuple[Button, UUID]]:
    """Return the bot's buttons in a message, each with the id that it names."""
    return list(_buttons(_parts(message)))


def _parts(message: Message) -> object:
    return message.components if isinstance(message, discord.Message) else message.blocks


def _can_be_stopped(parts: object) -> bool:
    """Return whether a message offers to stop what is under way."""
    return any(button is Button.STOP for button, _ in _buttons(parts))


def _buttons(node: Any) -> Iterator[tuple[Button, UUID]]:
    """Yield the buttons of a message of either platform, with their requests."""
    if isinstance(node, list):
        for part in node:
            yield from _buttons(part)
    elif isinstance(node, dict):
        found = parsed(str(node.get("custom_id"))) or parsed(str(node.get("value")))
        if found := found or pressed(node):
            yield found
        for part in node.values():
            yield from _buttons(part)


def _by_nonce(message: discord.Message, asked: Iterable[Asked]) -> str | None:
    """Return the question for which a message without buttons was posted."""
    for one in asked:
        if message.nonce == nonce(one.key, message.channel.id, 0):
            return one.key
    return None


def _by_metadata(message: slack.Message) -> str | None:
    found = message.metadata or {}
    if found.get("event_type") != EVENT_TYPE or is_question(message):
        return None
    return str(found["event_payload"]["key"])
