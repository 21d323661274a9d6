"""What Block Kit refuses in the blocks of messages and views."""

from collections.abc import Callable
from typing import Any

from tests.wire.slack.element_checks import (
    IN_ACTIONS,
    IN_CONTEXT_ACTIONS,
    IN_INPUT,
    IN_SECTION,
    check_element,
    check_image,
    check_text,
)
from tests.wire.slack.entities import written
from tests.wire.slack.errors import Complaints, Json, SlackError
from tests.wire.slack.limits import Limits

_TEXTS = ("plain_text", "mrkdwn")
_ONLY_IN_MESSAGES = {"markdown", "context_actions", "table", "task_card", "plan"}
_FIELDS: dict[str, frozenset[str]] = {
    "actions": frozenset({"elements"}),
    "context": frozenset({"elements"}),
    "context_actions": frozenset({"elements"}),
    "divider": frozenset(),
    "header": frozenset({"text", "level"}),
    "image": frozenset({"image_url", "alt_text", "title", "slack_file"}),
    "input": frozenset({"label", "element", "dispatch_action", "hint", "optional"}),
    "markdown": frozenset({"text"}),
    "plan": frozenset({"title", "tasks", "plan_id"}),
    "rich_text": frozenset({"elements"}),
    "section": frozenset({"text", "fields", "accessory", "expand"}),
    "table": frozenset({"rows", "column_settings"}),
    "task_card": frozenset({"task_id", "title", "status", "details", "output", "sources"}),
}
_RICH = {"rich_text_section", "rich_text_list", "rich_text_quote", "rich_text_preformatted"}
_RICH_NEEDS = {
    "broadcast": "range",
    "channel": "channel_id",
    "color": "value",
    "date": "timestamp",
    "emoji": "name",
    "link": "url",
    "team": "team_id",
    "text": "text",
    "user": "user_id",
    "usergroup": "usergroup_id",
}
_RICH_STYLES = frozenset({"bold", "italic", "strike", "code", "underline", "highlight"})
_RICH_NUMBERS = {"indent": 8, "border": 1, "offset": 10_000}
_RICH_FIELDS = {
    "rich_text_section": frozenset({"type", "elements"}),
    "rich_text_list": frozenset({"type", "elements", "style", "indent", "offset", "border"}),
    "rich_text_quote": frozenset({"type", "elements", "border"}),
    "rich_text_preformatted": frozenset({"type", "elements", "border", "language"}),
}
_RICH_HOLDS = {
    "rich_text_section": frozenset(_RICH_NEEDS),
    "rich_text_list": frozenset({"rich_text_section"}),
    "rich_text_quote": frozenset(_RICH_NEEDS),
    "rich_text_preformatted": frozenset({"text", "link"}),
}


def check_message_blocks(blocks: Any, limits: Limits) -> list[Json]:
    """Return the blocks of a message, or refuse them as Slack does."""
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise SlackError("invalid_blocks_format")
    found = Complaints()
    check_blocks(found, "/blocks", blocks, limits.message_blocks, in_message=True)
    markdown = sum(len(str(b.get("text"))) for b in blocks if b.get("type") == "markdown")
    if markdown > limits.markdown:
        found.add("/blocks", f"markdown text must be less than {limits.markdown + 1} characters")
    if sum(block.get("type") == "table" for block in blocks) > 1:
        found.add("/blocks", "only_one_table_allowed")
    if found.found:
        raise SlackError("invalid_blocks", *found.found)
    if sum(len(text) for text in written(blocks)) > limits.blocks_text:
        raise SlackError("msg_blocks_too_long")
    return blocks


def check_blocks(
    found: Complaints, at: str, blocks: list[Json], most: int, *, in_message: bool
) -> None:
    """Check a list of blocks."""
    found.count(at, blocks, most, 0)
    seen: set[str] = set()
    for number, block in enumerate(blocks):
        here = f"{at}/{number}"
        block_id = block.get("block_id")
        if block_id is not None:
            found.text(f"{here}/block_id", block_id, 255)
            if block_id in seen:
                found.add(f"{here}/block_id", f'block_id "{block_id}" already exists')
            seen.add(str(block_id))
        _check_block(found, here, block, in_message=in_message)


def _check_block(found: Complaints, at: str, block: Json, *, in_message: bool) -> None:
    kind = str(block.get("type"))
    if kind not in _FIELDS or (kind in _ONLY_IN_MESSAGES and not in_message):
        found.add(f"{at}/type", f"unsupported type: {kind}")
        return
    found.fields(at, block, _FIELDS[kind] | {"type", "block_id"})
    _CHECKS[kind](found, at, block)


def _check_section(found: Complaints, at: str, block: Json) -> None:
    if block.get("text") is None and not block.get("fields"):
        found.add(at, "missing required field: text or fields")
    if block.get("text") is not None:
        check_text(found, f"{at}/text", block["text"], 3000, _TEXTS)
    if block.get("fields") is not None:
        for number, text in enumerate(found.count(f"{at}/fields", block["fields"], 10)):
            check_text(found, f"{at}/fields/{number}", text, 2000, _TEXTS)
    if block.get("accessory") is not None:
        check_element(found, f"{at}/accessory", block["accessory"], IN_SECTION)


def _check_header(found: Complaints, at: str, block: Json) -> None:
    check_text(found, f"{at}/text", block.get("text"), 150)


def _check_markdown(found: Complaints, at: str, block: Json) -> None:
    found.text(f"{at}/text", block.get("text"), 12_000)


def _check_context(found: Complaints, at: str, block: Json) -> None:
    for number, element in enumerate(found.count(f"{at}/elements", block.get("elements"), 10)):
        here = f"{at}/elements/{number}"
        if isinstance(element, dict) and element.get("type") == "image":
            check_image(found, here, element)
        else:
            check_text(found, here, element, 3000, _TEXTS)


