"""Reads the folder of an mdBook: `book.toml` and `SUMMARY.md`."""

import posixpath
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from core.ingestion.account import page_files
from core.ingestion.formats.includes import MarkdownFlavour
from core.ingestion.sites.site import file_inside, is_folder_page, read_inside, read_yaml, readable
from core.ingestion.sites.site_settings import MODULE_SEPARATOR, Site, SiteKind, SitePage

if TYPE_CHECKING:
    from markdown_it.token import Token


class _Chapter(NamedTuple):
    """A line of the summary."""

    title: str
    path: str
    module: str


def is_mdbook(folder: Path) -> bool:
    """Return whether the folder holds an mdBook."""
    names = ("book.toml", "SUMMARY.md", "src/SUMMARY.md")
    return any(file_inside(folder, name) for name in names)


def read_mdbook(folder: Path) -> Site | None:
    """Return the book whose chapters are those of its summary, or none without a summary."""
    warnings: list[str] = []
    source, base_url = _configuration(folder, warnings)
    summary = read_inside(folder, f"{source}/SUMMARY.md")
    if summary is None:
        return None
    from markdown_it import MarkdownIt

    pages: dict[str, SitePage] = {}
    for chapter in _Summary(MarkdownIt("commonmark").parse(summary)).chapters():
        page = _page(folder, source, chapter, warnings)
        if page is not None:
            pages.setdefault(page.path, page)
    return Site(
        SiteKind.MDBOOK,
        folder,
        tuple(pages.values()),
        base_url,
        (source,),
        tuple(warnings),
        docs=source,
        unlisted="is not in the summary",
        foreign={posixpath.normpath(f"{source}/SUMMARY.md"): "is the summary"},
    )


def _configuration(folder: Path, warnings: list[str]) -> tuple[str, str | None]:
    """Return the folder of the pages and the URL, as far as `book.toml` gives them."""
    default = "." if file_inside(folder, "SUMMARY.md") else "src"
    text = read_inside(folder, "book.toml")
    if text is None:
        return default, None
    try:
        config = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        warnings.append("book.toml could not be read.")
        return default, None
    source = _nested(config, "book", "src")
    site_url = _nested(config, "output", "html", "site-url")
    default = "src" if file_inside(folder, "src/SUMMARY.md") else default
    is_url = isinstance(site_url, str) and site_url.startswith(("http://", "https://"))
    return (
        posixpath.normpath(source) if isinstance(source, str) and source else default,
        str(site_url) if is_url else None,
    )


def _nested(table: object, *names: str) -> object:
    for name in names:
        table = table.get(name) if isinstance(table, dict) else None
    return table


def _page(folder: Path, source: str, chapter: _Chapter, warnings: list[str]) -> SitePage | None:
    if not chapter.path:
        warnings.append(f"The chapter “{chapter.title}” is a draft.")
        return None
    path = posixpath.normpath(posixpath.join(source, chapter.path))
    if file_inside(folder, path) is None:
        warnings.append(f"The chapter “{chapter.title}” is missing: {chapter.path}.")
        return None
    url = _url_path(posixpath.normpath(chapter.path))
    return SitePage(path, url, chapter.module, chapter.title, MarkdownFlavour.MDBOOK)


def _url_path(path: str) -> str:
    parent, name = posixpath.split(path)
    stem = posixpath.splitext(name)[0]
    published = "index" if stem.lower() == "readme" else stem
    return quote(posixpath.join(parent, f"{published}.html"))


@dataclass(slots=True)
class _Summary:
    """One pass over the tokens of a summary."""

    tokens: "Sequence[Token]"
    part: str = ""
    parents: list[str] = field(default_factory=list)
    depth: int = 0

    def chapters(self) -> Iterator[_Chapter]:
        for index, token in enumerate(self.tokens):
            if token.type in {"bullet_list_open", "ordered_list_open"}:
                self.depth += 1
            elif token.type in {"bullet_list_close", "ordered_list_close"}:
                self.depth -= 1
            elif token.type == "heading_open":
                is_book_title = index == 0
                self.part = "" if is_book_title else _words(self.tokens[index + 1])
            elif token.type == "inline" and self.tokens[index - 1].type != "heading_open":
                yield from self._links(token)

    def _links(self, inline: "Token") -> Iterator[_Chapter]:
        title: list[str] | None = None
        path = ""
        for token in inline.children or []:
            if token.type == "link_open":
                title, path = [], unquote(str(token.attrs.get("href", "")))
            elif token.type == "link_close" and title is not None:
                yield self._chapter("".join(title).strip(), path)
                title = None
            elif title is not None:
                title.append(token.content)

    def _chapter(self, title: str, path: str) -> _Chapter:
        if self.depth:
            self.parents = [*self.parents[: self.depth - 1], title]
        top = self.parents[0] if self.depth else ""
        module = MODULE_SEPARATOR.join(filter(None, (self.part, top)))
        return _Chapter(title, path, module)


def _words(inline: "Token") -> str:
    return "".join(token.content for token in inline.children or []).strip()


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
        url, module = (
            _mkdocs_site_url_path(entry.path, directory_urls),
            MODULE_SEPARATOR.join(entry.groups),
        )
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


def _mkdocs_site_url_path(path: str, directory_urls: bool) -> str:
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
