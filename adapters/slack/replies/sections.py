"""The nearest sections of a refusal as buttons of Slack's, and what a press on one means."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from adapters.nearest_sections import Nearest, pressed_section
from core import i18n

Block = dict[str, Any]

_LONGEST = 75
_BUTTON_ACTION = "gl:w"


def section_blocks(nearest: Nearest | None) -> list[Block]:
    """Return the blocks with the sections, each a button; none where nothing is near."""
    buttons = [_button(name, label) for name, label in nearest.buttons(_LONGEST)] if nearest else []
    if not buttons:
        return []
    text = {"type": "plain_text", "text": i18n.text("card-ask-within")}
    return [{"type": "context", "elements": [text]}, {"type": "actions", "elements": buttons}]


def section_of(action: Mapping[str, Any]) -> tuple[UUID, int] | None:
    """Return the question and the number of a section that was pressed; None: it is no section."""
    is_section = str(action.get("action_id")).startswith(f"{_BUTTON_ACTION}:")
    return pressed_section(str(action.get("value"))) if is_section else None


def _button(name: str, label: str) -> Block:
    number = name.rpartition(":")[2]
    return {
        "type": "button",
        "text": {"type": "plain_text", "text": label},
        "action_id": f"{_BUTTON_ACTION}:{number}",
        "value": name,
    }
