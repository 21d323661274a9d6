"""Says where Hugo publishes a page: by its front matter, the site's permalinks, or its path."""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from urllib.parse import quote

from core.ingestion.sites.front_matter.page_head import PageHead
from core.ingestion.sites.front_matter.path_patterns import fits

_KINDS = frozenset({"page", "section", "taxonomy", "term"})
_DATES = ("date", "publishDate", "pubDate", "published", "lastmod", "modified")
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?!\d)")
_TOKEN = re.compile(r"(?<!\\):(\w+)(?:\[([^\[\]]*)\])?")
_NOT_IN_A_PATH = re.compile(r"[^\w.+~@-]")
_OF_GO = {
    "2006": "%Y",
    "06": "%y",
    "01": "%m",
    "Jan": "%b",
    "January": "%B",
    "02": "%d",
    "Mon": "%a",
    "Monday": "%A",
}
"""What the layouts of Go's dates are for `strftime`."""


@dataclass(frozen=True, slots=True)
class HugoPage:
    """What the address of a page depends on."""

    path: str
    """The file, relative to the folder of the contents."""
    head: PageHead
    sections: Sequence[str]
    """The folders of the sections that it is in, itself included, from the outside inwards."""

    @property
    def stem(self) -> str:
        """The file's name without its ending."""
        return posixpath.splitext(posixpath.basename(self.path))[0]

    @property
    def folder(self) -> str:
        """Empty at the top."""
        return posixpath.dirname(self.path)

    @property
    def is_section(self) -> bool:
        """Whether it is the page of a folder that has others in it."""
        return self.stem == "_index"

    @property
    def name(self) -> str:
        """The path that Hugo knows it by: without ending, for an index its folder."""
        if self.stem in {"index", "_index"}:
            return self.folder
        return posixpath.join(self.folder, self.stem)


@dataclass(frozen=True, slots=True)
class _Permalink:
    fits: Callable[[str, str], bool]
    """Of a kind of pages, and a path without a slash at the beginning."""
    pattern: str


class HugoLinks:
    """The addresses of a site's pages.

    Source: Hugo's documentation, "URL management" and "Configure permalinks", of version 0.161,
    as of November 2026.
    """

    def __init__(self, config: Mapping[str, object], language: str, languages: int) -> None:
        """Read the configuration.

        Args:
            config: its keys in lower case.
            language: of the pages.
            languages: how many the site has.
        """
        self._keeps_case = _says(config, "disablepathtolower")
        self._ugly = config.get("uglyurls")
        self._is_multilingual = languages > 1
        in_subfolder = _says(config, "defaultcontentlanguageinsubdir")
        self._prefix = f"{language}/" if in_subfolder else ""
        self._permalinks = [*_permalinks(config.get("permalinks"), language)]

    def page(self, page: HugoPage) -> str:
        """Return where a page is published, percent-encoded, without a slash at the beginning."""
        url = page.head.text("url")
        if url is not None:
            is_absolute = url.startswith("/") and self._is_multilingual
            place, prefix = self._ended(page, self._expanded(url, page)), self._prefix
            return _quoted(place if is_absolute else f"{prefix}{place}")
        return _quoted(f"{self._prefix}{self._ended(page, self._place(page))}")

    def file(self, path: str, owner: HugoPage | None) -> str:
        """Return where a file is published that is no page, as a part of the one that has it."""
        if owner is None:
            return _quoted(f"{self._prefix}{self._as_path(path)}")
        place = self.page(owner)
        folder = place if place.endswith("/") or not place else f"{posixpath.dirname(place)}/"
        inside = path.removeprefix(f"{owner.folder}/" if owner.folder else "")
        return f"{folder.lstrip('/')}{_quoted(inside)}"

    def _place(self, page: HugoPage) -> str:
        """Return the path of a page, as the site's permalinks or its own folders say."""
        kind = "section" if page.is_section else "page"
        known = self._as_path(page.name)
        for permalink in self._permalinks if known else ():
            if permalink.fits(kind, known):
                return self._expanded(permalink.pattern, page)
        slug = None if page.is_section else page.head.text("slug")
        if slug is None:
            return known
        return posixpath.join(posixpath.dirname(known), self._as_path(slug))

    def _ended(self, page: HugoPage, place: str) -> str:
        clean = re.sub(r"/{2,}", "/", place).lstrip("/")
        is_file = "." in posixpath.basename(clean)
        if not clean or is_file:
            return clean
        bare = clean.rstrip("/")
        is_ugly = not page.is_section and self._is_ugly(page)
        return f"{bare}.html" if is_ugly else f"{bare}/"

    def _is_ugly(self, page: HugoPage) -> bool:
        if isinstance(self._ugly, Mapping):
            return str(self._ugly.get(page.path.partition("/")[0])).lower() == "true"
        return str(self._ugly).lower() == "true"

    def _expanded(self, pattern: str, page: HugoPage) -> str:
        """Return a pattern with its tokens replaced; one that is not known stays."""

        def filled(token: "re.Match[str]") -> str:
            value = self._value(token[1], token[2], page)
            return token[0] if value is None else value

        return _TOKEN.sub(filled, pattern).replace("\\:", ":")

    def _value(self, token: str, selected: str | None, page: HugoPage) -> str | None:
        title, slug = page.head.text("title"), page.head.text("slug")
        name = posixpath.basename(page.name)
        if token == "sections":
            names = [self._as_path(posixpath.basename(one)) for one in page.sections]
            return "/".join(names if selected is None else _selected(names, selected))
        texts = {
            "section": page.sections[0] if page.sections else "",
            "title": title or name,
            "slug": slug or title or name,
            "filename": name,
            "slugorfilename": slug or name,
            "contentbasename": name,
            "slugorcontentbasename": slug or name,
        }
        if token in texts:
            return self._as_path(texts[token])
        moment = _date(page.head)
        return _of_date(moment, token) if moment else None

    def _as_path(self, name: str) -> str:
        """Return a name as Hugo writes it into an address. Source: its function `urlize`."""
        parts = []
        for part in name.split("/"):
            bare = " ".join(_NOT_IN_A_PATH.sub("", word) for word in part.split())
            parts.append(re.sub(r"(?<=-) +| +(?=-)", "", re.sub(r" +", " ", bare.strip())))
        written = "/".join(parts).replace(" ", "-")
        return written if self._keeps_case else written.lower()


