"""Reads the folder of an mdBook: `book.toml` and `SUMMARY.md`."""

import posixpath
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from core.ingestion.formats.flavours.flavour import MarkdownFlavour
from core.ingestion.sites.page_files import file_inside, read_inside
from core.ingestion.sites.site import MODULE_SEPARATOR, Site, SiteKind, SitePage

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
