"""Every format: how its files are called and known, what reads them, and what that needs.

A format is one entry of `FORMATS`, and nothing about it stands anywhere else; docs/contributing.md
says how one is added. A format that is known and not read is an entry without a reader.
"""

import re
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib import import_module
from io import BytesIO
from pathlib import PurePosixPath

from core.domain.errors import UnsupportedDocument
from core.ingestion.document import ParsedDocument
from core.ingestion.formats.decoding import decode_text, looks_like_text, visible_document
from core.ingestion.formats.scans import UNREAD, Scans

Convert = Callable[[str, bytes], bytes]
"""Has the program pandoc read a text of the format that it calls so, and returns the tree."""
OLDEST_PANDOC = "2.15"
"""The first that can be told to open no file."""
_LINES = ("line_start", "line_end")
_XML = r"\s*+(?:<\?xml[^>]*+>\s*+)?+(?:<!--(?:(?!-->).)*+-->\s*+)*+"
_DOCTYPE = r"(?:<!doctype [^>\[]*(?:\[.*?\]\s*)?>\s*)?"


def _cannot_convert(name: str, data: bytes) -> bytes:
    raise UnsupportedDocument("needs the program pandoc")


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A document whole in memory, and what its reader may ask for."""

    data: bytes
    charset: str | None = None
    """As a web server said."""
    dialect: str = "markdown"
    """Which Markdown the course is written in."""
    read_include: Callable[[str], str | None] = lambda path: None
    """Returns the text of a file that a page includes, or none."""
    scans: Scans = UNREAD
    """How pages of a PDF without text are read."""
    convert: Convert = _cannot_convert

    def decoded(self, read: Callable[[str], ParsedDocument]) -> ParsedDocument:
        """Return what `read` makes of the text, with what was lost while it was decoded."""
        decoded = decode_text(self.data, declared=self.charset)
        document = read(decoded.text)
        return replace(document, warnings=(*decoded.warnings, *document.warnings))


@dataclass(frozen=True)
class Content:
    """What a format is recognised by, whatever the file is called."""

    data: bytes
    named: str = ""
    """The format that the file's name or a web server promises; empty: none."""

    @cached_property
    def is_text(self) -> bool:
        """Whether it is more likely text than a binary format."""
        return looks_like_text(self.data)

    @cached_property
    def start(self) -> str:
        """The first characters of a text; empty for what is none."""
        return decode_text(self.data[:4096]).text if self.is_text else ""

    @cached_property
    def members(self) -> frozenset[str]:
        """The names of the files in an archive; none for what is no archive."""
        if not self.data.startswith(b"PK\x03\x04"):
            return frozenset()
        try:
            with zipfile.ZipFile(BytesIO(self.data)) as archive:
                return frozenset(archive.namelist())
        except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
            raise UnsupportedDocument("is a damaged Office file or archive") from error

    def has_root(self, pattern: str) -> bool:
        """Return whether it is XML, or HTML, that begins with what the pattern matches."""
        whole = f"{_XML}(?:{pattern})"
        return re.match(whole, self.start, re.IGNORECASE | re.DOTALL) is not None


@dataclass(frozen=True, slots=True)
class Format:
    """A format that courses are written in, or that lies next to their texts."""

    name: str
    title: str
    """For people: `Markdown`; of one that is not read with its article: `an old Word file`."""
    suffixes: tuple[str, ...]
    """In lower case, with the dot."""
    read: Callable[[RawDocument], ParsedDocument] | None = None
    """Imports the reader when it is called, so that reading Markdown loads no PDF library."""
    media_types: tuple[str, ...] = ()
    is_found_in: Callable[[Content], bool] = lambda content: False
    """Whether a content is this format beyond doubt: it counts more than the name."""
    is_text: bool = True
    """Whether any text of such a name is it; else what is not found in it is damaged."""
    noun: str = ""
    """What a damaged file is called, where that is not the title: `Word file`."""
    places: tuple[str, ...] = ()
    """How its blocks say where they stood: see `Block.locator`."""
    pandoc: str | None = None
    """What pandoc calls it, where pandoc reads it."""
    pandoc_since: str = OLDEST_PANDOC
    """The first pandoc that reads it."""
    version: int = 1
    """Of its reader: one that reads a document otherwise than before gets the next number, and
    the next ingestion reads the documents of this format again."""
    is_prose: bool = True
    """Whether a course may lack a text where such a file is not read."""
    unread: Callable[[Content], str] | None = None
    """Why a file is not read that is this format; follows its name."""


