"""Puts the text of a PDF page together: words and lines, raised and lowered text, directions."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from statistics import median

from core.ingestion.document import lowered, raised
from core.ingestion.formats.pdf_content import WIDE_GAP, DrawnText, Line, is_right_to_left

_SAME_BASELINE = 0.2
"""How far apart the baselines of one line may be, as a share of the size of type."""
_SMALLER = 0.87
_LEAST_SHIFT, _MOST_SHIFT = 0.06, 0.7
_BESIDE = 0.4
_MOST_SHIFTED = 24
_NEAR = 4
"""Rows up and down in which the text may be that something is raised beside."""
_LABEL_GAP = 4.0
_STANDING = {"◦": "°", "∘": "°", "°": "°", "′": "′", "″": "″", "∗": "*"}
"""Signs that stand high by themselves."""
_OPERATORS = frozenset({*"∑∏∫∮⋃⋂", "lim", "max", "min", "sup", "inf", "lim sup", "lim inf"})
_LABEL = re.compile(r"\W|[(\[]?(?:\d{1,3}|\w)[.):\]]?|[(\[]?[ivxlIVXL]{1,5}[.)\]]")
_ACCENTED = re.compile(r"([¨´ˇ˚¸]) ?([A-Za-zı])")
_ACCENTS = dict(zip("¨´ˇ˚¸", "\u0308\u0301\u030c\u030a\u0327", strict=True))
_DIGITS = "0-9\u0660-\u0669\u06f0-\u06f9"
_LATIN = f"A-Za-z\u00c0-\u024f{_DIGITS}"
_WORD = rf"[{_LATIN}](?:[{_LATIN}.,:/+'\u2019_@-]*[{_LATIN}])?"
_LEFT_TO_RIGHT = re.compile(
    rf"(?![{_DIGITS}]){_WORD}(?: {_WORD})*"
    rf"|[$€£¥]?[{_DIGITS}](?:[{_DIGITS}.,:/+\u2013-]*[{_DIGITS}])?[%°]?"
)
"""What runs from left to right within text from right to left."""
_LEFTWARDS = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
_LEFTWARDS_WORD = re.compile(f"[{_LEFTWARDS}]+")
_LATIN_WORD = re.compile("[A-Za-z\u00c0-\u024f]+")
_RIGHT_TO_LEFT = re.compile(rf"[{_LEFTWARDS}](?:[{_LEFTWARDS}\s\d]*[{_LEFTWARDS}])?")
_MIRRORED = str.maketrans("()[]{}<>«»", ")(][}{><»«")
_FEWEST_LINES = 3
_MOST_COMPARISONS = 1_000_000


@dataclass(frozen=True, slots=True)
class PdfLine:
    """One line of text; `x`, `y` of its start and `size` in points, y growing upwards."""

    text: str
    x: float
    y: float
    size: float
    monospaced: bool
    page: int = 0
    recognised: bool = False
    """Whether a program read it from a picture of the page."""
    advance: float = 0.0
    """How wide a letter is in a typewriter font; 0: that is not known."""
    cells: tuple[str, ...] = ()
    """For a row of a table: its cells."""
    places: tuple[tuple[float, str], ...] = ()
    """For a line in a typewriter font: where its pieces begin."""
    parts: tuple[str, ...] = ()
    """What stands apart on the line, if more than one text does."""


@dataclass(slots=True)
class TextPiece:
    """Text of one line up to a wide gap."""

    text: str
    x: float
    right: float
    y: float
    size: float
    monospaced: bool
    advance: float
    places: tuple[tuple[float, str], ...] = ()
    table: tuple[tuple[str, ...], ...] = ()
    """The cells of a table, which has no text besides."""

    @property
    def words(self) -> int:
        """How many words it has."""
        return self.text.count(" ") + 1


Row = list[TextPiece]


# --- words and lines


def rows_of(spans: Sequence[DrawnText]) -> list[list[DrawnText]]:
    """Return spans by their baselines, from the top; raised and lowered ones with theirs."""
    rows: list[list[DrawnText]] = []
    y = size = 0.0
    for span in sorted(spans, key=lambda one: (-one.y, one.x)):
        if rows and y - span.y <= _SAME_BASELINE * max(size, span.size):
            rows[-1].append(span)
            size = max(size, span.size)
        else:
            rows.append([span])
            y, size = span.y, span.size
    _shift(rows)
    return [sorted(row, key=lambda one: one.x) for row in rows if row]


def _shift(rows: list[list[DrawnText]]) -> None:
    """Move small text that stands high or low beside larger text into the row of that."""
    largest = [max(span.size for span in row) for row in rows]
    left = _MOST_COMPARISONS
    for index, row in enumerate(rows):
        if left < 0:
            return  # a page of many thousand pieces is a drawing
        near = range(max(index - _NEAR, 0), min(index + _NEAR + 1, len(rows)))
        most = max(largest[other] for other in near)
        small = [span for span in row if span.size < _SMALLER * most]
        left -= len(small) * sum(len(rows[other]) for other in near)
        for span in [span for span in row if span.text in _ACCENTS]:
            _put_on_letter(span, row, [rows[other] for other in near])
        for span in [span for span in small if span in row]:
            _put_beside_operator(span, row, [rows[other] for other in near])
        for span in sorted(small, key=lambda one: one.x):
            if span not in row or len(span.text) > _MOST_SHIFTED:
                continue
            found = (
                (abs(span.y - one.y), other, one)
                for other in near
                for one in rows[other]
                if _stands_by(span, one)
            )
            best = min(found, key=lambda found: found[0], default=None)
            if best is not None:
                _, other, base = best
                above = span.y - base.y if not base.shift else base.shift
                span.shift = 1 if above > 0 else -1
                if other != index:
                    row.remove(span)
                    rows[other].append(span)


def _put_on_letter(
    accent: DrawnText, row: list[DrawnText], near: Sequence[list[DrawnText]]
) -> None:
    """Let an accent that is drawn above a letter stand before it."""
    middle = (accent.x + accent.right) / 2
    for other in near:
        for span in other:
            first = span.x <= middle <= span.x + 0.9 * span.size
            if span is not accent and first and 0 <= accent.y - span.y < 0.5 * span.size:
                row.remove(accent)
                accent.x, accent.right, accent.y = span.x - 0.01, span.x, span.y
                accent.spaced, span.spaced = (False, False), (False, span.spaced[1])
                other.append(accent)
                return


def _put_beside_operator(
    limit: DrawnText, row: list[DrawnText], near: Sequence[list[DrawnText]]
) -> None:
    """Let what stands above or below a large operator follow it, raised or lowered."""
    middle = (limit.x + limit.right) / 2
    for other in near:
        for sign in other:
            reach = 0.7 * sign.size
            if sign.text not in _OPERATORS or not sign.x - reach <= middle <= sign.right + reach:
                continue
            by = limit.y - sign.y
            if 0.5 * sign.size < abs(by) < 2.3 * sign.size:
                row.remove(limit)
                limit.shift = 1 if by > 0 else -1
                start = sign.right + (0.2 if by > 0 else 0.1) + 0.001 * (limit.x - sign.x)
                limit.x, limit.right = start, start
                other.append(limit)
                return


def _stands_by(span: DrawnText, base: DrawnText) -> bool:
    """Return whether small text is raised or lowered beside larger text, or goes on from such."""
    if span is base:
        return False
    after, before = span.x - base.right, base.x - span.right
    reach = _BESIDE * max(base.size, span.size)
    if not (-reach <= after <= reach or -reach <= before <= reach):
        return False
    if base.shift:
        alike = abs(span.size - base.size) <= 0.2 * base.size
        return (
            alike
            and abs(span.y - base.y) <= 0.1 * base.size
            and after >= -reach
            and base.x < span.x
        )
    by = abs(span.y - base.y)
    is_smaller = span.size < _SMALLER * base.size
    return is_smaller and _LEAST_SHIFT * base.size <= by <= _MOST_SHIFT * base.size


def segments_of(row: Sequence[DrawnText]) -> Iterator[TextPiece]:
    """Yield the text of a row, cut at wide gaps."""
    tracking = _tracking(row)
    spans: list[DrawnText] = []
    for span in row:
        if spans and _repeats(span, spans[-1]):
            continue
        if spans and _is_cut(spans, span, tracking):
            yield _segment(spans, tracking)
            spans = []
        spans.append(span)
    yield _segment(spans, tracking)


def _repeats(span: DrawnText, last: DrawnText) -> bool:
    """Return whether the same text was drawn twice, to look bold."""
    return span.text == last.text and abs(span.x - last.x) < 0.2 * span.size


def _is_cut(spans: Sequence[DrawnText], span: DrawnText, tracking: float) -> bool:
    gap = span.x - max(one.right for one in spans)
    if spans[-1].font.monospaced and span.font.monospaced:
        return False
    if gap <= (WIDE_GAP + 1.25 * tracking) * max(span.size, spans[-1].size):
        return False
    is_label = len(spans) == 1 and _LABEL.fullmatch(spans[0].text) is not None
    is_label = is_label and not span.font.monospaced
    return not (is_label and gap < _LABEL_GAP * span.size)


def _tracking(row: Sequence[DrawnText]) -> float:
    """Return by how much the single letters of a row are set apart; 0 where they are not."""
    gaps = [
        (after.x - before.right) / before.size
        for before, after in pairwise(row)
        if len(before.text) == len(after.text) == 1 and before.size > 0
    ]
    if len(gaps) < _FEWEST_LINES or sum(gap > 0.12 for gap in gaps) < 0.8 * len(gaps):
        return 0.0
    return median(gaps)


def _segment(spans: Sequence[DrawnText], tracking: float) -> TextPiece:
    pieces: list[tuple[str, int]] = []
    right = spans[0].x
    last: DrawnText | None = None
    for span in spans:
        space = _space(last, span, right, tracking) if last is not None else ""
        pieces.append((space + span.text, span.shift))
        right = max(right, span.right)
        last = span
    letters = sum(len(span.text) for span in spans)
    fixed = sum(len(span.text) for span in spans if span.font.monospaced)
    widest = max(spans, key=lambda span: len(span.text))
    monospaced = fixed >= 0.9 * letters
    text = _readable(_joined(pieces), spans, monospaced=monospaced)
    base = next((span for span in spans if not span.shift), spans[0])
    return TextPiece(
        *(text, spans[0].x, right, base.y, round(widest.size, 1), monospaced),
        advance=widest.font.space * widest.size if monospaced else 0.0,
        places=tuple((x, part) for span in spans for x, _, part in span.parts)
        if monospaced
        else (),
    )


def _space(last: DrawnText, span: DrawnText, right: float, tracking: float) -> str:
    gap = span.x - right
    if last.font.monospaced and span.font.monospaced:
        width = span.font.space * span.size or 1.0
        return " " * max(round(gap / width), int(last.spaced[1] or span.spaced[0]))
    if last.spaced[1] or span.spaced[0]:
        return " "
    word = min(last.font.word_gap, span.font.word_gap) * min(last.size, span.size)
    if last.shift != span.shift and span.shift:
        word = max(word, 0.2 * last.size)
    return " " if gap > word + tracking * 1.25 * last.size else ""


def _joined(pieces: Sequence[tuple[str, int]]) -> str:
    """Return pieces as one text, those raised or lowered together written as such."""
    texts: list[str] = []
    position = 0
    while position < len(pieces):
        text, shift = pieces[position]
        position += 1
        while position < len(pieces) and pieces[position][1] == shift:
            text += pieces[position][0]
            position += 1
        if shift and text.strip() in _STANDING:
            text = _STANDING[text.strip()]
        elif shift and text.strip():
            lead = " " if text[0] == " " else ""
            text = lead + (raised(text) if shift > 0 else lowered(text))
        texts.append(text)
    return "".join(texts)


def _readable(text: str, spans: Sequence[DrawnText], *, monospaced: bool) -> str:
    """Return text as it is read: accents on their letters, right to left turned around."""
    if text.isascii():
        return text
    if not monospaced:
        text = _ACCENTED.sub(_accented, text)
    if any(map(is_right_to_left, text)):
        text = _in_order(text)
    return text


def _accented(match: re.Match[str]) -> str:
    """Return a letter with the accent that was drawn over it, where there is such a letter."""
    letter = "i" if match[2] == "ı" else match[2]
    composed = unicodedata.normalize("NFC", letter + _ACCENTS[match[1]])
    return composed if len(composed) == 1 else match[0]


def _in_order(text: str) -> str:
    """Return text that was drawn from left to right in the order in which it is read."""
    text = "".join(
        unicodedata.normalize("NFKC", one)[::-1] if 0xFB1D <= ord(one) <= 0xFEFC else one
        for one in text
    )
    if is_leftwards(text):
        return _turned_around(text)
    return _RIGHT_TO_LEFT.sub(lambda run: _turned_around(run[0]), text)


def _turned_around(text: str) -> str:
    """Return drawn text from right to left as it is read; Latin words and numbers stay."""
    pieces: list[str] = []
    end = 0
    for run in _LEFT_TO_RIGHT.finditer(text):
        pieces += [text[end : run.start()][::-1], run[0]]
        end = run.end()
    pieces.append(text[end:][::-1])
    turned = "".join(reversed(pieces))
    return turned if _opens_first(turned) else turned.translate(_MIRRORED)


def _opens_first(text: str) -> bool:
    """Return whether brackets are opened before they are closed; some programs turn their signs."""
    first = next((one for one in text if one in "()[]{}"), "(")
    return first in "([{"


def is_leftwards(text: str) -> bool:
    """Return whether a text as a whole runs from right to left."""
    leftwards = len(_LEFTWARDS_WORD.findall(text))
    return leftwards > 0 and leftwards >= len(_LATIN_WORD.findall(text))


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
