"""Reads code from a web page as its author wrote it, without line numbers and buttons."""

import re

from selectolax.lexbor import LexborNode

from core.ingestion.formats.html.visibility import is_hidden, is_struck

_LANGUAGE_CLASS = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-|brush:\s*)([\w+#.-]+)"
)
_SECOND_CLASS = re.compile(r"(?:^|\s)(?:sourceCode|hljs|prettyprint|src)\s+(?:src-)?([\w+#.-]+)")
_NO_LANGUAGE = frozenset(
    {"default", "none", "plaintext", "text", "highlighter-rouge", "notranslate"}
)
_LINE_CLASSES = frozenset({"line", "token-line", "code-line", "view-line"})
_ANCESTORS = 3


def code_text(node: LexborNode) -> str:
    """Return the text of an element with its line breaks, hidden and struck parts left out."""
    parts: list[str] = []
    _collect(node, parts)
    return "".join(parts)


def code_language(pre: LexborNode) -> str:
    """Return the language that the element, its `<code>` or a wrapper names, or ""."""
    candidates = [pre, *pre.css("code")[:1]]
    ancestor = pre.parent
    for _ in range(_ANCESTORS):
        if ancestor is None or ancestor.tag == "body":
            break
        candidates.append(ancestor)
        ancestor = ancestor.parent
    return next(filter(None, map(_named_language, candidates)), "")


def _named_language(node: LexborNode) -> str:
    attributes = node.attributes
    classes = attributes.get("class") or ""
    match = _LANGUAGE_CLASS.search(classes) or _SECOND_CLASS.search(classes)
    name = attributes.get("data-lang") or attributes.get("data-language") or (match and match[1])
    return name if name and name not in _NO_LANGUAGE else ""


def _collect(node: LexborNode, parts: list[str]) -> None:
    child = node.first_child
    while child is not None:
        if child.tag == "-text":
            parts.append(child.text_content or "")
        elif child.tag == "br":
            parts.append("\n")
        elif not is_hidden(child) and not is_struck(child):
            _collect(child, parts)
            if _is_line(child) and parts and not parts[-1].endswith("\n"):
                parts.append("\n")
        child = child.next


def _is_line(node: LexborNode) -> bool:
    """Return whether the element is shown as a line of its own."""
    if node.tag in {"div", "li", "p"}:
        return True
    followed = node.next is not None and node.next.tag != "-text"
    classes = (node.attributes.get("class") or "").split()
    return followed and not _LINE_CLASSES.isdisjoint(classes)
