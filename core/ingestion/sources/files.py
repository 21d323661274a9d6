"""Files of a folder as documents, in the order of the site that they are the text of."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from core.errors import EmptyDocument, SourceUnavailable, UnsupportedDocument
from core.ingestion.account.left_out import LeftOut
from core.ingestion.assets import digest_of_assets
from core.ingestion.chunks.passages import Placement
from core.ingestion.document import ParsedDocument
from core.ingestion.sandbox.sandbox import ParseJob
from core.ingestion.sites.page_files import well_formed
from core.ingestion.sites.site import Site, SitePage
from core.ingestion.sources.digests import digest_of
from core.ingestion.sources.source import SourceDocument, SourceReader, published_at


class FileSource:
    """Files of a folder, in the order of the site that they are the text of."""

    def __init__(
        self, name: str, reader: SourceReader, site: Site, base_url: str | None, prefix: str = ""
    ) -> None:
        self.name = name
        self.base_url = base_url
        self.warnings: Sequence[str] = site.warnings
        paths = [*(page.path for page in site.pages), *(left.path for left in site.left_out)]
        self._names = unique_names(prefix, paths)
        self.left_out: Sequence[LeftOut] = [
            replace(left, path=self._names[left.path]) for left in site.left_out
        ]
        self._reader = reader
        self._site = site

    async def documents(self) -> list[SourceDocument]:
        """Return the site's pages; nothing is read yet."""
        assets = await asyncio.to_thread(digest_of_assets, self._site)
        return [
            _File(
                Placement(
                    source_file=self._names[page.path],
                    origin=self.name,
                    title=page.title,
                    module=page.module or None,
                    url=published_at(self.base_url, page.url_path),
                ),
                self._reader,
                page,
                self._site,
                assets,
            )
            for page in self._site.pages
        ]


@dataclass
class _File:
    place: Placement
    reader: SourceReader
    page: SitePage
    site: Site
    assets: str
    data: bytes = b""

    async def read(self) -> None:
        try:
            self.data = await asyncio.to_thread(self._whole)
        except OSError as error:
            raise SourceUnavailable(f"cannot be read: {error.strerror}") from error

    def _whole(self) -> bytes:
        path = self.site.folder / self.page.path
        if path.stat().st_size > self.reader.max_bytes:
            raise UnsupportedDocument(f"is larger than {self.reader.max_bytes / 1e6:.0f} MB")
        return path.read_bytes()

    def fingerprint(self) -> str:
        facts = self.reader.sandbox.recognition.facts(self.data)
        return digest_of(self.data, self.place, self.page.dialect, self.assets, *facts)

    async def parse(self) -> ParsedDocument:
        if not self.data.strip():
            raise EmptyDocument("is empty")
        page = self.page
        return await self.reader.sandbox.parse(
            ParseJob(
                self.data,
                page.path,
                dialect=page.dialect,
                include_root=self.site.folder,
                include_folders=self.site.include_roots,
            )
        )


def unique_names(prefix: str, paths: Iterable[str]) -> dict[str, str]:
    """Return a name for each path; two that differ only in bytes outside UTF-8 get two.

    Such bytes become `�`, and where that makes a name that is taken, `\\xNN`.
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for path in dict.fromkeys(paths):
        name = well_formed(prefix + path)
        if name in taken:
            escaped = (prefix + path).encode(errors="surrogateescape")
            name = escaped.decode(errors="backslashreplace")
        taken.add(name)
        names[path] = name
    return names
