"""The leaf blocks of a Markdown text with their characters' places, for cutting between them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate
from typing import TYPE_CHECKING

from core.markdown.parser import normalized, parser

if TYPE_CHECKING:
    from markdown_it.token import Token

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
