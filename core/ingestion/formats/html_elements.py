"""Follows which HTML elements are open while Markdown and HTML alternate on a page."""

import html
import re
from collections import Counter
from collections.abc import Mapping

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

UNSEEN_TAGS = frozenset(
    {
        *("script", "style", "template", "noscript", "head", "iframe", "object", "embed"),
        *("canvas", "svg", "audio", "video", "map", "button", "select", "input", "textarea"),
        *("datalist", "nav", "dialog", "-comment", "-doctype"),
    }
)
_UNSEEN_CLASSES = frozenset(
    {
        *("sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text"),
        *("linenos", "linenodiv", "lineno", "line-numbers-rows", "gutter", "boring"),
        *("toc", "table-of-contents", "breadcrumb", "breadcrumbs", "pagination-nav", "nav-wrapper"),
        *("theme-doc-toc-mobile", "theme-doc-footer", "theme-doc-breadcrumbs", "edit-this-page"),
        *("mw-editsection", "mw-jump-link", "navbox", "headerlink", "hash-link", "copybtn"),
        *("fn-bracket", "prev-next-footer", "skip-link", "md-source-file", "sphinxsidebar"),
    }
)
_HIDING_CLASSES = frozenset({"sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text"})
_UNREAD_TAGS = {
    "iframe": "embedded page",
    "object": "embedded object",
    "embed": "embedded object",
    "canvas": "drawing",
    "audio": "video or sound",
    "video": "video or sound",
    "select": "form control",
    "input": "form control",
    "textarea": "form control",
    "dialog": "hidden text",
}
_NO_FIELDS = frozenset({"hidden", "submit", "button", "image", "radio", "reset"})
_INNER_LEVELS = 3
"""How deep within `<details>` a script may hide what it folds."""
UNFOLDABLE_CLASSES = frozenset(
    {
        *("tab-pane", "tabcontent", "tab-content", "tab-panel", "tabpanel", "tabs-panel"),
        *("tabitem", "tabbed-block", "sphinx-tabs-panel", "ui-tabs-panel", "nav-tab-content"),
        *("collapse", "collapsible-content", "accordion-content", "accordion-body"),
        *("accordion-panel", "accordion-collapse", "panel-collapse", "ui-accordion-content"),
        *("carousel-item", "toggle-content", "spoiler-content", "spoiler"),
    }
)
"""What the frameworks for web pages call a panel; in lower case."""
UNFOLDED = "data-unfolded"
"""The attribute that marks what an element elsewhere on the page unfolds."""
_DECLARATION = re.compile(r"([\w-]+)\s*:\s*([^;]+)")
_LENGTH = re.compile(r"(-?\d*\.?\d+)\s*([a-z%]*)")
_CLIPPED = re.compile(r"rect\(\s*(0|1px)[^)]*\)|inset\(\s*(50|100)%")
_OFF_SCREEN = -500.0
_WHITE = (255, 255, 255)
_Colour = tuple[int, int, int]
_NAMED_COLOURS: Mapping[str, _Colour] = {
    "white": _WHITE,
    "snow": (255, 250, 250),
    "ivory": (255, 255, 240),
    "ghostwhite": (248, 248, 255),
    "whitesmoke": (245, 245, 245),
    "black": (0, 0, 0),
    "red": (255, 0, 0),
    "green": (0, 128, 0),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "gray": (128, 128, 128),
    "grey": (128, 128, 128),
}

_MARKS = re.compile(
    r"text-decoration(?:-line)?\s*:[^;{}]*line-through|vertical-align\s*:\s*(?:super|sub)\b"
)
_LONGEST_SHEET = 300_000
_MOST_RULES = 5_000


def is_hidden(node: LexborNode) -> bool:
    """Return whether a reader does not see this element, judged by its own markup.

    What a click unfolds, such as the panel of a tab, is seen. Rules of style sheets do not hide:
    they depend on screen, theme and scripts.
    """
    attributes = node.attributes
    if node.tag in UNSEEN_TAGS:
        return not (node.tag == "button" and opens_something(node))
    if not attributes:
        return False
    classes = (attributes.get("class") or "").split()
    if not _UNSEEN_CLASSES.isdisjoint(classes) or is_page_break(attributes):
        return True
    style = declarations(attributes.get("style"))
    folded = "hidden" in attributes or _takes_no_space(style)
    if folded and not is_unfoldable(node):
        return True
    return _is_off_screen(style) or _is_camouflaged(node)


def unread_as(node: LexborNode) -> str:
    """Return what an element is that is not read, for the account; empty for a page's furniture."""
    tag, attributes = node.tag or "", node.attributes
    if tag == "svg":
        return "drawing" if node.text().strip() else ""
    if tag == "input" and attributes.get("type") in _NO_FIELDS:
        return ""
    if tag in UNSEEN_TAGS:
        return _UNREAD_TAGS.get(tag, "")
    classes = (attributes.get("class") or "").split()
    is_furniture = not _UNSEEN_CLASSES.isdisjoint(classes) and _HIDING_CLASSES.isdisjoint(classes)
    is_furniture = is_furniture or is_page_break(attributes)
    return "" if is_furniture or not node.text().strip() else "hidden text"


