"""Plain text: paragraphs, and headings only where the author marked them beyond doubt."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.ingestion.document import Block, BlockKind, ParsedDocument, document_of
from core.ingestion.formats.decoding import decode_text

_UNDERLINE = re.compile(r"(={3,}|-{3,}|~{3,})\s*$")
_LIST_ITEM = re.compile(r"(\s*)([-*•]|\d{1,3}[.)])\s+(?=\S)")
_CHAPTER = re.compile(r"(?:CHAPTER|Chapter|PART|Part|APPENDIX|Appendix) (?:\d+|[IVXLC]+|[A-Z])\b")
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){1,3})\.?\s+[A-Z]")
_MAX_HEADING = 80


@dataclass(frozen=True, slots=True)
class _Passage:
    """Lines between two blank lines."""

    lines: tuple[str, ...]
    start: int
    page: int


def parse_plain(data: bytes, *, charset: str | None = None) -> ParsedDocument:
    """Return a text file as paragraphs, list items and headings.

    A heading is a line of its own that is underlined, in capitals, begins with "Chapter 3" or
    has a number of at least two parts, "2.1 Demand". Form feeds count as page breaks.
    """
    decoded = decode_text(data, declared=charset)
    blocks = [block for passage in _passages(decoded.text) for block in _blocks(passage)]
    return document_of(None, blocks, warnings=decoded.warnings)


def _passages(text: str) -> Iterator[_Passage]:
    page, lines, has_pages = 1, list[str](), "\f" in text
    number = 0
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        breaks, line = line.count("\f"), line.replace("\f", "").rstrip()
        if lines and (not line or breaks):
            yield _Passage(tuple(lines), number - len(lines), page if has_pages else 0)
            lines = []
        page += breaks
        if line:
            lines.append(line)


def _blocks(passage: _Passage) -> Iterator[Block]:
    lines, start = list(passage.lines), passage.start
    if len(lines) > 1 and _is_underlined(lines[0], lines[1]):
        level = 1 if lines[1].startswith("=") else 2
        yield _block(passage, BlockKind.HEADING, lines[0].strip(), start, 2, level)
        lines, start = lines[2:], start + 2
    elif len(lines) == 1 and (level := _heading_level(lines[0].strip())):
        yield _block(passage, BlockKind.HEADING, lines[0].strip(), start, 1, level)
        return
    for group in _items(lines):
        kind, level = BlockKind.PARAGRAPH, 0
        if marker := _LIST_ITEM.match(group[0]):
            kind, level = BlockKind.LIST_ITEM, 1 + len(marker[1].expandtabs(4)) // 2
        yield _block(passage, kind, _joined(group), start, len(group), level)
        start += len(group)


def _block(
    passage: _Passage, kind: BlockKind, text: str, start: int, height: int, level: int
) -> Block:
    locator = {"line_start": start, "line_end": start + height - 1}
    if passage.page:
        locator["page"] = passage.page
    return Block(kind, text, level, locator=locator)


def _is_underlined(title: str, rule: str) -> bool:
    """Return whether `rule` underlines `title`: about as long, so no separator line."""
    width = len(title.strip())
    return bool(_UNDERLINE.match(rule)) and width <= _MAX_HEADING and len(rule) >= width // 2


def _heading_level(line: str) -> int:
    if len(line) > _MAX_HEADING or line[-1] in ".,;:":
        return 0
    if _CHAPTER.match(line):
        return 1
    if numbered := _NUMBERED.match(line):
        return 1 + numbered[1].count(".")
    words = re.findall(r"[^\W\d_]{2,}", line)
    return 2 if line.isupper() and sum(map(len, words)) >= 5 and line[0].isalnum() else 0


def _items(lines: list[str]) -> Iterator[list[str]]:
    """Split a passage before each list item."""
    group: list[str] = []
    for line in lines:
        if group and _LIST_ITEM.match(line):
            yield group
            group = []
        group.append(line)
    if group:
        yield group


def _joined(lines: list[str]) -> str:
    """Return the lines as one, unless their indentation or columns carry meaning."""
    text = "\n".join(lines).strip("\n")
    if _LIST_ITEM.match(lines[0]):
        return re.sub(r"\s+", " ", text).strip()
    shaped = any(line[0].isspace() or "   " in line or "\t" in line for line in lines)
    return text if shaped else text.replace("\n", " ")
