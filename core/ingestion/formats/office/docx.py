"""Word files: headings, lists, tables, code, equations and footnotes, hidden text left out."""

import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import docx
from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.exceptions import OpcError
from docx.oxml.parser import parse_xml

from core.errors import UnsupportedDocument
from core.ingestion.document import Block, BlockKind, ParsedDocument, document_of
from core.ingestion.formats.containers import check_container
from core.ingestion.formats.markup import fenced, pipe_table
from core.ingestion.formats.office.docx_styles import ListNumbers, ParagraphStyles
from core.ingestion.formats.office.docx_text import W, note_references, only_formula, paragraph_text

_BROKEN = (
    *(OpcError, SyntaxError, ValueError, LookupError, TypeError, AttributeError),
    *(AssertionError, zipfile.BadZipFile, zlib.error, EOFError),
)
"""What the library raises on damaged files; a malformed XML part is a SyntaxError."""
_TEXT_BOX = f"{W}txbxContent"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_WRAPPERS = frozenset(f"{W}{name}" for name in ("sdt", "sdtContent", "ins", "customXml"))


def parse_docx(data: bytes) -> ParsedDocument:
    """Return the body of a Word file; headers, footers, comments and deletions are left out.

    Raises:
        UnsupportedDocument: when the file is damaged, a bomb, or declares XML entities.
    """
    check_container(data)
    try:
        document = docx.Document(BytesIO(data))
        blocks = list(_Body(document).blocks())
        warnings = list(_left_out(document))
        properties = document.core_properties
        title, author = properties.title.strip(), properties.author.strip()
    except _BROKEN as error:
        raise UnsupportedDocument("is a damaged Word file") from error
    return document_of(
        title or None,
        blocks,
        metadata={"author": author} if author else {},
        warnings=warnings,
    )


class _Body:
    """Walks the body of one document in reading order."""

    def __init__(self, document: Document) -> None:
        self._body = document.element.body
        self._styles = ParagraphStyles(document.styles.element)
        self._numbers = ListNumbers(_numbering(document))
        self._notes = _footnotes(document)
        self._code: list[str] = []

    def blocks(self) -> Iterator[Block]:
        yield from self._children(self._body)
        yield from self._code_so_far()

    def _children(self, parent: Any) -> Iterator[Block]:
        for child in parent:
            if child.tag == f"{W}p":
                yield from self._paragraph(child)
            elif child.tag == f"{W}tbl":
                yield from self._code_so_far()
                yield Block(BlockKind.TABLE, pipe_table(self._rows(child)))
            elif child.tag in _WRAPPERS:
                yield from self._children(child)

    def _paragraph(self, paragraph: Any) -> Iterator[Block]:
        text = paragraph_text(paragraph)
        level = self._styles.heading_level(paragraph)
        if self._styles.is_hidden(paragraph):
            return
        if not level and self._styles.is_code(paragraph):
            self._code.append(text)
            return
        yield from self._code_so_far()
        yield self._prose(paragraph, text, level)
        yield from self._beside(paragraph)

    def _prose(self, paragraph: Any, text: str, level: int) -> Block:
        line = " ".join(text.split())
        if level:
            return Block(BlockKind.HEADING, line, level)
        if tex := only_formula(paragraph):
            return Block(BlockKind.FORMULA, f"$${tex}$$")
        if line and (place := self._styles.list_place(paragraph)):
            return Block(BlockKind.LIST_ITEM, self._numbers.marker(place) + line, place[1] + 1)
        return Block(BlockKind.PARAGRAPH, text.strip())

    def _beside(self, paragraph: Any) -> Iterator[Block]:
        """Yield the text boxes anchored in a paragraph and its footnotes."""
        for box in paragraph.iter(_TEXT_BOX):
            if next(box.iterancestors(_FALLBACK), None) is None:
                yield from self._children(box)
        for reference in note_references(paragraph):
            if note := self._notes.get(reference):
                yield Block(BlockKind.PARAGRAPH, f"[{reference}] {note}")

    def _code_so_far(self) -> Iterator[Block]:
        if self._code:
            yield Block(BlockKind.CODE, fenced("\n".join(self._code)))
            self._code = []

    def _rows(self, table: Any) -> list[list[str]]:
        return [
            [text for cell in row.iterchildren(f"{W}tc") for text in self._cell(cell)]
            for row in table.iterchildren(f"{W}tr")
        ]

    def _cell(self, cell: Any) -> list[str]:
        """Return the text of a cell, and an empty one for each further column it spans."""
        visible = (p for p in cell.iter(f"{W}p") if not self._styles.is_hidden(p))
        span = cell.find(f"{W}tcPr/{W}gridSpan")
        width = str(span.get(f"{W}val")) if span is not None else "1"
        further = min(int(width), 60) - 1 if width.isdecimal() else 0
        return [" ".join(map(paragraph_text, visible)), *[""] * further]


def _numbering(document: Document) -> Any:
    return _part_xml(document, RELATIONSHIP_TYPE.NUMBERING)


def _footnotes(document: Document) -> dict[str, str]:
    notes = _part_xml(document, RELATIONSHIP_TYPE.FOOTNOTES)
    if notes is None:
        return {}
    return {
        str(note.get(f"{W}id")): " ".join(" ".join(map(paragraph_text, note.iter(f"{W}p"))).split())
        for note in notes.findall(f"{W}footnote")
    }


def _left_out(document: Document) -> Iterator[str]:
    """Yield a sentence for each kind of content that does not go in."""
    endnotes = _part_xml(document, RELATIONSHIP_TYPE.ENDNOTES)
    notes = endnotes.findall(f"{W}endnote") if endnotes is not None else []
    if written := sum(any(map(paragraph_text, note.iter(f"{W}p"))) for note in notes):
        yield f"{written} endnotes were left out"
    if embedded := sum(1 for _ in document.element.body.iter(f"{W}altChunk")):
        yield f"{embedded} embedded documents were left out"


def _part_xml(document: Document, relationship: str) -> Any:
    """Return the root of a part inside the file, or none; nothing outside is ever fetched."""
    for link in document.part.rels.values():
        if link.reltype == relationship and not link.is_external:
            return parse_xml(link.target_part.blob)
    return None
