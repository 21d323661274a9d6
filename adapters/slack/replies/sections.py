"""Buttons of Slack's that ask on, and what a press on one means."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from adapters.nearest_sections import Nearest, pressed_section

Block = dict[str, Any]

_LONGEST = 75


def section_blocks(nearest: Nearest | None) -> list[Block]:
    """Return the blocks with the sections, each a button; none where nothing is near."""
    buttons = [_button(name, label) for name, label in nearest.buttons(_LONGEST)] if nearest else []
    if not buttons:
        return []
    row = {"type": "actions", "elements": buttons}
    if nearest is None or not nearest.title:
        return [row]
    text = {"type": "plain_text", "text": nearest.title}
    return [{"type": "context", "elements": [text]}, row]


def section_of(action: Mapping[str, Any]) -> tuple[str, UUID, int] | None:
    """Return what `pressed_section` does of a press; None: it is no such button."""
    pressed = pressed_section(str(action.get("value")))
    if pressed is None or not str(action.get("action_id")).startswith(f"gl:{pressed[0]}:"):
        return None
    return pressed


def _button(name: str, label: str) -> Block:
    kind, number = name.split(":")[1], name.rpartition(":")[2]
    return {
        "type": "button",
        "text": {"type": "plain_text", "text": label},
        "action_id": f"gl:{kind}:{number}",
        "value": name,
    }
