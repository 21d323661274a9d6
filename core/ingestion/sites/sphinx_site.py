"""Reads the folder of a Sphinx site: the order of its toctrees, and its URLs."""

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from core.ingestion.account.survey import page_files
from core.ingestion.formats.flavours.flavour import MarkdownFlavour
from core.ingestion.formats.registry import readable_suffixes
from core.ingestion.sites.navigation import MOST_PATTERNS
from core.ingestion.sites.page_files import file_inside, read_inside, readable
from core.ingestion.sites.site import MODULE_SEPARATOR, Site, SiteKind, SitePage

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
        tuple(_page(source, *row) for row in contents.rows()),
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


def _page(source: str, path: str, title: str | None, groups: tuple[str, ...]) -> SitePage:
    is_page = posixpath.splitext(path)[1].lower() in {".rst", ".rest", ".md", ".ipynb", ".txt"}
    published = f"{posixpath.splitext(path)[0]}.html" if is_page else path
    url = quote(published, errors="surrogateescape")
    place = _below(source, path)
    return SitePage(place, url, MODULE_SEPARATOR.join(groups), title, MarkdownFlavour.MYST)
