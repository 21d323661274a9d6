"""Puts the documents of a Docusaurus site in the order of its sidebar."""

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from core.ingestion.sites.docusaurus_script import sidebar_entries
from core.ingestion.sites.page_files import read_inside, readable, reading_order, without_number
from core.ingestion.sites.site import MODULE_SEPARATOR
from core.ingestion.sites.site_config import read_yaml

_CATEGORY_FILES = ("_category_.json", "_category_.yml", "_category_.yaml")
_LAST = float("inf")


class SidebarDocument(NamedTuple):
    """A document and what its front matter says about its place."""

    path: str
    """Relative to the documents folder."""
    base_id: str
    slug: str
    label: str | None
    position: float | None

    @classmethod
    def of(cls, path: str, metadata: Mapping[str, str]) -> "SidebarDocument":
        """Return the document at `path` with the front matter `metadata`."""
        stem = posixpath.splitext(posixpath.basename(path))[0]
        return cls(
            path,
            metadata.get("id") or without_number(stem),
            metadata.get("slug", ""),
            metadata.get("sidebar_label") or metadata.get("title"),
            _number(metadata.get("sidebar_position")),
        )

    @property
    def id(self) -> str:
        """The name by which a sidebar lists the document."""
        folders = [without_number(name) for name in self.path.split("/")[:-1]]
        return "/".join([*folders, self.base_id])

    @property
    def is_category_index(self) -> bool:
        """Whether the document is the page of its folder."""
        *folders, name = self.path.lower().split("/")
        stem = without_number(posixpath.splitext(name)[0])
        return stem in {"index", "readme", *(without_number(folder) for folder in folders[-1:])}


class _Category(NamedTuple):
    label: str
    position: float


def sidebar_documents(
    site: Path, docs: Path, sidebar: str, documents: Sequence[SidebarDocument]
) -> list[tuple[SidebarDocument, str]]:
    """Return the documents in order, each with the name of its module.

    A sidebar file that is plain data decides; documents that it does not name follow.
    Otherwise the order is the generated one: positions, number prefixes, names.
    """
    generated = _generated(docs, documents)
    by_id = {document.id: document for document in documents}
    placed: dict[str, tuple[SidebarDocument, str]] = {}
    for name, module in sidebar_entries(read_inside(site, sidebar) or ""):
        for document in _named(name, by_id, generated):
            place = module or dict(generated)[document]
            placed.setdefault(document.path, (document, place))
    for document, module in generated:
        placed.setdefault(document.path, (document, module))
    return list(placed.values())


def _named(
    name: str,
    by_id: Mapping[str, SidebarDocument],
    generated: Iterable[tuple[SidebarDocument, str]],
) -> list[SidebarDocument]:
    """Return the document called `name`, or all in the folder `name/*`."""
    if not name.endswith("*"):
        return [by_id[name]] if name in by_id else []
    folder = name.removesuffix("*").removeprefix("./").lstrip("/")
    return [document for document, _ in generated if document.path.startswith(folder)]


def _generated(
    docs: Path, documents: Sequence[SidebarDocument]
) -> list[tuple[SidebarDocument, str]]:
    folders = {parent for document in documents for parent in _parents(document.path)}
    categories = {folder: _category(docs, folder) for folder in folders}

    def order(document: SidebarDocument) -> tuple[object, ...]:
        parents = [(categories[folder].position, folder) for folder in _parents(document.path)]
        own = (-1.0 if document.is_category_index else _position(document), document.path)
        return tuple((place, reading_order(path)) for place, path in [*parents, own])

    def module(document: SidebarDocument) -> str:
        return MODULE_SEPARATOR.join(categories[path].label for path in _parents(document.path))

    return [(document, module(document)) for document in sorted(documents, key=order)]


def _parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: depth + 1]) for depth in range(len(parts))]


def _category(docs: Path, folder: str) -> _Category:
    files = (read_yaml(docs, f"{folder}/{name}") for name in _CATEGORY_FILES)
    config = next(filter(None, files), {})
    label, name = config.get("label"), posixpath.basename(folder)
    position = _number(config.get("position"))
    if position is None:
        position = _prefix(name)
    return _Category(str(label) if label else readable(name), position)


def _position(document: SidebarDocument) -> float:
    if document.position is not None:
        return document.position
    return _prefix(posixpath.basename(document.path))


def _prefix(name: str) -> float:
    number = re.match(r"\d{1,18}", name)
    return float(number[0]) if number and without_number(name) != name else _LAST


def _number(text: object) -> float | None:
    try:
        return float(text) if isinstance(text, str) and len(text) < 30 else None
    except ValueError:
        return None
