"""Finds the TeX source of a formula on a web page, once, whatever renders it there."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

_RENDERED = frozenset(
    {
        *("mathjax", "mathjax_display", "mathjax_svg", "mathjax_svg_display", "mathjax_chtml"),
        *("mathjax_preview", "mjx-chtml", "katex-html"),
    }
)
_WRAPPERS = frozenset({"katex", "katex-display", "mwe-math-element"})
_PICTURES = frozenset({"math", "tex", "latex", "mwe-math-fallback-image-inline"})
_DISPLAY_STYLE = re.compile(r"^\{\\(?:display|text)style\s+(.*)\}$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Formula:
    """TeX without its dollar signs; empty for a second rendering of the same formula."""

    tex: str
    display: bool

    def __str__(self) -> str:
        mark = "$$" if self.display else "$"
        return f"{mark}{self.tex}{mark}" if self.tex else ""


def formula_of(node: LexborNode) -> Formula | None:
    """Return the formula that this element shows, or none when it is no formula."""
    tag, attributes = node.tag, node.attributes
    classes = set((attributes.get("class") or "").lower().split())
    if tag == "script":
        kind = (attributes.get("type") or "").lower()
        if not kind.startswith("math/tex"):
            return None
        return Formula(_tidy(node.text()), "mode=display" in kind)
    if tag == "math":
        return Formula(_tidy(_mathml_tex(node)), attributes.get("display") == "block")
    if tag == "mjx-container" or classes & _WRAPPERS:
        return _wrapped(node, classes)
    if classes & _RENDERED:
        return Formula("", False)
    if tag == "img" and classes & _PICTURES:
        return Formula(_tidy(attributes.get("alt") or ""), False)
    return None


def _wrapped(node: LexborNode, classes: set[str]) -> Formula:
    math = node.css_first("math")
    tex = _tidy(_mathml_tex(math)) if math is not None else ""
    inside = node.attributes.get("display") in {"true", "block"}
    display = inside or "katex-display" in classes or "mwe-math-element-block" in classes
    return Formula(tex, display or (math is not None and math.attributes.get("display") == "block"))


def _tidy(tex: str) -> str:
    tex = re.sub(r"\s+", " ", tex).strip().strip("$").strip()
    styled = _DISPLAY_STYLE.match(tex)
    return styled[1].strip() if styled else tex


def _mathml_tex(math: LexborNode) -> str:
    """Return the TeX that a converter left next to its MathML, else the MathML as TeX."""
    for annotation in math.css("annotation"):
        if "tex" in (annotation.attributes.get("encoding") or "").lower():
            return annotation.text()
    return math.attributes.get("alttext") or _linear(math)


def _linear(node: LexborNode) -> str:
    parts = [_linear(child) for child in _elements(node)]
    match node.tag, parts:
        case "mfrac", [top, bottom]:
            return f"\\frac{{{top}}}{{{bottom}}}"
        case "msup" | "mover", [base, above]:
            return f"{base}^{{{above}}}"
        case "msub" | "munder", [base, below]:
            return f"{base}_{{{below}}}"
        case "msubsup" | "munderover", [base, below, above]:
            return f"{base}_{{{below}}}^{{{above}}}"
        case "mroot", [radicand, index]:
            return f"\\sqrt[{index}]{{{radicand}}}"
        case "msqrt", _:
            return f"\\sqrt{{{''.join(parts)}}}"
        case "semantics", [first, *_]:
            return first
        case "mtr", _:
            return " & ".join(parts)
        case "mtable", _:
            return " \\\\ ".join(parts)
        case (("annotation" | "annotation-xml" | "mphantom"), _):
            return ""
    return "".join(parts) if parts else " ".join(node.text().split())


def _elements(node: LexborNode) -> Iterator[LexborNode]:
    child = node.first_child
    while child is not None:
        if child.is_element_node:
            yield child
        child = child.next
