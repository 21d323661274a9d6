"""Keeps the line numbers of a page right while its text is rewritten."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from core.markdown.spans import code_spans

_FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?(`{3,}(?=[^`]*\Z)|~{3,})")


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


def line_finder(lines: Sequence[SourceLine]) -> Callable[[int], int]:
    """Return what gives the number of the line at a place in the joined text."""
    ends = list(accumulate(len(line.text) + 1 for line in lines))
    return lambda position: lines[min(bisect_right(ends, position), len(lines) - 1)].number


def prose_changed(
    lines: Iterable[SourceLine], change: Callable[[str, int], str]
) -> Iterator[SourceLine]:
    """Yield the lines with `change` made to what of each is no code, given its number."""
    fence = ""
    for line in lines:
        mark = _FENCE.match(line.text) if "``" in line.text or "~~~" in line.text else None
        if fence:
            stripped = line.text.strip(" \t>")
            if mark and mark[1].startswith(fence) and not stripped.strip(fence[0]):
                fence = ""
            yield line
        elif mark:
            fence = mark[1]
            yield line
        else:
            yield SourceLine(_changed(line, change), line.number)


def _changed(line: SourceLine, change: Callable[[str, int], str]) -> str:
    text, number = line
    spans = list(code_spans(text, 0, len(text))) if "`" in text else []
    pieces, position = list[str](), 0
    for start, end in spans:
        pieces += [change(text[position:start], number), text[start:end]]
        position = end
    return "".join([*pieces, change(text[position:], number)])


def edited(lines: Sequence[SourceLine], edits: Iterable[Edit]) -> list[SourceLine]:
    """Return the lines after `edits` of their joined text.

    The edits are in order and do not overlap. New text stands for the line where it begins.
    """
    edits = list(edits)
    if not edits:
        return list(lines)
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
