"""What is written in a message of Discord's: content, embeds, components and polls."""

from collections.abc import Iterable, Mapping

from adapters.payloads import mapping, mappings, text

_TEXT_DISPLAY = 10
"""The type of a component that shows text."""


def text_in(message: Mapping[str, object]) -> str:
    """Return what is written in a message: its content, or the texts of its components."""
    return joined([text(message.get("content")), *component_texts(message.get("components"))])


def joined(texts: Iterable[str]) -> str:
    """Return texts of one message with a blank line between them."""
    return "\n\n".join(stripped for one in texts if (stripped := one.strip()))


def texts_of_embeds(embeds: object) -> list[str]:
    """Return what the embeds of a message say, title first, one text an embed."""
    shown = []
    for embed in mappings(embeds):
        fields = [
            value
            for field in mappings(embed.get("fields"))
            for value in (text(field.get("name")), text(field.get("value")))
        ]
        lines = [text(embed.get("title")), text(embed.get("description")), *fields]
        shown.append("\n".join(line for line in lines if line.strip()))
    return [one for one in shown if one]


def poll_text(poll: object) -> str:
    """Return a poll: its question, then each answer as a list item."""
    said = mapping(poll)
    question = text(mapping(said.get("question")).get("text"))
    answers = [
        text(mapping(one.get("poll_media")).get("text")) for one in mappings(said.get("answers"))
    ]
    return "\n".join([line for line in (question, *(f"- {a}" for a in answers if a)) if line])


def component_texts(components: object, *, most: int = 200) -> list[str]:
    """Return the texts of Components V2 in reading order.

    Args:
        most: How many components are looked at, however deep they lie.
    """
    waiting, found = list(mappings(components)), list[str]()
    for _ in range(most):
        if not waiting:
            break
        component = waiting.pop(0)
        if component.get("type") == _TEXT_DISPLAY:
            found.append(text(component.get("content")))
        waiting = [*mappings(component.get("components")), *waiting]
    return [one for one in found if one.strip()]
