"""PowerPoint files: the text of each slide in the order in which it is seen, tables and notes."""

import zipfile
import zlib
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import groupby
from typing import Any

import pptx
from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.exc import PythonPptxError
from pptx.presentation import Presentation
from pptx.slide import Slide

from core.domain.errors import UnsupportedDocument
from core.ingestion.document import (
    Block,
    BlockKind,
    Omission,
    ParsedDocument,
    counted,
    document_of,
    lowered,
    pipe_table,
    raised,
)
from core.ingestion.formats.decoding import check_container
from core.ingestion.formats.office_math import MATH, MATH_PARAGRAPH, diagram_texts, omml_tex

_BROKEN = (
    *(PythonPptxError, SyntaxError, ValueError, LookupError, TypeError, AttributeError),
    *(AssertionError, NotImplementedError, zipfile.BadZipFile, zlib.error, EOFError),
)
"""What the library raises on damaged files; a malformed XML part is a SyntaxError."""
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_TITLES = frozenset(
    {PP_PLACEHOLDER.TITLE, PP_PLACEHOLDER.CENTER_TITLE, PP_PLACEHOLDER.VERTICAL_TITLE}
)
_BODIES = frozenset({PP_PLACEHOLDER.BODY, PP_PLACEHOLDER.OBJECT, PP_PLACEHOLDER.VERTICAL_BODY})
_FURNITURE = frozenset(
    {PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.SLIDE_NUMBER, PP_PLACEHOLDER.HEADER}
)
_UNSEEN_HUNDREDTHS = 150
_LISTED_SLIDES = 10
_SIGN_SHAPES = {
    "alphaLc": "lowerLetter",
    "alphaUc": "upperLetter",
    "romanLc": "lowerRoman",
    "romanUc": "upperRoman",
    "arabic": "decimal",
    "circleNumDb": "decimalEnclosedCircle",
    "circleNumWd": "decimalEnclosedCircle",
    "ea1Chs": "chineseCounting",
    "ea1Cht": "chineseCounting",
    "ea1Jpn": "japaneseCounting",
}
"""The number formats of Word by the names that PowerPoint gives them."""
_SIGN_FRAMES = {"ParenBoth": "({})", "ParenR": "{})", "Period": "{}.", "Minus": "- {}"}
_GRAPHICS = {"chart": "chart", "chartex": "chart", "ole": "embedded object", "diagram": "diagram"}
_NOTES = "Speaker notes:"
"""How a paragraph begins that no slide shows."""
_OVERLAP = 0.4
"""The share of the smaller of two shapes that may overlap where one stands below the other."""


def parse_pptx(data: bytes) -> ParsedDocument:
    """Return the shown slides in order; each block has the number of its slide.

    A slide's title is a heading, "Slide 4" where it has none; the lines of its body are list
    items, and its speaker notes are paragraphs that say so. Hidden slides, hidden
    shapes, shapes outside the slide, struck text and text of at most 1.5 points are left out.

    Raises:
        UnsupportedDocument: when the file is damaged, a bomb, or declares XML entities.
    """
    check_container(data)
    try:
        presentation = pptx.Presentation(BytesIO(data))
        reading = _Slides(presentation)
        blocks = list(reading.blocks())
        warnings = list(reading.blank())
        properties = presentation.core_properties
        title, author = properties.title.strip(), properties.author.strip()
    except _BROKEN as error:
        raise UnsupportedDocument("is a damaged PowerPoint file") from error
    sensible = title if title.lower() != "powerpoint presentation" else ""
    return document_of(
        sensible or None,
        blocks,
        metadata={"author": author} if author else {},
        warnings=warnings,
        left_out=reading.left_out,
    )


_Part = tuple[BlockKind, str, int]


