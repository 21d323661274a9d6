"""Reads what the configuration of Jekyll says for pages that do not say it themselves."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.ingestion.sites.front_matter.page_head import PageHead
from core.ingestion.sites.front_matter.path_patterns import begins_with

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
