"""Parses the forms a sitemap comes in: XML, a plain list of addresses, either one gzipped."""

import gzip
import io
import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from xml.sax import SAXException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl

import defusedxml.sax
from defusedxml import DefusedXmlException

from core.domain.errors import UnsupportedDocument

GZIP_MAGIC = b"\x1f\x8b"


def gunzip(packed: bytes, max_bytes: int) -> bytes:
    """Return what `packed` holds, at most `max_bytes`; never builds more than that.

    Raises:
        UnsupportedDocument: It holds more, or is damaged.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            content = file.read(max_bytes + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UnsupportedDocument(user_message="The compressed document is damaged.") from error
    if len(content) > max_bytes:
        raise too_large(max_bytes)
    return content


def too_large(max_bytes: int) -> UnsupportedDocument:
    """Return the refusal of a document that exceeds `max_bytes`."""
    limit = f"{max_bytes / 1_000_000:,.0f} MB" if max_bytes >= 1_000_000 else f"{max_bytes:,} bytes"
    return UnsupportedDocument(user_message=f"The document is larger than {limit}.")


MAX_URLS = 50_000
_MAX_XML_DEPTH = 16
_BLANK_BEFORE_XML = b"\xef\xbb\xbf \t\r\n"


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """One document that a sitemap lists."""

    url: str
    lastmod: datetime | None = None
    """UTC; none when absent or not a date."""


@dataclass(slots=True)
class Listed:
    """What one sitemap file says: documents, or further sitemaps."""

    entries: list[SitemapEntry] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)


def parse_sitemap(body: bytes, max_bytes: int) -> Listed:
    """Return what the sitemap in `body` lists, its addresses not yet checked.

    Raises:
        UnsupportedDocument: It is no sitemap, is unsafe XML, unpacks to more than
            `max_bytes` or lists more than `MAX_URLS` addresses.
    """
    if body.startswith(GZIP_MAGIC):
        body = gunzip(body, max_bytes)
    if body.lstrip(_BLANK_BEFORE_XML).startswith(b"<"):
        return _parse_xml(body.lstrip())
    return _parse_lines(body)


def _parse_lines(body: bytes) -> Listed:
    lines = [line.strip() for line in body.decode("utf-8-sig", "replace").splitlines()]
    urls = [line for line in lines if line]
    if not all(url.lower().startswith(("http://", "https://")) for url in urls):
        raise _no_sitemap()
    if len(urls) > MAX_URLS:
        raise too_many_urls()
    return Listed(entries=[SitemapEntry(url) for url in urls])


def _parse_xml(body: bytes) -> Listed:
    reader = _SitemapReader()
    try:
        defusedxml.sax.parseString(body, reader, forbid_dtd=True)
    except (SAXException, DefusedXmlException, ValueError, LookupError) as error:
        raise _no_sitemap() from error
    return reader.listed


class _SitemapReader(ContentHandler):
    """Keeps only the entry being read, so that no shape of file needs much memory."""

    def __init__(self) -> None:
        super().__init__()
        self.listed = Listed()
        self._depth = 0
        self._fields: dict[str, str] = {}
        self._text: list[str] = []

    def startElement(self, name: str, attrs: AttributesImpl) -> None:  # noqa: N802
        self._depth += 1
        self._text.clear()
        if self._depth == 1 and _local(name) not in ("urlset", "sitemapindex"):
            raise _no_sitemap()
        if self._depth == 2:
            self._fields.clear()
        if self._depth > _MAX_XML_DEPTH:
            raise _no_sitemap()

    def characters(self, content: str) -> None:
        if self._depth == 3:
            self._text.append(content)

    def endElement(self, name: str) -> None:  # noqa: N802
        if self._depth == 3 and _local(name) in ("loc", "lastmod"):
            self._fields[_local(name)] = "".join(self._text).strip()
        if self._depth == 2:
            self._add(_local(name))
        self._depth -= 1

    def _add(self, kind: str) -> None:
        url = self._fields.get("loc")
        if not url:
            return
        if kind == "url":
            self.listed.entries.append(SitemapEntry(url, _date(self._fields.get("lastmod", ""))))
        elif kind == "sitemap":
            self.listed.sitemaps.append(url)
        if len(self.listed.entries) + len(self.listed.sitemaps) > MAX_URLS:
            raise too_many_urls()


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _date(text: str) -> datetime | None:
    try:
        date = datetime.fromisoformat(text)
        return date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _no_sitemap() -> UnsupportedDocument:
    return UnsupportedDocument(user_message="The document is not a well-formed sitemap.")


def too_many_urls() -> UnsupportedDocument:
    """Return the refusal of a sitemap with more than `MAX_URLS` addresses."""
    return UnsupportedDocument(user_message=f"The sitemap lists more than {MAX_URLS:,} documents.")
