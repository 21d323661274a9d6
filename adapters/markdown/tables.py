"""Draws tables for platforms that show none: as characters if they are narrow, else a picture."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from wcwidth import width

from adapters.markdown.formula_images import STUMBLES

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

WIDEST = 60
"""Characters in a line that any screen but a phone's shows."""
_OF_PHONE = 40
"""Characters in a line of code that a phone held upright shows."""
_MOST_COLUMNS = 3
_FONT_SIZE = 15.0
_LINE = 20.0
_PADDING = 9.0
_WIDEST_CELLS = (260.0, 200.0, 150.0, 110.0, 80.0, 60.0)
"""What a cell may be wide at most: less, where the table has many."""
_WIDEST_PICTURE, _HIGHEST_PICTURE = 900.0, 2_400.0
_ROWS_IN_PICTURE = 20
_SCALE = 2
_MOST_CHARACTERS = 6_000
_INK, _LINES, _HEAD = "#1f2328", "#c9d1d9", "#eef1f5"

_STUMBLES: tuple[type[Exception], ...] = (*STUMBLES, OSError)
"""What the font's library raises for a font or a glyph that it cannot read."""

Rows = Sequence[Sequence[str]]


def is_wide(rows: Rows) -> bool:
    """Return whether a table is to be a picture: it has many columns, or a phone would break it."""
    return len(rows[0]) > _MOST_COLUMNS or _characters(_widths(rows)) > _OF_PHONE


def drawn(rows: Rows, alignments: Sequence[str]) -> list[str] | None:
    """Return a header, a rule and the rows as aligned lines; None when they are too wide.

    `alignments` has `left`, `right` or `center` for each column; a header is the first row.
    """
    widths = _widths(rows)
    if _characters(widths) > WIDEST:
        return None
    lines = [_line(row, widths, alignments) for row in rows]
    rule = "─┼─".join("─" * columns for columns in widths)
    return [lines[0], rule, *lines[1:]]


def _widths(rows: Rows) -> list[int]:
    return [max(width(cell) for cell in column) for column in zip(*rows, strict=True)]


def _characters(widths: Sequence[int]) -> int:
    """Return how long the lines of a table are."""
    return sum(widths) + 3 * (len(widths) - 1)


def _line(row: Sequence[str], widths: Sequence[int], alignments: Sequence[str]) -> str:
    cells = (_aligned(*cell) for cell in zip(row, widths, alignments, strict=True))
    return " │ ".join(cells).rstrip()