class _Slides:
    """Walks the slides of one presentation, and names what is not read of them."""

    def __init__(self, presentation: Presentation) -> None:
        self.left_out: list[Omission] = []
        self._slides = list(presentation.slides)
        self._width, self._height = presentation.slide_width or 0, presentation.slide_height or 0
        self._blank: list[int] = []
        self._number = 0
        self._furniture: set[str] = set()

    def blocks(self) -> Iterator[Block]:
        for number, slide in enumerate(self._slides, start=1):
            self._number = number
            if slide.element.get("show") in {"0", "false"}:
                self._miss("hidden slide", _words(slide.element))
                continue
            parts = [part for part in self._slide(slide) if part[1].strip()]
            if not parts:
                self._blank.append(self._number)
            elif parts[0][0] is not BlockKind.HEADING:
                parts.insert(0, (BlockKind.HEADING, f"Slide {self._number}", 2))
            for kind, text, level in parts:
                yield Block(kind, text, level, locator={"slide": self._number})

    def blank(self) -> Iterator[str]:
        """Yield a sentence that names the slides without text."""
        if self._blank:
            named = ", ".join(map(str, self._blank[:_LISTED_SLIDES]))
            more = ", …" if len(self._blank) > _LISTED_SLIDES else ""
            yield f"{len(self._blank)} of {len(self._slides)} slides have no text: {named}{more}"

    def _slide(self, slide: Slide) -> Iterator[_Part]:
        """Yield the title first, then the other shapes as they are seen, then the notes."""
        for alternatives in list(slide.element.iter(f"{_MC}AlternateContent")):
            _resolve(alternatives)
        title = slide.shapes.title
        if title is not None:
            first = title.placeholder_format.type == PP_PLACEHOLDER.CENTER_TITLE
            yield BlockKind.HEADING, self._one_line(title.text_frame), 1 if first else 2
        others = [s for s in slide.shapes if title is None or s.shape_id != title.shape_id]
        for shape in _as_seen(others):
            if _is_beside(shape, self._width, self._height):
                self._miss("hidden text", _words(shape.element), needs_words=True)
            else:
                yield from self._shape(shape)
        if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame) is not None:
            for _, line, _ in self._text(notes, is_body=False):
                yield BlockKind.PARAGRAPH, f"{_NOTES} {line.removeprefix('- ')}", 0
        for link in slide.part.rels.values():
            if not link.is_external and link.reltype.endswith("/comments"):
                for comment in _comments(link.target_part.blob):
                    self._miss("comment", comment)

    def _shape(self, shape: Any) -> Iterator[_Part]:
        element = shape.element
        if element.xpath("boolean(./*/p:cNvPr[@hidden='1' or @hidden='true'])"):
            self._miss("hidden text", _words(element), needs_words=True)
        elif hasattr(shape, "shapes"):
            for member in _as_seen(list(shape.shapes)):
                yield from self._shape(member)
        elif getattr(shape, "has_table", False):
            yield BlockKind.TABLE, pipe_table(self._rows(shape.table)), 0
        elif getattr(shape, "has_text_frame", False) and _words(element):
            kind = shape.placeholder_format.type if shape.is_placeholder else None
            if kind in _FURNITURE:
                self._leave_furniture(_words(element))
            else:
                yield from self._text(shape.text_frame, is_body=kind in _BODIES)
        else:
            yield from self._picture(shape)

    def _picture(self, shape: Any) -> Iterator[_Part]:
        """Yield the words of a diagram; of what else is drawn, say that it was."""
        element = shape.element
        if element.tag == f"{_P}pic":
            media = element.iter(f"{_A}videoFile", f"{_A}audioFile", f"{_A}quickTimeFile")
            self._miss("video or sound" if any(True for _ in media) else "picture")
            return
        for data in element.iter(f"{_A}graphicData"):
            kind = _GRAPHICS.get(str(data.get("uri")).rpartition("/")[2], "embedded object")
            texts = diagram_texts(data, shape.part) if kind == "diagram" else []
            for text in texts:
                yield BlockKind.LIST_ITEM, f"- {text}", 1
            program = "".join(str(one.get("progId") or "") for one in data.iter(f"{_P}oleObj"))
            if program.lower().startswith(("equation", "mathtype")):
                kind = "equation"
            if not texts:
                self._miss(kind)
            return
        is_empty = getattr(shape, "is_placeholder", False)
        if not is_empty:
            self._miss("shape")

    def _rows(self, table: Any) -> list[list[str]]:
        """Return the cells; one that spans rows is repeated in each of them."""
        rows: list[list[str]] = []
        for row in table.rows:
            texts: list[str] = []
            for cell in row.cells:
                merged = cell._tc.get("vMerge") in {"1", "true"} and rows
                texts.append(rows[-1][len(texts)] if merged else self._one_line(cell.text_frame))
            rows.append(texts)
        return rows

    def _text(self, frame: Any, *, is_body: bool) -> Iterator[_Part]:
        """Yield list items for a body of several lines or with bullets, else paragraphs."""
        lines = [(one, line) for one in frame.paragraphs if (line := self._line(one))]
        labels = _Labels(frame)
        for paragraph, line in lines:
            label = labels.of(paragraph)
            level = paragraph.level
            if _is_formula(paragraph._p, line):
                yield BlockKind.FORMULA, f"${line}$", 0
            elif label or (is_body and len(lines) > 1) or level:
                yield BlockKind.LIST_ITEM, f"{label or '-'} {line}", level + 1
            else:
                yield BlockKind.PARAGRAPH, line, 0

    def _one_line(self, frame: Any) -> str:
        return " ".join(filter(None, map(self._line, frame.paragraphs)))

    def _line(self, paragraph: Any) -> str:
        texts = []
        for shift, group in groupby(self._pieces(paragraph._p), key=lambda piece: piece[1]):
            text = "".join(piece for piece, _ in group)
            if shift and text.strip():
                text = raised(text) if shift > 0 else lowered(text)
            texts.append(text)
        return " ".join("".join(texts).split())

    def _pieces(self, element: Any) -> Iterator[tuple[str, int]]:
        """Yield the texts of runs, each with 1 where it is raised and -1 where it is lowered."""
        for child in element:
            if child.tag in (f"{_A}r", f"{_A}fld"):
                text, properties = child.findtext(f"{_A}t") or "", child.find(f"{_A}rPr")
                kind, shift = _look(properties)
                if kind:
                    self._miss(kind, text, needs_words=True)
                else:
                    yield text, shift
            elif child.tag == f"{_A}br":
                yield " ", 0
            elif child.tag == MATH:
                if tex := omml_tex(child):
                    yield f"${tex}$", 0
            elif child.tag not in (f"{_A}pPr", f"{_A}endParaRPr"):
                yield from self._pieces(child)

    def _leave_furniture(self, words: str) -> None:
        """Count the words of a footer once."""
        self._miss("header or footer", "" if words in self._furniture else words)
        self._furniture.add(words)

    def _miss(self, kind: str, words: str = "", *, needs_words: bool = False) -> None:
        if words.strip() or not needs_words:
            self.left_out.append(Omission(kind, f"slide {self._number}", len(words.split())))


