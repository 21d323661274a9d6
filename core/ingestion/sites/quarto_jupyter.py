"""Reads the folder of a Quarto book or website: `_quarto.yml`, its order and its URLs."""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import quote

from core.ingestion.account import page_files
from core.ingestion.formats.includes import MarkdownFlavour
from core.ingestion.formats.registry import readable_suffixes
from core.ingestion.sites.site import (
    MOST_PATTERNS,
    ListedFile,
    NavigationKeys,
    file_inside,
    listed,
    read_inside,
    read_yaml,
    read_yaml_values,
    readable,
    text_of,
)
from core.ingestion.sites.site_settings import MODULE_SEPARATOR, Site, SiteKind, SitePage

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


_JUPYTER_SITE_KEYS = NavigationKeys(
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
    entries = [*_jupyter_site_found(files, contents, warnings)]
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


def _toc(folder: Path) -> object:
    """Return the contents of `_toc.yml`; before version 0.11 they were a list."""
    return read_yaml_values(folder, "_toc.yml")


def _myst_contents(folder: Path) -> object:
    project = _mapping(_mapping(read_yaml(folder, "myst.yml")).get("project"))
    return project.get("toc")


def _jupyter_site_found(
    files: list[str], contents: object, warnings: list[str]
) -> Iterator[ListedFile]:
    known, patterns = set(files), 0
    for entry in listed(contents, _JUPYTER_SITE_KEYS):
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


_SOURCES = (".", "source")
_TOCTREE = re.compile(
    r"^(?P<indent>[ \t]*)(?:\.\.[ \t]+toctree::|`{3,}\{toctree\}|:{3,}\{toctree\})[ \t]*$"
)
_OPTION = re.compile(r":([\w-]+):[ \t]*(.*)")
_TITLED = re.compile(r"(.+?)\s*<([^<>]+)>")
_TEMPLATES = ("_templates", "_themes")


class _Entry(NamedTuple):
    """A document, or a pattern, of a toctree."""

    name: str
    title: str | None
    caption: str
    is_pattern: bool


def is_sphinx(folder: Path) -> bool:
    """Return whether the folder holds the source of a Sphinx site."""
    return _source_of(folder) is not None


def _source_of(folder: Path) -> str | None:
    """Return the folder with the configuration and the first document, if there is one."""
    for source in _SOURCES:
        config = read_inside(folder, f"{source}/conf.py")
        if config is not None and _first_document(folder, source, config):
            return source
    return None


def _first_document(folder: Path, source: str, config: str) -> str | None:
    name = _value(config, "root_doc") or _value(config, "master_doc") or "index"
    names = (f"{name}{suffix}" for suffix in (".rst", ".md", ".txt"))
    return next((name for name in names if file_inside(folder, f"{source}/{name}")), None)


def read_sphinx(folder: Path) -> Site | None:
    """Return every document that Sphinx publishes, in the order of the toctrees.

    The configuration is a program: it is read as text, and never run. Documents that no toctree
    names are published as well, and come last.
    """
    source = _source_of(folder)
    if source is None:
        return None
    config = read_inside(folder, f"{source}/conf.py") or ""
    excluded = _excluded(config)
    files = page_files(folder / source, readable_suffixes())
    unpublished = {path: "is excluded by conf.py" for path in files if _matches(path, excluded)}
    templates = {path for path in files if path.split("/")[0] in _TEMPLATES}
    contents = _Contents(
        folder / source, [p for p in files if p not in unpublished.keys() | templates]
    )
    contents.follow(_first_document(folder, source, config) or "", ())
    return Site(
        SiteKind.SPHINX,
        folder,
        tuple(_sphinx_site_page(source, *row) for row in contents.rows()),
        _value(config, "html_baseurl"),
        (source,),
        tuple(dict.fromkeys(contents.warnings)),
        docs=source,
        unlisted="is no page of Sphinx",
        unpublished={_below(source, path): why for path, why in unpublished.items()},
        foreign={_below(source, path): "is a template" for path in templates},
    )


def _below(source: str, path: str) -> str:
    return posixpath.normpath(f"{source}/{path}")


def _value(config: str, name: str) -> str | None:
    found = re.search(rf"^{name}\s*=\s*[\"']([^\"'\n]{{1,500}})[\"']", config, re.MULTILINE)
    return found[1] if found else None


def _excluded(config: str) -> Sequence[str]:
    found = re.search(r"^exclude_patterns\s*=\s*\[([^\]]{0,5000})\]", config, re.MULTILINE)
    return re.findall(r"[\"']([^\"'\n]{1,200})[\"']", found[1])[:MOST_PATTERNS] if found else ()


def _matches(path: str, patterns: Sequence[str]) -> bool:
    return any(
        fnmatch(path, pattern.replace("**/", "*")) or path.startswith(f"{pattern.rstrip('/')}/")
        for pattern in patterns
    )


class _Contents:
    """Follows the toctrees from the first document on."""

    def __init__(self, source: Path, files: Sequence[str]) -> None:
        self.warnings: list[str] = []
        self._source, self._files = source, files
        self._by_name: dict[str, str] = {}
        for path in files:
            self._by_name.setdefault(posixpath.splitext(path)[0], path)
        self._found: dict[str, tuple[str | None, tuple[str, ...]]] = {}
        self._patterns = 0

    def follow(self, path: str, groups: tuple[str, ...], title: str | None = None) -> None:
        """Note a document, and after it those of its toctrees."""
        waiting = [(path, groups, title)]
        while waiting:
            path, groups, title = waiting.pop()
            if path in self._found:
                continue
            self._found[path] = (title, groups)
            entries = _entries(read_inside(self._source, path) or "")
            below = [row for entry in entries for row in self._rows_of(path, groups, entry)]
            waiting += reversed(below)

    def rows(self) -> Iterator[tuple[str, str | None, tuple[str, ...]]]:
        """Yield path, title and groups of each document."""
        for path, (title, groups) in self._found.items():
            yield path, title, groups
        for path in self._files:
            if path not in self._found:
                yield path, None, tuple(readable(name) for name in path.split("/")[:-1])

    def _rows_of(
        self, page: str, groups: tuple[str, ...], entry: _Entry
    ) -> Iterator[tuple[str, tuple[str, ...], str | None]]:
        inside = (*groups, entry.caption) if entry.caption else groups
        folder = "" if entry.name.startswith("/") else posixpath.dirname(page)
        name = posixpath.normpath(posixpath.join(folder, entry.name.lstrip("/")))
        stem, suffix = posixpath.splitext(name)
        known = self._by_name.get(name) or self._by_name.get(
            stem if suffix in {".rst", ".md"} else ""
        )
        if known is not None:
            yield known, inside, entry.title
        elif entry.is_pattern and "*" in name and self._patterns < MOST_PATTERNS:
            self._patterns += 1
            matching = (one for one in self._by_name if fnmatch(one, name))
            yield from ((self._by_name[one], inside, None) for one in matching)
        else:
            self.warnings.append(f"A toctree names a page that is missing: {entry.name}.")


def _entries(text: str) -> Iterator[_Entry]:
    """Yield what the toctrees of a page list."""
    options: dict[str, str] | None = None
    closes: Callable[[str], bool] = bool
    for line in text.split("\n") if "toctree" in text else ():
        if opening := _TOCTREE.match(line):
            options, closes = {}, _closing(opening)
        elif options is None or not line.strip():
            continue
        elif closes(line):
            options = None
        elif option := _OPTION.fullmatch(line.strip()):
            options[option[1]] = option[2].strip()
        else:
            titled = _TITLED.fullmatch(line.strip())
            name, title = (titled[2].strip(), titled[1]) if titled else (line.strip(), None)
            if "://" not in name and name != "self":
                yield _Entry(name, title, options.get("caption", ""), "glob" in options)


def _closing(opening: re.Match[str]) -> Callable[[str], bool]:
    """Return what says of a line whether it stands after a toctree."""
    if "{" in opening[0]:
        return lambda line: line.startswith(("```", ":::"))
    depth = len(opening["indent"])
    return lambda line: len(line) - len(line.lstrip()) <= depth


def _sphinx_site_page(
    source: str, path: str, title: str | None, groups: tuple[str, ...]
) -> SitePage:
    is_page = posixpath.splitext(path)[1].lower() in {".rst", ".rest", ".md", ".ipynb", ".txt"}
    published = f"{posixpath.splitext(path)[0]}.html" if is_page else path
    url = quote(published, errors="surrogateescape")
    place = _below(source, path)
    return SitePage(place, url, MODULE_SEPARATOR.join(groups), title, MarkdownFlavour.MYST)
