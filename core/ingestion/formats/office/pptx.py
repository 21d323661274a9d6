"""PowerPoint files: the text of each slide, its tables and its speaker notes."""

import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pptx
from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.exc import PythonPptxError
from pptx.presentation import Presentation
from pptx.slide import Slide

from core.errors import UnsupportedDocument
from core.ingestion.document import Block, BlockKind, ParsedDocument, document_of
from core.ingestion.formats.containers import check_container
from core.ingestion.formats.markup import pipe_table
from core.ingestion.formats.office.math import MATH, omml_tex

_BROKEN = (
    *(PythonPptxError, SyntaxError, ValueError, LookupError, TypeError, AttributeError),
    *(AssertionError, NotImplementedError, zipfile.BadZipFile, zlib.error, EOFError),
)
"""What the library raises on damaged files; a malformed XML part is a SyntaxError."""
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_TITLES = frozenset(
    {PP_PLACEHOLDER.TITLE, PP_PLACEHOLDER.CENTER_TITLE, PP_PLACEHOLDER.VERTICAL_TITLE}
)
_BODIES = frozenset({PP_PLACEHOLDER.BODY, PP_PLACEHOLDER.OBJECT, PP_PLACEHOLDER.VERTICAL_BODY})
_FURNITURE = frozenset(
    {PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.SLIDE_NUMBER, PP_PLACEHOLDER.HEADER}
)
_UNSEEN_HUNDREDTHS = 150
_FIGURES = ".//a:graphicData[not(contains(@uri, '/table'))]"
_LISTED_SLIDES = 10


def parse_pptx(data: bytes) -> ParsedDocument:
    """Return the shown slides in order; each block has the number of its slide.

    A slide's title is a heading, the lines of its body are list items, and its speaker notes
    are paragraphs that begin with "Notes:". Hidden slides, hidden shapes, shapes outside the
    slide and text of at most 1.5 points are left out.

    Raises:
        UnsupportedDocument: when the file is damaged, a bomb, or declares XML entities.
    """
    check_container(data)
    try:
        presentation = pptx.Presentation(BytesIO(data))
        blocks = list(_presentation_blocks(presentation))
        with_text = {block.locator["slide"] for block in blocks if block.text.strip()}
        warnings = list(_left_out(presentation, with_text))
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
    )


def _presentation_blocks(presentation: Presentation) -> Iterator[Block]:
    width, height = presentation.slide_width or 0, presentation.slide_height or 0
    for number, slide in enumerate(presentation.slides, start=1):
        if _is_hidden(slide):
            continue
        for kind, text, level in _slide_parts(slide, width, height):
            yield Block(kind, text, level, locator={"slide": number})


def _is_hidden(slide: Slide) -> bool:
    return slide.element.get("show") in {"0", "false"}


def _left_out(presentation: Presentation, with_text: set[int]) -> Iterator[str]:
    """Yield a sentence for each kind of slide or figure whose text does not go in."""
    slides = list(enumerate(presentation.slides, start=1))
    hidden = [number for number, slide in slides if _is_hidden(slide)]
    blank = [number for number, _ in slides if number not in with_text and number not in hidden]
    figures = sum(len(slide.element.xpath(_FIGURES)) for _, slide in slides)
    for numbers, what in ((hidden, "are hidden"), (blank, "have no text")):
        if numbers:
            named = ", ".join(map(str, numbers[:_LISTED_SLIDES]))
            more = ", …" if len(numbers) > _LISTED_SLIDES else ""
            yield f"{len(numbers)} of {len(slides)} slides {what}: {named}{more}"
    if figures:
        yield f"the text of {figures} charts, diagrams and embedded objects was left out"


_Part = tuple[BlockKind, str, int]


def _slide_parts(slide: Slide, width: int, height: int) -> Iterator[_Part]:
    """Yield the title first, then the other shapes in the file's order, then the notes."""
    title = slide.shapes.title
    if title is not None:
        first = title.placeholder_format.type == PP_PLACEHOLDER.CENTER_TITLE
        yield BlockKind.HEADING, _one_line(title.text_frame), 1 if first else 2
    for shape in slide.shapes:
        is_title = title is not None and shape.shape_id == title.shape_id
        if not is_title and not _is_beside(shape, width, height):
            yield from _shape_parts(shape)
    if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame) is not None:
        for line, _ in _lines(notes):
            yield BlockKind.PARAGRAPH, f"Notes: {line}", 0


def _is_beside(shape: Any, width: int, height: int) -> bool:
    """Return whether a shape lies wholly outside the slide."""
    if shape.left is None or shape.width is None or not width:
        return False
    right, bottom = shape.left + shape.width, shape.top + shape.height
    return bool(right <= 0 or bottom <= 0 or shape.left >= width or shape.top >= height)


def _shape_parts(shape: Any) -> Iterator[_Part]:
    if shape.element.xpath("boolean(./*/p:cNvPr[@hidden='1' or @hidden='true'])"):
        return
    if hasattr(shape, "shapes"):
        for member in shape.shapes:
            yield from _shape_parts(member)
    elif shape.has_table:
        rows = [[_one_line(cell.text_frame) for cell in row.cells] for row in shape.table.rows]
        yield BlockKind.TABLE, pipe_table(rows), 0
    elif shape.has_text_frame:
        kind = shape.placeholder_format.type if shape.is_placeholder else None
        if kind not in _FURNITURE:
            yield from _text_parts(shape.text_frame, is_body=kind in _BODIES)


def _text_parts(frame: Any, *, is_body: bool) -> Iterator[_Part]:
    """Yield list items for a body of several lines or with bullets, else paragraphs."""
    lines = list(_lines(frame))
    for line, level in lines:
        if (is_body and len(lines) > 1) or level:
            yield BlockKind.LIST_ITEM, f"- {line}", level + 1
        else:
            yield BlockKind.PARAGRAPH, line, 0


def _one_line(frame: Any) -> str:
    return " ".join(line for line, _ in _lines(frame))


def _lines(frame: Any) -> Iterator[tuple[str, int]]:
    """Yield the text and the nesting depth of each paragraph that has any."""
    for paragraph in frame.paragraphs:
        text = " ".join("".join(_pieces(paragraph._p)).split())
        if text:
            yield text, paragraph.level


def _pieces(element: Any) -> Iterator[str]:
    for child in element:
        if child.tag in (f"{_A}r", f"{_A}fld"):
            if not _is_tiny(child.find(f"{_A}rPr")):
                yield child.findtext(f"{_A}t") or ""
        elif child.tag == f"{_A}br":
            yield " "
        elif child.tag == MATH:
            yield f"${omml_tex(child)}$"
        elif child.tag not in (_FALLBACK, f"{_A}pPr", f"{_A}endParaRPr"):
            yield from _pieces(child)


def _is_tiny(properties: Any) -> bool:
    size = str(properties.get("sz") or "") if properties is not None else ""
    return size.isdigit() and int(size) <= _UNSEEN_HUNDREDTHS