def _reads(reader: str, *takes: str, text: bool = False) -> Callable[[RawDocument], ParsedDocument]:
    """Return what calls a reader that is imported only then.

    Args:
        reader: its module in this package, and its function: `html:parse_html`.
        takes: the fields of the raw document that it is given besides the bytes.
        text: whether it is given the decoded text in place of the bytes.
    """

    def read(raw: RawDocument) -> ParsedDocument:
        module, _, function = reader.partition(":")
        parse = getattr(import_module(f"core.ingestion.formats.{module}"), function)
        given = {name: getattr(raw, name) for name in takes}
        return raw.decoded(partial(parse, **given)) if text else parse(raw.data, **given)

    return read


def by_pandoc(
    name: str, title: str, suffixes: tuple[str, ...], pandoc: str | None = None, **more: object
) -> Format:
    """Return the entry of a format that the program pandoc reads.

    Args:
        pandoc: what pandoc calls the format, where that is another name.
        more: further fields of the entry.
    """
    called = pandoc or name

    def read(raw: RawDocument) -> ParsedDocument:
        from core.ingestion.formats.pandoc import parse_by_pandoc

        return parse_by_pandoc(raw.data, called, raw.charset, raw.convert)

    fixed = Format(name, title, suffixes, read, pandoc=called)
    return replace(fixed, **more)  # type: ignore[arg-type]


def _is_opendocument(content: Content, kind: str) -> bool:
    """Return whether an archive says that it is an OpenDocument file of a kind."""
    promise = f"mimetypeapplication/vnd.oasis.opendocument.{kind}".encode()
    return promise in content.data[:200] or (
        content.named == "odt" and "content.xml" in content.members
    )


def _has(member: str) -> Callable[[Content], bool]:
    """Return what recognises an archive by a file in it."""
    return lambda content: member in content.members


def _is_pdf(content: Content) -> bool:
    data = content.data
    return b"%PDF-" in data[:1024] or (content.named == "pdf" and b"startxref" in data[-2048:])


def _why_old(content: Content) -> str:
    is_locked = "EncryptedPackage".encode("utf-16-le") in content.data
    return "is encrypted" if is_locked else "is an old Office file; save it as .docx or .pptx"


_NO_TEXTS = (
    *(b"\x89PNG", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"RIFF", b"OggS", b"ID3", b"\x1f\x8b"),
    *(b"7z\xbc\xaf", b"Rar!", b"\x7fELF", b"BZh"),
)

_MARKDOWN = _reads("markdown:parse_markdown", "dialect", "read_include", text=True)

