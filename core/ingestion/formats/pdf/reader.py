"""PDF files: the text layer of each page as headings and paragraphs with page numbers."""

import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from io import BytesIO

from pypdf import PdfReader
from pypdf.errors import DependencyError, FileNotDecryptedError, PyPdfError

from core.errors import UnsupportedDocument
from core.ingestion.document import Block, BlockKind, ParsedDocument, document_of
from core.ingestion.formats.pdf.layout import PageLayout, joined_across_pages, without_furniture
from core.ingestion.formats.pdf.lines import PdfLine, page_lines
from core.ingestion.formats.pdf.outline import PdfOutline

_BROKEN = (
    *(PyPdfError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError),
    *(AssertionError, RuntimeError, EOFError, OSError, zlib.error, struct.error),
)
"""What the library raises on damaged files, which may break any of its assumptions."""
_JUNK_TITLE = re.compile(
    r"untitled|title|document\d*|microsoft word\b.*|powerpoint presentation|slide \d+|"
    r".*\.(docx?|pptx?|tex|dvi|indd|qxd|pdf|html?)|[\W\d_]*",
    re.IGNORECASE,
)
_LISTED_PAGES = 10


def parse_pdf(data: bytes) -> ParsedDocument:
    """Return the pages of a PDF; each block has the number of its page.

    Headings come from the outline and from larger type. A page that cannot be read is left
    out with a warning.

    Raises:
        UnsupportedDocument: when the file is encrypted, damaged or has no text layer.
    """
    try:
        reader = _opened(data)
        pages, warnings = _pages(reader)
    except (FileNotDecryptedError, DependencyError) as error:
        raise UnsupportedDocument("is encrypted") from error
    except _BROKEN as error:
        raise UnsupportedDocument("is a damaged PDF") from error
    if not any(pages):
        damaged = len(warnings) == len(pages)
        raise UnsupportedDocument(
            "is a damaged PDF" if damaged else "has no text layer (it is scanned)"
        )
    blocks = _blocks(without_furniture(pages), _outline(reader))
    metadata = _metadata(reader)
    title = metadata.pop("title", None)
    return document_of(title, blocks, metadata=metadata, warnings=[*warnings, *_blank(pages)])


def _opened(data: bytes) -> PdfReader:
    reader = PdfReader(BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise UnsupportedDocument("is encrypted")
    return reader


def _pages(reader: PdfReader) -> tuple[list[list[PdfLine]], list[str]]:
    """Return the lines of each page, and a warning for each page that failed."""
    pages: list[list[PdfLine]] = []
    warnings: list[str] = []
    for number in range(1, len(reader.pages) + 1):
        try:
            pages.append(page_lines(reader.pages[number - 1], number))
        except _BROKEN:
            pages.append([])
            warnings.append(f"page {number} could not be read")
    return pages, warnings


def _blank(pages: Sequence[Sequence[PdfLine]]) -> list[str]:
    blank = [str(number) for number, lines in enumerate(pages, start=1) if not lines]
    if not blank:
        return []
    more = ", …" if len(blank) > _LISTED_PAGES else ""
    return [
        f"{len(blank)} of {len(pages)} pages have no text: {', '.join(blank[:_LISTED_PAGES])}{more}"
    ]


def _outline(reader: PdfReader) -> PdfOutline:
    try:
        return PdfOutline.of(reader)
    except _BROKEN:
        return PdfOutline({}, 0)


def _blocks(pages: Sequence[Sequence[PdfLine]], outline: PdfOutline) -> list[Block]:
    layout = PageLayout(pages)
    blocks = [block for lines in pages for block in _page_blocks(lines, outline, layout)]
    return joined_across_pages(blocks, layout)


def _page_blocks(
    lines: Sequence[PdfLine], outline: PdfOutline, layout: PageLayout
) -> Iterator[Block]:
    """Yield the blocks of a page, cut at its headings."""
    body: list[PdfLine] = []
    position = 0
    while position < len(lines):
        level, height = outline.heading_at(lines, position)
        if not level:
            level, height = _large_heading(lines, position, layout, outline.depth)
        if level:
            yield from layout.blocks(body)
            body = []
            heading = lines[position : position + height]
            text = layout.joined([line.text for line in heading])
            yield Block(BlockKind.HEADING, text, level, locator={"page": heading[0].page})
        else:
            body.append(lines[position])
        position += max(height, 1)
    yield from layout.blocks(body)


def _large_heading(
    lines: Sequence[PdfLine], position: int, layout: PageLayout, depth: int
) -> tuple[int, int]:
    """Return the level and the number of lines of a heading in larger type, or zeros."""
    first = lines[position]
    level = layout.heading_level(first)
    if not level:
        return 0, 0
    height = 1
    for line in lines[position + 1 : position + 3]:
        near = 0 < lines[position + height - 1].y - line.y < 2 * first.size
        if line.size != first.size or not near:
            break
        height += 1
    return min(level + depth, 6), height


def _metadata(reader: PdfReader) -> dict[str, str]:
    """Return title and author where the file gives sensible ones."""
    try:
        information = reader.metadata
        pairs = (
            (("title", information.title), ("author", information.author)) if information else ()
        )
        stated = {name: " ".join(str(value).split()) for name, value in pairs if value}
    except _BROKEN:
        return {}
    return {
        name: value
        for name, value in stated.items()
        if len(value) <= 300 and not _JUNK_TITLE.fullmatch(value)
    }