def is_page_break(attributes: Mapping[str, str | None]) -> bool:
    """Return whether an element only says where a page of the printed book ends."""
    kinds = f"{attributes.get('epub:type') or ''} {attributes.get('role') or ''}".split()
    return not {"pagebreak", "doc-pagebreak"}.isdisjoint(kinds)


def is_unfoldable(node: LexborNode) -> bool:
    """Return whether an element is made to be hidden until its tab or title is clicked."""
    attributes = node.attributes
    classes = (attributes.get("class") or "").split()
    return (
        attributes.get("role") == "tabpanel"
        or attributes.get("hidden") == "until-found"
        or UNFOLDED in attributes
        or not UNFOLDABLE_CLASSES.isdisjoint(classes)
        or _is_in_details(node)
    )


def _is_in_details(node: LexborNode) -> bool:
    around = node.parent
    for _ in range(_INNER_LEVELS):
        if around is None or around.tag == "details":
            break
        around = around.parent
    return around is not None and around.tag == "details"


def opens_something(node: LexborNode) -> bool:
    """Return whether an element is the tab or title of what it unfolds."""
    attributes = node.attributes
    toggled = attributes.get("data-bs-toggle") or attributes.get("data-toggle")
    return (
        attributes.get("role") == "tab"
        or "aria-expanded" in attributes
        or toggled in {"tab", "pill", "collapse"}
        or UNFOLDED in attributes
    )


def is_struck(node: LexborNode) -> bool:
    """Return whether the text of an element is struck through or deleted."""
    if node.tag in {"del", "s", "strike"}:
        return True
    style = node.attributes.get("style") or ""
    return "line-through" in style.lower()


def shift_of(node: LexborNode) -> str:
    """Return whether a style raises or lowers the text of an element: `super`, `sub` or nothing."""
    style = node.attributes.get("style") or ""
    shift = declarations(style).get("vertical-align", "") if "vertical-align" in style else ""
    return shift if shift in {"super", "sub"} else ""


def apply_sheets(tree: LexborHTMLParser) -> None:
    """Give elements as their own what the page's style sheets strike, raise or lower."""
    sheets = "".join(node.text() for node in tree.css("style"))[:_LONGEST_SHEET]
    if not _MARKS.search(sheets):
        return
    sheets = re.sub(r"/\*.*?\*/", "", sheets, flags=re.DOTALL)
    for selector, body in re.findall(r"([^{}@;]{1,500})\{([^{}]*)\}", sheets)[:_MOST_RULES]:
        marks = "; ".join(mark[0] for mark in _MARKS.finditer(body))
        if not marks:
            continue
        try:
            styled = tree.css(selector.strip())
        except (SelectolaxError, ValueError):  # a selector for another kind of browser
            continue
        for node in styled:
            node.attrs["style"] = f"{marks}; {node.attributes.get('style') or ''}"


def declarations(style: str | None) -> dict[str, str]:
    """Return the declarations of a `style` attribute, lower-cased."""
    bare = re.sub(r"/\*.*?\*/|!\s*important", "", (style or "").lower(), flags=re.DOTALL)
    return {name: value.strip() for name, value in _DECLARATION.findall(bare)}


def _takes_no_space(style: Mapping[str, str]) -> bool:
    if style.get("display") == "none" or style.get("visibility") in {"hidden", "collapse"}:
        return True
    if _is_zero(style.get("opacity"), 0.05) or _is_zero(style.get("font-size"), 2.0):
        return True
    if re.search(r"scale(x|y|3d)?\(\s*0", style.get("transform", "")):
        return True
    clipped = style.get("overflow", "").startswith(("hidden", "clip"))
    sizes = ("height", "width", "max-height", "max-width")
    return clipped and any(_is_zero(style.get(size), 1.0) for size in sizes)


def _is_zero(value: str | None, limit: float) -> bool:
    """Return whether a length is at most `limit` pixels or points, or 0 in any unit."""
    match = _LENGTH.match(value) if value else None
    if match is None:
        return False
    size = float(match[1])
    return size <= limit if match[2] in {"px", "pt", ""} else size <= 0.05


def _is_off_screen(style: Mapping[str, str]) -> bool:
    moved = [style.get("text-indent"), style.get("margin-left"), style.get("margin-top")]
    if style.get("position") in {"absolute", "fixed", "relative"}:
        moved += [style.get(side) for side in ("left", "top", "right", "bottom")]
    moved += re.findall(r"translate[xy3d]*\(([^,)]+)", style.get("transform", ""))
    return bool(_CLIPPED.search(style.get("clip", "") + style.get("clip-path", ""))) or any(
        _pixels(value) <= _OFF_SCREEN for value in moved
    )


def _pixels(length: str | None) -> float:
    match = _LENGTH.match(length.strip()) if length else None
    if match is None:
        return 0.0
    scale = {"em": 16.0, "rem": 16.0, "vw": 10.0, "vh": 10.0, "%": 10.0}.get(match[2], 1.0)
    return float(match[1]) * scale


