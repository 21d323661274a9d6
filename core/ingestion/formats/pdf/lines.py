"""Puts the text of a PDF page together: words and lines, raised and lowered text, directions."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from core.ingestion.formats.markup import lowered, raised
from core.ingestion.formats.pdf.content import WIDE_GAP, DrawnText
from core.ingestion.formats.pdf.fonts import is_right_to_left

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