def _says(config: Mapping[str, object], key: str) -> bool:
    return str(config.get(key)).lower() == "true"


def _permalinks(described: object, language: str) -> Iterator[_Permalink]:
    """Yield the permalinks of a configuration, which says them as a list or by sections."""
    if isinstance(described, list):
        for one in described:
            yield from _targeted(one, language)
        return
    of_kinds = list[tuple[str, str, str]]()
    for key, value in described.items() if isinstance(described, Mapping) else ():
        if isinstance(value, str):
            of_kinds.append(("page", str(key), value))
        elif isinstance(value, Mapping) and str(key).lower() in _KINDS:
            own = [(str(section), one) for section, one in value.items() if isinstance(one, str)]
            of_kinds += [(str(key).lower(), section, pattern) for section, pattern in own]
    for kind, section, pattern in sorted(of_kinds, key=lambda one: -len(one[1])):
        yield _Permalink(_of_section(kind, section.lower().strip(" /")), pattern)


def _of_section(kind: str, section: str) -> Callable[[str, str], bool]:
    def fits_one(own: str, path: str) -> bool:
        lowered = path.lower()
        is_inside = f"{lowered}/".startswith(f"{section}/") if section else "/" not in lowered
        return own == kind and is_inside

    return fits_one


def _targeted(described: object, language: str) -> Iterator[_Permalink]:
    values = described if isinstance(described, Mapping) else {}
    pattern, target = values.get("pattern"), values.get("target", {})
    if not isinstance(pattern, str) or not isinstance(target, Mapping):
        return
    path, kind, sites = (target.get(name) for name in ("path", "kind", "sites"))
    matrix = sites.get("matrix") if isinstance(sites, Mapping) else None
    languages = matrix.get("languages") if isinstance(matrix, Mapping) else None
    listed = languages if isinstance(languages, list) else ["*"]
    named = [one for one in listed if isinstance(one, str)]
    if not any(fnmatchcase(language, one) for one in named):
        return

    def fits_one(own: str, known: str) -> bool:
        fits_kind = not isinstance(kind, str) or fnmatchcase(own, kind.lower())
        fits_path = not isinstance(path, str) or fits(f"/{known}".lower(), path.lower())
        return fits_kind and fits_path

    yield _Permalink(fits_one, pattern)


def _selected(names: Sequence[str], selected: str) -> Sequence[str]:
    """Return what a slice such as `1:`, `:last` or `last` takes of the sections."""
    low, colon, high = selected.strip().lower().partition(":")
    last = len(names) - 1
    begin, end = _position(low, last, 0), _position(high, last, len(names))
    if not colon:
        return names[begin : begin + 1]
    return names[begin:end] if begin < len(names) else ()


def _position(written: str, last: int, usual: int) -> int:
    if written == "last":
        return max(last, 0)
    return int(written) if written.isdecimal() and len(written) < 5 else usual


def _date(head: PageHead) -> date | None:
    found = _DATE.match(head.text(*_DATES) or "")
    try:
        return date(*map(int, found.groups())) if found else None
    except ValueError:
        return None


def _of_date(moment: date, token: str) -> str | None:
    values = {
        "year": f"{moment.year}",
        "month": f"{moment.month:02}",
        "monthname": f"{moment:%B}",
        "day": f"{moment.day:02}",
        "weekday": f"{moment.isoweekday() % 7}",
        "weekdayname": f"{moment:%A}",
        "yearday": f"{moment.timetuple().tm_yday}",
        "1": f"{moment.month}",
        "2": f"{moment.day}",
    }
    if token in _OF_GO:
        return moment.strftime(_OF_GO[token])
    return values.get(token)


def _quoted(place: str) -> str:
    return quote(place, safe="/%", errors="surrogateescape")
