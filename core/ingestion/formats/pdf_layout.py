"""Turns the lines of PDF pages back into headings, paragraphs, list items and code."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from core.ingestion.document import Block, BlockKind, Omission, fenced, pipe_table
from core.ingestion.formats.pdf_lines import PdfLine

_DRAWN = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "\u00ad": "-"}
)
"""What a page shows for a character: a soft hyphen that is drawn is a hyphen."""
_BULLET = re.compile(
    r"[•‣◦▪●○■–*·►▶\x7f-\x9f\ue000-\uf8ff-]\s+(?=\S)|[(]?(?:\d{1,2}|[a-z])[.)]\s+(?=\S)"
)
_SENTENCE_END = re.compile(r"[.!?:;…][\"'”’)\]]*$")
_LEADER = re.compile(r"(?:\.\s?){5,}\s*\w{0,5}$")
_DIGITS = re.compile(r"\d+")
_ROMAN = re.compile(r"[ivxl]{1,7}", re.IGNORECASE)
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50}
_EDGE_LINES = 2
_MARGIN = 0.15
"""How much of the height of a page its upper and lower margins have."""
_SAME_HEIGHT = 3.0
_MOST_ON_SLIDE = 200
_FEWEST_PAGES = 3
Left = list[Omission]
_HEADING_SCALE = 1.15
_MAX_HEADING = 150


def normalised(text: str) -> str:
    """Return `text` with its ligatures as letters, its hyphens drawn and its spaces single."""
    return re.sub(r"\s+", " ", text.translate(_DRAWN)).strip()


def without_leaders(pages: Sequence[Sequence[PdfLine]]) -> tuple[list[list[PdfLine]], Left]:
    """Return the pages without the dotted lines of tables of contents, and what is left out."""
    lines = [line for page in pages for line in page if _LEADER.search(line.text)]
    kept = [[line for line in page if not _LEADER.search(line.text)] for page in pages]
    return kept, [_left("line of the contents", line) for line in lines]


def without_furniture(
    pages: Sequence[Sequence[PdfLine]], boxes: Sequence[tuple[float, float]]
) -> tuple[list[list[PdfLine]], Left]:
    """Return the pages without running heads and page numbers, and what is left out.

    One of the two outermost lines in a margin goes when the same words stand at the same height
    on more than half of the pages, or when it has the number of its page. A line of larger type
    never goes.

    Args:
        boxes: the lower and upper edge of each page, in points.
    """
    body = PageLayout(pages).body
    margins = [
        [line for line in _edges(lines) if _is_in_margin(line, lines, box, body)]
        for lines, box in zip(pages, boxes, strict=True)
    ]
    heads = {line for _, line in _repeated(margins)} | set(_numbered(pages, margins))
    told: dict[str, PdfLine] = {}
    for line in (line for lines in pages for line in lines if line in heads):
        told.setdefault(_DIGITS.sub("#", line.text), line)
    kept = [[line for line in lines if line not in heads] for lines in pages]
    return kept, [_left("header or footer", line) for line in told.values()]


def _left(kind: str, line: PdfLine) -> Omission:
    return Omission(kind, f"page {line.page}", len(re.findall(r"\w+", line.text)))


def _is_in_margin(
    line: PdfLine, page: Sequence[PdfLine], box: tuple[float, float], body: float
) -> bool:
    """Return whether a line may be a running head: in a margin, no item, not below a title."""
    bottom, top = box
    place = (line.y - bottom) / (top - bottom) if top > bottom else 0.5
    if _BULLET.match(line.text) and re.search(r"[^\W\d_]{2}", line.text):
        return False
    if place < _MARGIN:
        return True
    large = _HEADING_SCALE * body
    return place > 1 - _MARGIN and not any(one.size >= large and one.y >= line.y for one in page)


def _repeated(margins: Sequence[Sequence[PdfLine]]) -> list[tuple[int, PdfLine]]:
    """Return the lines with the same words at the same height on more than half of the pages."""
    places: dict[str, list[tuple[int, PdfLine]]] = {}
    for index, lines in enumerate(margins):
        for line in lines:
            places.setdefault(normalised(line.text).lower(), []).append((index, line))
    found: list[tuple[int, PdfLine]] = []
    for same in places.values():
        height = median(line.y for _, line in same)
        level = [(index, line) for index, line in same if abs(line.y - height) <= _SAME_HEIGHT]
        if len({index for index, _ in level}) > max(_FEWEST_PAGES - 1, len(margins) / 2):
            found += level
    return found


def _numbered(
    pages: Sequence[Sequence[PdfLine]], margins: Sequence[Sequence[PdfLine]]
) -> Iterator[PdfLine]:
    """Yield the lines that have the numbers of their pages: these grow as the pages do."""
    places: dict[str, list[tuple[int, PdfLine, list[int]]]] = {}
    for index, lines in enumerate(margins):
        for line in lines:
            for key, numbers in _counts(line, pages[index]):
                places.setdefault(key, []).append((index, line, numbers))
    for key, same in places.items():
        alone = not re.search(r"[^\W\d_]", key)
        often = _FEWEST_PAGES - 1 if alone else max(_FEWEST_PAGES - 1, len(pages) / 2)
        if key == "#" and all(numbers == [index + 1] for index, _, numbers in same):
            yield from (line for _, line, _ in same if line.text.isdigit())
        if len(same) <= often:
            continue
        for slot in zip(*(numbers for _, _, numbers in same), strict=True):
            steps = [
                (after - before, later - earlier)
                for (earlier, before), (later, after) in pairwise(
                    zip((index for index, _, _ in same), slot, strict=True)
                )
            ]
            if slot[-1] > slot[0] and all(0 <= by <= pages for by, pages in steps):
                yield from (line for _, line, _ in same)
                break


def _counts(line: PdfLine, page: Sequence[PdfLine]) -> Iterator[tuple[str, list[int]]]:
    """Yield what may number a page: a number by itself, or words with one in a corner.

    Words with a number at the head of the text, such as "Step 1", are a title.
    """
    left = min(other.x for other in page)
    width = max(other.x + 0.5 * other.size * len(other.text) for other in page) - left
    lowest = min(other.y for other in page)
    for part in line.parts or (line.text,):
        text = normalised(part)
        if _ROMAN.fullmatch(text):
            yield "roman", [_roman(text)]
        elif numbers := [int(one) for one in _DIGITS.findall(text) if len(one) < 6]:
            pattern = _DIGITS.sub("#", text.lower())
            in_corner = line.y == lowest or line.x > left + 0.3 * width
            if in_corner or not re.search(r"[^\W\d_]", text):
                yield pattern, numbers


def _roman(text: str) -> int:
    values = [_ROMAN_VALUES[letter] for letter in text.lower()]
    return sum(
        -one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True)
    )


def without_steps(
    pages: Sequence[Sequence[PdfLine]], boxes: Sequence[tuple[float, float, float]]
) -> tuple[list[list[PdfLine]], Left]:
    """Return the pages without slides that the next one shows again with more on it.

    Args:
        boxes: the lower and upper edge of each page and its width, in points.
    """
    kept: list[list[PdfLine]] = []
    left: Left = []
    for index, lines in enumerate(pages):
        bottom, top, width = boxes[index]
        after = pages[index + 1] if index + 1 < len(pages) else []
        is_slide = width > top - bottom
        if is_slide and lines and after and _grows(lines, after, bottom + _MARGIN * (top - bottom)):
            left.append(Omission("step of a slide", f"page {lines[0].page}"))
            kept.append([])
        else:
            kept.append(list(lines))
    return kept, left


def _grows(lines: Sequence[PdfLine], after: Sequence[PdfLine], foot: float) -> bool:
    """Return whether all lines of a slide stand at the same places on the next."""
    if len(lines) > _MOST_ON_SLIDE:
        return False
    shown = [(_shown(line, foot), line.x, line.y) for line in after]
    return _shown(lines[0], foot) == _shown(after[0], foot) and all(
        any(
            text == _shown(line, foot) and abs(x - line.x) <= 2 and abs(y - line.y) <= 2
            for text, x, y in shown
        )
        for line in lines
    )


def _shown(line: PdfLine, foot: float) -> str:
    return _DIGITS.sub("#", line.text) if line.y < foot else line.text


def _edges(lines: Sequence[PdfLine]) -> list[PdfLine]:
    """Return the topmost and lowest lines of a page, by position."""
    ordered = sorted(lines, key=lambda line: -line.y)
    return ordered[:_EDGE_LINES] + ordered[max(_EDGE_LINES, len(ordered) - _EDGE_LINES) :]


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
        if line.cells or len(line.text) > _MAX_HEADING or not re.search(r"[^\W\d_]", line.text):
            return 0
        return next((level for size, level in self._level_by_size.items() if line.size >= size), 0)

    def blocks(self, lines: Sequence[PdfLine]) -> Iterator[Block]:
        """Yield the paragraphs, list items and code of lines between two headings."""
        spacing = _line_spacing(lines)
        longest = max((len(line.text) for line in lines), default=0)
        group: list[PdfLine] = []
        for line in lines:
            if group and self._starts_block(group, line, spacing, longest):
                yield self._block(group)
                group = []
            group.append(line)
        if group:
            yield self._block(group)

    def _starts_block(
        self, group: Sequence[PdfLine], line: PdfLine, spacing: float, longest: int
    ) -> bool:
        last = group[-1]
        if line.cells or last.cells:
            return bool(line.cells) != bool(last.cells)
        if line.monospaced or last.monospaced:
            return line.monospaced != last.monospaced or abs(line.size - last.size) > 0.5
        if _BULLET.match(line.text):
            return True
        first = group[0]
        beside = line.x < first.x - 0.5 * line.size or line.x > first.x + 6 * line.size
        if _BULLET.match(first.text) and beside and line.y < last.y:
            return True
        drop = last.y - line.y
        if spacing and drop > 1.35 * spacing:
            runs_on = len(last.text) >= 0.8 * longest and not _SENTENCE_END.search(last.text)
            alike = abs(line.size - last.size) <= 0.05 * last.size
            return drop > 2.2 * line.size or not (runs_on and alike)  # else its lines are wide
        if drop < 0:  # the next column
            return bool(_SENTENCE_END.search(last.text))
        indented = 0.7 * line.size < line.x - last.x < 5 * line.size
        ended = bool(_SENTENCE_END.search(last.text))
        short = len(last.text) < 0.7 * max(len(other.text) for other in group)
        return ended and ((indented and not _BULLET.match(group[0].text)) or short)

    def _block(self, group: Sequence[PdfLine]) -> Block:
        if group[0].cells:
            rows = [list(map(normalised, line.cells)) for line in group]
            return block_of(group, BlockKind.TABLE, pipe_table(rows))
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
            if divided := re.search(r"(\w+)-$", whole):
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
    """Return how far apart the lines of a paragraph are: less than paragraphs are, which are as
    many where they are short."""
    drops = sorted(above.y - below.y for above, below in pairwise(lines) if above.y > below.y)
    return drops[len(drops) // 4] if len(drops) > 1 else 0.0


def _indented(lines: Sequence[PdfLine]) -> str:
    """Return lines of code with the indentation and the blank lines that their places show."""
    spacing = min((a.y - b.y for a, b in pairwise(lines) if a.y > b.y), default=0.0)
    advance = lines[0].advance or 0.6 * lines[0].size or 1
    places = _without_numbers([_places(line) for line in lines])
    left = min(place[0][0] for place in places)
    pitch = _pitch([x - left for place in places for x, _ in place], advance)
    texts: list[str] = []
    last: PdfLine | None = None
    for line, place in zip(lines, places, strict=True):
        if last is not None and spacing and last.y - line.y > 1.7 * spacing:
            texts.append("")
        text = ""
        for x, piece in place:
            column = min(max(round((x - left) / pitch), 0), 200)
            text += " " * (column - len(text)) + piece
        texts.append(text.translate(_DRAWN))
        last = line
    return "\n".join(texts)


def _places(line: PdfLine) -> Sequence[tuple[float, str]]:
    """Return where the words of a line of code begin; pieces without a gap are one."""
    if not line.places:
        return [(line.x, line.text)]
    words: list[tuple[float, str]] = []
    for x, piece in line.places:
        if words and x - words[-1][0] < (len(words[-1][1]) + 0.5) * line.advance:
            words[-1] = words[-1][0], words[-1][1] + piece
        else:
            words.append((x, piece))
    return words


def _without_numbers(
    places: Sequence[Sequence[tuple[float, str]]],
) -> Sequence[Sequence[tuple[float, str]]]:
    """Return lines of code without the numbers that count them."""
    first = [place[0][1] for place in places]
    if len(places) < 2 or not all(one.isdigit() and len(one) < 6 for one in first):
        return places
    if any(int(after) - int(before) != 1 for before, after in pairwise(first)):
        return places
    if not any(len(place) > 1 for place in places):
        return places
    return [place[1:] or [(place[0][0], "")] for place in places]


def _pitch(offsets: Sequence[float], advance: float) -> float:
    """Return the width of a column of code: that of a letter, or a little more, as in LaTeX."""

    def strays(share: int) -> float:
        pitch = advance * share / 100
        return sum(abs(offset / pitch - round(offset / pitch)) for offset in offsets) + share / 1e3

    return advance * min(range(100, 126), key=strays) / 100


def _bulleted(text: str, bullet: re.Match[str]) -> str:
    mark = bullet[0].strip()
    return text if mark[-1] in ".)" else f"- {text[bullet.end() :]}"
