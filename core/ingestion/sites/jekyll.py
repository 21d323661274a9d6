"""Reads the folder of a Jekyll site: `_config.yml`, collections, permalinks and their order."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from core.ingestion.account import page_files
from core.ingestion.formats.includes import MarkdownFlavour
from core.ingestion.formats.registry import readable_suffixes
from core.ingestion.sites.site import (
    NO_HEAD,
    NavigationKeys,
    PageHead,
    begins_with,
    file_inside,
    in_order,
    is_folder_page,
    listed,
    page_head,
    read_yaml,
    read_yaml_values,
    readable,
)
from core.ingestion.sites.site_settings import MODULE_SEPARATOR, Site, SiteKind, SitePage

PAGES = "pages"
"""The type of what is in no collection."""
_SINGULAR = {"page": PAGES, "post": "posts", "draft": "drafts"}
_MOST_SCOPES = 500


@dataclass(frozen=True, slots=True)
class _Scope:
    path: str
    """Begins the paths that it holds for, or is a pattern of their folders; empty: all."""
    type: str | None
    values: Mapping[object, object]

    def holds_for(self, path: str, type_: str) -> bool:
        if self.type not in {None, type_}:
            return False
        if "*" in self.path:
            return begins_with(path, self.path)
        return path.startswith(self.path)

    @property
    def rank(self) -> tuple[int, bool]:
        """Higher ones win, of equal ones the last."""
        return len(self.path), self.type is not None


class PageDefaults:
    """The values under `defaults`, each for a folder, a type of pages, or both.

    Source: Jekyll's documentation, "Front Matter Defaults", of version 4, as of November 2026.
    Of a permalink for pages it says that it is ignored; its users report, and its code shows,
    that it is not.
    """

    def __init__(self, described: object, collections_folder: str) -> None:
        """Read the values; what is none is passed over.

        Args:
            collections_folder: what the paths of collections are relative to; may be empty.
        """
        self._below = f"{collections_folder}/" if collections_folder else ""
        listed = described if isinstance(described, list) else []
        scopes = (self._scope(one) for one in listed[:_MOST_SCOPES])
        self._scopes = sorted((one for one in scopes if one), key=lambda one: one.rank)

    def added_to(self, head: PageHead, path: str, type_: str) -> PageHead:
        """Return the front matter of a page with what it does not say itself.

        Args:
            path: relative to the site's folder.
            type_: `pages`, or the collection's name.
        """
        known: dict[object, object] = {}
        for scope in self._scopes:
            if scope.holds_for(path.removeprefix(self._below), type_):
                known.update(scope.values)
        return PageHead({**known, **head.values}, head.is_there) if known else head

    def _scope(self, described: object) -> _Scope | None:
        values = described.get("values") if isinstance(described, Mapping) else None
        scope = described.get("scope") if isinstance(described, Mapping) else None
        if not isinstance(values, Mapping):
            return None
        said = scope if isinstance(scope, Mapping) else {}
        path, type_ = said.get("path"), said.get("type")
        named = path.lstrip("/").removeprefix(self._below) if isinstance(path, str) else ""
        return _Scope(named, _SINGULAR.get(str(type_), str(type_)) if type_ else None, values)


_STYLES = {
    "date": "/:categories/:year/:month/:day/:title:output_ext",
    "pretty": "/:categories/:year/:month/:day/:title/",
    "ordinal": "/:categories/:year/:y_day/:title:output_ext",
    "weekdate": "/:categories/:year/W:week/:short_day/:title:output_ext",
    "none": "/:categories/:title:output_ext",
}
_DATED = re.compile(r"(?P<date>\d{4}-\d{1,2}-\d{1,2})-(?P<title>.+)")
_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
_PLACE = re.compile(r":([a-z_]+)")
_TO_PAGE_TITLE = re.compile(r"[^\w.~!$&'()+,;=@]+")
_TO_SLUG = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Style:
    """How the pages of a collection are addressed."""

    template: str
    """A path with `:path`, `:title` and the like."""
    is_shown: bool = True
    """Whether its documents are published as pages."""


def style_of_posts(permalink: str) -> str:
    """Return the template of posts by the permalink of the site, which may name one of its own."""
    return _STYLES.get(permalink, permalink)


def ending_of(permalink: str) -> str:
    """Return how addresses of pages and collections end by the permalink of the site."""
    style = style_of_posts(permalink)
    return next((ending for ending in ("/", ":output_ext") if style.endswith(ending)), "")


def link_of(
    path: str, head: PageHead, style: Style, *, collection: str = "", folders: Sequence[str] = ()
) -> str:
    """Return where a page is published, percent-encoded, without a slash at the beginning.

    What the page is asked to be called by its front matter wins.

    Args:
        path: the file, in the site's folder or in the collection's.
        collection: empty for a page of the site.
        folders: those above the one of the posts, which are categories.

    Source: Jekyll's documentation, "Permalinks", of version 4, as of November 2026.
    """
    own = head.text("permalink")
    if not collection and own is None and is_folder_page(PurePosixPath(path).name):
        parent = posixpath.dirname(path)
        return quote(f"{parent}/" if parent else "", errors="surrogateescape")
    values = _values(path, head, collection, folders)
    filled = _PLACE.sub(lambda place: _filled(place[1], values), own or style.template)
    parts = [part for part in filled.split("/") if part.strip(".")]
    clean = "/".join(parts) + ("/" if filled.endswith("/") and parts else "")
    if f"/{clean}".endswith("/index.html"):
        clean = clean.removesuffix("index.html")
    return quote(clean, safe="/%", errors="surrogateescape")


def _filled(name: str, values: Mapping[str, str]) -> str:
    """Return what stands in place of a mark, which another underscore may follow."""
    if name not in values and name.rstrip("_") in values:
        return values[name.rstrip("_")] + name[len(name.rstrip("_")) :]
    return values.get(name, f":{name}")


def _values(
    path: str, head: PageHead, collection: str, folders: Sequence[str]
) -> Mapping[str, str]:
    """Return what the marks of a template stand for."""
    stem = posixpath.splitext(posixpath.basename(path))[0]
    dated = _DATED.fullmatch(stem) if collection else None
    title = head.text("slug") or (dated["title"] if dated else stem)
    categories = list(dict.fromkeys((*folders, *_categories(head))))
    values = {
        "path": posixpath.splitext(path)[0] if collection else posixpath.dirname(path),
        "basename": stem,
        "collection": collection,
        "name": _slug(stem),
        "title": _TO_PAGE_TITLE.sub("-", title).strip("-"),
        "slug": _slug(title),
        "output_ext": ".html",
        "categories": "/".join(one.lower() for one in categories),
        "slugified_categories": "/".join(map(_slug, categories)),
    }
    moment = _date(head.text("date")) or _date(dated["date"] if dated else None)
    return {**values, **_of_date(moment)} if moment and collection else values


def _slug(text: str) -> str:
    return _TO_SLUG.sub("-", text).strip("-").lower()


def _date(written: str | None) -> date | None:
    found = _DATE.match(written or "")
    try:
        return date(*map(int, found.groups())) if found else None
    except ValueError:
        return None


def _of_date(moment: date) -> Mapping[str, str]:
    marks = {
        "year": "%Y",
        "short_year": "%y",
        "month": "%m",
        "short_month": "%b",
        "long_month": "%B",
        "day": "%d",
        "y_day": "%j",
        "w_year": "%G",
        "week": "%V",
        "w_day": "%u",
        "short_day": "%a",
        "long_day": "%A",
    }
    values = {name: moment.strftime(mark) for name, mark in marks.items()}
    return {**values, "i_month": str(moment.month), "i_day": str(moment.day)}


def _categories(head: PageHead) -> Iterator[str]:
    """Yield the categories of a page; words of `categories` are one each, `category` is one."""
    several = head.values.get("categories")
    names = several.split() if isinstance(several, str) else several
    for name in (head.values.get("category"), *(names if isinstance(names, list) else ())):
        if isinstance(name, str) and name.strip():
            yield name.strip()


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