def _aligned(cell: str, columns: int, alignment: str) -> str:
    room = columns - width(cell)
    left = {"right": room, "center": room // 2}.get(alignment, 0)
    return " " * left + cell + " " * (room - left)


def picture(rows: Rows, alignments: Sequence[str]) -> bytes | None:
    """Return a table as a PNG, dark on white, long cells on several lines.

    None where the font lacks a character, or it would be larger than 1,800 x 4,800 pixels. Takes
    half a second of computing, and once some seconds more for the font: call it in a thread.
    """
    from resvg_py import svg_to_bytes

    if sum(len(cell) for row in rows for cell in row) > _MOST_CHARACTERS:
        return None
    try:
        drawing = _drawing()
        if not all(drawing.has(cell) for row in rows for cell in row):
            return None
        svg = drawing.table(rows, alignments)
    except _STUMBLES:
        return None
    return None if svg is None else bytes(svg_to_bytes(svg_string=svg, zoom=_SCALE))


def in_pictures(rows: Rows) -> list[Rows]:
    """Return the rows for each picture of a table, the header first in each."""
    header, *body = rows
    starts = range(0, max(len(body), 1), _ROWS_IN_PICTURE)
    return [[header, *body[start : start + _ROWS_IN_PICTURE]] for start in starts]


class _Drawing:
    """Sets words as outlines, which need no font where they are shown; each glyph is read once."""

    def __init__(self) -> None:
        import ziafont
        from ziafont.font import Font

        # Named, as the library finds its own font by a function that Python deprecates.
        self._font = Font(str(Path(ziafont.__file__).parent / "fonts" / "DejaVuSans.ttf"))
        self._units: int = self._font.info.layout.unitsperem
        self._advances = dict[str, float]()

    def has(self, text: str) -> bool:
        """Return whether the font has every character of a text."""
        return all(c.isspace() or self._font.glyphindex(c) for c in text)

    def table(self, rows: Rows, alignments: Sequence[str]) -> str | None:
        """Return a table as SVG; None: it is too large."""
        from xml.etree import ElementTree

        for widest in _WIDEST_CELLS:
            cells = [[self._wrapped(cell, widest) for cell in row] for row in rows]
            widths = [
                max(self._width(line) for cell in column for line in cell) + 2 * _PADDING
                for column in zip(*cells, strict=True)
            ]
            if sum(widths) <= _WIDEST_PICTURE:
                break
        heights = [max(map(len, row)) * _LINE + 2 * _PADDING for row in cells]
        wide, high = sum(widths), sum(heights)
        if wide > _WIDEST_PICTURE or high > _HIGHEST_PICTURE:
            return None
        svg = ElementTree.Element("svg", xmlns="http://www.w3.org/2000/svg")
        for name, value in (("width", wide), ("height", high)):
            svg.set(name, f"{value:.1f}")
        self._glyphs(svg, rows)
        _box(svg, 0, 0, wide, high, "#ffffff")
        _box(svg, 0, 0, wide, heights[0], _HEAD)
        top = 0.0
        for row, height in zip(cells, heights, strict=True):
            left = 0.0
            for lines, room, alignment in zip(row, widths, alignments, strict=True):
                self._cell(svg, lines, (left, top, room), alignment)
                left += room
            top += height
            _box(svg, 0, top - 1, wide, 1, _LINES)
        return ElementTree.tostring(svg, encoding="unicode")

    def _cell(
        self,
        svg: "Element",
        lines: Sequence[str],
        place: tuple[float, float, float],
        alignment: str,
    ) -> None:
        from xml.etree import ElementTree

        left, top, room = place
        for number, line in enumerate(lines):
            spare = room - 2 * _PADDING - self._width(line)
            x = left + _PADDING + {"right": spare, "center": spare / 2}.get(alignment, 0.0)
            y = top + _PADDING + number * _LINE + _FONT_SIZE
            for character in line:
                if not character.isspace():
                    at = {"href": f"#{_id(character)}", "x": f"{x:.2f}", "y": f"{y:.2f}"}
                    ElementTree.SubElement(svg, "use", at)
                x += self._advance(character)

    def _glyphs(self, svg: "Element", rows: Rows) -> None:
        from xml.etree import ElementTree

        defined = ElementTree.SubElement(svg, "defs")
        for character in sorted({c for row in rows for cell in row for c in cell}):
            glyph = self._font.glyph(character)
            scale = _FONT_SIZE / self._units / glyph.funits_to_points(1)
            if (path := glyph.svgpath(scale_factor=scale)) is not None:
                path.attrib |= {"id": _id(character), "fill": _INK}
                defined.append(path)

    def _wrapped(self, cell: str, widest: float) -> list[str]:
        """Return a cell as lines that are no wider; a longer word is cut."""
        lines, line = list[str](), ""
        for word in cell.split():
            longer = f"{line} {word}".strip()
            if self._width(longer) <= widest:
                line = longer
                continue
            lines += [line] if line else []
            line = word
            while self._width(line) > widest:
                ends = range(len(line) - 1, 1, -1)
                fits = next((n for n in ends if self._width(line[:n]) <= widest), 1)
                lines.append(line[:fits])
                line = line[fits:]
        return [*lines, line]

    def _width(self, line: str) -> float:
        return sum(map(self._advance, line))

    def _advance(self, character: str) -> float:
        if character not in self._advances:
            units = self._font.advance(self._font.glyphindex(character), None)
            self._advances[character] = units * _FONT_SIZE / self._units
        return self._advances[character]


@cache
def _drawing() -> _Drawing:
    return _Drawing()  # reading the font takes long


def _id(character: str) -> str:
    return f"u{ord(character):x}"


def _box(svg: "Element", x: float, y: float, wide: float, high: float, fill: str) -> None:
    from xml.etree import ElementTree

    box = ElementTree.SubElement(svg, "rect", fill=fill)
    for name, value in (("x", x), ("y", y), ("width", wide), ("height", high)):
        box.set(name, f"{value:.1f}")
