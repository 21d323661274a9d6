"""PDF files: the text layer of each page as headings and paragraphs with page numbers."""

import re
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any

from pypdf import PageObject, PdfReader
from pypdf.errors import DependencyError, FileNotDecryptedError, PyPdfError
from pypdf.generic import Destination

from core.domain.errors import UnsupportedDocument
from core.ingestion.document import Block, BlockKind, Omission, ParsedDocument, document_of
from core.ingestion.formats.pdf_content import PageContent, PageFont, page_content
from core.ingestion.formats.pdf_layout import (
    PageLayout,
    block_of,
    joined_across_pages,
    normalised,
    without_furniture,
    without_leaders,
    without_steps,
)
from core.ingestion.formats.pdf_lines import PdfLine
from core.ingestion.formats.pdf_order import PageText, page_text
from core.ingestion.formats.scans import UNREAD, Scans

_MAX_LINES = 3
_MAX_LEVEL = 6


@dataclass(frozen=True, slots=True)
class PdfOutline:
    """The entries of an outline whose destinations resolve."""

    levels: Mapping[tuple[int, str], int]
    """Level from 1, by page number and title as `_key` writes it."""
    depth: int
    """The deepest level, 0 for no outline."""

    @classmethod
    def of(cls, reader: PdfReader) -> "PdfOutline":
        """Return the outline of a document; entries without a page are left out."""
        levels: dict[tuple[int, str], int] = {}
        for entry, level in _entries(reader.outline, 1):
            page = reader.get_destination_page_number(entry)
            if page is not None and page >= 0 and (key := _key(str(entry.title))):
                levels.setdefault((page + 1, key), min(level, _MAX_LEVEL))
        return cls(levels, max(levels.values(), default=0))

    def heading_at(self, lines: Sequence[PdfLine], position: int) -> tuple[int, int]:
        """Return level and height of the outline's heading at this line, or zeros.

        A heading may run over three lines, and its number may be missing from the outline.
        """
        if not self.levels:
            return 0, 0
        text = ""
        for height, line in enumerate(lines[position : position + _MAX_LINES], start=1):
            text = f"{text} {line.text}"
            for key in (_key(text), _key(re.sub(r"^\W*(chapter\s)?[\d.]+", "", text.lower()))):
                if key and (level := self.levels.get((line.page, key))):
                    return level, height
        return 0, 0


def _entries(outline: Sequence[Any], level: int) -> Iterator[tuple[Destination, int]]:
    """Yield the entries depth first; the library nests children as lists after their parent."""
    for entry in outline:
        if isinstance(entry, list):
            yield from _entries(entry, level + 1)
        else:
            yield entry, level


def _key(text: str) -> str:
    return re.sub(r"[\W_]+", "", normalised(text).lower())


_BROKEN = (
    *(PyPdfError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError),
    *(AssertionError, RuntimeError, EOFError, OSError, zlib.error, struct.error),
)
"""What the library raises on damaged files, which may break any of its assumptions."""
_JUNK_TITLE = re.compile(
    r"\W*(?:untitled|anonymous)\W*|title|document\d*|microsoft word\b.*|"
    r"powerpoint presentation|slide \d+|.*\.(docx?|pptx?|tex|dvi|indd|qxd|pdf|html?)|[\W\d_]*",
    re.IGNORECASE,
)
_LISTED_PAGES = 10
_MOST_PICTURES = 20
_ATTACHED = {
    "/FileAttachment": "embedded object",
    "/Screen": "video or sound",
    "/RichMedia": "video or sound",
    "/Movie": "video or sound",
    "/Sound": "video or sound",
}


