"""What the words on the command line stand for: files, folders, globs, pages, repositories."""

import asyncio
import glob
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from core.errors import IngestionError, UnsupportedDocument
from core.ingestion.account.matches import unread_matches
from core.ingestion.recognition.recognition import Recognition
from core.ingestion.sandbox.sandbox import Sandbox
from core.ingestion.sites.detection import detect_site, loose_page
from core.ingestion.sites.page_files import well_formed
from core.ingestion.sites.site import Site, SiteKind
from core.ingestion.sources.files import FileSource
from core.ingestion.sources.pages import WebSource, origin_of_url
from core.ingestion.sources.source import Source, SourceReader
from core.models import is_web_url

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
            from core.ingestion.web.fetch import Fetcher  # with the web's libraries: 0.1 s

            fetcher = Fetcher(
                allowed_hosts=allowed_hosts, max_bytes=max_bytes, user_agent=user_agent
            )
            reader = replace(reader, fetcher=await stack.enter_async_context(fetcher))
        if any(map(is_git, names)):
            from core.ingestion.git.repositories import Repositories

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
            from core.ingestion.git.address import parse_git_address

            parse_git_address(name)
        elif _is_of_the_web(name):
            from core.ingestion.web.targets import parse_target

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
    from core.ingestion.git.address import parse_git_address

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
