"""What the words on the command line stand for: files, folders, globs, pages and sitemaps."""

import asyncio
import glob
import hashlib
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urljoin, urlsplit, urlunsplit

from core.errors import IngestionError, SourceUnavailable, UnsupportedDocument
from core.ingestion.account.left_out import LeftOut
from core.ingestion.account.matches import unread_matches
from core.ingestion.account.names import unique_names
from core.ingestion.assets import digest_of_assets
from core.ingestion.chunks.passages import Placement
from core.ingestion.document import ParsedDocument
from core.ingestion.sandbox.sandbox import ParseJob, Sandbox
from core.ingestion.sites.detection import detect_site, loose_page
from core.ingestion.sites.page_files import well_formed
from core.ingestion.sites.site import Site, SiteKind, SitePage
from core.models import is_web_url

if TYPE_CHECKING:
    from core.ingestion.web.fetch import Fetcher

_GLOB_MARKS = frozenset("*?[")
_SEPARATOR = "\x1f"


class SourceDocument(Protocol):
    """One document of a source."""

    @property
    def place(self) -> Placement:
        """What the source knows about it beside its text."""
        ...

    async def read(self) -> None:
        """Fetch its bytes, before anything else.

        Raises:
            IngestionError: when they cannot be had; the reason follows the document's name.
        """
        ...

    def fingerprint(self) -> str:
        """Return a digest of all that its chunks are made from."""
        ...

    async def parse(self) -> ParsedDocument:
        """Return its blocks.

        Raises:
            UnsupportedDocument: the reason follows the document's name.
        """
        ...


class Source(Protocol):
    """Where documents come from; ingesting it again replaces just its own documents."""

    @property
    def name(self) -> str:
        """The same in every run: an absolute path, a glob, or a URL."""
        ...

    @property
    def warnings(self) -> Sequence[str]:
        """What could not be read; complete once `documents` has returned."""
        ...

    @property
    def left_out(self) -> Sequence[LeftOut]:
        """Its files that are no documents; complete once `documents` has returned."""
        ...

    async def documents(self) -> list[SourceDocument]:
        """Return its documents in reading order.

        Raises:
            IngestionError: when the source as a whole cannot be read.
        """
        ...


@dataclass
class Readable:
    """The sources of one run."""

    sources: list[Source]
    base_url: str | None
    """Where the course is published, as far as its sources tell."""


@asynccontextmanager
async def open_sources(
    names: Sequence[str],
    *,
    base_url: str | None,
    allowed_hosts: frozenset[str],
    max_bytes: int,
    user_agent: str,
) -> AsyncIterator[Readable]:
    """Open the sources that `names` stand for; parsing and fetching end with the block.

    `base_url` is where the course says it is published; without it, each source decides for
    its own documents: a site by its configuration, a URL by itself; loose files have no links.
    With several folders, each folder's name goes before its documents' names.

    Raises:
        IngestionError: for a path or glob that matches nothing.
    """
    async with AsyncExitStack() as stack:
        sandbox = await stack.enter_async_context(Sandbox())
        reader = _Reader(sandbox, max_bytes)
        if any(map(_is_of_the_web, names)):
            from core.ingestion.web.fetch import Fetcher  # with the web's libraries: 0.1 s

            fetcher = Fetcher(
                allowed_hosts=allowed_hosts, max_bytes=max_bytes, user_agent=user_agent
            )
            reader = replace(reader, fetcher=await stack.enter_async_context(fetcher))
        several = len(names) > 1
        sites = [await _open(name, reader, base_url, several) for name in names]
        found = (source.base_url for source in sites if source.base_url)
        yield Readable(list(sites), base_url or next(found, None))


@dataclass(frozen=True, slots=True)
class _Reader:
    sandbox: Sandbox
    max_bytes: int
    fetcher: "Fetcher | None" = None
    """None where all sources are files."""

    @property
    def web(self) -> "Fetcher":
        """The one that fetches a source of the web."""
        assert self.fetcher is not None
        return self.fetcher


def _is_of_the_web(name: str) -> bool:
    return "://" in name


async def _open(
    name: str, reader: _Reader, base_url: str | None, several: bool
) -> "FileSource | WebSource":
    if _is_of_the_web(name):
        return WebSource(name, reader, base_url or _origin_of(name))
    try:
        found, site = await asyncio.to_thread(_look_up, name)
    except (OSError, RuntimeError, ValueError) as error:
        raise IngestionError(
            f"cannot be looked up: {error}",
            user_message=f"There is no file or folder called {name[:80]}.",
        ) from error
    prefix = f"{found.name}/" if several and site.folder == found else ""
    site = _with_usable_url(site)
    return FileSource(well_formed(str(found)), reader, site, base_url or site.base_url, prefix)