def parse_pdf(data: bytes, scans: Scans = UNREAD) -> ParsedDocument:
    """Return the pages of a PDF; each block has the number of its page.

    Headings come from the outline and from larger type. A page without text is read as `scans`
    says, and its blocks are marked as recognised; one that cannot be read is left out. Both are
    named in a warning.

    Raises:
        UnsupportedDocument: when the file is encrypted, damaged or has no text layer, and none
            was recognised.
    """
    try:
        reader = _opened(data)
        pages, warnings, left_out = _pages(reader)
        boxes = [_box(reader, index) for index in range(len(pages))]
    except (FileNotDecryptedError, DependencyError) as error:
        raise UnsupportedDocument("is encrypted") from error
    except _BROKEN as error:
        raise UnsupportedDocument("is a damaged PDF") from error
    if len(warnings) == len(pages):
        raise UnsupportedDocument("is a damaged PDF")
    scanned = _numbers(pages, lambda lines: not lines)
    warnings += _recognise(data, pages, scanned, scans)
    why = _why_unread(len(scanned), scans)
    if not any(pages):
        raise UnsupportedDocument(f"has no text layer (it is scanned){why}")
    blank = _blank(pages, why)
    edges = [(bottom, top) for bottom, top, _ in boxes]
    text, contents = without_leaders(pages)
    text, heads = without_furniture(text, edges)
    text, steps = without_steps(text, boxes)
    blocks = _blocks(text, _outline(reader))
    metadata = _metadata(reader)
    title = metadata.pop("title", None)
    return document_of(
        title,
        blocks,
        metadata=metadata,
        warnings=[*warnings, *blank],
        left_out=sorted(
            [*_shown_later(left_out, steps), *contents, *heads, *steps], key=_page_number
        ),
    )


