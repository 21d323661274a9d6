"""Finds where the code that the parser reads stands in the text that it was given."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from core.markdown.blocks import is_closed, lines_of, offsets_of
from core.markdown.parser import SOURCE, normalized, parser

if TYPE_CHECKING:
    from markdown_it.token import Token

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
