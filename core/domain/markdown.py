"""Finds where the code that the parser reads stands in the text that it was given."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


@cache
def parser() -> "MarkdownIt":
    """Return a parser of CommonMark with tables, without HTML and link definitions.

    However deep the marks of a text stand inside each other, what it returns is shallow enough
    to be walked through by recursion.
    """
    from core.domain.commonmark import shallow_commonmark  # loads the library

    return shallow_commonmark()


def normalized(text: str) -> str:
    """Return the text as the parser reads it: line feeds alone end its lines, no NUL is in it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_FENCE_LINE = re.compile(r"(?P<prefix>.*?)(?P<mark>`{3,}|~{3,})")
_QUOTE_MARKS = re.compile(r"[ \t]*(?:>[ \t]?)+")
_RULE = re.compile(r"[─┼]*─[─┼]*")
_LONGEST_LANGUAGE = 32


class MarkdownBlockKind(Enum):
    """What a leaf block is, as far as cutting is concerned."""

    FENCE = "fence"
    TABLE = "table"
    CODE = "indented code"
    HEADING = "heading"
    PROSE = "prose"


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """Some lines of a text that belong together."""

    kind: MarkdownBlockKind
    first: int
    """Its first line, counted from 0."""
    end: int
    """The line after its last."""
    opening: str = ""
    """What a message that begins inside it must repeat: a fence's first line, a table's header."""
    closing: str = ""
    """What closes it at a cut."""
    closed: bool = True
    """Whether the text itself closes it."""
    header: int = 0
    """Lines at its top that are worth nothing alone."""


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, their ends included; joined they are the text."""
    return _LINE.findall(text)


def offsets_of(lines: list[str]) -> list[int]:
    """Return where each line begins, and where the last one ends."""
    return list(accumulate(map(len, lines), initial=0))


def quote_marks(line: str) -> str:
    """Return the `>` marks in front of a quoted line."""
    found = _QUOTE_MARKS.match(line)
    return found.group() if found else ""


def is_blank(line: str) -> bool:
    """Return whether a line holds nothing but blanks and marks of quotation."""
    return not line.strip(" \t>\r\n")


def blocks(lines: list[str]) -> Iterator[MarkdownBlock]:
    """Yield the leaf blocks in order; lines between them belong to none."""
    tokens: list[Token] = []
    markdown = parser()
    markdown.block.parse(normalized("".join(lines)), markdown, {}, tokens)
    for token in tokens:
        if token.map is None:
            continue
        first, end = token.map[0], min(token.map[1], len(lines))
        if token.type == "fence":
            yield _fence(lines, first, end, token)
        elif token.type == "table_open":
            yield _table(lines, first, end)
        elif token.type == "code_block":
            yield MarkdownBlock(MarkdownBlockKind.CODE, first, end)
        elif token.type == "heading_open":
            yield MarkdownBlock(MarkdownBlockKind.HEADING, first, end)
        elif token.type == "paragraph_open":
            yield MarkdownBlock(MarkdownBlockKind.PROSE, first, end)


def prose_ranges(lines: list[str], found: list[MarkdownBlock]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of characters between blocks of code."""
    starts, position = offsets_of(lines), 0
    for block in found:
        if block.kind in {MarkdownBlockKind.FENCE, MarkdownBlockKind.CODE}:
            yield position, starts[block.first]
            position = starts[block.end]
    yield position, starts[-1]


def is_closed(fence: "Token") -> bool:
    """Return whether a fence ends with a line that closes it, not with the text or its list."""
    first, end = fence.map or (0, 0)
    return len(lines_of(fence.content)) == end - first - 2


def _fence(lines: list[str], first: int, end: int, token: "Token") -> MarkdownBlock:
    opener = _FENCE_LINE.match(lines[first])
    prefix = re.sub(r"[^>\s]", " ", opener["prefix"]) if opener else ""
    ruled = first + 2 < end and _RULE.fullmatch(lines[first + 2].strip())
    language = token.info.split()[0] if token.info.strip() else ""
    language = language if len(language) <= _LONGEST_LANGUAGE else ""
    header = "".join(lines[first + 1 : first + 3]) if ruled else ""
    return MarkdownBlock(
        MarkdownBlockKind.FENCE,
        first,
        end,
        opening=f"{prefix}{token.markup}{language}\n{header}",
        closing=f"\n{prefix}{token.markup}",
        closed=is_closed(token),
        header=3 if ruled else 1,
    )


