"""Reads the folder of a Hugo site: `content`, its sections, weights and addresses."""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from core.ingestion.account.survey import page_files
from core.ingestion.formats.flavours.flavour import MarkdownFlavour
from core.ingestion.formats.registry import readable_suffixes
from core.ingestion.sites.front_matter.hugo_links import HugoLinks, HugoPage
from core.ingestion.sites.front_matter.page_head import (
    NO_HEAD,
    PageHead,
    in_order,
    page_head,
    toml_values,
)
from core.ingestion.sites.page_files import file_inside, read_inside, readable
from core.ingestion.sites.site import MODULE_SEPARATOR, Site, SiteKind, SitePage
from core.ingestion.sites.site_config import read_yaml

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
