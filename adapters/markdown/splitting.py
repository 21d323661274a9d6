"""Packs Markdown into messages of a platform's length, tearing nothing that belongs together."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from adapters.markdown.layout import Cut, Grade, Join, Layout
from core.markdown.code import code_in
from core.markdown.locating import CodeKind

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
