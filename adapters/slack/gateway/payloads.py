"""Slack's payloads, reduced to the fields that have the form that Slack documents.

A field of another form is left out, so that a question is answered even where something else in
its message is malformed, and a reader of a payload may rely on its types.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from adapters.intake.unreadable import UnreadableEvent
from adapters.payloads import mapping, well_formed

Json = dict[str, Any]
Reader = Callable[[object], Any]
"""Returns a value as it may be read; None: it is taken for absent."""

_TS = re.compile(r"[0-9]{1,11}(?:\.[0-9]{1,6})?", re.ASCII)
_MOST = 10_000
"""Elements of a list that are read."""


def _text(value: object) -> str | None:
    return well_formed(value) if isinstance(value, str) else None


def _ts(value: object) -> str | None:
    return value if isinstance(value, str) and _TS.fullmatch(value) else None


def _flag(value: object) -> object:
    return value if isinstance(value, bool | str) else None


def _count(value: object) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST
    return value if is_count and isinstance(value, int) else None


def _an_object(shape: Mapping[str, Reader]) -> Reader:
    """Return a reader of objects; fields that the shape does not name are left as they are."""

    def read(value: object) -> Json | None:
        if not isinstance(value, Mapping):
            return None
        said = {str(name): one for name, one in value.items()}
        readable = {n: shape[n](one) if n in shape else one for n, one in said.items()}
        return {name: one for name, one in readable.items() if one is not None}

    return read


def _list_of(element: Reader) -> Reader:
    def read(value: object) -> list[Any] | None:
        if not isinstance(value, list):
            return None
        return [one for one in map(element, value[:_MOST]) if one is not None]

    return read


def _named(value: object) -> Any:
    """Return a user, team or channel: its id alone, or an object that has one."""
    return value if isinstance(value, str) else _IDENTIFIED(value)


_TEXTS = dict.fromkeys(
    (
        *("type", "subtype", "text", "user", "user_id", "user_team", "source_team", "bot_id"),
        *("channel_type", "parent_user_id", "channel_id", "team_id", "enterprise_id", "tab"),
        *("trigger_id", "response_url", "callback_id", "action_id", "block_id", "value"),
        *("private_metadata", "fallback", "url", "name", "range", "from_url", "original_url"),
        *("style", "usergroup_id", "event_id", "api_app_id", "hash", "root_view_id"),
        *("context_team_id", "context_enterprise_id", "app_installed_team_id", "challenge"),
    ),
    _text,
)
_TIMES = dict.fromkeys(
    ("ts", "thread_ts", "event_ts", "deleted_ts", "action_ts", "message_ts", "latest_reply"), _ts
)
_IDENTIFIED = _an_object({"id": _text, "team_id": _text, "enterprise_id": _text, "name": _text})
_PART = _an_object(
    {n: r for n, r in _TEXTS.items() if n not in ("text", "style")} | {"text": _text}
)
"""An element of rich text, whose style is an object."""
_PARTS = _list_of(_PART)
_ITEM = _an_object({"type": _text, "elements": _PARTS})
_MARKED_UP = {"type": _text, "indent": _count, "offset": _count, "style": _flag}


def _element(value: object) -> Any:
    """Return an element of a rich text: a section, a quote, code or a list of sections."""
    is_list = mapping(value).get("type") == "rich_text_list"
    return _an_object({**_MARKED_UP, "elements": _list_of(_ITEM) if is_list else _PARTS})(value)


def _shown_text(value: object) -> Any:
    """Return a text object, or the plain text of a block of Markdown."""
    return value if isinstance(value, str) else _an_object({"text": _text})(value)


def _number_or_text(value: object) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number else _text(value)


def _block(value: object) -> Any:
    """Return a block, or the cell of a table that is one, or holds a text alone."""
    is_rich = mapping(value).get("type") == "rich_text"
    shape = {"type": _text, "block_id": _text, "text": _shown_text}
    if is_rich:
        return _an_object({**shape, "elements": _list_of(_element)})(value)
    shown = dict.fromkeys(("title", "subtitle", "body", "description"), _shown_text)
    small = _an_object({"type": _text, "text": _shown_text})
    lists = {"fields": _list_of(_shown_text), "elements": _list_of(small)}
    rows = _list_of(_list_of(_block))
    return _an_object({**shape, **shown, **lists, "rows": rows, "value": _number_or_text})(value)


_BLOCKS = _list_of(_block)
_FILE = _an_object(
    {
        **_TEXTS,
        "mimetype": _text,
        "filetype": _text,
        "url_private": _text,
        "url_private_download": _text,
    }
)
_EMBED = {
    **_TEXTS,
    "title": _text,
    "pretext": _text,
    "blocks": _BLOCKS,
    "fields": _list_of(_an_object({"title": _text, "value": _text})),
}
_EMBEDS = _list_of(_an_object(_EMBED))
_UNFURLED = _an_object({"message": _an_object({"blocks": _BLOCKS, "attachments": _EMBEDS})})
_ATTACHMENT = _an_object(
    {
        **_EMBED,
        "attachments": _EMBEDS,
        "is_msg_unfurl": _flag,
        "is_share": _flag,
        "message_blocks": _list_of(_UNFURLED),
        "files": _list_of(_FILE),
    }
)
_EDIT = _an_object({"ts": _ts, "user": _text})
_MESSAGE_SHAPE = {
    **_TEXTS,
    **_TIMES,
    "channel": _text,
    "team": _text,
    "edited": _EDIT,
    "blocks": _BLOCKS,
    "attachments": _list_of(_ATTACHMENT),
    "files": _list_of(_FILE),
}
_MESSAGE = _an_object(_MESSAGE_SHAPE)
_EVENT = _an_object(
    {
        **_MESSAGE_SHAPE,
        "message": _MESSAGE,
        "previous_message": _MESSAGE,
        "item": _an_object({"type": _text, "channel": _text, "ts": _ts}),
        "reaction": _text,
        "item_user": _text,
        "tokens": _an_object({"bot": _list_of(_text), "oauth": _list_of(_text)}),
        "inputs": _an_object({}),
    }
)
_AUTHORIZATION = _an_object({"team_id": _text, "enterprise_id": _text, "user_id": _text})
_CHOSEN = _an_object({"value": _text})
_INPUT = _an_object({"value": _text, "selected_option": _CHOSEN})


def _state(value: object) -> Json:
    """Return what was typed into a view, of the inputs that can be read."""
    blocks = mapping(mapping(value).get("values"))
    return {
        "values": {
            str(block): {str(n): one for n, v in inputs.items() if (one := _INPUT(v)) is not None}
            for block, inputs in blocks.items()
            if isinstance(inputs, Mapping)
        }
    }


_VIEW = _an_object(
    {**_TEXTS, "id": _text, "blocks": _BLOCKS, "state": _state, "team": _named, "title": _block}
)
_CONTAINER = _an_object({**_TEXTS, **_TIMES, "is_ephemeral": _flag})
_BODY = _an_object(
    {
        **_TEXTS,
        **_TIMES,
        "event": _EVENT,
        "authorizations": _list_of(_AUTHORIZATION),
        "is_ext_shared_channel": _flag,
        "is_enterprise_install": _flag,
        "enterprise": _named,
        "team": _named,
        "user": _named,
        "channel": _named,
        "container": _CONTAINER,
        "message": _MESSAGE,
        "view": _VIEW,
        "actions": _list_of(_an_object({**_TEXTS, **_TIMES})),
        "response_urls": _list_of(_an_object({"response_url": _text})),
        "command": _text,
        "channel_name": _text,
        "ssl_check": _text,
        "function_data": _an_object({"execution_id": _text, "inputs": _an_object({})}),
        "function_execution_id": _text,
        "bot_access_token": _text,
    }
)


def readable_body(payload: object) -> Json:
    """Return what an envelope or a request holds.

    Raises:
        UnreadableEvent: when it is no object.
    """
    body: Json | None = _BODY(payload)
    if body is None:
        raise UnreadableEvent("payload")
    return body


def readable_message(payload: object) -> Json:
    """Return a message of the history.

    Raises:
        UnreadableEvent: when it does not say when it was written, by which it is known.
    """
    message: Json | None = _MESSAGE(payload)
    if message is None or "ts" not in message:
        raise UnreadableEvent("ts")
    return message


def kind_of(body: Mapping[str, Any]) -> str:
    """Return the type of what happened, as Slack names it."""
    event = mapping(body.get("event"))
    kind = event.get("type") or ("slash_command" if body.get("command") else body.get("type"))
    return kind if isinstance(kind, str) else ""


def id_of(body: Mapping[str, Any]) -> object:
    """Return what an event, or something that a user did, is known by."""
    event = mapping(body.get("event"))
    found = body.get("event_id"), event.get("ts"), body.get("trigger_id")
    return next((one for one in found if isinstance(one, str)), None)
