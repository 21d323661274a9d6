"""Finds the panels of a page that a click unfolds, and which tab or title belongs to each."""

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from core.ingestion.formats.html.visibility import UNFOLDABLE_CLASSES, UNFOLDED, opens_something

_TITLES = (
    "[role=tab],[aria-controls],[aria-expanded],[data-target],[data-bs-target],[data-tab],"
    "[data-toggle],[data-bs-toggle],button[onclick],a[onclick],li[onclick],label[for]"
)
_TAB_LISTS = "[role=tablist],.tabbed-labels"
_TABS = "[role=tab],label"
_LINKS = ("aria-controls", "data-target", "data-bs-target", "data-tab", "href", "for")
_QUOTED = re.compile(r"""['"]#?([\w-]{1,80})['"]""")
_ANCESTORS = 4
_MOST_TITLES = 2_000
_MOST_TAB_LISTS = 200


@dataclass(frozen=True, slots=True)
class PagePanels:
    """What belongs together, by the `mem_id` of the elements."""

    titles: Mapping[int, str]
    """The title of each panel that stands elsewhere than right before it."""
    tabs: frozenset[int]
    """The tabs whose titles these are."""


NO_PANELS = PagePanels({}, frozenset())


def unfolded(root: LexborNode) -> PagePanels:
    """Mark what titles and tabs below `root` unfold as seen, and return what they call it."""
    titles: dict[int, str] = {}
    tabs: set[int] = set()
    found = root.css(_TITLES)[:_MOST_TITLES]
    panels = _by_id(root) if found else {}
    for title in found:
        is_tab = title.attributes.get("role") == "tab"
        for name in _named(title):
            panel = panels.get(name)
            if panel is None or panel.mem_id == title.mem_id:
                continue
            _unfold(panel)
            if is_tab or (title.tag == "button" and not opens_something(title)):
                titles.setdefault(panel.mem_id, _text(title))
                tabs.add(title.mem_id)
        if "aria-expanded" in title.attributes and (after := _following(title)) is not None:
            _unfold(after)
    for tab_list in root.css(_TAB_LISTS)[:_MOST_TAB_LISTS]:
        found = [
            tab
            for tab in {tab.mem_id: tab for tab in tab_list.css(_TABS)}.values()
            if tab.mem_id not in tabs
        ]
        for tab, panel in zip(found, _panels_of(tab_list, len(found)), strict=False):
            titles[panel.mem_id] = _text(tab)
            tabs.add(tab.mem_id)
    return PagePanels(titles, frozenset(tabs))


def _by_id(root: LexborNode) -> Mapping[str, LexborNode]:
    return {node.attributes.get("id") or "": node for node in root.css("[id]")}


def _named(title: LexborNode) -> Iterator[str]:
    """Yield the ids that a title may unfold."""
    attributes = title.attributes
    for link in _LINKS:
        value = attributes.get(link) or ""
        if link == "href" and not value.startswith("#"):
            continue
        yield from (name.removeprefix("#") for name in value.split()[:5])
    for match in _QUOTED.finditer((attributes.get("onclick") or "")[:500]):
        yield match[1]


def _following(title: LexborNode) -> LexborNode | None:
    """Return the element after a title, or after the heading that is nothing but the title."""
    node: LexborNode | None = title
    for _ in range(_ANCESTORS):
        if node is None:
            return None
        after = node.next
        while after is not None and not after.is_element_node:
            after = after.next
        if after is not None:
            return after
        node = node.parent
    return None


def _panels_of(tab_list: LexborNode, number: int) -> list[LexborNode]:
    """Return the panels beside a list of as many tabs; none where they do not match."""
    around = tab_list.parent
    for _ in range(_ANCESTORS):
        if around is None or not number:
            break
        candidates = around.css("[role=tabpanel],[class]")  # one that matches both comes twice
        panels = {node.mem_id: node for node in candidates if _is_panel(node)}
        outermost = [node for node in panels.values() if not _is_inside(node, panels, around)]
        if len(outermost) >= number:
            return outermost if len(outermost) == number else []
        around = around.parent
    return []


def _is_panel(node: LexborNode) -> bool:
    if node.attributes.get("role") == "tabpanel":
        return True
    classes = (node.attributes.get("class") or "").lower().split()
    return "tab-content" not in classes and not UNFOLDABLE_CLASSES.isdisjoint(classes)


def _is_inside(node: LexborNode, panels: Container[int], around: LexborNode) -> bool:
    """Return whether a panel is within another one."""
    parent = node.parent
    while parent is not None and parent.mem_id != around.mem_id:
        if parent.mem_id in panels:
            return True
        parent = parent.parent
    return False


def _unfold(panel: LexborNode) -> None:
    panel.attrs[UNFOLDED] = ""


def _text(node: LexborNode) -> str:
    return " ".join(node.text().split())
