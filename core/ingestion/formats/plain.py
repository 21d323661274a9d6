"""Plain text: paragraphs, and headings only where the author marked them, or set several alike."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from core.ingestion.document import Block, BlockKind, ParsedDocument, document_of
from core.ingestion.formats.decoding import decode_text

_UNDERLINE = re.compile(r"(={3,}|-{3,}|~{3,})\s*$")
_LIST_ITEM = re.compile(r"(\s*)([-*•]|\d{1,3}[.)])\s+(?=\S)")
_CHAPTER = re.compile(r"(?:CHAPTER|Chapter|PART|Part|APPENDIX|Appendix) (?:\d+|[IVXLC]+|[A-Z])\b")
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){1,3})\.?\s+[A-Z]")
_MAX_HEADING = 80
_SHORT_LINE = re.compile(
    r"[^\W\d_a-z](?=.*[^\W_]{3})(?!.*(?:\w{3}|\W)[.!?]\s)[^@\t]*[^\W_][)’”\"]?"
)
"""A line that begins with a capital and ends with a word: no item, address or sentence."""
_LONGEST_TITLE = 60
_MOST_TITLE_WORDS = 9
_MOST_TITLES = 2
"""Short lines in a row that may be a title and a title below it; more of them are a list."""
_FEWEST_TITLES = 3
"""Titles that a file has to have, so that a short line is not one by chance."""
_SENTENCE_END = re.compile(r"[.!?…:][\"'”’)\]]*$")
_SHORTEST_PROSE = 40
_TITLE_LEVEL = 3
"""Below that of a line in capitals."""


@dataclass(frozen=True, slots=True)
class _Passage:
    """Lines between two blank lines."""

    lines: tuple[str, ...]
    start: int
    page: int


def parse_plain(data: bytes, *, charset: str | None = None) -> ParsedDocument:
    """Return a text file as paragraphs, list items and headings.

    A heading is a line of its own that is underlined, in capitals, begins with "Chapter 3" or
    has a number of at least two parts, "2.1 Demand". So is a short line before a paragraph,
    where the file has several of them. Form feeds count as page breaks.
    """
    decoded = decode_text(data, declared=charset)
    passages = list(_passages(decoded.text))
    titles = _titles(passages)
    blocks = [block for passage in passages for block in _blocks(passage, titles)]
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


def _titles(passages: Sequence[_Passage]) -> frozenset[int]:
    """Return the line numbers of short lines that each begin what follows; none where few do.

    What stands before such a line has come to its end, and what follows is prose or a list. Lines
    in a row, as of an address or a poem, are none, and neither is one that comes again and again.
    """
    again = Counter(passage.lines for passage in passages)
    found: list[int] = []
    before: _Passage | None = None
    runs = [(is_short, [*run]) for is_short, run in groupby(passages, _is_short_line)]
    for (is_short, run), (_, after) in pairwise(runs):
        if is_short and len(run) <= _MOST_TITLES and _begins(after[0]) and _has_ended(before):
            found += [one.start for one in run if again[one.lines] < _FEWEST_TITLES]
        before = run[-1]
    return frozenset(found if len(found) >= _FEWEST_TITLES else ())


def _is_short_line(passage: _Passage) -> bool:
    line = passage.lines[0]
    return (
        len(passage.lines) == 1
        and len(line) <= _LONGEST_TITLE
        and len(line.split()) <= _MOST_TITLE_WORDS
        and not _heading_level(line.strip())
        and _SHORT_LINE.fullmatch(line) is not None
        and "  " not in line
    )


def _begins(passage: _Passage) -> bool:
    """Return whether a passage is prose or a list, as what stands below a title."""
    text = " ".join(passage.lines)
    if _LIST_ITEM.match(text):
        return True
    return len(text) >= _SHORTEST_PROSE and bool(_SENTENCE_END.search(text)) and text[0].isalnum()


def _has_ended(passage: _Passage | None) -> bool:
    """Return whether nothing of a passage goes on after it."""
    if passage is None:
        return True
    line = passage.lines[-1].strip()
    is_other = _LIST_ITEM.match(passage.lines[-1]) or _UNDERLINE.fullmatch(line)
    return bool(is_other or _heading_level(line) or _SENTENCE_END.search(line))


def _blocks(passage: _Passage, titles: frozenset[int]) -> Iterator[Block]:
    lines, start = list(passage.lines), passage.start
    if len(lines) > 1 and _is_underlined(lines[0], lines[1]):
        level = 1 if lines[1].startswith("=") else 2
        yield _block(passage, BlockKind.HEADING, lines[0].strip(), start, 2, level)
        lines, start = lines[2:], start + 2
    elif len(lines) == 1 and (level := _level_of(passage, titles)):
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


def _level_of(passage: _Passage, titles: frozenset[int]) -> int:
    """Return the level of a line that is a heading by itself or among others; 0: it is none."""
    own = _heading_level(passage.lines[0].strip())
    return own or (_TITLE_LEVEL if passage.start in titles else 0)


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
