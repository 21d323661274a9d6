"""Reads the folder of a Jekyll site: `_config.yml`, collections, permalinks and their order."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from urllib.parse import quote

from core.ingestion.account.survey import page_files
from core.ingestion.formats.flavours.flavour import MarkdownFlavour
from core.ingestion.formats.registry import readable_suffixes
from core.ingestion.sites.front_matter.jekyll_defaults import PAGES, PageDefaults
from core.ingestion.sites.front_matter.jekyll_links import (
    Style,
    ending_of,
    link_of,
    style_of_posts,
)
from core.ingestion.sites.front_matter.page_head import NO_HEAD, PageHead, in_order, page_head
from core.ingestion.sites.navigation import NavigationKeys, listed
from core.ingestion.sites.page_files import file_inside, readable
from core.ingestion.sites.site import MODULE_SEPARATOR, Site, SiteKind, SitePage
from core.ingestion.sites.site_config import read_yaml, read_yaml_values

_CONFIGS = ("_config.yml", "_config.yaml")
_SUFFIXES = (".md", ".markdown", ".html", ".htm")
_PLAIN_TEXT = frozenset({".txt", ".text"})
"""What Jekyll copies and is seldom a text of the course, such as `robots.txt`."""
_KEYS = frozenset({"collections", "permalink", "plugins", "remote_theme", "theme", "kramdown"})
_FOLDERS = ("_layouts", "_includes", "_posts", "_sass")
_EXCLUDED = ("Gemfile", "Gemfile.lock", "node_modules", "vendor")
_WEIGHTS = ("nav_order", "order", "weight")
_NAVIGATIONS = ("_data/navigation.yml", "_data/toc.yml", "_data/nav.yml")
_NAVIGATION = NavigationKeys(
    files=("url", "href", "link"),
    titles=("title", "text"),
    groups=("title", "section"),
    lists=("children", "items", "pages", "docs", "subfolderitems", "folderitems"),
)
_MOST_GENERATIONS = 10
_MISSING = "The navigation names a page that is missing: {path}."
_POSTS = "posts"
_POST = re.compile(r"\d{4}-\d{1,2}-\d{1,2}-")


@dataclass(frozen=True, slots=True)
class _Page:
    path: str
    head: PageHead
    link: str
    """Where it is published, percent-encoded, without a slash at the beginning."""
    collection: str = ""

    @property
    def title(self) -> str | None:
        return self.head.text("title")


def is_jekyll(folder: Path) -> bool:
    """Return whether the folder holds a Jekyll site; other programs have a `_config.yml` too."""
    config = _config(folder)
    if config is None:
        return False
    return bool(_KEYS & config.keys()) or any((folder / name).is_dir() for name in _FOLDERS)


def read_jekyll(folder: Path) -> Site | None:
    """Return every page that is published, in the order of the navigation and of `nav_order`.

    Pages below a `parent` follow it. Collections come after the pages, one after the other, and
    posts last; within each, what says no order comes after what does, by name.
    """
    config = _config(folder)
    if config is None:
        return None
    unpublished: dict[str, str] = {}
    pages = [*_pages(folder, config, unpublished)]
    warnings: list[str] = []
    ordered = _in_navigation(folder, pages, warnings)
    seen = {page.path for page, _, _ in ordered}
    for page, parents in _by_parents([page for page in pages if page.path not in seen]):
        ordered.append((page, parents, None))
    return Site(
        SiteKind.JEKYLL,
        folder,
        tuple(_site_page(*one) for one in ordered),
        _base_url(config),
        (".",),
        tuple(dict.fromkeys(warnings)),
        unlisted="is no page of Jekyll",
        unpublished=unpublished,
    )


def _config(folder: Path) -> Mapping[str, object] | None:
    found = next(filter(None, (read_yaml(folder, name) for name in _CONFIGS)), None)
    return None if found is None else {str(key): value for key, value in found.items()}


def _base_url(config: Mapping[str, object]) -> str | None:
    url, base = (config.get(name) for name in ("url", "baseurl"))
    if not isinstance(url, str) or not url.strip():
        return None
    below = base.strip().strip("/") if isinstance(base, str) else ""
    return f"{url.strip().rstrip('/')}/{below}/" if below else f"{url.strip().rstrip('/')}/"


def _pages(
    folder: Path, config: Mapping[str, object], unpublished: dict[str, str]
) -> Iterator[_Page]:
    """Yield the pages in natural order, then the documents of each collection."""
    excluded = (*_texts(config.get("exclude")), *_EXCLUDED)
    included = frozenset(one.strip("/") for one in _texts(config.get("include")))
    style = config.get("permalink")
    permalink = style if isinstance(style, str) and style.strip() else "date"
    collections = dict(_collections(config, permalink))
    place = str(config.get("collections_dir") or "").strip("/")
    defaults = PageDefaults(config.get("defaults"), place)
    of_pages = Style(f"/:path/:basename{ending_of(permalink)}")
    later: dict[str, list[_Page]] = {name: [] for name in collections}
    for path in page_files(folder, readable_suffixes() - _PLAIN_TEXT):
        is_static = not path.lower().endswith(_SUFFIXES)
        name, folders, below = _place_of(path, place, collections)
        head = NO_HEAD if is_static else page_head(folder, path)
        head = head if is_static else defaults.added_to(head, path, name or PAGES)
        if why := _why_not(path, head, name, excluded, included):
            unpublished[path] = why
        elif is_static:
            yield _Page(path, head, quote(path, errors="surrogateescape"))
        elif name is None:
            yield _Page(path, head, link_of(path, head, of_pages))
        elif not collections[name].is_shown:
            unpublished[path] = f"is of the collection {name}, which is not published"
        elif name == _POSTS and not _POST.match(posixpath.basename(path)):
            unpublished[path] = "is a post without a date in its name"
        else:
            link = link_of(below, head, collections[name], collection=name, folders=folders)
            later[name].append(_Page(path, head, link, name))
    for name in sorted(later, key=lambda name: name == _POSTS):
        yield from later[name]


def _collections(config: Mapping[str, object], permalink: str) -> Iterator[tuple[str, Style]]:
    """Yield the collections that the configuration names, in its order, and the posts."""
    described = config.get("collections")
    if isinstance(described, list):
        described = {name: {} for name in described if isinstance(name, str)}
    named = described if isinstance(described, Mapping) else {}
    for name, values in {_POSTS: {}, **named}.items():
        said = values if isinstance(values, Mapping) else {}
        template = said.get("permalink")
        is_shown = str(said.get("output", "")).lower() == "true" or name == _POSTS
        usual = f"/:collection/:path{ending_of(permalink)}"
        if name == _POSTS:
            usual = style_of_posts(permalink)
        yield str(name), Style(template if isinstance(template, str) else usual, is_shown)


def _place_of(
    path: str, place: str, collections: Mapping[str, Style]
) -> tuple[str | None, Sequence[str], str]:
    """Return the collection of a file, the folders above it, and the path within.

    Posts may lie in folders of their own, which are their categories.
    """
    *folders, name = (path.removeprefix(f"{place}/") if place else path).split("/")
    for at, folder in enumerate(folders):
        is_known = folder.startswith("_") and folder[1:] in collections
        if is_known and (at == 0 or folder == f"_{_POSTS}"):
            return folder[1:], folders[:at], "/".join((*folders[at + 1 :], name))
        if folder.startswith("_"):
            break
    return None, (), path


def _why_not(
    path: str,
    head: PageHead,
    collection: str | None,
    excluded: Sequence[str],
    included: frozenset[str],
) -> str | None:
    """Return why Jekyll does not publish a file as a page, or none."""
    parts = path.split("/")
    parents = ["/".join(parts[:n]) for n in range(1, len(parts) + 1)]
    if any(_matches(one, parents) for one in excluded):
        return "is excluded by the configuration"
    if collection is None and "_drafts" in parts:
        return "is a draft"
    if collection is None and any(
        part.startswith("_") and part not in included and parent not in included
        for part, parent in zip(parts, parents, strict=True)
    ):
        return "begins with an underscore, so Jekyll does not publish it"
    if head.says("published", "false"):
        return "is not published"
    return None


def _matches(pattern: str, parents: Sequence[str]) -> bool:
    bare = pattern.strip("/")
    return any(parent == bare or fnmatch(parent, bare) for parent in parents)


def _texts(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _in_navigation(
    folder: Path, pages: Sequence[_Page], warnings: list[str]
) -> list[tuple[_Page, tuple[str, ...], str | None]]:
    """Return the pages that a navigation file names, with their groups and titles, in order."""
    by_link = {page.link.rstrip("/").removesuffix(".html"): page for page in reversed(pages)}
    by_path = {page.path: page for page in pages}
    found: dict[str, tuple[_Page, tuple[str, ...], str | None]] = {}
    for name in _NAVIGATIONS:
        values = read_yaml_values(folder, name) if file_inside(folder, name) else None
        for value in values.values() if isinstance(values, Mapping) else [values]:
            for entry in listed(value, _NAVIGATION):
                bare = "" if entry.path == "." else entry.path
                page = by_link.get(bare.removesuffix(".html")) or by_path.get(bare)
                if page is None:
                    warnings.append(_MISSING.format(path=entry.path))
                else:
                    found.setdefault(page.path, (page, entry.groups, entry.title))
    return [*found.values()]


def _by_parents(pages: Sequence[_Page]) -> Iterator[tuple[_Page, tuple[str, ...]]]:
    """Yield pages with the titles of their parents, each after its parent."""
    groups: dict[str, list[_Page]] = {}
    for page in pages:
        groups.setdefault(page.collection, []).append(page)
    for own in groups.values():
        titles = {page.title for page in own}
        children: dict[str | None, list[_Page]] = {}
        for page in own:
            parent = page.head.text("parent")
            is_known = parent in titles and parent != page.title
            children.setdefault(parent if is_known else None, []).append(page)
        seen = set[str]()
        yield from _family(None, (), children, seen)
        for page in own:  # whose parents go round in a circle
            if page.path not in seen:
                yield page, _folders(page)


def _family(
    parent: str | None,
    above: tuple[str, ...],
    children: Mapping[str | None, Sequence[_Page]],
    seen: set[str],
) -> Iterator[tuple[_Page, tuple[str, ...]]]:
    own = {page.path: page for page in children.get(parent, ()) if page.path not in seen}
    weights = {path: page.head.number(*_WEIGHTS) for path, page in own.items()}
    for path in in_order(own, weights):
        page = own[path]
        if path in seen:
            continue
        seen.add(path)
        yield page, above or _folders(page)
        if page.title and len(above) < _MOST_GENERATIONS:
            yield from _family(page.title, (*above, page.title), children, seen)


def _folders(page: _Page) -> tuple[str, ...]:
    folders = page.path.split("/")[:-1]
    return tuple(readable(name.removeprefix("_")) for name in folders)


def _site_page(page: _Page, groups: tuple[str, ...], title: str | None) -> SitePage:
    module = MODULE_SEPARATOR.join(groups)
    return SitePage(page.path, page.link, module, title or page.title, MarkdownFlavour.JEKYLL)
