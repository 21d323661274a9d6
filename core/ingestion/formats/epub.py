"""E-books in EPUB: the pages of the archive in the order of its spine, read as web pages are."""

import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import BytesIO
from urllib.parse import unquote, urldefrag
from xml.etree.ElementTree import Element, ParseError

from selectolax.lexbor import LexborHTMLParser

from core.domain.errors import UnsupportedDocument
from core.ingestion.document import (
    Block,
    BlockKind,
    BlockRole,
    Omission,
    ParsedDocument,
    document_of,
)
from core.ingestion.formats.decoding import check_sizes, decode_text
from core.ingestion.formats.html import parse_html
from core.ingestion.formats.html_blocks import role_of

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})
_VOID = "area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr"
_CLOSED = re.compile(rf"<(?!(?:{_VOID})\b)([A-Za-z][\w:.-]{{0,60}})((?:\s[^<>]{{0,2000}})?)/>")
_DOCTYPE = re.compile(r"<!DOCTYPE[^\[>]{0,500}(?:\[[^\]]*\]\s{0,9})?>", re.IGNORECASE)
_SHEET = re.compile(r"<link\b[^<>]{0,300}?\bhref=[\"']([^\"'<>]{1,300}\.css)[\"']")
_EDITIONS = "The e-book has further editions in it, which were left out."


