"""Says where Hugo publishes a page: by its front matter, the site's permalinks, or its path."""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import quote

from core.ingestion.account import page_files
from core.ingestion.formats.includes import MarkdownFlavour
from core.ingestion.formats.registry import readable_suffixes
from core.ingestion.sites.site import (
    NO_HEAD,
    PageHead,
    file_inside,
    fits,
    in_order,
    page_head,
    read_inside,
    read_yaml,
    readable,
    toml_values,
)
from core.ingestion.sites.site_settings import MODULE_SEPARATOR, Site, SiteKind, SitePage

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


_NAMES = tuple(f"hugo.{suffix}" for suffix in ("toml", "yaml", "yml", "json"))
_OLD_NAMES = tuple(f"config.{suffix}" for suffix in ("toml", "yaml", "yml", "json"))
_FOLDER = "config/_default"
_SUFFIXES = (".md", ".markdown", ".html", ".htm")
_PAGES = ("index", "_index")
_KEYS = frozenset({"baseurl", "languagecode", "contentdir", "theme", "module", "taxonomies"})
"""Of these, an old `config` file that is Hugo's has one; other programs have such files too."""
_MISSING = "The menu names a page that is missing: {path}."


def is_hugo(folder: Path) -> bool:
    """Return whether the folder holds a Hugo site."""
    if any(file_inside(folder, name) for name in _NAMES):
        return True
    return _config(folder) is not None and (folder / "content").is_dir()


def read_hugo(folder: Path) -> Site | None:
    """Return every page that is published, section by section; none without a content folder.

    Within a section, pages come by their weight, those without one last, and what has no weight
    by name; a section is where the weight of its `_index` puts it.
    """
    config = _of_language(_config(folder) or {})
    content = posixpath.normpath(_text(config, "contentdir") or "content")
    if not (folder / content).resolve().is_relative_to(folder) or not (folder / content).is_dir():
        return None
    root = folder / content
    files = page_files(root, readable_suffixes())
    heads = {path: page_head(root, path) if _is_page(path) else NO_HEAD for path in files}
    language, others = _languages(config)
    unpublished = {posixpath.join(content, p): why for p, why in _unpublished(heads, others)}
    shown = [path for path in heads if posixpath.join(content, path) not in unpublished]
    titles = {_folder_of(p): heads[p].text("title") for p in shown if _is_index(p)}
    links = _links(shown, heads, HugoLinks(config, language, 1 + len(others)))
    pages = tuple(
        SitePage(
            posixpath.join(content, path),
            links[path],
            MODULE_SEPARATOR.join(_sections(path, titles)),
            heads[path].text("linkTitle", "title"),
            MarkdownFlavour.HUGO,
        )
        for path in _ordered(shown, heads)
    )
    return Site(
        SiteKind.HUGO,
        folder,
        pages,
        _text(config, "baseurl") or None,
        (content, "."),
        tuple(_missing(config, root)),
        docs=content,
        unlisted="is no page of Hugo",
        unpublished=unpublished,
    )


def _config(folder: Path) -> Mapping[str, object] | None:
    """Return the configuration with its keys in lower case, as Hugo reads them, or none."""
    for name in (*_NAMES, *_OLD_NAMES):
        values = _values(folder, name)
        if values is None:
            continue
        lowered = {str(key).lower(): value for key, value in values.items()}
        if name in _NAMES or _KEYS & lowered.keys():
            return lowered
    return None


def _of_language(config: Mapping[str, object]) -> Mapping[str, object]:
    """Return the configuration with what it says for the site's own language alone."""
    languages = config.get("languages")
    named = languages if isinstance(languages, Mapping) else {}
    lowered = {str(name).lower(): values for name, values in named.items()}
    own = lowered.get(_languages(config)[0])
    said = own if isinstance(own, Mapping) else {}
    return {**config, **{str(key).lower(): value for key, value in said.items()}}


def _values(folder: Path, name: str) -> Mapping[object, object] | None:
    places = (name, f"{_FOLDER}/{name}")
    path = next((place for place in places if file_inside(folder, place)), None)
    if path is None:
        return None
    if path.endswith(".toml"):
        return toml_values(read_inside(folder, path) or "")
    return read_yaml(folder, path) or {}


def _text(config: Mapping[str, object], key: str) -> str:
    value = config.get(key)
    return value.strip() if isinstance(value, str) else ""


def _languages(config: Mapping[str, object]) -> tuple[str, frozenset[str]]:
    """Return the site's own language, and the others that it has."""
    languages = config.get("languages")
    own = (_text(config, "defaultcontentlanguage") or "en").lower()
    named = languages if isinstance(languages, Mapping) else {}
    return own, frozenset(str(name).lower() for name in named) - {own}


