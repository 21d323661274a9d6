"""Word files: headings, lists, tables, code, equations and notes, hidden text left out."""

import zipfile
import zlib
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any

import docx
from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.exceptions import OpcError
from docx.oxml.parser import parse_xml

from core.domain.errors import UnsupportedDocument
from core.ingestion.document import (
    Block,
    BlockKind,
    BlockRole,
    Omission,
    ParsedDocument,
    document_of,
    fenced,
    inline_code,
    pipe_table,
)
from core.ingestion.formats.decoding import check_container
from core.ingestion.formats.docx_text import (
    MC,
    TEXT_BOX,
    ListNumbering,
    Missing,
    NoteMarks,
    Styles,
    W,
    WordParagraph,
    WordText,
    in_fallback,
    is_placeholder,
    shown_alternative,
    switched_on,
    texts_of,
)
from core.ingestion.formats.office_math import diagram_texts

_BROKEN = (
    *(OpcError, SyntaxError, ValueError, LookupError, TypeError, AttributeError),
    *(AssertionError, zipfile.BadZipFile, zlib.error, EOFError),
)
"""What the library raises on damaged files; a malformed XML part is a SyntaxError."""
_WRAPPERS = frozenset(
    f"{W}{name}" for name in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag")
)
_REMOVED = {f"{W}del": "deleted text", f"{W}moveFrom": "moved-away text"}
_TEXT_PATH = "{urn:schemas-microsoft-com:vml}textpath"
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}docPr"
_MOST_COLUMNS = 60
_MOST_NAMED = 60


def parse_docx(data: bytes) -> ParsedDocument:
    """Return the body of a Word file as its reader sees it; the rest is named as left out.

    Raises:
        UnsupportedDocument: when the file is damaged, a bomb, or declares XML entities.
    """
    check_container(data)
    try:
        document = docx.Document(BytesIO(data))
        body = _Body(document)
        blocks = list(body.blocks())
        left_out = [*body.left_out, *_running_heads(document)]
        properties = document.core_properties
        title, author = properties.title.strip(), properties.author.strip()
    except _BROKEN as error:
        raise UnsupportedDocument("is a damaged Word file") from error
    return document_of(
        title or None,
        blocks,
        metadata={"author": author} if author else {},
        left_out=left_out,
    )