def _table(lines: list[str], first: int, end: int) -> MarkdownBlock:
    header = [re.sub(r"(?:[-*+]|\d{1,9}[.)])(?=[ \t]+\|)", " ", lines[first]), lines[first + 1]]
    return MarkdownBlock(MarkdownBlockKind.TABLE, first, end, opening="".join(header), header=2)


_Places = Callable[[int], int]
"""Returns for an offset in the text of a paragraph or a cell the one in the whole text."""


class CodeKind(Enum):
    """How code is marked as such."""

    SPAN = "span"
    FENCE = "fence"
    INDENTED = "indented"


class Code(NamedTuple):
    """A half-open range of a text that is code, its marks included."""

    start: int
    end: int
    kind: CodeKind
    content: str
    """The code itself, without marks, indent and final line feed."""
    info: str = ""
    """What stands after the marks of a fence."""
    closed: bool = True
    top: bool = True
    """Whether it stands in no list and no quote; of spans it is always true."""


def located_code(text: str) -> Iterator[Code]:
    """Yield the code of a text in order, as `code_in` returns it."""
    tokens: list[Token] = []
    markdown = parser()
    markdown.block.parse(normalized(text), markdown, {}, tokens)
    lines = lines_of(text)
    starts = offsets_of(lines)
    row: _Row | None = None
    for token in tokens:
        first, end = token.map or (0, 0)
        match token.type:
            case "tr_open":
                row = _Row(lines[first], starts[first])
            case "table_close":
                row = None
            case "code_block" | "fence" if not _is_prose(token):
                start = starts[first]
                start += lines[first].index(token.markup) if token.markup else 0
                stop = starts[min(end, len(lines))]
                yield _block(token, start, start + len(text[start:stop].rstrip()))
            case "inline" if "`" in token.content:
                places = row.places(token) if row else _places(token, lines, starts)
                yield from _spans(token, places)


def _is_prose(token: "Token") -> bool:
    """Return whether this is a line that looks like the beginning of a fence, and is none."""
    return token.type == "fence" and not token.content.strip() and not is_closed(token)


def _block(token: "Token", start: int, end: int) -> Code:
    is_fence = token.type == "fence"
    return Code(
        start,
        end,
        CodeKind.FENCE if is_fence else CodeKind.INDENTED,
        token.content.removesuffix("\n"),
        info=token.info.strip(),
        closed=not is_fence or is_closed(token),
        top=not token.level,
    )


def _spans(token: "Token", places: _Places) -> Iterator[Code]:
    markdown = parser()
    children: list[Token] = []
    markdown.inline.parse(token.content, markdown, {}, children)
    for start, end, content in _located(children, token.content, 0):
        yield Code(places(start), places(end), CodeKind.SPAN, content)


def _located(tokens: Sequence["Token"], text: str, base: int) -> Iterator[tuple[int, int, str]]:
    """Yield the spans among inline tokens, with their offsets in the text of the paragraph."""
    from core.domain.commonmark import SOURCE  # loaded by who parsed

    position = base
    for token in tokens:
        if token.type == "code_inline":
            start, end = token.meta[SOURCE]
            yield base + start, base + end, token.content
            position = base + end
        elif token.children and "`" in token.content:  # the description of an image
            inner = max(text.find(token.content, position), position)
            yield from _located(token.children, text, inner)


class _Row:
    """A row of a table, whose cells are looked for in order."""

    def __init__(self, line: str, start: int) -> None:
        self._line, self._start = line, start
        self._position = 0

    def places(self, cell: "Token") -> _Places:
        """Return the places of a cell, in whose text bars are without their backslashes."""
        content = cell.content
        written = content.replace("|", "\\|")
        found = max(self._line.find(written, self._position), self._position)
        self._position = found + len(written)
        return lambda offset: self._start + found + offset + content.count("|", 0, offset)


def _places(token: "Token", lines: Sequence[str], starts: Sequence[int]) -> _Places:
    """Return the places of a paragraph, whose lines begin after the marks of lists and quotes."""
    first = (token.map or [0])[0]
    content = token.content.split("\n")
    offsets = offsets_of([f"{line}\n" for line in content])
    begins = [
        starts[first + number] + _column(line, lines[first + number])
        for number, line in enumerate(content)
    ]

    def place(offset: int) -> int:
        number = min(bisect_right(offsets, offset), len(begins)) - 1
        return begins[number] + offset - offsets[number]

    return place


def _column(content: str, line: str) -> int:
    """Return where the text of a line begins in it; blanks in front of it may be fewer there."""
    words, line = content.strip(), line.rstrip().replace("\0", "\ufffd")
    at_end = len(line) - len(words) if line.endswith(words) else line.find(words)
    return at_end - (len(content) - len(content.lstrip()))