class _Labels:
    """Counts the numbered lines of a text frame."""

    def __init__(self, frame: Any) -> None:
        self._styles = frame._txBody.find(f"{_A}lstStyle")
        self._counts: dict[int, tuple[str, int]] = {}

    def of(self, paragraph: Any) -> str:
        """Return the number of a line as it is shown, `-` for another bullet of its own."""
        level = paragraph.level
        for deeper in [depth for depth in self._counts if depth > level]:
            del self._counts[deeper]
        properties = self._properties(paragraph)
        numbered = next(
            (one for p in properties if (one := p.find(f"{_A}buAutoNum")) is not None), None
        )
        own = properties[0] if properties else None
        if own is not None and own.find(f"{_A}buChar") is not None:
            return "-"
        if numbered is None or (own is not None and own.find(f"{_A}buNone") is not None):
            self._counts.pop(level, None)
            return ""
        shape, start = str(numbered.get("type") or ""), str(numbered.get("startAt") or "1")
        first = int(start) if start.isdecimal() and len(start) < 6 else 1
        before = self._counts.get(level)
        count = before[1] + 1 if before and before[0] == shape else first
        self._counts[level] = shape, count
        return _numbered(shape, count)

    def _properties(self, paragraph: Any) -> list[Any]:
        own = paragraph._p.find(f"{_A}pPr")
        style = None
        if self._styles is not None:
            style = self._styles.find(f"{_A}lvl{paragraph.level + 1}pPr")
        return [one for one in (own, style) if one is not None]


