"""Reads the folder of a MkDocs site: `mkdocs.yml` and its navigation."""

import posixpath
from collections.abc import Iterator, Mapping
from itertools import count, islice
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from core.ingestion.account.survey import page_files
from core.ingestion.formats.flavours.flavour import MarkdownFlavour
from core.ingestion.sites.page_files import file_inside, is_folder_page, readable
from core.ingestion.sites.site import MODULE_SEPARATOR, Site, SiteKind, SitePage
from core.ingestion.sites.site_config import read_yaml

_CONFIGS = ("mkdocs.yml", "mkdocs.yaml")
_MAX_ENTRIES = 20_000
_MAX_VISITS = 200_000
_MAX_DEPTH = 30
_SUFFIXES = (".md", ".markdown")


class _Entry(NamedTuple):
    """A page of the navigation and the groups it is in."""

    path: str
    title: str | None
    groups: tuple[str, ...]


def is_mkdocs(folder: Path) -> bool:
    """Return whether the folder holds a MkDocs site."""
    return any(file_inside(folder, name) for name in _CONFIGS)


def read_mkdocs(folder: Path) -> Site | None:
    """Return the site with the pages of its navigation, or none if it cannot be read."""
    config = next(filter(None, (read_yaml(folder, name) for name in _CONFIGS)), None)
    if config is None:
        return None
    docs = posixpath.normpath(_text(config.get("docs_dir")) or "docs")
    if not (folder / docs).resolve().is_relative_to(folder) or not (folder / docs).is_dir():
        return None
    warnings: list[str] = []
    directory_urls = _text(config.get("use_directory_urls")).lower() != "false"
    pages: dict[str, SitePage] = {}
    for entry in _entries(folder, docs, config.get("nav"), warnings):
        url, module = _url_path(entry.path, directory_urls), MODULE_SEPARATOR.join(entry.groups)
        path = posixpath.normpath(posixpath.join(docs, entry.path))
        pages.setdefault(path, SitePage(path, url, module, entry.title, MarkdownFlavour.MKDOCS))
    return Site(
        SiteKind.MKDOCS,
        folder,
        tuple(pages.values()),
        _text(config.get("site_url")) or None,
        tuple(dict.fromkeys((*_snippet_roots(config), ".", docs))),
        tuple(warnings),
        docs=docs,
        unlisted="is not in the navigation" if config.get("nav") else "is no page of MkDocs",
    )


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _entries(folder: Path, docs: str, nav: object, warnings: list[str]) -> list[_Entry]:
    if not isinstance(nav, list) or not nav:
        files = page_files(folder / docs, _SUFFIXES)
        return [_Entry(path, None, _folders(path)) for path in files]
    listed: list[_Entry] = []
    for entry in islice(_walk(nav, (), count(1)), _MAX_ENTRIES):
        if file_inside(folder, f"{docs}/{entry.path}"):
            listed.append(entry)
        elif "://" not in entry.path and not entry.path.startswith("/"):
            warnings.append(f"The navigation names a page that is missing: {entry.path}.")
    return listed


def _walk(
    nav: object,
    groups: tuple[str, ...],
    visits: Iterator[int],
    title: str | None = None,
    depth: int = 0,
) -> Iterator[_Entry]:
    """Yield the pages below one value of the navigation.

    `visits` counts on for the whole walk: YAML's aliases make a small file branch without end.
    """
    if next(visits) > _MAX_VISITS:
        return
    inside = (*groups, title) if title else groups
    if isinstance(nav, str):
        path = nav.strip()
        if path.lower().endswith(_SUFFIXES) or "://" not in path:
            yield _Entry(posixpath.normpath(path), title, groups)
    elif depth > _MAX_DEPTH:
        return
    elif isinstance(nav, list):
        for item in nav:
            yield from _walk(item, inside, visits, None, depth + 1)
    elif isinstance(nav, Mapping):
        for name, value in nav.items():
            yield from _walk(value, inside, visits, str(name), depth + 1)


def _folders(path: str) -> tuple[str, ...]:
    return tuple(readable(name) for name in path.split("/")[:-1])


def _url_path(path: str, directory_urls: bool) -> str:
    parent, name = posixpath.split(path)
    stem = posixpath.splitext(name)[0]
    if is_folder_page(name):
        published = "" if directory_urls else "index.html"
    else:
        published = f"{stem}/" if directory_urls else f"{stem}.html"
    return quote(posixpath.join(parent, published), errors="surrogateescape")


def _snippet_roots(config: Mapping[object, object]) -> list[str]:
    """Return the folders that the snippets extension searches."""
    extensions = config.get("markdown_extensions")
    found: list[str] = []
    for extension in extensions if isinstance(extensions, list) else [extensions]:
        options = extension.get("pymdownx.snippets") if isinstance(extension, dict) else None
        roots = options.get("base_path") if isinstance(options, dict) else None
        found += [_text(root) for root in (roots if isinstance(roots, list) else [roots])]
    inside = (posixpath.normpath(root) for root in found if root and not root.startswith("/"))
    return [root for root in inside if not root.startswith("..")]
