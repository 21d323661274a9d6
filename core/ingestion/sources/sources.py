"""What the words on the command line stand for: files, folders, globs, pages, repositories."""

import asyncio
import glob
import hashlib
import os
import re
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple, Protocol
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from core.domain import is_web_url
from core.domain.errors import EmptyDocument, IngestionError, SourceUnavailable, UnsupportedDocument
from core.ingestion.account import Survey, included_files, survey, unread_files, unread_matches
from core.ingestion.coverage import digest_of_assets
from core.ingestion.document import ParsedDocument
from core.ingestion.formats.includes import MarkdownFlavour
from core.ingestion.formats.registry import is_readable, suffix_of, suffixes_of
from core.ingestion.formats.scans import Recognition
from core.ingestion.passages import Placement
from core.ingestion.refusal import LeftOut
from core.ingestion.sandbox.messages import ParseJob
from core.ingestion.sandbox.sandbox import Sandbox
from core.ingestion.sites.docusaurus import is_docusaurus, read_docusaurus
from core.ingestion.sites.hugo import is_hugo, read_hugo
from core.ingestion.sites.jekyll import is_jekyll, read_jekyll
from core.ingestion.sites.mdbook_mkdocs import is_mdbook, is_mkdocs, read_mdbook, read_mkdocs
from core.ingestion.sites.quarto_jupyter import (
    is_jupyter_book,
    is_quarto,
    is_sphinx,
    read_jupyter_book,
    read_quarto,
    read_sphinx,
)
from core.ingestion.sites.site import (
    include_reader,
    is_folder_page,
    read_inside,
    readable,
    well_formed,
)
from core.ingestion.sites.site_settings import MODULE_SEPARATOR, Site, SiteKind, SitePage

if TYPE_CHECKING:
    from core.ingestion.sources.fetch import Fetcher
    from core.ingestion.sources.git import Repositories


_MARKDOWN = suffixes_of("markdown")
_QUARTO = suffixes_of("quarto", "rmarkdown")
_SUBTITLES = suffixes_of("subtitles")
_LANGUAGE = re.compile(r"\.[a-z]{2,3}(?:-[A-Za-z]{2,4})?")
_LATEX = suffixes_of("latex")
_RST = suffixes_of("rst")
_INCLUDING = _QUARTO | _RST | {".mdx"}
"""Pages of a plain folder that may include others."""


class _Generator(NamedTuple):
    name: str
    recognises: Callable[[Path], bool]
    read: Callable[[Path], Site | None]


_GENERATORS: Sequence[_Generator] = (
    _Generator("an mdBook", is_mdbook, read_mdbook),
    _Generator("a MkDocs site", is_mkdocs, read_mkdocs),
    _Generator("a Docusaurus site", is_docusaurus, read_docusaurus),
    _Generator("a Quarto project", is_quarto, read_quarto),
    _Generator("a Jupyter Book", is_jupyter_book, read_jupyter_book),
    _Generator("a Sphinx site", is_sphinx, read_sphinx),
    _Generator("a Hugo site", is_hugo, read_hugo),
    _Generator("a Jekyll site", is_jekyll, read_jekyll),
)

_NO_SITE = (
    "The folder looks like {name}, but its configuration cannot be read, or names no page that is "
    "there: it is read as a plain folder, with every page in it."
)


def detect_site(folder: Path, *, page_suffix: str = "") -> Site:
    """Return the site in `folder`, with every file of it that is no page.

    What no generator can read is a plain folder.

    Args:
        folder: an existing folder.
        page_suffix: how the pages of a plain folder are published, in place of `.md`.
            Nothing by default: GitHub Pages and most static hosts answer to `intro` for
            `intro.html`. `.html` or `/` says it exactly.
    """
    root = folder.resolve()
    seen = survey(root)
    site = _detected(root, seen, page_suffix)
    return replace(site, left_out=unread_files(site, seen))


def _detected(root: Path, seen: Survey, page_suffix: str) -> Site:
    warnings: list[str] = []
    for generator in _GENERATORS:
        if not generator.recognises(root):
            continue
        site = generator.read(root)
        if site is not None and site.pages:
            return replace(site, warnings=(*warnings, *site.warnings))
        warnings.append(_NO_SITE.format(name=generator.name))
    return _plain_folder(seen, page_suffix, tuple(warnings))


def _plain_folder(seen: Survey, page_suffix: str, warnings: tuple[str, ...]) -> Site:
    readable_files = [path for path in seen.files if is_readable(path)]
    partials = _partials(seen.folder, readable_files)
    pages = (loose_page(path, page_suffix) for path in readable_files if path not in partials)
    return Site(SiteKind.FOLDER, seen.folder, tuple(pages), None, (".",), warnings)


