"""Finds the parser for a file by what is really in it, then by what it is called."""

import re
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import PurePosixPath

from core.errors import UnsupportedDocument
from core.ingestion.document import ParsedDocument
from core.ingestion.formats.characters import visible_document
from core.ingestion.formats.decoding import DecodedText, decode_text, looks_like_text
from core.ingestion.formats.pdf.scans import UNREAD, Scans

_FORMAT_BY_SUFFIX: Mapping[str, str] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdx": "markdown",
    ".qmd": "markdown",
    ".rmd": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".docx": "docx",
    ".pptx": "pptx",
    ".epub": "epub",
    ".ipynb": "notebook",
    ".txt": "plain",
    ".text": "plain",
    ".rst": "rst",
    ".rest": "rst",
    ".tex": "latex",
    ".latex": "latex",
    ".ltx": "latex",
    ".srt": "subtitles",
    ".vtt": "subtitles",
}
_FORMAT_BY_MEDIA_TYPE: Mapping[str, str] = {
    "text/markdown": "markdown",
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/pdf": "pdf",
    "application/epub+zip": "epub",
    "application/x-ipynb+json": "notebook",
    "text/plain": "plain",
    "text/x-rst": "rst",
    "text/x-tex": "latex",
    "application/x-latex": "latex",
    "text/vtt": "subtitles",
    "application/x-subrip": "subtitles",
}
SUPPORTED_SUFFIXES: frozenset[str] = frozenset(_FORMAT_BY_SUFFIX)
_TEXT_FORMATS = frozenset({"markdown", "subtitles", "rst", "latex"})
"""What text is by its name alone."""
_BINARY_FORMATS: Mapping[str, str] = {
    "pdf": "PDF",
    "docx": "Word file",
    "pptx": "PowerPoint file",
    "epub": "e-book",
}
_NEVER_TEXT = frozenset(
    ".mobi .azw3 .djvu .doc .ppt .xls .xlsx .odt .odp .ods .rtf .pages .key .zip .gz .7z "
    ".rar .png .jpg .jpeg .gif .webp .mp3 .mp4 .mov".split()
)
"""A file of such a name that looks like text is a damaged one, or markup that is no prose."""

SUPPORTED_FORMATS = (
    "Markdown, Quarto, reStructuredText, LaTeX, HTML, PDF, EPUB, Word, PowerPoint, Jupyter "
    "notebooks, subtitles and plain text"
)
"""As sentences for people name them."""
_PICTURES = (
    *(b"\x89PNG", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"RIFF", b"OggS", b"ID3", b"\x1f\x8b"),
    *(b"7z\xbc\xaf", b"Rar!", b"\x7fELF", b"BZh"),
)
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HTML_START = re.compile(
    r"\s*+(?:<\?xml[^>]*+>\s*+)?+(?:<!--(?:(?!-->).)*+-->\s*+)*+<(?:!doctype html|html)\b",
    re.IGNORECASE | re.DOTALL,
)


def parse(
    data: bytes,
    name: str,
    media_type: str | None = None,
    *,
    dialect: str,
    read_include: Callable[[str], str | None],
    scans: Scans = UNREAD,
) -> ParsedDocument:
    """Return the document in `data` as blocks of text.

    Args:
        name: file name or path; only its suffix counts.
        media_type: what a web server said, with or without a charset.
        dialect: which Markdown the course is written in; other formats ignore it.
        read_include: gives the text of a file that a Markdown page includes, or none.
        scans: how pages of a PDF without text are read.

    Raises:
        UnsupportedDocument: with a reason that follows the document's name: "is empty".
    """
    if not data.strip():
        raise UnsupportedDocument("is empty")
    kind = detect_format(data, name, media_type)
    try:
        document = _parse_as(kind, data, _charset(media_type), dialect, read_include, scans)
    except RecursionError as error:
        raise UnsupportedDocument("is nested too deeply") from error
    document = visible_document(document)
    if not document.blocks:
        raise UnsupportedDocument("has no text")
    return document