FORMATS: Sequence[Format] = (
    Format(
        "markdown",
        "Markdown",
        (".md", ".markdown", ".mdx", ".mdown", ".mkd"),
        _MARKDOWN,
        ("text/markdown",),
        places=_LINES,
    ),
    Format("quarto", "Quarto", (".qmd",), _MARKDOWN, places=_LINES),
    Format("rmarkdown", "R Markdown", (".rmd",), _MARKDOWN, places=_LINES),
    Format(
        "rst",
        "reStructuredText",
        (".rst", ".rest"),
        _reads("rst:parse_rst", "read_include", text=True),
        ("text/x-rst",),
        places=_LINES,
    ),
    Format(
        "latex",
        "LaTeX",
        (".tex", ".latex", ".ltx"),
        _reads("latex:parse_latex", "read_include", text=True),
        ("text/x-tex", "application/x-latex"),
        places=_LINES,
    ),
    Format(
        "html",
        "HTML",
        (".html", ".htm", ".xhtml"),
        _reads("html:parse_html", "charset"),
        ("text/html", "application/xhtml+xml"),
        lambda content: content.has_root(r"<(?:!doctype html|html)\b"),
    ),
    Format(
        "pdf",
        "PDF",
        (".pdf",),
        _reads("pdf:parse_pdf", "scans"),
        ("application/pdf",),
        _is_pdf,
        is_text=False,
        places=("page",),
    ),
    Format(
        "epub",
        "EPUB",
        (".epub",),
        _reads("epub:parse_epub"),
        ("application/epub+zip",),
        _has("META-INF/container.xml"),
        is_text=False,
        noun="e-book",
    ),
    Format(
        "docx",
        "Word",
        (".docx",),
        _reads("docx:parse_docx"),
        (),
        _has("word/document.xml"),
        is_text=False,
        noun="Word file",
    ),
    Format(
        "pptx",
        "PowerPoint",
        (".pptx",),
        _reads("pptx:parse_pptx"),
        (),
        _has("ppt/presentation.xml"),
        is_text=False,
        noun="PowerPoint file",
        places=("slide",),
        version=2,
    ),
    Format(
        "notebook",
        "Jupyter notebooks",
        (".ipynb",),
        _reads("notebook:parse_notebook"),
        ("application/x-ipynb+json",),
        lambda content: content.start.lstrip().startswith("{") and b'"nbformat"' in content.data,
        places=("cell",),
    ),
    Format(
        "subtitles",
        "subtitles",
        (".srt", ".vtt"),
        _reads("plain:parse_subtitles", "charset"),
        ("text/vtt", "application/x-subrip"),
        lambda content: content.start.startswith("WEBVTT"),
        places=("second",),
    ),
    by_pandoc(
        "odt",
        "OpenDocument",
        (".odt", ".ott"),
        media_types=("application/vnd.oasis.opendocument.text",),
        is_found_in=lambda content: _is_opendocument(content, "text"),
        is_text=False,
        noun="OpenDocument file",
    ),
    by_pandoc(
        "rtf",
        "RTF",
        (".rtf",),
        media_types=("application/rtf", "text/rtf"),
        is_found_in=lambda content: content.data.lstrip()[:5] == b"{\\rtf",
        is_text=False,
        noun="RTF file",
    ),
    by_pandoc("org", "Org", (".org",), media_types=("text/x-org",)),
    by_pandoc(
        "asciidoc",
        "AsciiDoc",
        (".adoc", ".asciidoc", ".asc"),
        media_types=("text/asciidoc",),
        pandoc_since="3.8.3",
    ),
    by_pandoc("typst", "Typst", (".typ",), pandoc_since="3.1.3"),
    by_pandoc(
        "docbook",
        "DocBook",
        (".docbook", ".dbk"),
        media_types=("application/docbook+xml",),
        is_found_in=lambda content: content.has_root(
            r"<!doctype [a-z]+ [^>]*DocBook|"
            + _DOCTYPE
            + r"<(?:book|article|chapter|set|part)\b[^>]*docbook\.org"
        ),
    ),
    by_pandoc(
        "jats",
        "JATS",
        (".jats", ".nxml"),
        is_found_in=lambda content: content.has_root(
            r"<!doctype article [^>]*\b(?:JATS|NLM)\b"
            rf"|{_DOCTYPE}<article\b[^>]*\b(?:dtd-version|article-type)="
        ),
    ),
    by_pandoc(
        "fb2",
        "FictionBook",
        (".fb2",),
        is_found_in=lambda content: content.has_root(r"<FictionBook\b"),
    ),
    by_pandoc("mediawiki", "MediaWiki", (".wiki", ".mediawiki")),
    by_pandoc("textile", "Textile", (".textile",)),
    Format(
        "plain",
        "plain text",
        (".txt", ".text"),
        _reads("plain:parse_plain", "charset"),
        ("text/plain",),
        places=(*_LINES, "page"),
    ),
    Format(
        "old_office",
        "an old Office file",
        (".doc", ".ppt"),
        is_found_in=lambda content: content.data.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
        unread=_why_old,
    ),
    Format(
        "odp",
        "an OpenDocument presentation",
        (".odp",),
        is_found_in=lambda content: _is_opendocument(content, "presentation"),
        unread=lambda content: "is an OpenDocument presentation; save it as .pptx",
    ),
    Format("sweave", "Sweave", (".rnw",)),
    Format("postscript", "PostScript", (".ps",)),
    Format("djvu", "DjVu", (".djvu",)),
    Format("kindle", "a Kindle book", (".mobi", ".azw3")),
    Format("pages", "a Pages file", (".pages",)),
    Format("pretext", "PreTeXt", (".ptx",)),
    Format("cnxml", "CNXML", (".cnxml",)),
    Format(
        "no_text",
        "a picture, a sound or an archive",
        (".png", ".jpg", ".jpeg", ".gif", ".webp", ".mp3", ".mp4", ".mov", ".gz", ".7z", ".rar"),
        is_found_in=lambda content: content.data.startswith(_NO_TEXTS),
        is_prose=False,
        unread=lambda content: "is a picture, a sound or an archive, not a text",
    ),
    Format("sheet", "a spreadsheet", (".xls", ".xlsx", ".ods"), is_prose=False),
    Format("keynote", "a Keynote file", (".key",), is_prose=False),
    Format(
        "armoured",
        "a key or signature",
        (".pgp", ".gpg", ".pem"),
        is_found_in=lambda content: content.data.startswith(b"-----BEGIN "),
        is_prose=False,
        unread=lambda content: "is a key or signature, not a text",
    ),
    Format(
        "archive",
        "an archive",
        (".zip",),
        is_found_in=lambda content: bool(content.members),
        is_prose=False,
        unread=lambda content: f"is an archive; what can be read is {supported_formats()}",
    ),
)
"""In the order in which people are told of them, and contents are tried."""