def _partials(folder: Path, paths: Sequence[str]) -> frozenset[str]:
    """Return the files that are made to be included, where a page includes them.

    Those are `_part.mdx`, and the chapters of a whole LaTeX document.
    """
    underscored = [path for path in paths if PurePosixPath(path).name.startswith("_")]
    including = [path for path in paths if suffix_of(path) in _INCLUDING]
    parts = included_files(folder, including, underscored, (".",))
    latex = [path for path in paths if suffix_of(path) in _LATEX]
    whole = [path for path in latex if "\\documentclass" in (read_inside(folder, path) or "")]
    chapters = [path for path in latex if path not in whole]
    return parts | included_files(folder, whole, chapters, (".",))


def loose_page(path: str, page_suffix: str = "") -> SitePage:
    """Return the page of a file that no generator publishes."""
    module = MODULE_SEPARATOR.join(map(readable, path.split("/")[:-1]))
    return SitePage(
        path, _url_path(PurePosixPath(path), page_suffix), module, None, _dialect_of(path)
    )


def _dialect_of(path: str) -> MarkdownFlavour:
    suffix = suffix_of(path)
    if suffix in _QUARTO:
        return MarkdownFlavour.QUARTO
    return MarkdownFlavour.DOCUSAURUS if suffix == ".mdx" else MarkdownFlavour.MARKDOWN


def _url_path(path: PurePosixPath, page_suffix: str) -> str:
    if path.suffix.lower() in _SUBTITLES:
        return quote(_recording(path), errors="surrogateescape")
    if path.suffix.lower() in _QUARTO | _RST:
        page_suffix = ".html"
    elif path.suffix.lower() not in _MARKDOWN:
        return quote(path.as_posix(), errors="surrogateescape")
    parent = "" if path.parent.name == "" else f"{path.parent.as_posix()}/"
    published = "" if is_folder_page(path.name) else f"{path.stem}{page_suffix}"
    return quote(parent + published, errors="surrogateescape")


def _recording(path: PurePosixPath) -> str:
    """Return where the recording is whose subtitles these are: `week1/tides.en.vtt`, week1/tides.

    A name that is the id of a video keeps every character, so that a site's address and it lead
    to the video.
    """
    bare = path.with_suffix("")
    language = _LANGUAGE.fullmatch(bare.suffix)
    return (bare.with_suffix("") if language else bare).as_posix()


_SEPARATOR = "\x1f"


def digest_of(data: bytes, place: Placement, *facts: str) -> str:
    """Return a digest of a document's bytes and of all else that its chunks are made from."""
    described = (place.title or "", place.module or "", place.url or "", *facts)
    digest = hashlib.sha256(_SEPARATOR.join(described).encode())
    digest.update(data)
    return digest.hexdigest()


class SourceDocument(Protocol):
    """One document of a source."""

    @property
    def place(self) -> Placement:
        """What the source knows about it besides its text."""
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
        """The same in every run: an absolute path, a glob, a URL, or the name that it was given."""
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


@dataclass(frozen=True, slots=True)
class SourceReader:
    """What the sources of one run read with."""

    sandbox: Sandbox
    max_bytes: int
    """Of one document."""
    fetcher: "Fetcher | None" = None
    """None where all sources are files."""
    repositories: "Repositories | None" = None
    """None where no source is a git repository."""

    @property
    def web(self) -> "Fetcher":
        """The one that fetches a source of the web."""
        assert self.fetcher is not None
        return self.fetcher


def published_at(base_url: str | None, path: str) -> str | None:
    """Return the address of a page below `base_url`, or none without one."""
    if base_url is None:
        return None
    return urljoin(base_url if base_url.endswith("/") else f"{base_url}/", path)


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
                read_include=include_reader(
                    self.site.folder, page.path, self.site.include_roots, page.dialect
                ),
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
            from core.ingestion.sources.fetch import read_sitemap

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


