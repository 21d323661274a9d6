"""Turns an answer's Markdown into a platform's dialect of it, built again from what it means."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from markdown_it.tree import SyntaxTreeNode
from wcwidth import width

from adapters.chat.markdown.formulas import STUMBLES
from adapters.chat.markdown.layout import visible, without_controls
from core.domain.links import one_line
from core.domain.markdown import CodeKind, code_in, parser

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


_RULE = "─" * 20
_GAP = "\u200b"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one platform writes what Markdown means."""

    marks: Mapping[str, str]
    """What stands around `em`, `strong` and `s`."""
    deepest_heading: int
    """The level up to which headings are headings; deeper ones are bold."""
    bullet: str
    escape: Callable[[str], str]
    """Returns words that are shown as they are, notify no one and link nowhere."""
    disarm: Callable[[str], str]
    """The same where no Markdown is shown."""
    code_span: Callable[[str], str]
    fence: Callable[[str, str], str]
    """Returns a block of code with its language."""


@dataclass(frozen=True, slots=True)
class _Place:
    """What surrounds a part of the text."""

    dialect: Dialect
    marks: frozenset[str] = frozenset()
    nested: bool = False
    """Inside a list or a quote, where platforms know no quotes and headings."""

    @property
    def bold(self) -> "_Place":
        """The same place in bold."""
        return replace(self, marks=self.marks | {self.dialect.marks["strong"]})


def rendered(markdown: str, dialect: Dialect) -> str:
    """Return the text in a dialect: no one is notified, nothing is a link.

    Links become their labels, images their descriptions, HTML is shown as it is written.
    Tables become aligned characters, or lists where they are too wide.
    """
    tree = SyntaxTreeNode(parser().parse(without_controls(markdown)))
    return _blocks(tree.children, _Place(dialect))


def as_written(text: str, dialect: Dialect) -> str:
    """Return words of a book or a reader in a dialect: their code is code, all else is literal."""
    shown, position = "", 0
    for code in code_in(text):
        shown += dialect.escape(text[position : code.start])
        if code.kind is CodeKind.SPAN:
            shown += dialect.code_span(code.content)
        else:
            feed = "\n" if shown and not shown.endswith("\n") else ""
            shown += f"{feed}{dialect.fence(code.content, code.info)}"
        position = code.end
    return shown + dialect.escape(text[position:])


def cells(table: SyntaxTreeNode, dialect: Dialect) -> list[list[str]]:
    """Return the rows of a table, the header first, each cell as a line in a dialect."""
    place = _Place(dialect)
    rows = [row.children for part in table.children for row in part.children]
    return [[_blocks_of_line(cell, place) for cell in row] for row in rows]


@dataclass(frozen=True, slots=True)
class WideTable:
    """A table that is too wide for a phone as characters, and where it stands in its text."""

    first: int
    end: int
    """Its lines in the text."""
    rows: tuple[tuple[str, ...], ...]
    """What its cells say, the header first."""
    alignments: tuple[str, ...]
    """`left`, `right` or `center`, or nothing, for each column."""


def wide_tables(markdown: str) -> list[WideTable]:
    """Return the tables that are to be pictures where a platform has no tables."""
    tree = SyntaxTreeNode(parser().parse(without_controls(markdown)))
    tables = (node for node in tree.children if node.type == "table" and node.map)
    return [found for node in tables if (found := _wide_table(node)) is not None]


def _wide_table(node: SyntaxTreeNode) -> WideTable | None:
    rows = tuple(
        tuple(visible(_plain(cell)).strip() for cell in row.children)
        for part in node.children
        for row in part.children
    )
    if not is_wide(rows):
        return None
    assert node.map is not None
    return WideTable(*node.map, rows, alignments_of(node))


def alignments_of(table: SyntaxTreeNode) -> tuple[str, ...]:
    """Return how the columns of a table are aligned, as `WideTable.alignments`."""
    header = table.children[0].children[0]
    return tuple(str(cell.attrs.get("style", "")).rpartition(":")[2] for cell in header.children)


def plain_text(
    markdown: str, words: Callable[[str], str] = str, code: Callable[[str], str] = str
) -> str:
    """Return what Markdown says, on one line, for where none is shown.

    Args:
        words: Changes its prose.
        code: Changes its code.
    """
    line = one_line(without_controls(markdown))
    return _plain(SyntaxTreeNode(parser().parseInline(line)), words, code)


def plain_blocks(markdown: str) -> str:
    """Return what Markdown of several blocks says, on one line; a dot follows each title."""
    tree = SyntaxTreeNode(parser().parse(without_controls(markdown)))
    return " ".join(" ".join(_said_in(tree)).split())


def _said_in(node: SyntaxTreeNode) -> Iterator[str]:
    if node.type in {"fence", "code_block"}:
        yield without_controls(node.content)
    elif node.type == "inline":
        yield _plain(node)
    else:
        for child in node.children:
            yield from _said_in(child)
        if node.type == "heading" and node.next_sibling is not None:
            yield "·"


