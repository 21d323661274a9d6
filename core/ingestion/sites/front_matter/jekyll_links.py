"""Says where Jekyll publishes a page: by its permalink, that of its collection, or the site's."""

import posixpath
import re
from dataclasses import dataclass
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
_DATED = re.compile(r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})-(?P<title>.+)")
_PLACE = re.compile(r":([a-z_]+)")


@dataclass(frozen=True, slots=True)
class Style:
    """How the pages of a collection are addressed."""

    template: str
    """One of Jekyll's own names, or a path with `:path`, `:title` and the like."""
    is_shown: bool = True
    """Whether its documents are published as pages."""


def is_pretty(style: str) -> bool:
    """Return whether a style gives each page a folder of its own."""
    return style == "pretty" or (style not in _STYLES and style.endswith("/"))


def link_of(path: str, head: PageHead, style: Style, *, collection: str = "") -> str:
    """Return where a page is published, percent-encoded, without a slash at the beginning.

    What the page is asked to be called by its front matter wins.

    Args:
        path: the file, in the site's folder or in the collection's.
        collection: empty for a page of the site.

    Source: Jekyll's documentation, "Permalinks".
    """
    own = head.text("permalink")
    template = own or _STYLES.get(style.template, style.template)
    if collection and collection != "posts" and style.template in _STYLES and not own:
        template = "/:collection/:path/" if style.template == "pretty" else _BY_PATH
    if not collection and own is None and is_folder_page(PurePosixPath(path).name):
        parent = posixpath.dirname(path)
        return quote(f"{parent}/" if parent else "", errors="surrogateescape")
    values = _values(path, head, collection)
    filled = _PLACE.sub(lambda place: values.get(place[1], place[0]), template)
    clean = re.sub(r"/{2,}", "/", filled).lstrip("/")
    if clean.endswith("/index.html"):
        clean = clean.removesuffix("index.html")
    return quote(clean, safe="/%", errors="surrogateescape")


_BY_PATH = "/:collection/:path:output_ext"


def _values(path: str, head: PageHead, collection: str) -> dict[str, str]:
    """Return what the marks of a template stand for."""
    stem = posixpath.splitext(posixpath.basename(path))[0]
    folder, dated = posixpath.dirname(path), _DATED.fullmatch(stem)
    name = dated["title"] if dated else stem
    slug = head.text("slug") or name
    values = {
        "path": folder if not collection else posixpath.splitext(path)[0],
        "basename": stem,
        "collection": collection,
        "name": re.sub(r"[^\w]+", "-", name.lower()).strip("-"),
        "title": slug,
        "slug": re.sub(r"[^\w]+", "-", slug.lower()).strip("-"),
        "output_ext": ".html",
        "categories": "/".join(_categories(head)),
    }
    if dated:
        year, month, day = dated["year"], int(dated["month"]), int(dated["day"])
        values |= {"year": year, "month": f"{month:02}", "day": f"{day:02}"}
        values |= {"i_month": str(month), "i_day": str(day), "short_year": year[2:]}
    return values


def _categories(head: PageHead) -> list[str]:
    found = head.values.get("categories") or head.values.get("category") or ""
    names = found.split() if isinstance(found, str) else found
    listed = names if isinstance(names, list) else []
    return [one.strip().lower().replace(" ", "-") for one in listed if isinstance(one, str)]