def parse_epub(data: bytes) -> ParsedDocument:
    """Return the pages of an e-book as one document; the table of contents is left out.

    A page without a heading gets its title in the table of contents. EPUB is read here, with the
    parser of web pages: the library for it reads XML that may hold entities.

    Raises:
        UnsupportedDocument: when it is damaged, encrypted, or a bomb.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            check_sizes(archive.infolist())
            return _Book(archive).document()
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, KeyError) as error:
        if isinstance(error, RecursionError):
            raise
        raise UnsupportedDocument("is a damaged e-book") from error


class _Book:
    """The archive of one e-book, open."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._names = set(archive.namelist())
        self._warnings: dict[str, None] = {}
        self._left_out: list[Omission] = []
        self._roles: dict[str, BlockRole] = {}
        roots = [one.get("full-path") or "" for one in _named(self._xml(_CONTAINER), "rootfile")]
        if not roots:
            raise UnsupportedDocument("is an e-book that names no content")
        if len(roots) > 1:
            self._warnings[_EDITIONS] = None
        self._folder = posixpath.dirname(roots[0])
        self._package = self._xml(roots[0])

    def document(self) -> ParsedDocument:
        """Return its text."""
        blocks = [block for path in self._spine() for block in self._page(path)]
        self._left_out += self._outside()
        language, author = self._about("language"), self._about("creator")
        metadata = {"language": language, "author": author}
        return document_of(
            self._about("title") or None,
            blocks,
            metadata={name: value for name, value in metadata.items() if value},
            warnings=self._warnings,
            left_out=self._left_out,
        )

    def _spine(self) -> Iterator[str]:
        """Yield the pages in reading order, each once."""
        encrypted = self._archive.read(_ENCRYPTION) if _ENCRYPTION in self._names else b""
        items = {item.get("id"): item for item in _named(self._package, "item")}
        self._titles = self._contents()
        references = (reference.get("idref") for reference in _named(self._package, "itemref"))
        for identifier in dict.fromkeys(references):
            item = items.get(identifier)
            if item is None:
                self._warnings[f"The page {identifier} of the e-book is missing."] = None
                continue
            if "nav" in (item.get("properties") or "").split():
                continue
            path = self._path(item.get("href") or "")
            if path not in self._names:
                self._warnings[f"The page {path} of the e-book is missing."] = None
            elif path.encode() in encrypted:
                raise UnsupportedDocument("is encrypted")
            elif item.get("media-type") in _PAGES:
                yield path

    def _page(self, path: str) -> Iterator[Block]:
        page = parse_html(self._markup(path), is_book=True)
        role = self._roles.get(path, BlockRole.TEXT)
        for warning in page.warnings:
            self._warnings[warning] = None
        title = self._titles.get(path)
        for missing in page.left_out:
            where = missing.where or f'in "{title or posixpath.basename(path)}"'
            self._left_out.append(replace(missing, where=where))
        if page.blocks and title and page.blocks[0].kind is not BlockKind.HEADING:
            yield Block(BlockKind.HEADING, title, 1)
        for block in page.blocks:
            own = role if block.role is BlockRole.TEXT else block.role
            yield replace(block, anchor=None, role=own)  # no address leads into an e-book

    def _markup(self, path: str) -> str:
        """Return a page as HTML without its DTD, with its style sheets and XML's empty elements."""
        text = _DOCTYPE.sub("", decode_text(self._archive.read(path)).text, count=1)
        sheets = (posixpath.join(posixpath.dirname(path), one) for one in _SHEET.findall(text))
        names = [name for name in map(posixpath.normpath, sheets) if name in self._names]
        styles = (decode_text(self._archive.read(name)).text.replace("</", "") for name in names)
        head = "".join(f"<style>{style}</style></head>" for style in ("\n".join(styles),) if style)
        text = text.replace("</head>", head, 1) if head else text
        return _CLOSED.sub(r"<\1\2></\1>", text)

    def _contents(self) -> Mapping[str, str]:
        """Return what each page of the table of contents is called there first."""
        found: dict[str, str] = {}
        for item in _named(self._package, "item"):
            path = self._path(item.get("href") or "")
            if path not in self._names:
                continue
            if "nav" in (item.get("properties") or "").split():
                pairs = self._navigation(path)
            elif item.get("media-type") == "application/x-dtbncx+xml":
                pairs = _points(self._xml(path, forbid_dtd=False))
            else:
                continue
            folder = posixpath.dirname(path)
            for href, title in pairs:
                found.setdefault(_page_of(href, folder), title)
        return found

    def _navigation(self, path: str) -> Iterator[tuple[str, str]]:
        """Yield the links of the table of contents; keep what the landmarks say of pages."""
        folder = posixpath.dirname(path)
        for nav in LexborHTMLParser(self._markup(path)).css("nav"):
            kinds = (nav.attributes.get("epub:type") or "toc").split()
            for link in nav.css("a[href]"):
                href = link.attributes.get("href") or ""
                if "toc" in kinds:
                    yield href, " ".join(link.text().split())
                elif "landmarks" in kinds and not urldefrag(href).fragment:
                    role = role_of((link.attributes.get("epub:type") or "").split())
                    if role:
                        self._roles[_page_of(href, folder)] = role

    def _outside(self) -> Iterator[Omission]:
        """Yield the pages that are in the archive and not in the reading order."""
        read = {reference.get("idref") for reference in _named(self._package, "itemref")}
        for item in _named(self._package, "item"):
            path = self._path(item.get("href") or "")
            is_navigation = "nav" in (item.get("properties") or "").split()
            if item.get("id") in read or item.get("media-type") not in _PAGES or is_navigation:
                continue
            if path in self._names:
                words = (
                    len(parsed.text(separator=" ").split())
                    if (parsed := LexborHTMLParser(self._markup(path)).body)
                    else 0
                )
                yield Omission("page outside the reading order", posixpath.basename(path), words)

    def _path(self, href: str) -> str:
        return posixpath.normpath(posixpath.join(self._folder, unquote(href)))

    def _about(self, name: str) -> str:
        texts = (" ".join((one.text or "").split()) for one in _named(self._package, name))
        return next(filter(None, texts), "")

    def _xml(self, path: str, *, forbid_dtd: bool = True) -> Element:
        from defusedxml.common import DefusedXmlException
        from defusedxml.ElementTree import fromstring

        try:
            return fromstring(self._archive.read(path), forbid_dtd=forbid_dtd)
        except DefusedXmlException as error:
            raise UnsupportedDocument("declares XML entities (a DTD), which is refused") from error
        except ParseError as error:
            raise UnsupportedDocument("has a part that is not well-formed XML") from error


def _named(root: Element, name: str) -> Iterator[Element]:
    """Yield the elements of a name, in any namespace."""
    return (one for one in root.iter() if str(one.tag).rpartition("}")[2] == name)


def _page_of(href: str, folder: str) -> str:
    return posixpath.normpath(posixpath.join(folder, unquote(urldefrag(href).url)))


def _points(root: Element) -> Iterator[tuple[str, str]]:
    for point in _named(root, "navPoint"):
        titles = (" ".join((text.text or "").split()) for text in _named(point, "text"))
        targets: list[Mapping[str, str]] = [one.attrib for one in _named(point, "content")]
        if targets:
            yield targets[0].get("src") or "", next(titles, "")