def detect_format(data: bytes, name: str, media_type: str | None) -> str:
    """Return `markdown`, `html`, `pdf`, `docx`, `pptx`, `epub`, `notebook`, `subtitles`, `rst`,
    `latex` or `plain`.

    Unmistakable content wins over the suffix, the suffix over the media type.

    Raises:
        UnsupportedDocument: for anything else, naming what is supported.
    """
    suffix = PurePosixPath(name).suffix.lower()
    essence = (media_type or "").partition(";")[0].strip().lower()
    named = _FORMAT_BY_SUFFIX.get(suffix) or _FORMAT_BY_MEDIA_TYPE.get(essence)
    if binary := _binary_format(data, named):
        return binary
    sniffed = _text_format(data) if looks_like_text(data) else None
    if (promised := _BINARY_FORMATS.get(named or "")) and sniffed in {"plain", None}:
        raise UnsupportedDocument(f"is a damaged {promised}")
    if sniffed is None or (suffix in _NEVER_TEXT and sniffed == "plain"):
        raise UnsupportedDocument(f"is no format that can be read; those are {SUPPORTED_FORMATS}")
    if named in {"html", "notebook"}:
        return named
    return named if named in _TEXT_FORMATS and sniffed == "plain" else sniffed


def _binary_format(data: bytes, named: str | None) -> str | None:
    if b"%PDF-" in data[:1024] or (named == "pdf" and b"startxref" in data[-2048:]):
        return "pdf"
    if data.startswith(b"PK\x03\x04"):
        return _office_format(data)
    if data.startswith(_PICTURES):
        raise UnsupportedDocument("is a picture, a sound or an archive, not a text")
    if data.startswith(_OLD_OFFICE):
        locked = "EncryptedPackage".encode("utf-16-le") in data
        raise UnsupportedDocument(
            "is encrypted" if locked else "is an old Office file; save it as .docx or .pptx"
        )
    return None


def _office_format(data: bytes) -> str:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            members = set(archive.namelist())
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise UnsupportedDocument("is a damaged Office file or archive") from error
    if "word/document.xml" in members:
        return "docx"
    if "ppt/presentation.xml" in members:
        return "pptx"
    if "META-INF/container.xml" in members:
        return "epub"
    raise UnsupportedDocument(f"is an archive; what can be read is {SUPPORTED_FORMATS}")


def _text_format(data: bytes) -> str:
    start = decode_text(data[:4096]).text
    if _HTML_START.match(start):
        return "html"
    if start.lstrip().startswith("{") and b'"nbformat"' in data:
        return "notebook"
    return "subtitles" if start.startswith("WEBVTT") else "plain"


def _charset(media_type: str | None) -> str | None:
    match = re.search(r"charset\s*=\s*[\"']?([\w.:-]+)", media_type or "", re.IGNORECASE)
    return match[1] if match else None


def _parse_as(
    kind: str,
    data: bytes,
    charset: str | None,
    dialect: str,
    read_include: Callable[[str], str | None],
    scans: Scans,
) -> ParsedDocument:
    """Import one parser and run it, so reading Markdown never loads the PDF library."""
    match kind:
        case "markdown":
            from core.ingestion.formats.markdown.reader import parse_markdown

            reader = partial(parse_markdown, dialect=dialect, read_include=read_include)
            return _parse_text(decode_text(data, declared=charset), reader)
        case "rst":
            from core.ingestion.formats.rst.reader import parse_rst

            reader = partial(parse_rst, read_include=read_include)
            return _parse_text(decode_text(data, declared=charset), reader)
        case "latex":
            from core.ingestion.formats.latex.reader import parse_latex

            reader = partial(parse_latex, read_include=read_include)
            return _parse_text(decode_text(data, declared=charset), reader)
        case "html":
            from core.ingestion.formats.html.reader import parse_html

            return parse_html(data, charset=charset)
        case "pdf":
            from core.ingestion.formats.pdf.reader import parse_pdf

            return parse_pdf(data, scans)
        case "docx":
            from core.ingestion.formats.office.docx import parse_docx

            return parse_docx(data)
        case "pptx":
            from core.ingestion.formats.office.pptx import parse_pptx

            return parse_pptx(data)
        case "epub":
            from core.ingestion.formats.epub import parse_epub

            return parse_epub(data)
        case "notebook":
            from core.ingestion.formats.notebook import parse_notebook

            return parse_notebook(data)
        case "subtitles":
            from core.ingestion.formats.subtitles import parse_subtitles

            return parse_subtitles(data, charset=charset)
    from core.ingestion.formats.plain import parse_plain

    return parse_plain(data, charset=charset)


def _parse_text(decoded: DecodedText, reader: Callable[[str], ParsedDocument]) -> ParsedDocument:
    document = reader(decoded.text)
    return replace(document, warnings=(*decoded.warnings, *document.warnings))