def _elements(allowed: set[str], most: int) -> Callable[[Complaints, str, Json], None]:
    def check(found: Complaints, at: str, block: Json) -> None:
        elements = found.count(f"{at}/elements", block.get("elements"), most)
        seen: set[str] = set()
        for number, element in enumerate(elements):
            here = f"{at}/elements/{number}"
            check_element(found, here, element, allowed)
            action_id = str(element.get("action_id")) if isinstance(element, dict) else "None"
            if action_id != "None" and action_id in seen:
                found.add(f"{here}/action_id", f'action_id "{action_id}" already exists')
            seen.add(action_id)

    return check


def _check_input(found: Complaints, at: str, block: Json) -> None:
    check_text(found, f"{at}/label", block.get("label"), 2000)
    if block.get("hint") is not None:
        check_text(found, f"{at}/hint", block["hint"], 2000)
    check_element(found, f"{at}/element", block.get("element"), IN_INPUT)


def _check_image(found: Complaints, at: str, block: Json) -> None:
    check_image(found, at, block)
    if block.get("title") is not None:
        check_text(found, f"{at}/title", block["title"], 2000)


def _check_rich_text(found: Complaints, at: str, block: Json) -> None:
    for number, element in enumerate(found.count(f"{at}/elements", block.get("elements"), 1000)):
        _check_rich(found, f"{at}/elements/{number}", element, frozenset(_RICH))


def _check_rich(found: Complaints, at: str, element: Any, allowed: frozenset[str]) -> None:
    kind = element.get("type") if isinstance(element, dict) else None
    if kind not in allowed:
        found.add(f"{at}/type", f"unsupported type: {kind}")
    elif kind in _RICH:
        found.fields(at, element, _RICH_FIELDS[kind])
        for name, most in _RICH_NUMBERS.items():
            if not 0 <= element.get(name, 0) <= most:
                found.add(f"{at}/{name}", f"must be between 0 and {most}")
        inner = found.count(f"{at}/elements", element.get("elements"), 1000)
        for number, each in enumerate(inner):
            _check_rich(found, f"{at}/elements/{number}", each, _RICH_HOLDS[kind])
    else:
        found.required(at, element, _RICH_NEEDS[kind])
        style = element.get("style", {})
        if not isinstance(style, dict):
            found.add(f"{at}/style", "must be an object")
        else:
            found.fields(f"{at}/style", style, _RICH_STYLES)


def _check_table(found: Complaints, at: str, block: Json) -> None:
    settings = found.count(f"{at}/column_settings", block.get("column_settings", []), 20, 0)
    for number, setting in enumerate(settings):
        here = f"{at}/column_settings/{number}"
        found.fields(here, setting, frozenset({"align", "is_wrapped"}))
        if setting.get("align", "left") not in {"left", "center", "right"}:
            found.add(f"{here}/align", "must be a valid enum value")
        if not isinstance(setting.get("is_wrapped", False), bool):
            found.add(f"{here}/is_wrapped", "must be a boolean")
    for number, row in enumerate(found.count(f"{at}/rows", block.get("rows"), 100)):
        here = f"{at}/rows/{number}"
        for column, cell in enumerate(found.count(here, row, 20)):
            _check_cell(found, f"{here}/{column}", cell)
    if sum(len(text) for text in written(block.get("rows"))) > 10_000:
        found.add(at, "must be less than 10001 characters")


def _check_cell(found: Complaints, at: str, cell: Any) -> None:
    kind = cell.get("type") if isinstance(cell, dict) else None
    if kind == "raw_text":
        found.fields(at, cell, frozenset({"type", "text"}))
        found.text(f"{at}/text", cell.get("text"), 10_000)
    elif kind == "rich_text":
        _check_rich_text(found, at, cell)
    else:
        found.add(f"{at}/type", "must be one of raw_text, rich_text")


def check_sources(found: Complaints, at: str, sources: Any) -> None:
    """Check the URLs that a task was done with."""
    for number, source in enumerate(found.count(at, sources, 100, 0)):
        here = f"{at}/{number}"
        if not isinstance(source, dict) or source.get("type") != "url":
            found.add(f"{here}/type", "must be url")
            continue
        found.fields(here, source, frozenset({"type", "url", "text"}))
        found.text(f"{here}/text", source.get("text"), 3000)
        if not str(source.get("url", "")).startswith(("https://", "http://")):
            found.add(f"{here}/url", "must be a valid URL")


def _check_task(found: Complaints, at: str, block: Json) -> None:
    found.required(at, block, "task_id", "title")
    if block.get("status") not in (None, "pending", "in_progress", "complete", "error"):
        found.add(f"{at}/status", "must be one of pending, in_progress, complete, error")
    check_sources(found, f"{at}/sources", block.get("sources", []))


def _check_plan(found: Complaints, at: str, block: Json) -> None:
    found.required(at, block, "title")
    for number, task in enumerate(found.count(f"{at}/tasks", block.get("tasks") or [], 50, 0)):
        _check_task(found, f"{at}/tasks/{number}", task)


def _check_nothing(found: Complaints, at: str, block: Json) -> None:
    """A divider has nothing to check."""


_CHECKS: dict[str, Callable[[Complaints, str, Json], None]] = {
    "actions": _elements(IN_ACTIONS, 25),
    "context": _check_context,
    "context_actions": _elements(IN_CONTEXT_ACTIONS, 5),
    "divider": _check_nothing,
    "header": _check_header,
    "image": _check_image,
    "input": _check_input,
    "markdown": _check_markdown,
    "plan": _check_plan,
    "rich_text": _check_rich_text,
    "section": _check_section,
    "table": _check_table,
    "task_card": _check_task,
}
