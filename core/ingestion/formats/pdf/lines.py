"""Reads the lines of a PDF page with their sizes and places, hidden text left out."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pypdf import PageObject

_MIN_SIZE = 1.5
_INVISIBLE_MODES = frozenset({3, 7})
_SHOW = frozenset({b"Tj", b"TJ", b"'", b'"'})
_FILL = frozenset({b"f", b"F", b"f*", b"B", b"B*", b"b", b"b*"})
_PICTURE = frozenset({b"sh", b"BI", b"INLINE IMAGE", b"Do"})
_MONOSPACED = ("courier", "mono", "consolas", "menlo", "cmtt", "typewriter", "inconsolata")
_Matrix = Sequence[float]


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


@dataclass(slots=True)
class _Graphics:
    """The part of the graphics state that decides whether text can be seen."""

    mode: int = 0
    white: bool = False
    size: float = 12.0


class _Ink:
    """Blanks the text that a page shows invisibly, before the library decodes it."""

    def __init__(self, page: PageObject) -> None:
        box = page.mediabox
        self._left, self._right = float(box.left) - 1, float(box.right) + 1
        self._bottom, self._top = float(box.bottom) - 1, float(box.top) + 1
        self._now = _Graphics()
        self._stack: list[_Graphics] = []
        self._forms = 0
        self._painted = False

    def before(self, operator: bytes, operands: list[Any], cm: _Matrix, tm: _Matrix) -> None:
        match operator:
            case b"q" | b"Do":
                self._stack.append(_Graphics(self._now.mode, self._now.white, self._now.size))
                self._forms += operator == b"Do"
            case b"Q" if self._stack:
                self._now = self._stack.pop()
            case b"Tr" if operands:
                self._now.mode = int(_number(operands[0]))
            case b"Tf" if len(operands) > 1:
                self._now.size = _number(operands[1])
            case b"g" | b"rg" | b"k" | b"sc" | b"scn":
                self._now.white = _is_white(operator, operands)
        if operator in _SHOW and operands and self._is_unseen(cm, tm):
            operands[-1] = [] if operator == b"TJ" else b""
        self._painted |= operator in _PICTURE or (operator in _FILL and not self._now.white)

    def after(self, operator: bytes, operands: list[Any], cm: _Matrix, tm: _Matrix) -> None:
        if operator == b"Do" and self._stack:
            self._now = self._stack.pop()
            self._forms -= 1

    def _is_unseen(self, cm: _Matrix, tm: _Matrix) -> bool:
        now = self._now
        if now.mode in _INVISIBLE_MODES or (now.white and not self._painted):
            return True
        if self._forms:
            return False  # a form has a scale and an origin of its own
        x, y, scale = _place(cm, tm)
        on_page = self._left <= x <= self._right and self._bottom <= y <= self._top
        return not on_page or abs(now.size) * scale < _MIN_SIZE


@dataclass(slots=True)
class _LineBuilder:
    """Collects what the library reports until a line ends."""

    page: int
    lines: list[PdfLine] = field(default_factory=list)
    _text: list[str] = field(default_factory=list)
    _start: tuple[float, float] = (0.0, 0.0)
    _size: float = 0.0
    _widest: int = 0
    _monospaced: bool = False

    def piece(
        self, text: str, cm: _Matrix, tm: _Matrix, font: Mapping[str, Any] | None, size: float
    ) -> None:
        for index, part in enumerate(text.split("\n")):
            if index:
                self.end()
            if part.strip():
                self._append(part, cm, tm, font, size)
            elif part and self._text:
                self._text.append(" ")

    def _append(
        self, text: str, cm: _Matrix, tm: _Matrix, font: Mapping[str, Any] | None, size: float
    ) -> None:
        x, y, scale = _place(cm, tm)
        if not self._text:
            self._start = (x, y)
        if len(text) > self._widest:
            self._widest, self._size = len(text), round(abs(size) * scale, 1)
            self._monospaced = _is_monospaced(font)
        self._text.append(text)

    def end(self) -> None:
        text = "".join(self._text).strip()
        if text:
            x, y = self._start
            self.lines.append(PdfLine(text, x, y, self._size, self._monospaced, self.page))
        self._text.clear()
        self._size, self._widest, self._monospaced = 0.0, 0, False


def page_lines(page: PageObject, number: int) -> list[PdfLine]:
    """Return the visible lines of a page in the order of its content.

    Left out: invisible render modes, text under 1.5 points, outside the page, and white text
    on a page where nothing was painted before it. A page of which everything is invisible
    is a scan with recognised text, and is kept as such.
    """
    if seen := _extract(page, number, _Ink(page)):
        return seen
    return [replace(line, recognised=True) for line in _extract(page, number, None)]


def _extract(page: PageObject, number: int, ink: _Ink | None) -> list[PdfLine]:
    builder = _LineBuilder(number)
    page.extract_text(
        visitor_text=builder.piece,
        visitor_operand_before=ink.before if ink else None,
        visitor_operand_after=ink.after if ink else None,
    )
    builder.end()
    return builder.lines


def _place(cm: _Matrix, tm: _Matrix) -> tuple[float, float, float]:
    """Return where text starts on the page and by how much it is enlarged."""
    x = tm[4] * cm[0] + tm[5] * cm[2] + cm[4]
    y = tm[4] * cm[1] + tm[5] * cm[3] + cm[5]
    across = tm[2] * cm[0] + tm[3] * cm[2]
    up = tm[2] * cm[1] + tm[3] * cm[3]
    return x, y, math.hypot(across, up)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def _is_white(operator: bytes, operands: Sequence[Any]) -> bool:
    """Return whether a colour is white; one operand of `scn` may be any colour space."""
    values = [_number(value) for value in operands]
    if operator == b"g":
        return values[:1] == [1.0]
    if len(values) == 3:
        return min(values) >= 0.98
    return len(values) == 4 and max(values) <= 0.02


def _is_monospaced(font: Mapping[str, Any] | None) -> bool:
    name = str(font.get("/BaseFont", "")).lower() if font else ""
    return any(part in name for part in _MONOSPACED)
