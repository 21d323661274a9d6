"""Where a Markdown text may be cut, how gladly, and what a cut there must close and reopen."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import accumulate
from typing import NamedTuple

from core.domain.markdown import (
    CodeKind,
    Construct,
    MarkdownBlock,
    MarkdownBlockKind,
    blocks,
    code_in,
    constructs,
    is_blank,
    lines_of,
    offsets_of,
    prose_ranges,
    quote_marks,
)
from core.domain.sentences import sentence_spans

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


_BLANK_START = re.compile(r"(?:[ \t]*(?:\r\n|\r|\n))+")
_EARLY = {
    Grade.BLANK_LINE: 5,
    Grade.BLOCK: 5,
    Grade.BLANK_LINE_OF_CODE: 5,
    Grade.ROW: 5,
    Grade.SENTENCE: 6,
    Grade.BEHIND_HEADING: 9,
    Grade.WORD: 10,
}
"""The grades of cuts that would leave a message less than half full."""

Count = Callable[[str], int]


def utf16_length(text: str) -> int:
    """Return the length in UTF-16 units, as JavaScript and Java count."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@dataclass(frozen=True, slots=True)
class MessagePiece:
    """One message: a stretch of the text, and what was added to make it stand alone.

    The bodies of a text's pieces, joined, are the text.
    """

    opening: str
    body: str
    closing: str
    indent: int

    @property
    def text(self) -> str:
        """The message; blanks at its ends, which platforms cut off anyway, are not in it."""
        start = _BLANK_START.match(self.body)
        words = self.body[start.end() if start else 0 :].rstrip()
        return _dedented(self.opening + words + self.closing, self.indent) if words else ""


def _dedented(text: str, indent: int) -> str:
    """Return the text with its lines moved left, up to the first that stands further left."""
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if number and line.strip() and not line.startswith(" " * indent):
            break
        lines[number] = re.sub(rf"^ {{0,{indent}}}", "", line)
    return "".join(lines)


def split(text: str, limit: int, *, count: Count = len) -> list[str]:
    """Return the text as messages of at most `limit` units, as `count` measures them.

    A message ends, in this order of preference: at a blank line, between blocks, list items,
    lines of code or rows of a table, after a sentence, after a word, between graphemes; the
    first four only where it is at least half full. Code that is cut is closed and opened again
    with its language, a table repeats its header. Links, formulas, code spans, emphasis and
    citation markers stay whole unless one alone is longer than a message.
    """
    return [message for piece in pieces(text, limit, count=count) if (message := piece.text)]


def shortened(text: str, longest: int, *, count: Count = len) -> str:
    """Return the text, or its beginning with a mark after it; no code in it is left open."""
    if count(text) <= longest:
        return text
    beginning = split(text, longest, count=count)[0].rstrip()
    ends_code = any(
        code.end == len(beginning) and code.kind is not CodeKind.SPAN for code in code_in(beginning)
    )
    return f"{beginning}\n…" if ends_code else f"{beginning} …"


