"""Reads the folder of a Jupyter Book: `_toc.yml`, or the contents in `myst.yml`."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from urllib.parse import quote

from core.ingestion.account.survey import page_files
from core.ingestion.formats.flavours.flavour import MarkdownFlavour
from core.ingestion.formats.registry import readable_suffixes
from core.ingestion.sites.navigation import (
    MOST_PATTERNS,
    ListedFile,
    NavigationKeys,
    listed,
    text_of,
)
from core.ingestion.sites.page_files import file_inside, readable
from core.ingestion.sites.site import MODULE_SEPARATOR, Site, SiteKind, SitePage
from core.ingestion.sites.site_config import read_yaml, read_yaml_values

_KEYS = NavigationKeys(
    files=("file", "root", "glob", "pattern"),
    titles=("title",),
    groups=("caption", "part"),
    lists=("parts", "chapters", "sections", "subtrees", "entries", "children"),
)
_SUFFIXES = ("", ".md", ".ipynb", ".rst", ".tex", ".txt")


def is_jupyter_book(folder: Path) -> bool:
    """Return whether the folder holds a Jupyter Book or a MyST project with its contents."""
    return file_inside(folder, "_toc.yml") is not None or _myst_contents(folder) is not None


def read_jupyter_book(folder: Path) -> Site | None:
    """Return the pages that the contents name, or none if these cannot be read.

    Jupyter Book publishes the other pages of the folder as well, unless it is configured not to:
    they come last. MyST does not.

    Source: the Jupyter Book guide, "Structure the Table of Contents", and MyST's.
    """
    contents, url = _myst_contents(folder), _myst_url
    if contents is None:
        contents, url = _toc(folder), _sphinx_url
    config = _mapping(read_yaml(folder, "_config.yml"))
    warnings: list[str] = []
    pages: dict[str, SitePage] = {}
    files = page_files(folder, readable_suffixes())
    entries = [*_found(files, contents, warnings)]
    if url is _sphinx_url and entries and config.get("only_build_toc_files") != "true":
        entries += [ListedFile(path, None, _folders(path)) for path in files]
    for entry in entries:
        page = SitePage(
            entry.path,
            quote(url(entry.path), errors="surrogateescape"),
            MODULE_SEPARATOR.join(entry.groups),
            entry.title,
            MarkdownFlavour.MYST,
        )
        pages.setdefault(entry.path, page)
    return Site(
        SiteKind.JUPYTER_BOOK,
        folder,
        tuple(pages.values()),
        text_of(_mapping(config.get("html")), ("baseurl",)),
        (".",),
        tuple(warnings),
        unlisted="is not in the contents",
    )


def _mapping(value: object) -> Mapping[object, object]:
    return value if isinstance(value, Mapping) else {}


def _toc(folder: Path) -> object:
    """Return the contents of `_toc.yml`; before version 0.11 they were a list."""
    return read_yaml_values(folder, "_toc.yml")


def _myst_contents(folder: Path) -> object:
    project = _mapping(_mapping(read_yaml(folder, "myst.yml")).get("project"))
    return project.get("toc")


def _folders(path: str) -> tuple[str, ...]:
    return tuple(readable(name) for name in path.split("/")[:-1])


def _found(files: list[str], contents: object, warnings: list[str]) -> Iterator[ListedFile]:
    known, patterns = set(files), 0
    for entry in listed(contents, _KEYS):
        names = (f"{entry.path}{suffix}" for suffix in _SUFFIXES)
        path = next((name for name in names if name in known), None)
        if path is not None:
            yield entry._replace(path=path)
        elif "*" in entry.path and patterns < MOST_PATTERNS:
            patterns += 1
            matching = (name for name in files if fnmatch(name, f"{entry.path}*"))
            yield from (ListedFile(name, None, entry.groups) for name in matching)
        else:
            warnings.append(f"The contents name a page that is missing: {entry.path}.")


def _sphinx_url(path: str) -> str:
    return f"{posixpath.splitext(path)[0]}.html"


def _myst_url(path: str) -> str:
    """Return where MyST publishes a page: its name in lower case, folders left out."""
    stem = posixpath.splitext(posixpath.basename(path))[0]
    slug = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")
    return "" if slug == "index" else slug