def supported_formats() -> str:
    """Return the formats that are read as sentences name them."""
    *others, last = (each.title for each in FORMATS if each.read)
    return f"{', '.join(others)} and {last}"


def suffix_of(path: str) -> str:
    """Return the suffix in lower case, with its dot; empty where there is none."""
    return PurePosixPath(path).suffix.lower()


def named_format(path: str, media_type: str | None = None) -> Format | None:
    """Return the format that a file's name, else a web server, promises; none: no known one."""
    suffix, essence = suffix_of(path), (media_type or "").partition(";")[0].strip().lower()
    named = (each for each in FORMATS if suffix in each.suffixes)
    served = (each for each in FORMATS if essence in each.media_types)
    return next(named, None) or next(served, None)


def format_called(name: str) -> Format:
    """Return the entry of a format; KeyError for a name that none has."""
    for each in FORMATS:
        if each.name == name:
            return each
    raise KeyError(name)


def suffixes_of(*names: str) -> frozenset[str]:
    """Return the suffixes of formats, given by the names of their entries."""
    return frozenset(suffix for name in names for suffix in format_called(name).suffixes)


def readable_suffixes() -> frozenset[str]:
    """Return the suffixes of all formats that are read."""
    return frozenset(suffix for each in FORMATS if each.read for suffix in each.suffixes)


def is_readable(path: str) -> bool:
    """Return whether a file of this name may be a page: some reader takes it."""
    named = named_format(path)
    return named is not None and named.read is not None


def is_text_like(path: str) -> bool:
    """Return whether a file of this name may hold a text of a course."""
    named = named_format(path)
    return named is not None and named.is_prose


def unread_format(path: str) -> str:
    """Return why a file is left out whose suffix is that of no format that is read."""
    named = named_format(path)
    return _unread(named) if named and named.is_prose else "is no format that is read"


def parse(
    data: bytes,
    name: str,
    media_type: str | None = None,
    *,
    dialect: str,
    read_include: Callable[[str], str | None],
    scans: Scans = UNREAD,
    convert: Convert = _cannot_convert,
) -> ParsedDocument:
    """Return the document in `data` as blocks of text.

    Args:
        name: file name or path; only its suffix counts.
        media_type: what a web server said, with or without a charset.
        dialect: which Markdown the course is written in; other formats ignore it.
        read_include: gives the text of a file that a page includes, or none.
        scans: how pages of a PDF without text are read.
        convert: has pandoc read a text.

    Raises:
        UnsupportedDocument: with a reason that follows the document's name: "is empty".
        ProgramMissing: where the format needs a program that is not there.
    """
    if not data.strip():
        raise UnsupportedDocument("is empty")
    kind = detect_format(data, name, media_type)
    assert kind.read is not None
    raw = RawDocument(data, _charset(media_type), dialect, read_include, scans, convert)
    try:
        document = kind.read(raw)
    except RecursionError as error:
        raise UnsupportedDocument("is nested too deeply") from error
    document = replace(visible_document(document), format=kind.name)
    if not document.blocks:
        raise UnsupportedDocument("has no text")
    return document


def detect_format(data: bytes, name: str, media_type: str | None) -> Format:
    """Return the format of a document: by its content, else by its name, else the media type.

    Raises:
        UnsupportedDocument: for what is not read, with the reason.
    """
    named = named_format(name, media_type)
    content = Content(data, named.name if named else "")
    found = next((each for each in FORMATS if each.is_found_in(content)), None)
    if found is not None:
        if found.read is None:
            raise UnsupportedDocument(found.unread(content) if found.unread else _unread(found))
        return found
    if named and named.read and not named.is_text:
        raise UnsupportedDocument(f"is a damaged {named.noun or named.title}")
    if named and named.read is None:
        raise UnsupportedDocument(f"{_unread(named)}; what can be read is {supported_formats()}")
    if not content.is_text and named:
        raise UnsupportedDocument(f"is no text, though its name says {named.noun or named.title}")
    if not content.is_text:
        raise UnsupportedDocument(f"is no format that can be read; those are {supported_formats()}")
    return named or format_called("plain")


def _unread(known: Format) -> str:
    return f"is {known.title}, which is not read"


def _charset(media_type: str | None) -> str | None:
    match = re.search(r"charset\s*=\s*[\"']?([\w.:-]+)", media_type or "", re.IGNORECASE)
    return match[1] if match else None
