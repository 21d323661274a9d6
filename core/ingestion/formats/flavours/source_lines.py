"""Keeps the line numbers of a page right while its text is rewritten."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class SourceLine(NamedTuple):
    """A line of text and the line of the page, counted from 1, that it stands for."""

    text: str
    number: int


class Edit(NamedTuple):
    """Replaces the characters from `start` up to `end` by `text`."""

    start: int
    end: int
    text: str


def source_lines(text: str) -> list[SourceLine]:
    """Return the numbered lines of a page, whatever line ends it uses."""
    unix = re.sub(r"\r\n?", "\n", text.removeprefix("\ufeff"))
    return [SourceLine(line, number) for number, line in enumerate(unix.split("\n"), start=1)]


def included_lines(text: str, number: int) -> list[SourceLine]:
    """Return the lines of another file, all standing for the line that included it."""
    return [SourceLine(line, number) for line in text.split("\n")]


def joined(lines: Iterable[SourceLine]) -> str:
    """Return the text of the lines."""
    return "\n".join(line.text for line in lines)


def edited(lines: Sequence[SourceLine], edits: Iterable[Edit]) -> list[SourceLine]:
    """Return the lines after `edits` of their joined text.

    The edits are in order and do not overlap. New text stands for the line where it begins.
    """
    text, result = joined(lines), _Rewriting(lines)
    position = 0
    for edit in edits:
        result.copy(text[position : edit.start])
        result.replace(text[edit.start : edit.end], edit.text)
        position = edit.end
    result.copy(text[position:])
    return result.finish()


class _Rewriting:
    """The new lines so far, and how far the old ones are read."""

    def __init__(self, lines: Sequence[SourceLine]) -> None:
        self._numbers = [line.number for line in lines] or [1]
        self._read = 0
        self._done: list[SourceLine] = []
        self._open: list[str] = []
        self._open_number = self._numbers[0]

    def copy(self, text: str) -> None:
        first, *others = text.split("\n")
        self._open.append(first)
        for line in others:
            self._read += 1
            self._end_line()
            self._open.append(line)

    def replace(self, old: str, new: str) -> None:
        first, *others = new.split("\n")
        self._open.append(first)
        for line in others:
            self._end_line()
            self._open.append(line)
        height = old.count("\n")
        self._read += height
        if height and not any(map(str.strip, self._open)):
            self._open_number = self._numbers[self._read]

    def finish(self) -> list[SourceLine]:
        self._end_line()
        return self._done

    def _end_line(self) -> None:
        self._done.append(SourceLine("".join(self._open), self._open_number))
        self._open.clear()
        self._open_number = self._numbers[self._read]