def _opened(data: bytes) -> PdfReader:
    reader = PdfReader(BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise UnsupportedDocument("is encrypted")
    return reader


def _pages(reader: PdfReader) -> tuple[list[list[PdfLine]], list[str], list[Omission]]:
    """Return the lines of each page, a warning for each page that failed, and what is not read."""
    pages: list[list[PdfLine]] = []
    warnings: list[str] = []
    left_out: list[Omission] = []
    fonts: dict[int, PageFont] = {}
    pictures: set[int] = set()
    hidden = _hidden_layers(reader)
    for number in range(1, len(reader.pages) + 1):
        try:
            page = reader.pages[number - 1]
            content = page_content(page, fonts, hidden, all_ink=False)
            unread = list(_annotations(page, content))
            edges = float(page.mediabox.bottom), float(page.mediabox.top)
            text = page_text(content, number, edges)
            if not text.lines and content.unread:
                whole = page_text(page_content(page, fonts, hidden, all_ink=True), number, edges)
                text = PageText([replace(line, recognised=True) for line in whole.lines])
        except _BROKEN:
            pages.append([])
            warnings.append(f"page {number} could not be read")
            continue
        pages.append(text.lines)
        seen = [one for one in dict.fromkeys(content.pictures) if one < 0 or one not in pictures]
        pictures.update(seen)
        if text.lines:
            unread += [("picture", "")] * min(len(seen), _MOST_PICTURES)
        left_out += _omissions([*_together(text.unread), *unread], number)
    return pages, warnings, left_out


def _together(unread: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return words of a page that are not read, by their kind; struck ones each by itself."""
    struck = [one for one in unread if one[0] == "struck text"]
    kinds: dict[str, list[str]] = {}
    for kind, text in unread:
        if kind != "struck text":
            kinds.setdefault(kind, []).append(text)
    return struck + [(kind, " ".join(texts)) for kind, texts in kinds.items()]


def _omissions(unread: Sequence[tuple[str, str]], page: int) -> list[Omission]:
    return [Omission(kind, f"page {page}", len(text.split())) for kind, text in unread]


def _shown_later(left_out: Sequence[Omission], steps: Sequence[Omission]) -> list[Omission]:
    """Return what is left out, without what a later step of its slide shows."""
    places = {step.where for step in steps}
    return [one for one in left_out if one.kind != "hidden text" or one.where not in places]


def _page_number(omission: Omission) -> int:
    return int(omission.where.removeprefix("page "))


def _annotations(page: PageObject, content: PageContent) -> Iterator[tuple[str, str]]:
    """Yield what stands on a page besides its text; let text that is marked as struck be struck."""
    for reference in page.get("/Annots") or ():
        annotation = reference.get_object()
        kind = str(annotation.get("/Subtype"))
        words = str(annotation.get("/Contents") or "")
        if kind == "/StrikeOut":
            points = [float(one) for one in annotation.get("/QuadPoints") or ()]
            for start in range(0, len(points) - 7, 8):
                across, up = points[start : start + 8 : 2], points[start + 1 : start + 8 : 2]
                middle = (min(up) + max(up)) / 2
                content.rules.append((min(across), max(across), middle))
        elif kind == "/Widget":
            yield "form control", str(annotation.get("/V") or "")
        elif kind in _ATTACHED:
            yield _ATTACHED[kind], words
        elif kind not in {"/Link", "/Popup"} and words:
            yield "comment", words


def _hidden_layers(reader: PdfReader) -> frozenset[int]:
    """Return the numbers of the layers that are switched off when the document is opened."""
    try:
        layers: Any = reader.root_object["/OCProperties"].get_object()
        usual = layers.get("/D", {})
        off = {getattr(one, "idnum", 0) for one in usual.get("/OFF", ())}
        if usual.get("/BaseState") == "/OFF":
            on = {getattr(one, "idnum", 0) for one in usual.get("/ON", ())}
            off |= {getattr(one, "idnum", 0) for one in layers.get("/OCGs", ())} - on
    except _BROKEN:
        return frozenset()
    return frozenset(off - {0})


def _box(reader: PdfReader, index: int) -> tuple[float, float, float]:
    """Return the lower and upper edge of a page, and its width."""
    try:
        box = reader.pages[index].mediabox
        return float(box.bottom), float(box.top), float(box.width)
    except _BROKEN:
        return 0.0, 0.0, 0.0


def _recognise(
    data: bytes, pages: list[list[PdfLine]], scanned: Sequence[int], scans: Scans
) -> list[str]:
    """Put recognised lines on scanned pages; return a warning that names all with such lines."""
    if scanned and scans.most_pages:
        with scans.loading():
            from core.ingestion.formats.pdf_scans import recognised_pages

        found = recognised_pages(data, scanned, scans, PageLayout(pages).body)
        for number, lines in found.items():
            pages[number - 1] = lines
    recognised = _numbers(pages, lambda lines: any(line.recognised for line in lines))
    if not recognised:
        return []
    of = f"{len(recognised)} of {len(pages)} pages"
    return [f"the text of {of} was recognised from a scan: {_listed(recognised)}"]


def _blank(pages: Sequence[Sequence[PdfLine]], why: str) -> list[str]:
    blank = _numbers(pages, lambda lines: not lines)
    if not blank:
        return []
    return [f"{len(blank)} of {len(pages)} pages have no text: {_listed(blank)}{why}"]


def _why_unread(scanned: int, scans: Scans) -> str:
    """Return what is to be known of pages that are still without text."""
    if not scans.most_pages:
        return f"; {scans.missing}" if scans.missing else ""
    if scanned > scans.most_pages:
        return f"; of a document, no more than {scans.most_pages:,} are recognised"
    return "; no text was recognised there"


def _numbers(
    pages: Sequence[Sequence[PdfLine]], is_meant: Callable[[Sequence[PdfLine]], bool]
) -> list[int]:
    return [number for number, lines in enumerate(pages, start=1) if is_meant(lines)]


def _listed(numbers: Sequence[int]) -> str:
    more = ", …" if len(numbers) > _LISTED_PAGES else ""
    return ", ".join(map(str, numbers[:_LISTED_PAGES])) + more


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
            yield block_of(heading, BlockKind.HEADING, text, level)
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