def _blocks(nodes: Sequence[SyntaxTreeNode], place: _Place) -> str:
    gap = "\n" if place.nested else "\n\n"
    text = ""
    for node in nodes:
        block = _block(node, place)
        if text and block:
            text += gap if not text.rpartition("\n")[2].startswith("#") else "\n"
        text += block
    return text


def _block(node: SyntaxTreeNode, place: _Place) -> str:
    match node.type:
        case "heading":
            return _heading(node, place)
        case "fence" | "code_block":
            return place.dialect.fence(node.content, node.info if node.type == "fence" else "")
        case "hr":
            return _RULE
        case "blockquote":
            return _quote(node, place)
        case "bullet_list" | "ordered_list":
            return _list(node, place)
        case "table":
            return _table(node, place)
        case _:
            return "".join(_inline(child, place) for child in node.children)


def _heading(node: SyntaxTreeNode, place: _Place) -> str:
    level = int(node.tag[1])
    if level <= place.dialect.deepest_heading and not place.nested:
        title = _blocks_of_line(node, place)
        return f"{'#' * level} {title}" if title else ""
    title, mark = _blocks_of_line(node, place.bold), place.dialect.marks["strong"]
    return f"{mark}{title}{mark}" if title else ""


def _blocks_of_line(node: SyntaxTreeNode, place: _Place) -> str:
    return "".join(_inline(child, place) for child in node.children).replace("\n", " ").strip()


def _quote(node: SyntaxTreeNode, place: _Place) -> str:
    text = _blocks(node.children, replace(place, nested=True))
    if place.nested or not text:
        return text
    return "\n".join(f"> {line}" for line in text.split("\n"))


def _list(node: SyntaxTreeNode, place: _Place) -> str:
    first = int(node.attrs.get("start", 1))
    items = []
    for number, item in enumerate(node.children, first):
        mark = place.dialect.bullet if node.type == "bullet_list" else f"{number}. "
        text = _blocks(item.children, replace(place, nested=True))
        items.append(mark + text.replace("\n", "\n" + " " * len(mark)))
    return "\n".join(items)


def _table(node: SyntaxTreeNode, place: _Place) -> str:
    dialect = place.dialect
    rows = [row.children for part in node.children for row in part.children]
    plain = [[_plain(cell, dialect.disarm).strip() for cell in row] for row in rows]
    if lines := drawn(plain, alignments_of(node)):
        return dialect.fence("\n".join(lines), "")
    header, *body = [[_blocks_of_line(cell, place) for cell in row] for row in rows]
    bold = [_blocks_of_line(cell, place.bold) for cell in rows[0]]
    records = [_record(bold, row, dialect) for row in body]
    return "\n".join(records or (f"{dialect.bullet}{name}" for name in header))


def _record(header: Sequence[str], row: Sequence[str], dialect: Dialect) -> str:
    """Return a row of a table as a list item, with an item for each further column."""
    mark, bullet = dialect.marks["strong"], dialect.bullet
    lines = [
        f"{mark}{name}:{mark} {cell}" if name else cell
        for name, cell in zip(header, row, strict=True)
    ]
    return bullet + f"\n  {bullet}".join(lines)


def _plain(
    node: SyntaxTreeNode, words: Callable[[str], str] = str, code: Callable[[str], str] = str
) -> str:
    """Return what a node says without markup, as `plain_text` does."""
    if node.type == "text":
        return words(node.content)
    if node.type == "code_inline":
        return code(without_controls(node.content))
    if node.type in {"softbreak", "hardbreak"}:
        return " "
    return "".join(_plain(child, words, code) for child in node.children)


def _inline(node: SyntaxTreeNode, place: _Place) -> str:
    """Return a run of text; neighbouring words are joined first, so no trap closes late."""
    text, words = "", ""
    for is_markup, part in [*_parts(node, place), (True, "")]:
        if not is_markup:
            words += part
            continue
        for piece in (place.dialect.escape(words), part):
            joins_ticks = text.endswith("`") and piece.startswith("`")
            text += _GAP + piece if joins_ticks else piece
        words = ""
    return text


def _parts(node: SyntaxTreeNode, place: _Place) -> Iterator[tuple[bool, str]]:
    """Yield what a run consists of: words to be escaped, and markup to be kept."""
    dialect, marks = place.dialect, place.marks
    match node.type:
        case "text":
            yield False, node.content
        case "softbreak":
            yield False, " "
        case "hardbreak":
            yield False, "\n"
        case "code_inline":
            yield True, dialect.code_span(node.content)
        case "image":
            yield False, _plain(node)
        case "em" | "strong" | "s" if (mark := dialect.marks[node.type]) not in marks:
            within = replace(place, marks=marks | {mark})
            inner = [part for child in node.children for part in _parts(child, within)]
            shown = any(visible(part).strip() for _, part in inner)
            yield from [(True, mark), *inner, (True, mark)] if shown else inner
        case _:
            for child in node.children:
                yield from _parts(child, place)
