"""Reads the folder of a Quarto book or website: `_quarto.yml`, its order and its URLs."""

import posixpath
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
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
from core.ingestion.sites.site_config import read_yaml

_CONFIGS = ("_quarto.yml", "_quarto.yaml")
_RENDERED = (".qmd", ".rmd", ".md", ".ipynb")
_KEYS = NavigationKeys(
    files=("href", "file"),
    titles=("text", "title"),
    groups=("part", "section"),
    lists=("chapters", "contents", "menu"),
)
_UNDERSCORED = "begins with an underscore, so Quarto does not publish it"
_NESTED = "is of another Quarto project, in {folder}"


def is_quarto(folder: Path) -> bool:
    """Return whether the folder holds a Quarto project."""
    return any(file_inside(folder, name) for name in _CONFIGS)


def read_quarto(folder: Path) -> Site | None:
    """Return a book with its chapters, or a website with every page; none if it lists no page.

    A website's pages come in the order of its sidebars and its bar, then by name: Quarto
    publishes all of them. Of a book, what is no chapter is not published.
    """
    config = next(filter(None, (read_yaml(folder, name) for name in _CONFIGS)), None)
    if config is None:
        return None
    book, website = (_mapping(config.get(name)) for name in ("book", "website"))
    warnings: list[str] = []
    files = page_files(folder, readable_suffixes())
    unpublished = dict(_unpublished(folder, files))
    open_files = [path for path in files if path not in unpublished]
    if chapters := [*_chapters(book)]:
        entries, unlisted = _found(chapters, open_files, warnings), "is no chapter of the book"
    elif book:
        return None
    else:
        entries = _found([*_bars(website)], open_files, warnings)
        unlisted = "is no page of Quarto"
        seen = {entry.path for entry in entries}
        entries += [
            ListedFile(path, None, _folders(path)) for path in open_files if path not in seen
        ]
    pages = {entry.path: _page(entry) for entry in reversed(entries)}
    return Site(
        SiteKind.QUARTO,
        folder,
        tuple(reversed(pages.values())),
        text_of(book, ("site-url",)) or text_of(website, ("site-url",)),
        (".",),
        tuple(dict.fromkeys(warnings)),
        unlisted=unlisted,
        unpublished=unpublished,
    )


def _mapping(value: object) -> Mapping[object, object]:
    return value if isinstance(value, Mapping) else {}


def _chapters(book: Mapping[object, object]) -> Iterator[ListedFile]:
    yield from listed(book.get("chapters"), _KEYS)
    for entry in listed(book.get("appendices"), _KEYS):
        yield entry._replace(groups=("Appendices", *entry.groups))


def _bars(website: Mapping[object, object]) -> Iterator[ListedFile]:
    yield from listed(website.get("sidebar"), _KEYS)
    navbar = _mapping(website.get("navbar"))
    for side in ("left", "right"):
        for entry in listed(navbar.get(side), _KEYS):
            yield entry._replace(groups=entry.groups or _folders(entry.path))


def _found(entries: list[ListedFile], files: list[str], warnings: list[str]) -> list[ListedFile]:
    """Return the entries that are there, those with a pattern or a folder once for each file."""
    known, found, patterns = set(files), list[ListedFile](), 0
    for entry in entries:
        if entry.path in known:
            found.append(entry)
            continue
        matches = list[str]()
        if patterns < MOST_PATTERNS and PurePosixPath(entry.path).suffix not in _RENDERED:
            patterns += 1
            matches = [path for path in files if _stands_for(entry.path, path)]
        found += [ListedFile(path, None, entry.groups) for path in matches]
        if not matches and entry.path not in {"auto", "---"}:
            warnings.append(f"The navigation names a page that is missing: {entry.path}.")
    return found


def _stands_for(pattern: str, path: str) -> bool:
    if PurePosixPath(path).suffix.lower() not in _RENDERED:
        return False
    if "*" in pattern:
        return fnmatch(path, pattern)
    return path.startswith(f"{pattern}/")


def _unpublished(folder: Path, files: list[str]) -> Iterator[tuple[str, str]]:
    for path in files:
        parents = [parent.as_posix() for parent in PurePosixPath(path).parents][:-1]
        nested = [one for one in parents if is_quarto(folder / one)]
        if any(name.startswith("_") for name in path.split("/")):
            yield path, _UNDERSCORED
        elif nested:
            yield path, _NESTED.format(folder=nested[-1])


def _folders(path: str) -> tuple[str, ...]:
    return tuple(readable(name) for name in path.split("/")[:-1])


def _page(entry: ListedFile) -> SitePage:
    parent, name = posixpath.split(entry.path)
    stem, suffix = posixpath.splitext(name)
    is_rendered = suffix.lower() in _RENDERED
    published = ("" if stem == "index" else f"{stem}.html") if is_rendered else name
    url = quote(posixpath.join(parent, published), errors="surrogateescape")
    module = MODULE_SEPARATOR.join(entry.groups)
    return SitePage(entry.path, url, module, entry.title, MarkdownFlavour.QUARTO)