def _is_camouflaged(node: LexborNode) -> bool:
    """Return whether the element's own text colour equals the background behind it."""
    style = declarations(node.attributes.get("style")).get("color", "")
    if style.startswith("transparent") or re.match(r"rgba\(.*[,/]\s*0?\.?0*%?\s*\)", style):
        return True
    colour = _colour(style)
    if node.tag == "font":
        colour = colour or _colour(node.attributes.get("color"))
    if colour is None:
        return False
    background = _background(node)
    return all(abs(ink - paper) <= 16 for ink, paper in zip(colour, background, strict=True))


def _background(node: LexborNode) -> _Colour:
    """Return the nearest background colour that markup gives, otherwise white."""
    ancestor: LexborNode | None = node
    while ancestor is not None:
        style = declarations(ancestor.attributes.get("style"))
        painted = style.get("background-color") or style.get("background")
        if colour := _colour(painted) or _colour(ancestor.attributes.get("bgcolor")):
            return colour
        ancestor = ancestor.parent
    return _WHITE


def _colour(value: str | None) -> _Colour | None:
    text = (value or "").strip().lower()
    if match := re.match(r"#([0-9a-f]{6}|[0-9a-f]{3})", text):
        digits = match[1] if len(match[1]) == 6 else "".join(digit * 2 for digit in match[1])
        return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)
    if match := re.match(r"rgba?\(\s*(\d+)[\s,]+(\d+)[\s,]+(\d+)(.*)\)", text):
        return int(match[1]), int(match[2]), int(match[3])
    return _NAMED_COLOURS.get(text.partition(" ")[0])


TAG = re.compile(
    r"<!--(?:(?!-->).)*+(?:-->|\Z)"
    r"|<(?P<closing>/?)(?P<name>[A-Za-z][\w:.-]*+)"
    r"""(?P<attributes>(?:[^<>"']{1,500}|"[^"]{0,4000}"|'[^']{0,4000}'){0,100}+)>""",
    re.DOTALL,
)
"""A comment, without groups, or a tag."""

_VOID_TAGS = frozenset(
    {
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param"),
        *("source", "track", "wbr"),
    }
)
_ENDS_PARAGRAPH = frozenset(
    {
        *("address", "article", "aside", "blockquote", "details", "div", "dl", "figure", "footer"),
        *("form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "main", "nav", "ol", "p", "pre"),
        *("section", "table", "ul"),
    }
)
_STRUCK = frozenset({"s", "strike", "del"})
_MAY_HIDE = re.compile(r"\b(?:hidden|style|class|color)\b", re.IGNORECASE)


def attribute(attributes: str, name: str) -> str:
    """Return the value of an attribute in the inside of a tag, or an empty text."""
    value = re.search(rf"""(?<![\w-]){name}\s*=\s*(?:"([^"]*)"|'([^']*)')""", attributes, re.I)
    return " ".join(html.unescape(value[1] or value[2] or "").split()) if value else ""


class OpenElements:
    """The elements that are open, and whether one of them hides what stands inside."""

    def __init__(self) -> None:
        self._open: list[tuple[str, bool]] = []
        self._names: Counter[str] = Counter()
        self._hiding = 0
        self.last_hidden = "hidden text"
        """What the element is that began to hide last, for people."""

    def __len__(self) -> int:
        return len(self._open)

    @property
    def hidden(self) -> bool:
        """Whether a reader would not see text that stands here."""
        return self._hiding > 0

    def read(self, markup: str) -> None:
        """Follow the tags in a piece of HTML."""
        for tag in TAG.finditer(markup):
            if tag["name"]:
                self._follow(tag)

    def close_to(self, depth: int) -> None:
        """Close the innermost elements until `depth` are open."""
        while len(self._open) > depth:
            self._pop()

    def close_paragraph(self) -> None:
        """Close the `<p>` that ends by itself where the next block begins."""
        self._close("p")

    def _follow(self, tag: re.Match[str]) -> None:
        name = tag["name"].lower()
        if tag["closing"]:
            self._close(name)
        elif name not in _VOID_TAGS and not tag["attributes"].rstrip().endswith("/"):
            if name in _ENDS_PARAGRAPH:
                self.close_paragraph()
            struck = name in _STRUCK or "line-through" in attribute(tag["attributes"], "style")
            hides = struck or name in UNSEEN_TAGS or _hides(tag["attributes"])
            if hides and not self._hiding:
                self.last_hidden = "struck text" if struck else "hidden text"
            self._open.append((name, hides))
            self._names[name] += 1
            self._hiding += hides

    def _close(self, name: str) -> None:
        if not self._names[name]:
            return
        while self._open[-1][0] != name:
            self._pop()
        self._pop()

    def _pop(self) -> None:
        name, hides = self._open.pop()
        self._names[name] -= 1
        self._hiding -= hides


def _hides(attributes: str) -> bool:
    if not _MAY_HIDE.search(attributes):
        return False
    node = LexborHTMLParser(f"<div {attributes}></div>").css_first("div")
    return node is not None and is_hidden(node)
