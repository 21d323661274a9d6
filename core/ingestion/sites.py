"""Recognises what publishes a folder, and lists its pages in reading order."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import quote

from core.ingestion.docusaurus_site import is_docusaurus, read_docusaurus
from core.ingestion.formats.dialects import Dialect
from core.ingestion.formats.registry import SUPPORTED_SUFFIXES
from core.ingestion.mdbook_site import is_mdbook, read_mdbook
from core.ingestion.mkdocs_site import is_mkdocs, read_mkdocs
from core.ingestion.page_files import (
    is_folder_page,
    links_outside,
    other_files,
    page_files,
    readable,
)
from core.ingestion.site import MODULE_SEPARATOR, Site, SiteKind, SitePage

_MARKDOWN = frozenset({".md", ".markdown", ".mdx"})


class _Generator(NamedTuple):
    name: str
    recognises: Callable[[Path], bool]
    read: Callable[[Path], Site | None]


_GENERATORS: Sequence[_Generator] = (
    _Generator("an mdBook", is_mdbook, read_mdbook),
    _Generator("a MkDocs site", is_mkdocs, read_mkdocs),
    _Generator("a Docusaurus site", is_docusaurus, read_docusaurus),
)


def detect_site(folder: Path, *, page_suffix: str = "") -> Site:
    """Return the site in `folder`; what no generator can read is a plain folder.

    Args:
        folder: an existing folder.
        page_suffix: how the pages of a plain folder are published, in place of `.md`.
            Nothing by default: GitHub Pages and most static hosts answer to `intro` for
            `intro.html`. With `.html` or `/` it can be told exactly.
    """
    root = folder.resolve()
    warnings: list[str] = []
    for generator in _GENERATORS:
        if not generator.recognises(root):
            continue
        site = generator.read(root)
        if site is not None and site.pages:
            return replace(site, warnings=(*warnings, *site.warnings))
        warnings.append(f"The folder looks like {generator.name}, but has no pages of one.")
    return _plain_folder(root, page_suffix, tuple(warnings))


def _plain_folder(root: Path, page_suffix: str, warnings: tuple[str, ...]) -> Site:
    pages = (loose_page(path, page_suffix) for path in page_files(root, SUPPORTED_SUFFIXES))
    notes = (links_outside(root), other_files(root, SUPPORTED_SUFFIXES))
    warnings = (*warnings, *filter(None, notes))
    return Site(SiteKind.FOLDER, root, tuple(pages), None, (".",), warnings)


def loose_page(path: str, page_suffix: str = "") -> SitePage:
    """Return the page of a file that no generator publishes."""
    module = MODULE_SEPARATOR.join(map(readable, path.split("/")[:-1]))
    dialect = Dialect.DOCUSAURUS if path.lower().endswith(".mdx") else Dialect.MARKDOWN
    return SitePage(path, _url_path(PurePosixPath(path), page_suffix), module, None, dialect)


def _url_path(path: PurePosixPath, page_suffix: str) -> str:
    if path.suffix.lower() not in _MARKDOWN:
        return quote(path.as_posix(), errors="surrogateescape")
    parent = "" if path.parent.name == "" else f"{path.parent.as_posix()}/"
    published = "" if is_folder_page(path.name) else f"{path.stem}{page_suffix}"
    return quote(parent + published, errors="surrogateescape")
