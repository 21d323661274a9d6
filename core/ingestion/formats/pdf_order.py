"""Puts the lines of a PDF page in the order in which they are read: columns, tables, margins."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from core.ingestion.formats.pdf_content import Line, PageContent
from core.ingestion.formats.pdf_lines import (
    PdfLine,
    Row,
    TextPiece,
    is_leftwards,
    rows_of,
    ruled_tables,
    segments_of,
    with_fractions,
    without_struck,
)

_SAME_BASELINE = 0.2
"""How far apart the baselines of one line may be, as a share of the size of type."""
_BULLET = re.compile(r"[•‣◦▪●○■–*·►▶\x7f-]\s")
_MOST_CANDIDATES = 12
_FEWEST_LINES = 3
_DEEPEST = 6
_LEAST_DROP = 0.9
_MARGIN = 0.08
"""How much of the height of a page its head and its foot have at most."""


@dataclass(slots=True)
class PageText:
    """The lines of a page in reading order, and the words of it that are not read."""

    lines: list[PdfLine]
    unread: list[tuple[str, str]] = field(default_factory=list)


def page_text(content: PageContent, number: int, box: tuple[float, float]) -> PageText:
    """Return the lines of what a page shows; text that is turned comes after the rest.

    Args:
        box: the lower and upper edge of the page.
    """
    text = PageText([], list(content.unread))
    for turned in sorted({span.turned for span in content.spans}):
        spans = [span for span in content.spans if span.turned == turned]
        rules = content.rules if turned == 0 else []
        if rules:
            spans = list(without_struck(spans, rules, text.unread))
        tables: list[TextPiece] = []
        if rules and content.bars:
            tables, spans, rules = ruled_tables(spans, rules, content.bars)
        spans = with_fractions(spans, rules)
        segments = [one for row in rows_of(spans) for one in segments_of(row)] + tables
        if turned == 0 and content.bullets:
            _mark_items(segments, content.bullets)
        leftwards = _runs_leftwards(segments)
        if leftwards:
            segments = [_mirrored(segment) for segment in segments]
        crossing = [(-r, -x, y) for x, r, y in rules] if leftwards else rules
        if turned == 0:
            head, body, foot = _margins_apart(segments, box)
            rows = _in_rows(head) + _in_reading_order(body, crossing) + _in_rows(foot)
        else:
            rows = _in_reading_order(segments, crossing)
        text.lines += _lines(rows, number, text.unread)
    return text


def _runs_leftwards(segments: Sequence[TextPiece]) -> bool:
    """Return whether most of a page is in a script that runs from right to left."""
    count = sum(is_leftwards(one.text) for one in segments if not one.text.isascii())
    return 2 * count > len(segments)


def _mirrored(one: TextPiece) -> TextPiece:
    return TextPiece(one.text, -one.right, -one.x, one.y, one.size, one.monospaced, one.advance)


def _mark_items(segments: Sequence[TextPiece], bullets: Sequence[tuple[float, float]]) -> None:
    """Write a bullet before the texts that have a small drawing to their left."""
    for one in segments:
        low, high = one.y - 0.3 * one.size, one.y + one.size
        if any(0 < one.x - x < 2.5 * one.size and low <= y <= high for x, y in bullets):
            one.text = f"• {one.text}"


# --- the order of reading


def _in_reading_order(
    segments: Sequence[TextPiece], rules: Sequence[Line], depth: int = 0
) -> list[Row]:
    """Return the lines of a page: of what stands in columns, one column after the other."""
    cut = _columns(segments, rules) if depth < _DEEPEST else None
    if cut is None:
        return _in_rows(segments)
    return [row for part in cut for row in _in_reading_order(part, rules, depth + 1)]


def _margins_apart(segments: Row, box: tuple[float, float]) -> tuple[Row, Row, Row]:
    """Return what stands in the head of a page, in its body and in its foot, each set apart."""
    bottom, top = box
    reach = _MARGIN * (top - bottom)
    head = [one for one in segments if one.y > top - reach]
    foot = [one for one in segments if one.y < bottom + reach]
    body = [one for one in segments if bottom + reach <= one.y <= top - reach]
    if not body:
        return [], segments, []
    if head and min(one.y for one in head) - max(one.y for one in body) < 1.8 * head[0].size:
        head, body = [], head + body
    if foot and min(one.y for one in body) - max(one.y for one in foot) < 1.8 * foot[0].size:
        foot, body = [], body + foot
    return head, body, foot


def _in_rows(segments: Sequence[TextPiece]) -> list[Row]:
    rows: list[Row] = []
    for one in sorted(segments, key=lambda one: (-one.y, one.x)):
        last = rows[-1][0] if rows else None
        same = last and last.y - one.y <= _SAME_BASELINE * max(one.size, last.size)
        if same and not one.table and last and not last.table:
            rows[-1].append(one)
        else:
            rows.append([one])
    return [sorted(row, key=lambda one: one.x) for row in rows]


def _columns(
    segments: Sequence[TextPiece], rules: Sequence[Line]
) -> tuple[Row, Row, Row, Row] | None:
    """Return what stands above two columns, in the left one, in the right one, and below.

    The right one begins where several lines begin, and no line crosses the gap before it.
    """
    if len(segments) < _FEWEST_LINES + 1:
        return None
    ordered = sorted(segments, key=lambda one: (-one.y, one.x))
    leftmost = min(one.x for one in ordered)
    starts: dict[int, list[float]] = {}
    for one in ordered:
        if one.x > leftmost + 4 * one.size:
            starts.setdefault(round(one.x / 3), []).append(one.x)
    often = sorted(starts.values(), key=len, reverse=True)[:_MOST_CANDIDATES]
    best: tuple[int, tuple[int, int], float] | None = None
    for gutter in (min(places) for places in often):
        for start, end in _uncrossed(ordered, gutter):
            run = ordered[start:end]
            left = [one for one in run if one.right <= gutter]
            right = [one for one in run if one.x >= gutter - 1]
            if _are_columns(left, right, rules, gutter):
                size = min(len(left), len(right)) * 1000 + len(run)
                if best is None or size > best[0]:
                    best = size, (start, end), gutter
    if best is None:
        return None
    _, (start, end), gutter = best
    run = ordered[start:end]
    usual = median(one.size for one in run)
    while run and run[0].size > 1.15 * usual and _is_above(run[0], run, gutter):
        start, run = start + 1, run[1:]
    return (
        ordered[:start],
        [one for one in run if one.x < gutter - 1],
        [one for one in run if one.x >= gutter - 1],
        ordered[end:],
    )


def _is_above(one: TextPiece, run: Sequence[TextPiece], gutter: float) -> bool:
    """Return whether a text stands above all that is on the other side of a gap."""
    others = [other.y for other in run if (other.x < gutter - 1) != (one.x < gutter - 1)]
    return bool(others) and one.y > max(others) + one.size


def _uncrossed(ordered: Sequence[TextPiece], gutter: float) -> Iterator[tuple[int, int]]:
    """Yield from where to where no line stands in the gap before a place."""
    start = 0
    for index, one in enumerate(ordered):
        if one.x < gutter - 1 and one.right > gutter - 0.6 * one.size:
            if index - start > _FEWEST_LINES:
                yield start, index
            start = index + 1
    if len(ordered) - start > _FEWEST_LINES:
        yield start, len(ordered)


def _are_columns(left: Row, right: Row, rules: Sequence[Line], gutter: float) -> bool:
    """Return whether two sides are read one after the other, and are no table."""
    if not left or not right:
        return False
    top = min(max(one.y for one in left), max(one.y for one in right))
    bottom = max(min(one.y for one in left), min(one.y for one in right))
    if top < bottom:
        return False
    between = {round(y) for start, end, y in rules if start < gutter - 5 < end and bottom < y < top}
    if len(between) > 1:
        return False
    fewer, more = sorted((left, right), key=_height)
    are_lists = all(map(_is_list, (left, right)))
    if _height(more) < (2 if are_lists else _FEWEST_LINES):
        return False
    heights = sorted(one.y for one in more)
    aligned = sum(_has_near(heights, one.y, _SAME_BASELINE * one.size) for one in fewer)
    nearest = [one for one in right if one.x < gutter + 3 * one.size]
    prose = [_is_prose(left), _is_prose(nearest)]
    if aligned < 0.5 * len(fewer):
        return any(prose) or are_lists
    if _height(fewer) < _FEWEST_LINES:
        return are_lists and _height(fewer) > 1
    paired = aligned >= 0.8 * len(more)
    return all(prose) or are_lists or (paired and any(map(_flows, (left, nearest))))


def _height(side: Row) -> int:
    """Return how many lines a side has."""
    return len({round(one.y) for one in side})


def _has_near(heights: Sequence[float], y: float, reach: float) -> bool:
    place = bisect_left(heights, y - reach)
    return place < len(heights) and heights[place] <= y + reach


def _is_prose(side: Row) -> bool:
    """Return whether lines fill their column with words."""
    if len(side) < _FEWEST_LINES:
        return False
    width = max(one.right for one in side) - min(one.x for one in side)
    filled = median(one.right - one.x for one in side) >= 0.6 * width
    return filled and median(one.words for one in side) >= 4


def _flows(side: Row) -> bool:
    """Return whether the lines of a side go on from one to the next, as those of cells do not."""
    going_on = sum(after.text[:1].islower() for after in side[1:])
    return _is_prose(side) and going_on >= 0.5 * (len(side) - 1)


def _is_list(side: Row) -> bool:
    return 2 * sum(_BULLET.match(one.text) is not None for one in side) >= len(side)


# --- tables


def _lines(rows: Sequence[Row], page: int, unread: list[tuple[str, str]]) -> list[PdfLine]:
    """Return rows as lines; those whose cells stand below each other are rows of a table."""
    lines: list[PdfLine] = []
    position = 0
    if numbers := _line_numbers(rows):
        unread.append(("line number", ""))
        rows = [row[1:] if index in numbers else row for index, row in enumerate(rows)]
    while position < len(rows):
        if any(one.table for one in rows[position]):
            for one in rows[position]:
                lines += _table_lines(one, page) if one.table else [_line([one], page)]
            position += 1
            continue
        table, height = _table(rows[position:])
        for cells, row in table:
            lines.append(_line(row, page, cells))
        if not table:
            lines.append(_line(rows[position], page))
        position += height
    return lines


def _line_numbers(rows: Sequence[Row]) -> set[int]:
    """Return which rows of code begin with a number that counts them."""
    found: set[int] = set()
    last = (-2, -1)
    for index, row in enumerate(rows):
        if len(row) < 2 or not row[0].text.isdigit() or len(row[0].text) > 5:
            continue
        if not all(one.monospaced for one in row[1:]):
            continue
        number = int(row[0].text)
        if last[0] >= 0 and number - last[1] == 1:
            found |= {last[0], index}
        last = index, number
    return found


def _line(row: Row, page: int, cells: tuple[str, ...] = ()) -> PdfLine:
    first = row[0]
    widest = max(row, key=lambda one: len(one.text))
    return PdfLine(
        *(" ".join(one.text for one in row), first.x, first.y, widest.size),
        *(all(one.monospaced for one in row), page),
        advance=first.advance,
        places=first.places if len(row) == 1 else (),
        cells=cells,
        parts=tuple(one.text for one in row) if len(row) > 1 else (),
    )


def _table_lines(table: TextPiece, page: int) -> list[PdfLine]:
    """Return the rows of a table with rules."""
    return [
        PdfLine(" ".join(cells), table.x, table.y, table.size, False, page, cells=cells)
        for cells in table.table
        if any(cells)
    ]


def _table(rows: Sequence[Row]) -> tuple[list[tuple[tuple[str, ...], Row]], int]:
    """Return the rows of a table that begins with the first row, and how many rows it takes up.

    A row that stands in one column alone goes on with the cell above it.
    """
    columns: list[tuple[float, float]] = []
    taken: list[Row] = []
    full = 0
    for row in rows:
        if len(row) == 1 and not (full and _goes_on(row[0], taken[-1], columns)):
            break
        merged = _merged(columns, row)
        numbered = _EQUATION_NUMBER.fullmatch(row[-1].text) is not None
        if full and numbered != (_EQUATION_NUMBER.fullmatch(taken[0][-1].text) is not None):
            break
        if taken and taken[-1][0].y - row[0].y < _LEAST_DROP * row[0].size:
            break
        if merged is None or any(one.monospaced or one.table for one in row):
            break
        columns = merged
        taken.append(row)
        full += len(row) > 1
    while taken and len(taken[-1]) == 1 and not _goes_on_before(taken):
        taken.pop()
    if full < 2 or (full < _FEWEST_LINES and len(columns) < _FEWEST_LINES) or len(columns) < 2:
        return [], 1
    cells = [one for row in taken if len(row) > 1 for one in row]
    if median(one.words for one in cells) > 8 or _LEADERS.search(
        " ".join(c.text for c in taken[0])
    ):
        return [], 1
    if all(_EQUATION_NUMBER.fullmatch(row[-1].text) for row in taken if len(row) > 1):
        return [], 1
    table: list[tuple[tuple[str, ...], Row]] = []
    for row in taken:
        texts = [""] * len(columns)
        for one in row:
            place = next(i for i, (start, end) in enumerate(columns) if start <= one.x <= end)
            texts[place] = f"{texts[place]} {one.text}".strip()
        if len(row) == 1 and table:
            above = table[-1][0]
            joined = tuple(f"{one} {two}".strip() for one, two in zip(above, texts, strict=True))
            table[-1] = joined, table[-1][1]
        else:
            table.append((tuple(texts), row))
    return table, len(taken)


_EQUATION_NUMBER = re.compile(r"\([A-Z]?\d+(?:\.\d+)*[a-z]?\)")
_LEADERS = re.compile(r"(?:\.\s?){5,}")


def _goes_on(one: TextPiece, above: Row, columns: Sequence[tuple[float, float]]) -> bool:
    """Return whether a lone text is the next line of a cell."""
    drop = above[0].y - one.y
    inside = [start - 1 <= one.x and one.right <= end + 2 * one.size for start, end in columns]
    return any(inside) and 0 < drop <= 1.5 * one.size


def _goes_on_before(taken: Sequence[Row]) -> bool:
    return len(taken) > 1 and taken[-2][0].y - taken[-1][0].y <= 1.3 * taken[-1][0].size


def _merged(columns: Sequence[tuple[float, float]], row: Row) -> list[tuple[float, float]] | None:
    """Return the columns with a further row; none where it does not have one text for each."""
    merged = list(columns)
    taken: set[tuple[float, float]] = set()
    for one in row:
        touched = [c for c in merged if c[0] <= one.right and one.x <= c[1]]
        if len(touched) > 1 or (touched and touched[0] in taken):
            return None
        start, end = one.x, one.right
        for column in touched:
            merged.remove(column)
            start, end = min(start, column[0]), max(end, column[1])
        merged.append((start, end))
        taken.add((start, end))
    merged.sort()
    return merged