_STAND_INS = tuple(map(chr, range(0xF0000, 0xF0040)))
"""Characters of the private use, one of which no text has."""


@lru_cache(maxsize=512)
def code_in(text: str) -> tuple[Code, ...]:
    """Return the code of a text in order: spans, fences and indented blocks.

    A fence that is never closed and has no line of code is none: it is a line of prose.
    """
    if not _may_have_code(text):
        return ()
    return tuple(located_code(text))


def fences_in(text: str) -> tuple[Code, ...]:
    """Return the fences of a text in order, also those in lists and quotes."""
    if "```" not in text and "~~~" not in text:
        return ()
    return tuple(code for code in code_in(text) if code.kind is CodeKind.FENCE)


def outside_code(
    text: str, change: Callable[[str], str], *, code: Callable[[Code, str], str] | None = None
) -> str:
    """Return the text with its prose changed, and its code as it is.

    Args:
        text: Markdown.
        change: Sees all of the prose at once, with one character for each piece of code.
        code: Returns what is written for a piece of code, from it and how it was written.
    """
    found = code_in(text)
    if not found:
        return change(text)
    pieces = [text[one.start : one.end] for one in found]
    if code is not None:
        pieces = [code(one, piece) for one, piece in zip(found, pieces, strict=True)]
    stand_in = next((one for one in _STAND_INS if one not in text), None)
    if stand_in is not None:
        parts = change(stand_in.join(_between(text, found))).split(stand_in)
        if len(parts) == len(found) + 1:
            return _joined(parts, pieces)
    return _joined([change(part) for part in _between(text, found)], pieces)


def without_code(text: str, stand_in: str = " ") -> str:
    """Return the text with one stand-in for each piece of code."""
    return stand_in.join(_between(text, code_in(text)))


def masked(text: str, mask: str = "`") -> str:
    """Return a text of equal length with each character of code replaced."""
    for code in code_in(text):
        text = text[: code.start] + mask * (code.end - code.start) + text[code.end :]
    return text


def _between(text: str, found: Sequence[Code]) -> list[str]:
    ends = [0, *(edge for code in found for edge in (code.start, code.end)), len(text)]
    return [text[start:end] for start, end in list(pairwise(ends))[::2]]


def _joined(prose: Sequence[str], code: Sequence[str]) -> str:
    return "".join(piece for pair in zip(prose, [*code, ""], strict=True) for piece in pair)


def _may_have_code(text: str) -> bool:
    return any(sign in text for sign in ("`", "~~~", "    ", "\t"))


_OPENING = re.compile(
    r"(?P<before>(?:[ \t]*(?:>|[-*+•](?=[ \t])|\d{1,9}[.)](?=[ \t])))*[ \t]*)"
    r"(?P<marks>`{3,}(?=[^`\n]*$)|~{3,})(?P<info>[^\n]*)$"
)
_CLOSING = re.compile(r"(?P<before>[ \t>]*)(?P<marks>`{3,}|~{3,})[ \t]*$")
_NO_CONTAINER = re.compile(r"[^>\s]")
_DEEPER = 3
"""Columns that a closing line may stand further to the right than what the fence stands in."""


class Fence(NamedTuple):
    """The line that opens a fence."""

    indent: str
    """What stands before the marks of a line that closes it: blanks, and the marks of quotes."""
    marks: str
    info: str


def fence_opened_by(line: str) -> Fence | None:
    """Return the fence that a line opens, also in a list or a quote; None: it opens none."""
    found = _OPENING.match(line.rstrip("\r\n"))
    if found is None:
        return None
    return Fence(_NO_CONTAINER.sub(" ", found["before"]), found["marks"], found["info"].strip())


def is_block(text: str) -> bool:
    """Return whether a text is a fence, a table or a formula that stands on its own lines."""
    text = text.lstrip()
    return text.startswith(("|", "$$")) or fence_opened_by(text.partition("\n")[0]) is not None


def is_closing(line: str, fence: Fence) -> bool:
    """Return whether a line closes a fence.

    One line does not say how far its list is indented: it is taken to be as far as the fence.
    """
    found = _CLOSING.match(line.rstrip("\r\n"))
    return (
        found is not None
        and found["marks"].startswith(fence.marks)
        and found["before"].count(">") <= fence.indent.count(">")
        and _width(found["before"]) <= _width(fence.indent) + _DEEPER
    )


def _width(indent: str) -> int:
    return len(indent.expandtabs(4))