class _Body:
    """Walks the body of one document in reading order."""

    def __init__(self, document: Document) -> None:
        self.left_out: list[Omission] = []
        self._part = document.part
        self._body = document.element.body
        styles = document.styles.element
        self._numbering = ListNumbering(_part_xml(document, RELATIONSHIP_TYPE.NUMBERING), styles)
        self._styles = Styles(styles, self._numbering)
        self._marks = NoteMarks(_part_xml(document, RELATIONSHIP_TYPE.SETTINGS))
        self._text = WordText(self._styles, self._marks)
        self._notes = {
            (kind, str(note.get(f"{W}id"))): note
            for kind, relation in (
                ("footnote", RELATIONSHIP_TYPE.FOOTNOTES),
                ("endnote", RELATIONSHIP_TYPE.ENDNOTES),
                ("comment", RELATIONSHIP_TYPE.COMMENTS),
            )
            for note in _named(_part_xml(document, relation), kind)
        }
        self._waiting: list[Block] = []
        """Notes of a paragraph or table that is still being read."""
        self._code: list[str] = []
        self._carried = ""
        """Text whose paragraph goes on in the next one, because its mark was deleted."""
        self._inside = 0
        """In how many tables and notes the walk is."""
        self._heading = ""

    def blocks(self) -> Iterator[Block]:
        yield from self._children(self._body)
        yield from self._code_so_far()
        if self._carried.strip():
            yield Block(BlockKind.PARAGRAPH, self._carried.strip())
        for kind, note in self._notes.items():
            if kind[0] == "comment":  # of text that is itself not read
                self._miss([("comment", " ".join(texts_of(note)))])

    def _children(self, parent: Iterable[Any]) -> Iterator[Block]:
        for child in parent:
            if child.tag == f"{W}p":
                yield from self._paragraph(child)
            elif child.tag == f"{W}tbl":
                yield from self._code_so_far()
                yield from self._table(child)
            elif child.tag == f"{W}altChunk":
                self._miss([("embedded document", "")])
            elif child.tag in _REMOVED:
                self._miss([(_REMOVED[child.tag], " ".join(texts_of(child)))])
            elif child.tag == f"{MC}AlternateContent":
                yield from self._children(shown_alternative(child))
            elif child.tag == f"{W}sdt" and is_placeholder(child):
                self._miss([("form control", "")])
            elif child.tag in _WRAPPERS:
                yield from self._children(child)
            if not self._inside:
                waiting, self._waiting = self._waiting, []
                yield from waiting

    def _paragraph(self, paragraph: Any) -> Iterator[Block]:
        read = self._text.paragraph(paragraph)
        self._miss(read.missing)
        self._keep_notes(read)
        mark = paragraph.find(f"{W}pPr/{W}rPr")
        if mark is not None and (switched_on(mark, "del") or switched_on(mark, "moveFrom")):
            self._carried += read.text
        else:
            text, self._carried = self._carried + read.text, ""
            level = self._styles.heading_level(paragraph)
            if not level and text and (read.is_code or self._styles.is_code(paragraph)):
                if not self._inside:
                    self._code.append(text)
                    return
                yield Block(BlockKind.PARAGRAPH, inline_code(text))
            elif text or not switched_on(mark, "vanish"):
                if not self._code or text.strip() or not self._styles.is_code(paragraph):
                    yield from self._code_so_far()
                    yield self._prose(paragraph, read, text, level)
                else:
                    self._code.append("")
        yield from self._boxes(paragraph)
        for diagram in read.diagrams:
            texts = diagram_texts(diagram, self._part)
            yield from (Block(BlockKind.LIST_ITEM, f"- {text}", 1) for text in texts)
            if not texts:
                self._miss([("diagram", "")])

    def _prose(self, paragraph: Any, read: WordParagraph, text: str, level: int) -> Block:
        line = " ".join(text.split())
        place = self._styles.list_place(paragraph)
        label = self._numbering.label(place) if place else None
        if label and not label.is_exact:
            self._miss([("list label in its own script", label.text)])
        if level:
            line = f"{label.text} {line}" if label and label.text and line else line
            self._heading = line or self._heading
            return Block(BlockKind.HEADING, line, level)
        if read.formula:
            return Block(BlockKind.FORMULA, f"$${read.formula}$$")
        if line and place and label:
            return Block(BlockKind.LIST_ITEM, f"{label.text or '-'} {line}", place[1] + 1)
        contents = self._styles.is_contents(paragraph)
        role = BlockRole.NAVIGATION if contents else BlockRole.TEXT
        return Block(BlockKind.PARAGRAPH, text.strip(), role=role)

    def _keep_notes(self, read: WordParagraph) -> None:
        """Let the notes that a paragraph refers to follow it, and count its comments."""
        for kind, identifier in read.notes:
            note = self._notes.pop((kind, identifier), None)
            if note is None:
                continue
            if kind == "comment":
                self._miss([("comment", " ".join(texts_of(note)))])
                continue
            mark = self._marks.mark(kind, identifier)
            self._waiting.append(
                Block(BlockKind.PARAGRAPH, f"[{mark}] {text}" if mark else text)
                if (text := self._inner_text(note))
                else Block(BlockKind.PARAGRAPH, "")
            )

    def _boxes(self, paragraph: Any) -> Iterator[Block]:
        """Yield what stands in the text boxes that are anchored in a paragraph."""
        for box in paragraph.iter(TEXT_BOX, _TEXT_PATH):
            if next(box.iterancestors(f"{W}p"), None) is not paragraph or in_fallback(box):
                continue
            if kind := _unseen_as(box):
                self._miss([(kind, " ".join(texts_of(box)))])
            elif box.tag == _TEXT_PATH:
                yield Block(BlockKind.PARAGRAPH, str(box.get("string") or ""))
            else:
                yield from self._children(box)

    def _code_so_far(self) -> Iterator[Block]:
        if self._code:
            yield Block(BlockKind.CODE, fenced("\n".join(self._code)))
            self._code = []

    def _table(self, table: Any) -> Iterator[Block]:
        """Yield a table; one that only frames or arranges what it holds, as what it holds."""
        rows = [row for row in _found(table, f"{W}tr") if not self._is_removed(row)]
        cells = [list(_found(row, f"{W}tc")) for row in rows]
        nested = any(any(True for _ in cell.iter(f"{W}tbl")) for row in cells for cell in row)
        if not self._inside and (nested or sum(map(len, cells)) == 1):
            for row in cells:
                for cell in row:
                    yield from self._children(cell)
                    yield from self._code_so_far()
            return
        above: dict[int, str] = {}
        text = [self._row(row, inner, above) for row, inner in zip(rows, cells, strict=True)]
        yield Block(BlockKind.TABLE, pipe_table(text))

    def _is_removed(self, row: Any) -> bool:
        properties = row.find(f"{W}trPr")
        for name, kind in (("del", "deleted text"), ("hidden", "hidden text")):
            if switched_on(properties, name):
                self._miss([(kind, " ".join(texts_of(row)))])
                return True
        return False

    def _row(self, row: Any, cells: Iterable[Any], above: dict[int, str]) -> list[str]:
        """Return the texts of a row; a cell that spans rows is repeated in each of them."""
        texts = [""] * min(_number(row.find(f"{W}trPr/{W}gridBefore"), 0), _MOST_COLUMNS)
        for cell in cells:
            properties = cell.find(f"{W}tcPr")
            if properties is not None and properties.find(f"{W}cellDel") is not None:
                self._miss([("deleted text", " ".join(texts_of(cell)))])
                continue
            merged = properties.find(f"{W}vMerge") if properties is not None else None
            text = self._inner_text(cell)
            if merged is not None and merged.get(f"{W}val") != "restart":
                text = above.get(len(texts), text)
            above[len(texts)] = text
            span = properties.find(f"{W}gridSpan") if properties is not None else None
            texts += [text, *[""] * (min(_number(span, 1), _MOST_COLUMNS) - 1)]
        return texts

    def _inner_text(self, element: Any) -> str:
        """Return the text of a cell or note as one line; of tables in it, row by row."""
        self._inside += 1
        texts = []
        for child in self._children(element):
            lines = child.text.split("\n")
            is_table = child.kind is BlockKind.TABLE
            texts += [lines[0], *lines[2:]] if is_table and len(lines) > 1 else [child.text]
        self._inside -= 1
        return " ".join(" ".join(texts).split())

    def _miss(self, missing: Iterable[Missing]) -> None:
        heading = self._heading
        if len(heading) > _MOST_NAMED:
            heading = f"{heading[:_MOST_NAMED].rstrip()}…"
        for kind, words in missing:
            if words.strip() or kind not in _WORDED:
                where = f'under "{heading}"' if heading else ""
                self.left_out.append(Omission(kind, where, len(words.split())))


