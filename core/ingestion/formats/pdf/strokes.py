"""Reads what lines on a PDF page mean: text that is struck, fractions, and tables with rules."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from statistics import median

from core.ingestion.formats.pdf.content import WIDE_GAP, DrawnText, Line
from core.ingestion.formats.pdf.lines import TextPiece, rows_of, segments_of

_STRUCK_AT = (0.15, 0.45)
"""Between which heights above the baseline a rule strikes text through."""
_LONGEST_BAR = 220.0
_MOST_BARS = 200
_MOST_LINES = 150
"""Upright ones of the tables of a page; a page with more of them is a drawing."""
_AXIS = 0.25
"""How high above the baseline the bar of a fraction is, as a share of the size of type."""
_MOST_GRIDS = 40
_MOST_CELLS = 5_000


# --- struck text


def without_struck(
    spans: Sequence[DrawnText],
    rules: Sequence[Line],
    unread: list[tuple[str, str]],
) -> Iterator[DrawnText]:
    """Yield text without what a rule strikes through; a longer one, as of ruled paper, does not."""
    low, high = _STRUCK_AT
    by_height = sorted(rules, key=lambda rule: rule[2])
    heights = [rule[2] for rule in by_height]
    extents: dict[int, tuple[float, float]] = {}
    for span in spans:
        left, right = extents.get(round(span.y), (span.x, span.right))
        extents[round(span.y)] = min(left, span.x), max(right, span.right)
    for span in spans:
        left, right = extents[round(span.y)]
        start = bisect_left(heights, span.y + low * span.size)
        through = []
        for rule in islice(by_height, start, None):
            if rule[2] > span.y + high * span.size:
                break
            inside = left - span.size <= rule[0] and rule[1] <= right + span.size
            if inside and min(rule[1], span.right) - max(rule[0], span.x) > 0.3 * span.size:
                through.append(rule)
        if not through:
            yield span
            continue
        kept, struck = _cut_by(span, through)
        if sum(map(str.isalnum, struck)) < 2:  # a root, or a sign that a rule touches
            yield span
            continue
        unread.append(("struck text", struck))
        yield from kept


def _cut_by(span: DrawnText, through: Sequence[Line]) -> tuple[list[DrawnText], str]:
    """Return the rest of a span and the text of it that rules strike through, by place."""
    kept: list[DrawnText] = []
    struck: list[str] = []
    open_span = False
    until = span.x
    for left, right, text in span.parts:
        width = (right - left) / max(len(text), 1)
        for place, character in enumerate(text):
            middle = left + (place + 0.5) * width
            if any(start - 0.5 <= middle <= end + 0.5 for start, end, _ in through):
                apart = middle - width / 2 - until > span.font.word_gap * span.size
                struck.append(f" {character}" if apart else character)
                until = middle + width / 2
                open_span = False
                continue
            begin, end = left + place * width, left + (place + 1) * width
            if open_span:
                one = kept[-1]
                gap = begin - one.right > span.font.word_gap * span.size
                one.text += f" {character}" if gap else character
                one.right = end
                one.parts.append((begin, end, character))
            else:
                parts = [(begin, end, character)]
                kept.append(
                    DrawnText(
                        character, begin, end, span.y, span.size, span.font, span.turned, parts
                    )
                )
                open_span = True
    for one in kept:
        one.spaced = (one.text[:1] == " ", one.text[-1:] == " ")
        one.text = one.text.strip()
    return [one for one in kept if one.text], " ".join("".join(struck).split())


# --- fractions


def with_fractions(spans: list[DrawnText], rules: Sequence[Line]) -> list[DrawnText]:
    """Return spans with what stands above and below the bar of a fraction as one: `a/(b + c)`."""
    bars = [rule for rule in rules if 2 < rule[1] - rule[0] < _LONGEST_BAR]
    for left, right, y in sorted(bars, key=lambda rule: rule[1] - rule[0])[:_MOST_BARS]:
        if _has_like(rules, left, right, y):
            continue
        within = [one for one in spans if left - 1.5 <= one.x and one.right <= right + 1.5]
        above = [one for one in within if -0.2 * one.size < one.y - y < one.size]
        below = [one for one in within if 0.45 * one.size < y - one.y < 1.3 * one.size]
        if not (above and below and _fits_bar(above, below, left, right)):
            continue
        text = "/".join(map(_term, (above, below)))
        parts = {id(one) for one in (*above, *below)}
        spans = [one for one in spans if id(one) not in parts]
        size = max(one.size for one in above) / 0.7
        base, reach = y - _AXIS * size, size
        for one in spans:
            beside = max(one.x - right, left - one.right)
            if abs(one.y - (y - _AXIS * one.size)) < 0.15 * one.size and -1 <= beside < reach:
                base, size, reach = one.y, one.size, beside
        font = above[0].font
        spans.append(DrawnText(text, left, right, base, size, font, 0, [(left, right, text)]))
    return spans


def _has_like(rules: Sequence[Line], left: float, right: float, y: float) -> bool:
    """Return whether a rule is one of several that a table has."""
    return any(
        abs(start - left) < 1 and abs(end - right) < 1 and 2 < abs(at - y) < 150
        for start, end, at in rules
    )


def _fits_bar(above: list[DrawnText], below: list[DrawnText], left: float, right: float) -> bool:
    """Return whether two texts are centred on a bar that is as long as the longer one."""
    wide = 0.0
    for side in (above, below):
        ordered = sorted(side, key=lambda one: one.x)
        start, end = ordered[0].x, max(one.right for one in side)
        if abs((start + end) - (left + right)) > 0.3 * (right - left) + 3:
            return False
        if any(two.x - one.right > WIDE_GAP * two.size for one, two in pairwise(ordered)):
            return False
        wide = max(wide, end - start)
    return wide >= 0.75 * (right - left)


def _term(side: list[DrawnText]) -> str:
    text = " ".join(one.text for row in rows_of(side) for one in segments_of(row))
    return text if re.fullmatch(r"[\w.,′]+|\([^()]*\)", text) else f"({text})"


# --- tables with lines


def ruled_tables(
    spans: Sequence[DrawnText],
    rules: Sequence[Line],
    bars: Sequence[Line],
) -> tuple[list[TextPiece], list[DrawnText], list[Line]]:
    """Return the tables whose cells have lines around them, and the text and lines outside."""
    tables: list[TextPiece] = []
    rest, outside = list(spans), list(rules)
    for low, high, left, right in _grids(rules, bars):
        inside = [
            one
            for one in rest
            if left - 1 <= one.x and one.right <= right + 1 and low <= one.y <= high
        ]
        level = [
            one
            for one in rules
            if low - 1 <= one[2] <= high + 1 and one[0] < right and one[1] > left
        ]
        upright = _connected([one for one in bars if left - 1 <= one[2] <= right + 1])
        heights = _distinct([one[2] for one in level if one[1] > left and one[0] < right])[::-1]
        places = _distinct([one[2] for one in upright if one[1] > low and one[0] < high])
        if len(heights) < 3 or len(places) < 3 or len(heights) * len(places) > _MOST_CELLS:
            continue
        cells = _cells(inside, heights, places, level, upright)
        filled = sum(bool(text) for row in cells for text in row)
        if filled < max(3, 0.4 * sum(map(len, cells))):
            continue
        taken = set(map(id, inside))
        rest = [one for one in rest if id(one) not in taken]
        outside = [one for one in outside if one not in level]
        size = median(one.size for one in inside)
        tables.append(
            TextPiece(
                "", left, right, high - size, size, False, 0.0, table=tuple(map(tuple, cells))
            )
        )
    return tables, rest, outside


def _grids(rules: Sequence[Line], bars: Sequence[Line]) -> list[tuple[float, float, float, float]]:
    """Return the lower, upper, left and right edges of what upright and level lines make up."""
    boxes: list[list[float]] = []
    upright = _connected(bars)
    if len(upright) > _MOST_LINES:
        return []
    for low, high, x in sorted(upright, key=lambda bar: -bar[1]):
        for box in boxes:
            if low <= box[1] + 2 and high >= box[0] - 2 and _are_joined(box, low, high, x, rules):
                box[:] = [min(box[0], low), max(box[1], high), min(box[2], x), max(box[3], x)]
                break
        else:
            boxes.append([low, high, x, x])
    found = [(a, b, c, d) for a, b, c, d in boxes if d - c > 10 and b - a > 10]
    return found[:_MOST_GRIDS]


def _connected(bars: Sequence[Line]) -> list[Line]:
    """Return upright lines, those that go on from one another as one."""
    found: list[Line] = []
    for low, high, x in sorted(bars, key=lambda bar: (round(bar[2]), -bar[1])):
        last = found[-1] if found else None
        if last and abs(last[2] - x) < 2 and high >= last[0] - 3:
            found[-1] = min(low, last[0]), max(high, last[1]), last[2]
        else:
            found.append((low, high, x))
    return found


def _are_joined(
    box: Sequence[float],
    low: float,
    high: float,
    x: float,
    rules: Sequence[Line],
) -> bool:
    """Return whether a level line leads from a box to an upright line."""
    near, far = sorted((x, box[2] if abs(x - box[2]) < abs(x - box[3]) else box[3]))
    if far - near < 2:
        return True
    least, most = max(low, box[0]) - 2, min(high, box[1]) + 2
    middle = (near + far) / 2
    return any(start <= middle <= end and least <= y <= most for start, end, y in rules)


def _cells(
    spans: Sequence[DrawnText],
    heights: Sequence[float],
    places: Sequence[float],
    rules: Sequence[Line],
    bars: Sequence[Line],
) -> list[list[str]]:
    """Return the texts between lines; a cell that spans rows is repeated in each of them."""
    rows, columns = range(len(heights) - 1), range(len(places) - 1)
    first = {(row, column): (row, column) for row in rows for column in columns}
    for row in rows:
        middle = (heights[row] + heights[row + 1]) / 2
        for column in columns:
            x = (places[column] + places[column + 1]) / 2
            if column and not any(
                abs(at - places[column]) < 2 and low <= middle <= high for low, high, at in bars
            ):
                first[row, column] = first[row, column - 1]
            elif row and not any(
                abs(at - heights[row]) < 2 and start <= x <= end for start, end, at in rules
            ):
                first[row, column] = first[row - 1, column]
    held: dict[tuple[int, int], list[DrawnText]] = {}
    for span in spans:
        center = span.y + 0.3 * span.size
        row = next((row for row in rows if heights[row + 1] <= center <= heights[row]), 0)
        column = next((c for c in columns if places[c] - 1 <= span.x < places[c + 1] - 1), 0)
        held.setdefault(first[row, column], []).append(span)
    cells: list[list[str]] = []
    for row in rows:
        inside = [
            held.get(first[row, column], []) if first[row, column][1] == column else []
            for column in columns
        ]
        is_alone = all(first[row, column][0] == row for column in columns)
        for part in _parted(inside) if is_alone else [inside]:
            cells.append(
                [" ".join(s.text for line in rows_of(c) for s in segments_of(line)) for c in part]
            )
    return cells


def _parted(inside: Sequence[list[DrawnText]]) -> list[list[list[DrawnText]]]:
    """Return what stands between two lines row by row, where most cells have a text in each."""
    heights: list[float] = []
    for span in sorted((one for cell in inside for one in cell), key=lambda one: -one.y):
        if not heights or heights[-1] - span.y > 0.5 * span.size:
            heights.append(span.y)
    if len(heights) < 2:
        return [list(inside)]
    parts = [
        [[one for one in cell if -0.5 * one.size < one.y - y < 0.5 * one.size] for cell in inside]
        for y in heights
    ]
    filled = sum(map(bool, inside))
    if filled < 2 or any(sum(map(bool, part)) < filled for part in parts):
        return [list(inside)]
    return parts


def _distinct(values: Sequence[float]) -> list[float]:
    """Return values in order, those that are almost the same once."""
    found: list[float] = []
    for value in sorted(values):
        if not found or value - found[-1] > 3:
            found.append(value)
    return found