def _with_usable_url(site: Site) -> Site:
    """Return the site without its address, and a warning, where that is no http(s) URL."""
    if site.base_url is None or is_web_url(site.base_url):
        return site
    warning = f"The site's address {site.base_url} is no http(s) URL: its pages get no links."
    return replace(site, base_url=None, warnings=(*site.warnings, warning))


def is_gone(name: str) -> bool:
    """Return whether a source, by its name, was a file or folder that is no longer there."""
    if "://" in name or os.path.lexists(name):
        return False
    return next(glob.iglob(name, recursive=True), None) is None


def _look_up(name: str) -> tuple[Path, Site]:
    """Return what a path or glob names, absolute, and the pages it stands for."""
    path = Path(name).expanduser()
    if path.is_dir():
        return path.resolve(), detect_site(path)
    if path.is_file():
        return path.resolve(), _site_of([path.resolve()])
    if not _GLOB_MARKS & set(name):
        raise IngestionError(
            f"no such file: {name}", user_message=f"There is no file or folder called {name}."
        )
    matches = sorted(map(Path, glob.glob(str(path), recursive=True)))
    files = sorted({match.resolve() for match in matches if match.is_file()})
    if not files:
        raise IngestionError(f"no match: {name}", user_message=f"No file matches {name}.")
    site = _site_of(files)
    return path.absolute(), replace(site, left_out=unread_matches(matches, files, site.folder))


def _site_of(files: Sequence[Path]) -> Site:
    """Return loose files as a site of their own, below the folder that holds them all."""
    folder = Path(os.path.commonpath([file.parent for file in files]))
    paths = [file.relative_to(folder).as_posix() for file in files]
    return Site(SiteKind.FOLDER, folder, tuple(loose_page(path) for path in paths))


class FileSource:
    """Files of a folder, in the order of the site that they are the text of."""

    def __init__(
        self, name: str, reader: _Reader, site: Site, base_url: str | None, prefix: str = ""
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
                    url=_join(self.base_url, page.url_path),
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
    reader: _Reader
    page: SitePage
    site: Site
    assets: str
    data: bytes = b""

    async def read(self) -> None:
        try:
            path = self.site.folder / self.page.path
            size = (await asyncio.to_thread(path.stat)).st_size
            if size > self.reader.max_bytes:
                raise UnsupportedDocument(f"is larger than {self.reader.max_bytes / 1e6:.0f} MB")
            self.data = await asyncio.to_thread(path.read_bytes)
        except OSError as error:
            raise SourceUnavailable(f"cannot be read: {error.strerror}") from error

    def fingerprint(self) -> str:
        return _digest(self.data, self.place, self.page.dialect, self.assets)

    async def parse(self) -> ParsedDocument:
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


class WebSource:
    """One page of the web, or all pages that a sitemap lists."""

    def __init__(self, url: str, reader: _Reader, base_url: str) -> None:
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
    reader: _Reader
    data: bytes = b""
    media_type: str = ""

    async def read(self) -> None:
        fetched = await self.reader.web.fetch(self.place.source_file)
        self.data, self.media_type = fetched.body, fetched.media_type
        self.place = replace(self.place, url=fetched.url)

    def fingerprint(self) -> str:
        return _digest(self.data, self.place, self.media_type)

    async def parse(self) -> ParsedDocument:
        name = urlsplit(self.place.source_file).path.rsplit("/", 1)[-1] or "index.html"
        return await self.reader.sandbox.parse(ParseJob(self.data, name, self.media_type or None))


def _is_sitemap(url: str) -> bool:
    name = urlsplit(url).path.rsplit("/", 1)[-1].lower()
    return name.startswith("sitemap") and name.endswith((".xml", ".xml.gz", ".txt"))


def _origin_of(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc, "/", "", ""))


def _join(base_url: str | None, path: str) -> str | None:
    if base_url is None:
        return None
    return urljoin(base_url if base_url.endswith("/") else f"{base_url}/", path)


def _digest(data: bytes, place: Placement, *facts: str) -> str:
    described = (place.title or "", place.module or "", place.url or "", *facts)
    digest = hashlib.sha256(_SEPARATOR.join(described).encode())
    digest.update(data)
    return digest.hexdigest()
