"""Posts as the Block Kit that Slack is sent, and what a press on one of its buttons means."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from adapters.access.choice import Choice, request_in
from adapters.buttons import REST, Button, apart, custom_id, parsed
from adapters.markdown.splitting import split
from adapters.slack.markup.dialect import to_mrkdwn
from adapters.slack.markup.rich_text import DividedText, divided, rich_text
from adapters.slack.markup.text import controls_escaped, escaped_length, markdown_escaped
from adapters.slack.replies.outbound import Post
from adapters.slack.replies.sections import section_blocks
from core import i18n

Block = dict[str, Any]

LONGEST_FALLBACK = 2_900
"""Of the text next to the blocks, which may have 4,000 in an update."""
VOTE = "gl:vote"
"""The action id of both votes; all others are `gl:` and the button's letter."""
CHOOSE = "gl:course"
"""The action id of the menu of courses; its block is named by the question."""
_VOTES = frozenset({Button.HELPFUL, Button.NOT_HELPFUL})
_LONGEST_OPTION = 75
_MOST_OPTIONS = 100
_LETTERS = 20


def blocks(post: Post, *, escape_code: bool = False) -> list[Block]:
    """Return what a message shows; `escape_code` as the setting of that name."""
    markdown, below = ending(post, escape_code=escape_code)
    shown: list[Block] = [{"type": "markdown", "text": markdown}] if markdown.strip() else []
    return [*_announced(post), *shown, *below]


def _announced(post: Post) -> list[Block]:
    """Return the line that names and notifies whom a message is for."""
    if post.pings is None:
        return []
    line = i18n.text("help-reply", who=f"<@{post.pings}>")
    return [{"type": "section", "text": {"type": "mrkdwn", "text": line, "verbatim": True}}]


def ending(post: Post, *, escape_code: bool = False) -> tuple[str, list[Block]]:
    """Return what a post begins with, as Markdown, and the blocks of all below it."""
    parts = divided(post.markdown)
    below = markdown_blocks(parts._replace(before=""), escape_code=escape_code)
    if post.table:
        below.append(post.table.block)
        below += markdown_blocks(divided(post.after), escape_code=escape_code)
    if post.notes:
        text = {"type": "mrkdwn", "text": post.notes, "verbatim": True}
        below.append({"type": "context", "elements": [text]})
    below += section_blocks(post.nearest)
    below += [*buttons(post), *([_menu(post.choice)] if post.choice is not None else [])]
    return markdown_escaped(parts.before, escape_code=escape_code), below


def markdown_blocks(parts: DividedText, *, escape_code: bool = False) -> list[Block]:
    """Return the blocks that show Markdown, with rich text for code that might act."""
    shown = list[Block]()
    if parts.before.strip():
        text = markdown_escaped(parts.before, escape_code=escape_code)
        shown.append({"type": "markdown", "text": text})
    if parts.rich:
        shown.append({"type": "rich_text", "elements": rich_text(parts.rich)})
    if parts.after.strip():
        text = markdown_escaped(parts.after, escape_code=escape_code)
        shown.append({"type": "markdown", "text": text})
    return shown


def fallback(post: Post) -> str:
    """Return what notifications tell, and what is read out, in place of the blocks."""
    beginning = split(post.markdown or post.after, LONGEST_FALLBACK * 2 // 3)
    text = to_mrkdwn(beginning[0]) if beginning else ""
    short = split(text, LONGEST_FALLBACK, count=escaped_length)
    return controls_escaped(short[0]) if short else "…"


def buttons(post: Post) -> list[Block]:
    """Return the blocks with a message's buttons."""
    if post.request_id is None or not post.buttons:
        return []
    small, request_id = list[Block](), post.request_id
    if set(post.buttons) >= _VOTES:
        small.append(_votes(request_id))
    if Button.DELETE in post.buttons:
        small.append(_icon(Button.DELETE, request_id))
    shown, rest = apart([one for one in post.buttons if one is not Button.DELETE])
    others = [_button(one, request_id) for one in shown if one not in _VOTES]
    if rest:
        others.append(_rest(rest, request_id))
    rows = {"context_actions": small, "actions": others}
    return [{"type": kind, "elements": elements} for kind, elements in rows.items() if elements]


def pressed(action: Mapping[str, Any]) -> tuple[Button, UUID] | None:
    """Return the button of an action's payload, and the request it belongs to; None: not ours."""
    name, value = str(action.get("action_id")), str(action.get("value"))
    if name == REST:
        return parsed(str((action.get("selected_option") or {}).get("value")))
    return parsed(value if name == VOTE else f"{name}:{value}")


def chosen(action: Mapping[str, Any]) -> tuple[UUID, str] | None:
    """Return the question and the course of a choice; None: it is not the bot's."""
    request_id = request_in(str(action.get("block_id")))
    course = (action.get("selected_option") or {}).get("value")
    if action.get("action_id") != CHOOSE or request_id is None or course is None:
        return None
    return request_id, str(course)


def _menu(choice: Choice) -> Block:
    options: list[Block] = [
        {"text": _plain(title[:_LONGEST_OPTION]), "value": course_id}
        for course_id, title in choice.courses
    ]
    menu: Block = {
        "type": "static_select",
        "action_id": CHOOSE,
        "placeholder": _plain(i18n.text("course-choose")),
    }
    # Slack's menus are searched by typing; one of more than a hundred options is in groups.
    if len(options) <= _MOST_OPTIONS:
        menu["options"] = options
    else:
        menu["option_groups"] = [
            _group(options[n : n + _MOST_OPTIONS]) for n in range(0, len(options), _MOST_OPTIONS)
        ]
    return {"type": "actions", "block_id": choice.name, "elements": [menu]}


def _group(options: Sequence[Block]) -> Block:
    """Return options that are shown below the first letters of the first and the last of them."""
    first, last = (str(options[n]["text"]["text"])[:_LETTERS].strip() for n in (0, -1))
    return {"label": _plain(f"{first} – {last}"), "options": list(options)}


def _votes(request_id: UUID) -> Block:
    return {
        "type": "feedback_buttons",
        "action_id": VOTE,
        "positive_button": _vote(Button.HELPFUL, request_id),
        "negative_button": _vote(Button.NOT_HELPFUL, request_id),
    }


def _vote(button: Button, request_id: UUID) -> Block:
    return {"text": _plain(button.label), "value": custom_id(button, request_id)}


def _button(button: Button, request_id: UUID) -> Block:
    style = {"style": "danger"} if button is Button.STOP else {}
    return {
        "type": "button",
        "text": _plain(button.label),
        "action_id": f"gl:{button.value}",
        "value": str(request_id),
        **style,
    }


def _rest(buttons: Sequence[Button], request_id: UUID) -> Block:
    """Return the menu of what has no button of its own."""
    options = [{"text": _plain(one.label), "value": custom_id(one, request_id)} for one in buttons]
    return {"type": "overflow", "action_id": REST, "options": options}


def _icon(button: Button, request_id: UUID) -> Block:
    """Return a bin, which asks once more."""
    return {
        "type": "icon_button",
        "icon": "trash",
        "text": _plain(button.label),
        "action_id": f"gl:{button.value}",
        "value": str(request_id),
        "confirm": {
            "title": _plain(i18n.text("button-delete-question")),
            "text": _plain(i18n.text("answer-delete-confirm")),
            "confirm": _plain(i18n.text("button-delete")),
            "deny": _plain(i18n.text("button-cancel")),
        },
    }


def _plain(text: str) -> Block:
    return {"type": "plain_text", "text": text}