CODE_SPAN = r"(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n[ \t>]*\n).){1,4000}?(?<!`)(?P=ticks)(?!`)"
_RUN = re.compile(r"\\[^\w\s]|(?P<ticks>`+)|<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\x00-\x20]*>")
"""Backticks, and before them what keeps them from opening code."""
_TICKS = re.compile("`+")
_GAP = re.compile(r"\n[ \t>]*\n")
FORMULA = (
    r"\$\$(?P<display>(?:(?!\n[ \t>]*\n)[^$]){1,4000}?)\$\$"
    r"|\\\[(?P<bracketed>(?:(?!\n[ \t>]*\n).){1,4000}?)\\\]"
    r"|\\\((?P<parenthesised>(?:(?!\n[ \t>]*\n).){1,1000}?)\\\)"
    r"|(?<![\w$\\])\$(?P<inline>(?=\S)(?:\\.|(?!\n[ \t>]*\n)[^$\\]){1,1000}?(?<=\S))\$(?![\w$])"
)
"""A formula of LaTeX between its marks; the content is in one of the four named groups."""
_MOST_OPENED = 20
"""Marks that may open an emphasis, of which a closing one is looked for."""
_CONSTRUCT = re.compile(
    rf"(?P<formula>{FORMULA})"
    rf"|(?P<code>{CODE_SPAN})"
    r"|(?P<escape>\\[^\w\s])"
    r"|(?P<link>!?\[(?:[^\[\]\\\n]|\\.|\n(?!\s*\n)){0,1000}\](?:\([^()\s]{0,2000}(?:\s+\"[^\"\n]*\")?\)|\[[^\[\]\n]{0,200}\]))"
    r"|(?P<marker>\[\d+\])"
    r"|(?P<address><[^<>\s]{1,2000}>|\b[a-z]{2,12}://[^\s<>]{1,2000})"
    r"|(?P<delimiter>\*+|_+|~~|\|\|)"
    r"|(?P<gap>\n[ \t>]*\n)",
    re.DOTALL,
)


class CodeSpan(NamedTuple):
    """A half-open range between two runs of as many backticks, these included."""

    start: int
    end: int


def code_spans(text: str, start: int, end: int) -> Iterator[CodeSpan]:
    """Yield the spans of code between two offsets of a text, in which no block of code is."""
    while (opening := _opening(text, start, end)) is not None:
        closing = _closing(text, opening, end)
        if closing is not None:
            yield CodeSpan(opening.start("ticks"), closing)
        start = closing or opening.end()


def _opening(text: str, start: int, end: int) -> re.Match[str] | None:
    return next((run for run in _RUN.finditer(text, start, end) if run["ticks"]), None)


def _closing(text: str, opening: re.Match[str], end: int) -> int | None:
    """Return where a span ends that a run of backticks opens; None where nothing closes it."""
    gap = _GAP.search(text, opening.end(), end)
    stop = gap.start() if gap else end
    runs = _TICKS.finditer(text, opening.end(), stop)
    return next((run.end() for run in runs if len(run.group()) == len(opening["ticks"])), None)


class Construct(NamedTuple):
    """A half-open range that is to stay whole."""

    start: int
    end: int
    mark: str
    """What closes it at a cut and opens it again after; empty where nothing can."""


def constructs(text: str, start: int, end: int) -> Iterator[Construct]:
    """Yield the inline constructs between two offsets, inner ones before outer ones."""
    opened: list[tuple[str, int]] = []
    for match in _CONSTRUCT.finditer(text, start, end):
        kind = match.lastgroup
        if kind == "gap":
            opened.clear()
        elif kind == "delimiter":
            yield from _emphasis(text, match, opened)
        else:
            yield Construct(match.start(), match.end(), match["ticks"] or "")


def _emphasis(
    text: str, match: re.Match[str], opened: list[tuple[str, int]]
) -> Iterator[Construct]:
    """Close the pair that this run of delimiters ends, or remember that it may open one."""
    mark, behind = match.group(), text[match.end() : match.end() + 1]
    before = text[max(match.start() - 1, 0) : match.start()]
    within_word = mark[0] == "_"
    marks = [pair[0] for pair in opened]
    if before.strip() and mark in marks and not (within_word and behind.isalnum()):
        index = len(marks) - 1 - marks[::-1].index(mark)
        yield Construct(opened[index][1], match.end(), mark)
        del opened[index:]
    elif behind.strip() and not (within_word and before.isalnum()):
        opened.append((mark, match.start()))
        del opened[:-_MOST_OPENED]