def _unpublished(
    heads: Mapping[str, PageHead], languages: frozenset[str]
) -> Iterator[tuple[str, str]]:
    """Yield the pages that Hugo does not publish, or not as pages, each with the reason."""
    leaves = {_folder_of(path) for path in heads if _stem(path) == "index"}
    for path, head in heads.items():
        parents = [parent for parent in _parents(path) if parent in leaves]
        if _stem(path).rpartition(".")[2] in languages and "." in _stem(path):
            yield path, "is a translation of the site"
        elif head.says("draft", "true"):
            yield path, "is a draft"
        elif head.says("headless", "true") or _renders_nothing(head):
            yield path, "is not published as a page"
        elif (
            _is_page(path)
            and parents
            and not (_stem(path) == "index" and parents == [_folder_of(path)])
        ):
            yield path, f"is a part of the page {parents[0]}, not a page of its own"
        elif path.lower().endswith((".html", ".htm")) and not head.is_there:
            yield path, "has no front matter, so Hugo copies it as it is"


def _renders_nothing(head: PageHead) -> bool:
    build = head.values.get("build") or head.values.get("_build")
    render = build.get("render") if isinstance(build, Mapping) else None
    return isinstance(render, str) and render.lower() in {"never", "false"}


def _ordered(paths: Sequence[str], heads: Mapping[str, PageHead]) -> Iterator[str]:
    """Yield the pages section by section, each with its own page first."""
    own: dict[str, str] = {}
    inside: dict[str, list[str]] = {}
    for path in paths:
        folder = _folder_of(path)
        if _is_index(path):
            own[folder] = path
        else:
            inside.setdefault(folder, []).append(path)
    for folder in list({*own, *inside}):
        for parent in (folder, *_parents(folder)):
            if parent:
                inside.setdefault(posixpath.dirname(parent), [])
                if parent not in inside[posixpath.dirname(parent)]:
                    inside[posixpath.dirname(parent)].append(parent)
    yield from _below("", own, inside, heads)


def _below(
    folder: str,
    own: Mapping[str, str],
    inside: Mapping[str, list[str]],
    heads: Mapping[str, PageHead],
) -> Iterator[str]:
    if folder in own:
        yield own[folder]
    entries = inside.get(folder, [])
    weights = {}
    for entry in entries:
        head = heads.get(own.get(entry, entry))
        weight = head.number("weight") if head is not None else None
        weights[entry] = weight or None  # Hugo takes 0 for no weight
    for entry in in_order(entries, weights):
        if entry in heads:
            yield entry
        else:
            yield from _below(entry, own, inside, heads)


def _sections(path: str, titles: Mapping[str, str | None]) -> Iterator[str]:
    folder = _folder_of(path)
    own = (
        [*reversed(_parents(folder)), folder]
        if not _is_index(path)
        else [*reversed(_parents(folder))]
    )
    for section in filter(None, own):
        yield titles.get(section) or readable(section.rpartition("/")[2])


def _links(
    paths: Sequence[str], heads: Mapping[str, PageHead], links: HugoLinks
) -> Mapping[str, str]:
    """Return where each file is published."""
    own = {_folder_of(path): path for path in paths if _is_index(path)}
    sections = {folder for folder, path in own.items() if _stem(path) == "_index"}

    def page(path: str) -> HugoPage:
        above = [*reversed(_parents(path))]
        if _stem(path) == "index":
            above = above[:-1]
        inside = [one for one in above if one in sections or "/" not in one]
        return HugoPage(path, heads[path], inside)

    def published(path: str) -> str:
        if _is_page(path):
            return links.page(page(path))
        owner = next((own[folder] for folder in _parents(path) if folder in own), None)
        return links.file(path, page(owner) if owner else None)

    return {path: published(path) for path in paths}


def _missing(config: Mapping[str, object], root: Path) -> Iterator[str]:
    """Yield a sentence for each page that a menu of the configuration names in vain."""
    menus = config.get("menus") or config.get("menu")
    for entries in menus.values() if isinstance(menus, Mapping) else ():
        for entry in entries if isinstance(entries, list) else ():
            values = entry if isinstance(entry, Mapping) else {}
            ref = values.get("pageRef") or values.get("pageref")
            if not isinstance(ref, str) or not ref.strip("/"):
                continue
            at = ref.strip("/")
            there = [f"{at}.md", f"{at}/_index.md", f"{at}/index.md", at]
            if not any((root / one).exists() for one in there):
                yield _MISSING.format(path=ref)


def _folder_of(path: str) -> str:
    return posixpath.dirname(path)


def _parents(path: str) -> list[str]:
    """Return the folders above a path, the innermost first; the top is not among them."""
    found = list[str]()
    while path := posixpath.dirname(path):
        found.append(path)
    return found


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]


def _is_index(path: str) -> bool:
    return _stem(path) in _PAGES and _is_page(path)


def _is_page(path: str) -> bool:
    """Return whether Hugo makes a page of a file; any other one is published as it is."""
    return path.lower().endswith(_SUFFIXES)
