"""Turns the lines of PDF pages back into headings, paragraphs, list items and code."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from core.ingestion.document import Block, BlockKind
from core.ingestion.formats.markup import fenced
from core.ingestion.formats.pdf.lines import PdfLine

_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
)
_BULLET = re.compile(r"[•‣◦▪●○■–*·]\s+(?=\S)|[(]?(?:\d{1,2}|[a-z])[.)]\s+(?=\S)")
_SENTENCE_END = re.compile(r"[.!?:;…][\"'”’)\]]*$")
_LEADER = re.compile(r"(?:\.\s?){5,}\s*\w{0,5}$")
_EDGE_LINES = 2
_HEADING_SCALE = 1.15
_MAX_HEADING = 150


def normalised(text: str) -> str:
    """Return `text` with its ligatures as letters and its spaces single."""
    return re.sub(r"\s+", " ", text.translate(_LIGATURES)).strip()


def without_furniture(pages: Sequence[Sequence[PdfLine]]) -> list[list[PdfLine]]:
    """Return the pages without repeated headers and footers, and without dotted leaders.

    One of the two outermost lines goes when it stands, numbers apart, on two fifths of the
    pages (left and right pages may differ), or, with a number, on three pages in a row.
    """
    places: dict[str, list[int]] = {}
    for index, lines in enumerate(pages):
        for line in _edges(lines):
            places.setdefault(_pattern(line), []).append(index)
    often = max(3.0, 0.4 * len(pages))
    running = {
        pattern
        for pattern, where in places.items()
        if len(set(where)) >= often or ("#" in pattern and _is_dense(where))
    }
    return [_without(running, lines) for lines in pages]


def _without(running: set[str], lines: Sequence[PdfLine]) -> list[PdfLine]:
    heads = {line for line in _edges(lines) if _pattern(line) in running}
    return [line for line in lines if line not in heads and not _LEADER.search(line.text)]


def _edges(lines: Sequence[PdfLine]) -> list[PdfLine]:
    """Return the topmost and lowest lines of a page, by position."""
    ordered = sorted(lines, key=lambda line: -line.y)
    return ordered[:_EDGE_LINES] + ordered[max(_EDGE_LINES, len(ordered) - _EDGE_LINES) :]


def _pattern(line: PdfLine) -> str:
    return re.sub(r"\d+|^[ivxl]{1,7}$", "#", normalised(line.text).lower())


def _is_dense(where: Sequence[int]) -> bool:
    """Return whether three of the places lie within six pages."""
    return any(third - first <= 5 for first, third in zip(where, where[2:], strict=False))


class PageLayout:
    """What the whole document tells about its pages: sizes of type, hyphenated words."""

    def __init__(self, pages: Sequence[Sequence[PdfLine]]) -> None:
        sizes = Counter[float]()
        self._hyphenated: set[str] = set()
        for line in (line for lines in pages for line in lines):
            sizes[line.size] += len(line.text)
            self._hyphenated.update(re.findall(r"\w+-\w+", line.text.lower()))
        self._body = sizes.most_common(1)[0][0] if sizes else 0.0
        large = sorted((s for s in sizes if s >= _HEADING_SCALE * self._body), reverse=True)
        self._level_by_size: Mapping[float, int] = {
            size: min(rank, 4) for rank, size in enumerate(_clusters(large), start=1)
        }

    @property
    def body(self) -> float:
        """The size of most of the text, in points; 0: there is none."""
        return self._body

    def heading_level(self, line: PdfLine) -> int:
        """Return 1 to 4 for a short line in larger type, otherwise 0."""
        if len(line.text) > _MAX_HEADING or not re.search(r"[^\W\d_]", line.text):
            return 0
        return next((level for size, level in self._level_by_size.items() if line.size >= size), 0)

    def blocks(self, lines: Sequence[PdfLine]) -> Iterator[Block]:
        """Yield the paragraphs, list items and code of lines between two headings."""
        spacing = _line_spacing(lines)
        group: list[PdfLine] = []
        for line in lines:
            if group and self._starts_block(group, line, spacing):
                yield self._block(group)
                group = []
            group.append(line)
        if group:
            yield self._block(group)

    def _starts_block(self, group: Sequence[PdfLine], line: PdfLine, spacing: float) -> bool:
        last = group[-1]
        if line.monospaced or last.monospaced:
            return line.monospaced != last.monospaced
        if _BULLET.match(line.text):
            return True
        drop = last.y - line.y
        if spacing and drop > 1.35 * spacing:
            return True
        if drop < 0:  # the next column
            return bool(_SENTENCE_END.search(last.text))
        indented = 0.7 * line.size < line.x - last.x < 5 * line.size
        ended = bool(_SENTENCE_END.search(last.text))
        short = len(last.text) < 0.7 * max(len(other.text) for other in group)
        return ended and ((indented and not _BULLET.match(group[0].text)) or short)

    def _block(self, group: Sequence[PdfLine]) -> Block:
        if group[0].monospaced:
            return block_of(group, BlockKind.CODE, fenced(_indented(group)))
        text = self.joined([line.text for line in group])
        if bullet := _BULLET.match(text):
            return block_of(group, BlockKind.LIST_ITEM, _bulleted(text, bullet), 1)
        return block_of(group, BlockKind.PARAGRAPH, text)

    def joined(self, texts: Sequence[str]) -> str:
        """Return lines as one, words that a line end divides put together again.

        A hyphen stays where the document writes the word with one elsewhere.
        """
        whole = ""
        for text in map(normalised, texts):
            if divided := re.search(r"(\w+)[-\u00ad]$", whole):
                rest = re.match(r"[^\W\d_]+", text)
                compound = f"{divided[1]}-{rest[0]}".lower() if rest else ""
                if rest and rest[0][0].islower() and compound not in self._hyphenated:
                    whole = whole[:-1]
                whole += text
            else:
                whole += f" {text}" if whole else text
        return whole


def block_of(lines: Sequence[PdfLine], kind: BlockKind, text: str, level: int = 0) -> Block:
    """Return a block of neighbouring lines of a page."""
    recognised = any(line.recognised for line in lines)
    return Block(kind, text, level, locator={"page": lines[0].page}, recognised=recognised)


def joined_across_pages(blocks: Sequence[Block], layout: PageLayout) -> list[Block]:
    """Return the blocks with paragraphs that a page break cuts put together again."""
    whole: list[Block] = []
    for block in blocks:
        last = whole[-1] if whole else None
        if last and _continues(last, block):
            text = layout.joined([last.text, block.text])
            whole[-1] = replace(last, text=text, recognised=last.recognised or block.recognised)
        else:
            whole.append(block)
    return whole


def _continues(last: Block, block: Block) -> bool:
    running = {last.kind, block.kind} <= {BlockKind.PARAGRAPH, BlockKind.LIST_ITEM}
    return (
        running
        and block.kind is BlockKind.PARAGRAPH
        and last.locator != block.locator
        and block.text[0].islower()
        and not _SENTENCE_END.search(last.text)
    )


def _clusters(sizes: Sequence[float]) -> list[float]:
    """Return the smallest size of each group of sizes that look the same, largest first."""
    groups: list[float] = []
    for size in sizes:
        if groups and size > 0.94 * groups[-1]:
            groups[-1] = size
        else:
            groups.append(size)
    return groups


def _line_spacing(lines: Sequence[PdfLine]) -> float:
    drops = [above.y - below.y for above, below in pairwise(lines) if above.y > below.y]
    return median(drops) if len(drops) > 1 else 0.0


def _indented(lines: Sequence[PdfLine]) -> str:
    """Return lines of code with the indentation that their places show."""
    left = min(line.x for line in lines)
    return "\n".join(
        " " * min(round((line.x - left) / (0.6 * line.size or 1)), 80)
        + line.text.translate(_LIGATURES)
        for line in lines
    )


def _bulleted(text: str, bullet: re.Match[str]) -> str:
    mark = bullet[0].strip()
    return text if mark[-1] in ".)" else f"- {text[bullet.end() :]}"
