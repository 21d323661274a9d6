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

    def add(self, number: Any, call_id: Any, function: Any) -> None:
        """Take up a piece of the call with that number."""
        if type(number) is not int:
            raise TypeError("a call has no number")
        self._ids[number] = self._ids.get(number) or _text(call_id)
        if function is None:
            self._names.setdefault(number, None)
            return
        self._names[number] = self._names.get(number) or _text(function.name)
        # Some servers give the arguments as the object itself.
        given = function.arguments
        text = given if isinstance(given, str) else json.dumps(given)
        self._arguments.setdefault(number, []).append("" if given is None else text)

    def whole(self) -> Iterator[ToolCall]:
        """Yield the calls in order; what is no JSON object has no arguments."""
        for number in sorted(self._ids):
            arguments = _object("".join(self._arguments.get(number, ())))
            yield ToolCall(self._ids[number], self._names.get(number), arguments)


def _text(value: Any) -> str | None:
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
