"""Follows which HTML elements are open while Markdown and HTML alternate on a page."""

import html
import re
from collections import Counter

from selectolax.lexbor import LexborHTMLParser

from core.ingestion.formats.html.visibility import UNSEEN_TAGS, is_hidden

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
