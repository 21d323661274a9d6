"""What is written in a message of Discord's, as content or in its components."""

from collections.abc import Iterable, Mapping

from adapters.context.message_parts import component_texts
from adapters.payloads import text


def text_in(message: Mapping[str, object]) -> str:
    """Return what is written in a message: its content, or the texts of its components."""
    return joined([text(message.get("content")), *component_texts(message.get("components"))])


def joined(texts: Iterable[str]) -> str:
    """Return texts of one message with a blank line between them."""
    return "\n\n".join(stripped for one in texts if (stripped := one.strip()))