def _numbered(shape: str, count: int) -> str:
    name = next((name for name in _SIGN_SHAPES if shape.startswith(name)), "arabic")
    frame = _SIGN_FRAMES.get(shape.removeprefix(name), "{}")
    return frame.format(counted(count, _SIGN_SHAPES[name]))


def _look(properties: Any) -> tuple[str, int]:
    """Return as what a run is not seen, or nothing, and whether it is raised or lowered."""
    if properties is None:
        return "", 0
    size, moved = str(properties.get("sz") or ""), str(properties.get("baseline") or "")
    if size.isdigit() and int(size) <= _UNSEEN_HUNDREDTHS:
        return "hidden text", 0
    if properties.get("strike") in {"sngStrike", "dblStrike"}:
        return "struck text", 0
    moved = moved.removesuffix("%")
    by = float(moved) if moved.lstrip("-").replace(".", "", 1).isdecimal() else 0
    return "", (by > 0) - (by < 0)


def _is_formula(paragraph: Any, line: str) -> bool:
    """Return whether a line is nothing but a displayed equation."""
    displayed = next(paragraph.iter(MATH_PARAGRAPH), None)
    return displayed is not None and line[0] == line[-1] == "$" and line.count("$") == 2


def _resolve(alternatives: Any) -> None:
    """Put what PowerPoint shows of `mc:AlternateContent` in its place."""
    parent = alternatives.getparent()
    for name in ("Choice", "Fallback"):
        found = alternatives.find(f"{_MC}{name}")
        if found is not None and len(found):
            place = parent.index(alternatives)
            parent[place : place + 1] = list(found)
            return
    parent.remove(alternatives)


def _as_seen(shapes: Sequence[Any]) -> list[Any]:
    """Return shapes from top to bottom, and from left to right within a row.

    They are cut into rows where nothing stands beside the gap, the rows into columns, and so on.
    """
    placed = [shape for shape in shapes if None not in _box(shape)]
    return [shape for shape in shapes if None in _box(shape)] + _cut(placed)


def _cut(shapes: Sequence[Any]) -> list[Any]:
    for side in (1, 0):
        groups = _apart(shapes, side)
        if len(groups) > 1:
            return [shape for group in groups for shape in _cut(group)]
    return sorted(shapes, key=lambda one: (_box(one)[1], _box(one)[0]))


def _apart(shapes: Sequence[Any], side: int) -> list[list[Any]]:
    """Return groups of shapes between which there is a gap, from left (0) or from the top (1)."""
    groups: list[list[Any]] = []
    end = least = 0
    for shape in sorted(shapes, key=lambda one: _box(one)[side]):
        start, size = _box(shape)[side], _box(shape)[side + 2]
        if groups and start < end - _OVERLAP * min(size, least):
            groups[-1].append(shape)
            end, least = max(end, start + size), min(least, size)
        else:
            groups.append([shape])
            end, least = start + size, size
    return groups


def _box(shape: Any) -> tuple[Any, Any, Any, Any]:
    return shape.left, shape.top, shape.width, shape.height


def _is_beside(shape: Any, width: int, height: int) -> bool:
    """Return whether a shape lies wholly outside the slide."""
    if shape.left is None or shape.width is None or not width:
        return False
    right, bottom = shape.left + shape.width, shape.top + shape.height
    return bool(right <= 0 or bottom <= 0 or shape.left >= width or shape.top >= height)


def _words(element: Any) -> str:
    """Return all text below an element, equations too."""
    found = (one.text or "" for one in element.iter() if str(one.tag).endswith("}t"))
    return " ".join(" ".join(found).split())


def _comments(part: bytes) -> Iterator[str]:
    """Yield the texts of the comments in a part of the file, of either kind."""
    from defusedxml.ElementTree import fromstring

    for one in fromstring(part).iter():
        if str(one.tag).rpartition("}")[2] == "cm":
            yield " ".join(" ".join(one.itertext()).split())
