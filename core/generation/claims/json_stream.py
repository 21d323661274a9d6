"""Cuts JSON into its values while it arrives: the items of a list, then what stands around them."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

LONGEST = 5_000
"""Characters of one item; a longer one is passed over."""
DEEPEST = 12
"""Objects and lists inside one another; what lies deeper is passed over."""
_SIGN = re.compile(r"[{}\[\]\"]")
_STRING_SIGN = re.compile(r"[\"\\]")
_ITEM = "0"
"""Stands for an item that was given out in the text around it."""

Value = Mapping[str, Any]


@dataclass(slots=True)
class _Text:
    """The text of one value so far."""

    depth: int = 0
    """How many objects and lists are open around it."""
    pieces: list[str] = field(default_factory=list)
    size: int = 0
    is_fit: bool = True
    """Whether it is neither too long nor too deep."""

    def add(self, piece: str, depth: int) -> None:
        self.size += len(piece)
        self.is_fit = self.is_fit and self.size <= LONGEST and depth <= DEEPEST
        if self.is_fit:
            self.pieces.append(piece)

    def values(self) -> Iterator[Value]:
        """Yield the object that it is; nothing when it is none."""
        try:
            value = json.loads("".join(self.pieces), strict=False) if self.is_fit else None
        except ValueError:
            return
        if isinstance(value, dict):
            yield value


class JsonReader:
    """Gives each object of a list as soon as it is whole; no text is an error.

    What is broken, too long or too deep is left out. An object around the lists comes once it
    ends, with its items replaced by numbers.
    """

    def __init__(self) -> None:
        self._open: list[str] = []
        self._around = _Text()
        self._item: _Text | None = None
        """The object of a list that is being read."""
        self._in_string = False
        self._is_escaped = False

    def feed(self, text: str) -> Iterator[Value]:
        """Yield the objects that end in `text`, in order."""
        position = 0
        while position < len(text):
            if self._in_string:
                position = self._read_string(text, position)
                continue
            sign = _SIGN.search(text, position)
            self._keep(text[position : sign.start() if sign else len(text)])
            if sign is None:
                return
            position = sign.end()
            yield from self._read_sign(sign.group())

    def _read_string(self, text: str, position: int) -> int:
        """Take up what of a string there is, and return where it ends."""
        start = position
        while position < len(text) and self._in_string:
            if self._is_escaped:
                self._is_escaped = False
                position += 1
                continue
            sign = _STRING_SIGN.search(text, position)
            position = sign.end() if sign else len(text)
            self._is_escaped = sign is not None and sign.group() == "\\"
            self._in_string = sign is None or self._is_escaped
        self._keep(text[start:position])
        return position

    def _read_sign(self, sign: str) -> Iterator[Value]:
        if sign == '"':
            self._in_string = bool(self._open)
            self._keep(sign)
        elif sign in "{[":
            if sign == "{" and self._item is None and self._open[-1:] == ["["]:
                self._keep(_ITEM)
                self._item = _Text(len(self._open))
            self._open.append(sign)
            self._keep(sign)
        elif self._open:
            self._keep(sign)
            self._open.pop()
            yield from self._ended()

    def _keep(self, piece: str) -> None:
        if self._open and piece:
            (self._item or self._around).add(piece, len(self._open))

    def _ended(self) -> Iterator[Value]:
        """Yield what the last sign has ended."""
        if self._item is not None and len(self._open) == self._item.depth:
            item, self._item = self._item, None
            yield from item.values()
        if not self._open:
            around, self._around = self._around, _Text()
            yield from around.values()
