"""The calls of tools in a reply, whose arguments come in pieces of text."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from core.providers.base import ToolCall

_LONGEST = 20_000
"""Bytes of the arguments of one call; ours have about a hundred."""
_MOST_OBJECTS = 500


class CallParts:
    """Calls that grow while a reply arrives."""

    def __init__(self) -> None:
        self._ids: dict[int, str | None] = {}
        self._names: dict[int, str | None] = {}
        self._arguments: dict[int, list[str]] = {}

    def add(self, index: Any, call_id: Any, function: Any) -> None:
        """Take up a piece of the call with that index, if it has one."""
        number = self._number(index, _text(call_id))
        self._ids[number] = self._ids.get(number) or _text(call_id)
        if function is None:
            self._names.setdefault(number, None)
            return
        self._names[number] = self._names.get(number) or _text(field_of(function, "name"))
        # Some servers give the arguments as the object itself.
        given = field_of(function, "arguments")
        text = given if isinstance(given, str) else json.dumps(given)
        self._arguments.setdefault(number, []).append("" if given is None else text)

    def _number(self, index: Any, call_id: str | None) -> int:
        """Return which call a piece belongs to; without an index, a new id begins another."""
        if isinstance(index, str) and index.isdecimal():
            return int(index)
        if type(index) is int:
            return index
        latest = max(self._ids, default=-1)
        is_new = latest < 0 or (call_id is not None and call_id != self._ids[latest])
        return latest + 1 if is_new else latest

    def whole(self) -> Iterator[ToolCall]:
        """Yield the calls in order; what is no JSON object has no arguments."""
        for number in sorted(self._ids):
            arguments = _object("".join(self._arguments.get(number, ())))
            yield ToolCall(self._ids[number], self._names.get(number), arguments)


def field_of(value: Any, name: str) -> Any:
    """Return a field of an object, as the SDK or plain JSON has it; None: there is none."""
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _text(value: Any) -> str | None:
    """Return a name or an id, which some servers give as a number."""
    value = str(value) if type(value) is int else value
    return value if isinstance(value, str) and value else None


def _object(text: str) -> Mapping[str, Any] | None:
    # Loads the library of the connections, which is there as soon as a call has come.
    from core.providers.reply_limits import ReplyLimits, ReplyMeter

    limits = ReplyLimits(_LONGEST, objects=_MOST_OBJECTS)
    if ReplyMeter(limits).exceeded_by(text.encode("utf-8", "replace")) is not None:
        return None
    try:
        value = json.loads(text) if text.strip() else {}
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