def pack(text: str, footnotes: str, limit: int, *, count: Count = len) -> list[tuple[str, str]]:
    """Return the text as messages, each as its words and the footnotes below them.

    The footnotes stand below the last words. Those that fill more than three quarters of a
    message go on in messages of their own, which have no words.
    """
    notes = list(_packed_lines(footnotes, limit * 3 // 4, count))
    messages = split(text, limit, count=count)
    if not notes:
        return [(message, "") for message in messages]
    if not messages:
        return [("", one) for one in notes]
    room = limit - count(f"\n\n{notes[0]}")
    if count(messages[-1]) > room:
        messages[-1:] = _with_short_end(messages[-1], room, limit, count)
    *before, last = messages
    return [*((one, "") for one in before), (last, notes[0]), *(("", one) for one in notes[1:])]


def _with_short_end(text: str, room: int, limit: int, count: Count) -> list[str]:
    """Return the text as messages of which the last leaves room for more."""
    layout = Layout(text)
    for cut in sorted(layout.cuts_between(0, len(text)), key=lambda cut: (cut.grade, -cut.offset)):
        head = _piece(layout, text, 0, cut.offset, limit, count)
        tail = _piece(layout, text, cut.offset, len(text), limit, count)
        if tail.text and count(tail.text) <= room and 0 < count(head.text) <= limit:
            return [head.text, tail.text]
    return split(text, room, count=count)


def _packed_lines(text: str, limit: int, count: Count) -> Iterator[str]:
    message = ""
    for line in text.strip("\n").split("\n") if text.strip() else ():
        if message and count(f"{message}\n{line}") > limit:
            yield message
            message = ""
        for number, part in enumerate(split(line, limit, count=count) or [line]):
            if number:
                yield message
                message = ""
            message = f"{message}\n{part}" if message else part
    if message:
        yield message


def pieces(text: str, limit: int, *, count: Count = len) -> list[MessagePiece]:
    """Return the stretches of the text that `split` makes messages of."""
    layout = Layout(text)
    parts, start = [], 0
    while start < len(text):
        end = _end_of_message(layout, text, start, limit, count)
        parts.append(_piece(layout, text, start, end, limit, count))
        start = end
    return parts


def _end_of_message(layout: Layout, text: str, start: int, limit: int, count: Count) -> int:
    """Return where the message that begins at `start` is best cut."""

    def fits(end: int) -> bool:
        return count(_piece(layout, text, start, end, limit, count).text) <= limit

    ends = range(start, min(len(text), start + limit))
    half = bisect_left(ends, limit / 2, key=lambda end: count(text[start:end])) + start

    def grade(cut: Cut) -> tuple[int, int]:
        torn = cut.grade >= Grade.INSIDE_CONSTRUCT
        kind = Grade(cut.grade - Grade.INSIDE_CONSTRUCT if torn else cut.grade)
        extra = Grade.INSIDE_CONSTRUCT if torn else 0
        return (kind if cut.offset >= half else _EARLY[kind]) + extra, -cut.offset

    if count(text[start : start + 2 * limit]) <= 2 * limit and fits(len(text)):
        return len(text)
    cuts = sorted(layout.cuts_between(start, start + 2 * limit), key=grade)
    whole = [cut.offset for cut in cuts if cut.grade < Grade.INSIDE_CONSTRUCT]
    torn = [cut.offset for cut in cuts if cut.grade >= Grade.INSIDE_CONSTRUCT]
    best = next(filter(fits, [*whole, *torn]), None)
    return best if best is not None else _last_resort(text, start, limit, fits)


def _last_resort(text: str, start: int, limit: int, fits: Callable[[int], bool]) -> int:
    """Return the furthest end that fits, between two graphemes unless one alone is too long."""
    from wcwidth import grapheme_boundary_before  # a terminal's answer is never split

    low, high = start + 1, min(len(text), start + limit)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    boundary = grapheme_boundary_before(text, low + 1) if low < len(text) else low
    return boundary if boundary > start else low


def _piece(
    layout: Layout, text: str, start: int, end: int, limit: int, count: Count
) -> MessagePiece:
    before = _affordable(layout.join_at(start), limit, count) if start else Join()
    behind = layout.join_at(end) if end < len(text) else Join(layout.closing_of_end())
    behind = _affordable(behind, limit, count)
    return MessagePiece(before.opening, text[start:end], behind.closing, before.indent)


def _affordable(join: Join, limit: int, count: Count) -> Join:
    """Return what a cut adds, or nothing where it would fill half a message."""
    if count(join.opening) + count(join.closing) <= limit // 2:
        return join
    return Join(indent=join.indent)


_LINE_ENDS = re.compile(r"\r\n?|[\u2028\u2029\x85\x0b\x0c]")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2064\u3164\ufeff\uffa0"
    "\ufff0-\ufffb\U000e0000-\U000e0fff]|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]+"
    "|(?:\\A|(?<=[\x00-\x7f]))[\u200c\u200d]+|[\u200c\u200d]+(?=[\x00-\x7f]|\\Z)"
)
_MOST_MARKS = 5
"""On one letter: Vietnamese has two, Thai three, the Hebrew of the Bible five."""
_MOST_SUBJOINED = 8
"""Letters below one letter, in Tibetan, besides its marks."""
_SUBJOINED = range(0x0F8D, 0x0FBD)
_MARKED = re.compile(r"[^\x00-\u02ff]")


def without_controls(text: str) -> str:
    """Return the text with plain line ends and nothing that steers a screen or a direction."""
    return _CONTROLS.sub("", _LINE_ENDS.sub("\n", text))


def visible(text: str) -> str:
    """Return the text without controls, hidden characters, and accents piled up high.

    Joiners stay between letters and inside emoji, where scripts need them.
    """
    return without_piles(_INVISIBLE.sub("", without_controls(text)))


def without_piles(text: str) -> str:
    """Return the text with at most a few marks on each letter, of whatever script they are.

    No script has more; a pile of them covers the lines above and below.
    """
    if _MARKED.search(text) is None:
        return text
    kept, marks, subjoined = list[str](), 0, 0
    for character in text:
        category = unicodedata.category(character)
        if category not in {"Mn", "Me"}:
            if category != "Cf":  # a joiner between two marks parts no letters
                marks = subjoined = 0
        elif ord(character) in _SUBJOINED:
            subjoined += 1
        else:
            marks += 1
        if marks <= _MOST_MARKS and subjoined <= _MOST_SUBJOINED:
            kept.append(character)
    return "".join(kept)


def whole_lines(text: str, longest: int) -> str:
    """Return a text, or as many of its first lines as fit."""
    return text if len(text) <= longest else text[: longest - 2].rpartition("\n")[0] + "\n…"