_WORDED = frozenset({"hidden text", "struck text", "deleted text", "moved-away text"})
"""What is nothing without words."""


def _unseen_as(box: Any) -> str:
    """Return as what a reader of the page does not see a text box; empty where it is seen."""
    for around in box.iterancestors():
        if around.tag in _REMOVED:
            return _REMOVED[around.tag]
        if around.tag == f"{W}r" and switched_on(around.find(f"{W}rPr"), "vanish"):
            return "hidden text"
        if around.tag == f"{W}drawing":
            if any(one.get("hidden") in {"1", "true"} for one in around.iter(_DRAWING)):
                return "hidden text"
        elif around.tag == f"{W}p":
            break
    return ""


def _found(parent: Iterable[Any], name: str) -> Iterator[Any]:
    """Yield the elements of a name in an element, through what only wraps them."""
    for child in parent:
        if child.tag == name:
            yield child
        elif child.tag in _WRAPPERS:
            yield from _found(child, name)
        elif child.tag == f"{MC}AlternateContent":
            yield from _found(shown_alternative(child), name)


def _running_heads(document: Document) -> Iterator[Omission]:
    """Yield the headers and footers, which stand on every page."""
    for link in document.part.rels.values():
        if link.reltype in (RELATIONSHIP_TYPE.HEADER, RELATIONSHIP_TYPE.FOOTER):
            root = None if link.is_external else parse_xml(link.target_part.blob)
            words = " ".join(texts_of(root)).split() if root is not None else []
            if words:
                yield Omission("header or footer", "", len(words))


def _part_xml(document: Document, relationship: str) -> Any:
    """Return the root of a part inside the file, or none; nothing outside is ever fetched."""
    for link in document.part.rels.values():
        if link.reltype == relationship and not link.is_external:
            return parse_xml(link.target_part.blob)
    return None


def _named(root: Any, name: str) -> list[Any]:
    return list(root.findall(f"{W}{name}")) if root is not None else []


def _number(element: Any, default: int) -> int:
    value = str(element.get(f"{W}val") or "") if element is not None else ""
    return int(value) if value.isdecimal() and len(value) < 6 else default
