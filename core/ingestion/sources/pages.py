"""Pages of the web as documents: one page, or all that a sitemap lists."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit, urlunsplit

from core.ingestion.account.left_out import LeftOut
from core.ingestion.chunks.passages import Placement
from core.ingestion.document import ParsedDocument
from core.ingestion.sandbox.sandbox import ParseJob
from core.ingestion.sources.digests import digest_of
from core.ingestion.sources.source import SourceDocument, SourceReader


class WebSource:
    """One page of the web, or all pages that a sitemap lists."""

    def __init__(self, url: str, reader: SourceReader, base_url: str) -> None:
        self.name = url
        self.base_url: str | None = base_url
        self.warnings: Sequence[str] = ()
        self.left_out: Sequence[LeftOut] = ()
        self._reader = reader

    async def documents(self) -> list[SourceDocument]:
        """Return the pages; a sitemap is fetched, the pages themselves are not yet."""
        urls = [self.name]
        if _is_sitemap(self.name):
            from core.ingestion.web.sitemap import read_sitemap

            listed = await read_sitemap(self._reader.web, self.name)
            urls, self.left_out = [entry.url for entry in listed.entries], listed.left_out
        return [
            _Page(Placement(source_file=url, origin=self.name, url=url), self._reader)
            for url in dict.fromkeys(urls)
        ]


@dataclass
class _Page:
    place: Placement
    reader: SourceReader
    data: bytes = b""
    media_type: str = ""

    async def read(self) -> None:
        fetched = await self.reader.web.fetch(self.place.source_file)
        self.data, self.media_type = fetched.body, fetched.media_type
        self.place = replace(self.place, url=fetched.url)

    def fingerprint(self) -> str:
        facts = self.reader.sandbox.recognition.facts(self.data)
        return digest_of(self.data, self.place, self.media_type, *facts)

    async def parse(self) -> ParsedDocument:
        name = urlsplit(self.place.source_file).path.rsplit("/", 1)[-1] or "index.html"
        return await self.reader.sandbox.parse(ParseJob(self.data, name, self.media_type or None))


def _is_sitemap(url: str) -> bool:
    name = urlsplit(url).path.rsplit("/", 1)[-1].lower()
    return name.startswith("sitemap") and name.endswith((".xml", ".xml.gz", ".txt"))


def origin_of_url(url: str) -> str:
    """Return the address of the site that a page is of."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc, "/", "", ""))
