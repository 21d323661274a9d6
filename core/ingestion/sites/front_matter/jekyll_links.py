"""Says where Jekyll publishes a page: by its permalink, that of its collection, or the site's."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import PurePosixPath
from urllib.parse import quote

from core.ingestion.sites.front_matter.page_head import PageHead
from core.ingestion.sites.page_files import is_folder_page

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
