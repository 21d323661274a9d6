"""Where a Markdown text may be cut, how gladly, and what a cut there must close and reopen."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from enum import IntEnum
from itertools import accumulate
from typing import NamedTuple

from core.markdown.blocks import (
    MarkdownBlock,
    MarkdownBlockKind,
    blocks,
    is_blank,
    lines_of,
    offsets_of,
    prose_ranges,
    quote_marks,
)
from core.markdown.spans import Construct, constructs
from core.text.sentences import sentence_spans

_SPACE = re.compile(r"(?<=\S)[ \t]+(?=\S)")
_MARKERS = re.compile(r"(?:\[\d+\][ \t]*)+")
_LEAD = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)]|#{1,6})[ \t]+)*")
_STARTS_BLOCK = re.compile(
    r"#{1,6}\s|-#|[-+*]\s|\d{1,9}[.)]\s|>|\||`{3}|~{3}|[ \t]*(?:=+|-+)[ \t]*$|\[\d+\]", re.MULTILINE
)
"""What would read as another thing at the beginning of a message."""
_SENTENCE_END = re.compile(r"[.!?…:。！？][\"'”’)\]*_]*(?:\s*\[\d+\])*\s*$")


class Grade(IntEnum):
    """How good a place for a cut is; the lowest is the best."""

    BLANK_LINE = 0
    BLOCK = 1
    BLANK_LINE_OF_CODE = 2
    ROW = 3
    SENTENCE = 4
    BEHIND_HEADING = 7
    WORD = 8
    INSIDE_CONSTRUCT = 20
    """Added where something inline would be torn."""


class Cut(NamedTuple):
    """A place where a message may end."""

    offset: int
    grade: int


class Join(NamedTuple):
    """What is written at a cut so that both sides stay whole."""

    closing: str = ""
    opening: str = ""
    indent: int = 0
    """Columns by which the lines after the cut move left: their list item is not there."""


class Layout:
    """The blocks, the inline constructs and the possible cuts of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = lines_of(text)
        self._starts = offsets_of(self._lines)
        self._blocks = list(blocks(self._lines))
        self._first_lines = [block.first for block in self._blocks]
        prose = prose_ranges(self._lines, self._blocks)
        found = [c for start, end in prose for c in constructs(text, start, end)]
        self._marked = [construct for construct in found if construct.mark]
        starts = (construct.start for construct in reversed(self._marked))
        self._leftmost = [*accumulate(starts, min)][::-1]
        self._inside = _inside(found, len(text))
        cuts = sorted(self._graded(cut) for block in self._all_cuts() for cut in block)
        self._cuts = [cut for cut in cuts if 0 < cut.offset < len(text)]

    def cuts_between(self, start: int, end: int) -> list[Cut]:
        """Return the cuts after `start` up to `end`, in order."""
        first = bisect_right(self._cuts, start, key=lambda cut: cut.offset)
        last = bisect_right(self._cuts, end, key=lambda cut: cut.offset)
        return self._cuts[first:last]

    def join_at(self, offset: int) -> Join:
        """Return what a cut at any offset has to close and to open again."""
        line = self._line_at(offset)
        block = self._block_at(line)
        at_line_start = self._starts[line] == offset
        if block is None or (at_line_start and line == block.first):
            whole = block is not None and block.kind is MarkdownBlockKind.CODE
            return Join(indent=0 if whole or not at_line_start else _indent(self._lines[line]))
        if block.kind is MarkdownBlockKind.FENCE:
            opening = block.opening if at_line_start else block.opening + quote_marks(block.opening)
            return Join(block.closing, opening, _indent(block.opening))
        if block.kind is MarkdownBlockKind.TABLE:
            return self._join_in_table(block, line, offset)
        if block.kind is MarkdownBlockKind.CODE:
            return Join()
        return self._join_in_prose(block, line, offset)

    def closing_of_end(self) -> str:
        """Return what closes a fence that the text leaves open."""
        last = self._blocks[-1] if self._blocks else None
        unclosed = last is not None and last.kind is MarkdownBlockKind.FENCE and not last.closed
        return last.closing if last is not None and unclosed else ""

    def _join_in_table(self, block: MarkdownBlock, line: int, offset: int) -> Join:
        behind_header = self._starts[line] == offset and line >= block.first + block.header
        return Join(opening=block.opening if behind_header else "", indent=_indent(block.opening))

    def _join_in_prose(self, block: MarkdownBlock, line: int, offset: int) -> Join:
        marks = quote_marks(self._lines[block.first])
        unquoted = self._starts[line] < offset or not quote_marks(self._lines[line])
        torn = list(self._torn_at(offset))
        opening = (marks if unquoted else "") + "".join(reversed(torn))
        return Join("".join(torn), opening, 0 if opening else _indent(self._lines[line]))

    def _torn_at(self, offset: int) -> Iterator[str]:
        """Yield the marks of what a cut would tear, from inside; constructs stand by their ends."""
        first = bisect_right(self._marked, offset, key=lambda construct: construct.end)
        for number in range(first, len(self._marked)):
            if self._leftmost[number] >= offset:
                return
            if self._marked[number].start < offset:
                yield self._marked[number].mark

    def _line_at(self, offset: int) -> int:
        return min(bisect_right(self._starts, offset) - 1, len(self._lines) - 1)

    def _block_at(self, line: int) -> MarkdownBlock | None:
        index = bisect_right(self._first_lines, line) - 1
        block = self._blocks[index] if index >= 0 else None
        return block if block is not None and line < block.end else None

    def _graded(self, cut: Cut) -> Cut:
        torn = 0 < cut.offset < len(self._inside) and self._inside[cut.offset]
        return Cut(cut.offset, cut.grade + Grade.INSIDE_CONSTRUCT) if torn else cut

    def _all_cuts(self) -> Iterator[Iterator[Cut]]:
        yield self._between_blocks()
        for block in self._blocks:
            if block.kind is MarkdownBlockKind.FENCE:
                yield self._in_fence(block)
            elif block.kind in {MarkdownBlockKind.PROSE, MarkdownBlockKind.HEADING}:
                yield self._in_prose(block)
            else:
                yield self._in_rows(block)
            if block.kind in {
                MarkdownBlockKind.FENCE,
                MarkdownBlockKind.CODE,
                MarkdownBlockKind.TABLE,
            }:
                yield self._words(block.first + block.header, block.end)

    def _between_blocks(self) -> Iterator[Cut]:
        heading_ends = {
            block.end for block in self._blocks if block.kind is MarkdownBlockKind.HEADING
        }
        below_heading = False
        for line in range(1, len(self._lines)):
            blank_before = is_blank(self._lines[line - 1])
            below_heading = line in heading_ends or (below_heading and blank_before)
            block = self._block_at(line)
            inside = block is not None and block.first < line
            if inside or is_blank(self._lines[line]):
                continue
            grade = Grade.BLANK_LINE if blank_before else Grade.BLOCK
            yield Cut(self._starts[line], Grade.BEHIND_HEADING if below_heading else grade)

    def _in_fence(self, block: MarkdownBlock) -> Iterator[Cut]:
        first, end = block.first + block.header, block.end - (1 if block.closed else 0)
        filled = [line for line in range(first, end) if not is_blank(self._lines[line])]
        for line in filled[1:]:
            blank = is_blank(self._lines[line - 1])
            yield Cut(self._starts[line], Grade.BLANK_LINE_OF_CODE if blank else Grade.ROW)

    def _in_rows(self, block: MarkdownBlock) -> Iterator[Cut]:
        for line in range(block.first + block.header + 1, block.end):
            if not is_blank(self._lines[line]):
                yield Cut(self._starts[line], Grade.ROW)

    def _in_prose(self, block: MarkdownBlock) -> Iterator[Cut]:
        start, end = self._starts[block.first], self._starts[block.end]
        for span in sentence_spans(self._text[start:end])[1:]:
            markers = _MARKERS.match(self._text, start + span.start)
            offset = markers.end() if markers else start + span.start
            if offset < end and not _STARTS_BLOCK.match(self._text, offset):
                yield Cut(offset, Grade.SENTENCE)
        for line in range(block.first + 1, block.end):
            ended = _SENTENCE_END.search(self._lines[line - 1][-80:])
            if not _STARTS_BLOCK.match(self._lines[line]) or quote_marks(self._lines[line]):
                yield Cut(self._starts[line], Grade.SENTENCE if ended else Grade.WORD)
        yield from self._words(block.first, block.end)

    def _words(self, first: int, end: int) -> Iterator[Cut]:
        for line in range(first, end):
            lead = _LEAD.match(self._lines[line])
            start = self._starts[line] + (lead.end() if lead else 0)
            for match in _SPACE.finditer(self._text, start, self._starts[line + 1]):
                if not _STARTS_BLOCK.match(self._text, match.end()):
                    yield Cut(match.end(), Grade.WORD)


def _inside(spans: list[Construct], length: int) -> bytearray:
    """Return for each offset whether a cut there would tear something inline."""
    inside = bytearray(length + 1)
    for start, end, _ in spans:
        inside[start + 1 : end] = b"\x01" * (end - start - 1)
    return inside


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" ")) if line.strip() else 0