_GLOB_MARKS = frozenset("*?[")
_GIT = "git+"
_REPOSITORY_BYTES = 500_000_000


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
    repositories: Path | None = None,
    max_repository_bytes: int = _REPOSITORY_BYTES,
    is_one_of_several: bool = False,
    recognition: Recognition | None = None,
    called: str | None = None,
) -> AsyncIterator[Readable]:
    """Open the sources that `names` stand for; parsing and fetching end with the block.

    `base_url` is where the course says it is published; without it, each source decides for
    its own documents: a site by its configuration, a URL by itself; loose files have no links.
    With several folders, each folder's name goes before its documents' names.

    Args:
        repositories: the folder in which the files of git repositories are kept, so that what
            has not changed is not fetched again; None: a folder that goes when the block ends.
        is_one_of_several: whether the course has other sources than these.
        recognition: how scanned pages are read; None: they are not.
        called: what files are called as a source, a name with `://`; None: as the place where
            they are.

    Raises:
        IngestionError: for a path or glob that matches nothing, an address that is none, or a
            repository that cannot be fetched.
        ServiceError: for a repository on a machine without git.
    """
    for name in names:
        check_address(name)
    async with AsyncExitStack() as stack:
        sandbox = await stack.enter_async_context(Sandbox(recognition=recognition))
        reader = SourceReader(sandbox, max_bytes)
        if any(map(_is_of_the_web, names)):
            from core.ingestion.sources.fetch import Fetcher  # with the web's libraries: 0.1 s

            fetcher = Fetcher(
                allowed_hosts=allowed_hosts, max_bytes=max_bytes, user_agent=user_agent
            )
            reader = replace(reader, fetcher=await stack.enter_async_context(fetcher))
        if any(map(is_git, names)):
            from core.ingestion.sources.git import Repositories

            kept = repositories or Path(stack.enter_context(TemporaryDirectory()))
            held = Repositories(
                kept, reader.web, max_bytes=max_repository_bytes, max_document_bytes=max_bytes
            )
            reader = replace(reader, repositories=held)
        several = is_one_of_several or len(names) > 1
        sites = [await _open(name, reader, base_url, several, called) for name in names]
        found = (source.base_url for source in sites if source.base_url)
        yield Readable(list(sites), base_url or next(found, None))


def is_git(name: str) -> bool:
    """Return whether a source, by its name, is a git repository."""
    return name.lower().startswith(_GIT)


def check_address(name: str) -> None:
    """Return when a source is no address, or is one that can be fetched; nothing is looked up.

    Raises:
        UnsupportedDocument: naming it.
    """
    try:
        if is_git(name):
            from core.ingestion.sources.git import parse_git_address

            parse_git_address(name)
        elif _is_of_the_web(name):
            from core.ingestion.sources.pinned import parse_target

            parse_target(name)
    except UnsupportedDocument as error:
        authority = name.partition("://")[2].partition("/")[0]
        named = "" if "@" in authority else f"{name[:200]}: "  # a password stays untold
        raise UnsupportedDocument(
            str(error), user_message=f"{named}{error.user_message}"
        ) from error


def _is_of_the_web(name: str) -> bool:
    return "://" in name


async def _open(
    name: str, reader: SourceReader, base_url: str | None, several: bool, called: str | None
) -> FileSource | WebSource:
    if is_git(name):
        return await _open_repository(name, reader, base_url, several)
    if _is_of_the_web(name):
        return WebSource(name, reader, base_url or origin_of_url(name))
    try:
        found, site = await asyncio.to_thread(_look_up, name)
    except (OSError, RuntimeError, ValueError) as error:
        raise IngestionError(
            f"cannot be looked up: {error}",
            user_message=f"There is no file or folder called {name[:80]}.",
        ) from error
    prefix = f"{found.name}/" if several and site.folder == found else ""
    site = _with_usable_url(site)
    called = called or well_formed(str(found))
    return FileSource(called, reader, site, base_url or site.base_url, prefix)


async def _open_repository(
    name: str, reader: SourceReader, base_url: str | None, several: bool
) -> FileSource:
    from core.ingestion.sources.git import parse_git_address

    address = parse_git_address(name)
    assert reader.repositories is not None
    checkout = await reader.repositories.checkout(address)
    site = _with_usable_url(await asyncio.to_thread(detect_site, checkout.folder))
    site = replace(site, left_out=(*site.left_out, *checkout.left_out))
    prefix = f"{address.title}/" if several else ""
    return FileSource(name, reader, site, base_url or site.base_url, prefix)


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


def origin_of(name: str) -> str:
    """Return what the source that `name` stands for is called in every run."""
    if _is_of_the_web(name):
        return name
    path = Path(name).expanduser()
    try:
        there = path.is_dir() or path.is_file() or not _GLOB_MARKS & set(name)
        return well_formed(str(path.resolve() if there else path.absolute()))
    except (OSError, RuntimeError, ValueError):
        return well_formed(str(path.absolute()))


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
