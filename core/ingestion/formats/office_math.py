"""Writes the equations of Office files (OMML) as TeX."""

import re
from collections.abc import Mapping
from typing import Any

_NAMESPACE = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_OPERATORS: Mapping[str, str] = {
    "∑": "\\sum",
    "∏": "\\prod",
    "∫": "\\int",
    "∬": "\\iint",
    "∮": "\\oint",
    "⋃": "\\bigcup",
    "⋂": "\\bigcap",
}
_ACCENTS: Mapping[str, str] = {
    "\u0302": "\\hat",
    "\u0303": "\\tilde",
    "\u0304": "\\bar",
    "\u0305": "\\bar",
    "\u0307": "\\dot",
    "\u0308": "\\ddot",
    "\u20d7": "\\vec",
}
_FUNCTIONS = frozenset(
    {
        *("arccos", "arcsin", "arctan", "arg", "cos", "cosh", "cot", "coth", "csc", "deg", "det"),
        *("dim", "exp", "gcd", "hom", "inf", "ker", "lg", "lim", "liminf", "limsup", "ln", "log"),
        *("max", "min", "Pr", "sec", "sin", "sinh", "sup", "tan", "tanh"),
    }
)
MATH = f"{_NAMESPACE}oMath"
MATH_PARAGRAPH = f"{_NAMESPACE}oMathPara"


def omml_tex(element: Any) -> str:
    """Return the TeX of an `m:oMath` element (an lxml element), without dollar signs."""
    return " ".join(_tex(element).split())


def _tex(element: Any) -> str:
    match _name(element):
        case "t":
            return str(element.text or "")
        case "f":
            return _fraction(element)
        case "func":
            return _function(_part(element, "fName"), _part(element, "e"))
        case "acc":
            sign = _property(element, "chr") or "\u0302"
            return f"{_ACCENTS.get(sign, sign)}{{{_part(element, 'e')}}}"
        case "bar":
            above = _property(element, "pos") == "top"
            return f"\\{'over' if above else 'under'}line{{{_part(element, 'e')}}}"
        case "sPre":
            return f"{{}}{_limits(element)}{_part(element, 'e')}"
        case "eqArr":
            lines = " \\\\ ".join(map(_tex, _named(element, "e")))
            return f"\\begin{{aligned}}{lines}\\end{{aligned}}"
        case "groupChr":
            below = _property(element, "pos") != "top"
            return f"\\{'under' if below else 'over'}brace{{{_part(element, 'e')}}}"
        case "del" | "moveFrom" | "phant":
            return ""
        case "sSup":
            return f"{_part(element, 'e')}^{{{_part(element, 'sup')}}}"
        case "sSub":
            return f"{_part(element, 'e')}_{{{_part(element, 'sub')}}}"
        case "sSubSup":
            return f"{_part(element, 'e')}{_limits(element)}"
        case "rad":
            degree = _part(element, "deg")
            return f"\\sqrt{f'[{degree}]' if degree else ''}{{{_part(element, 'e')}}}"
        case "nary":
            sign = _property(element, "chr") or "∫"
            return f"{_OPERATORS.get(sign, sign)}{_limits(element)} {_part(element, 'e')}"
        case "d":
            return _delimited(element)
        case "m":
            rows = (" & ".join(map(_tex, _named(row, "e"))) for row in _named(element, "mr"))
            return "\\begin{matrix}" + " \\\\ ".join(rows) + "\\end{matrix}"
        case "limLow":
            return f"{_part(element, 'e')}_{{{_part(element, 'lim')}}}"
        case "limUpp":
            return f"{_part(element, 'e')}^{{{_part(element, 'lim')}}}"
    return "".join(_tex(child) for child in element)


def _fraction(element: Any) -> str:
    top, bottom = _part(element, "num"), _part(element, "den")
    match _property(element, "type"):
        case "noBar":
            return f"\\binom{{{top}}}{{{bottom}}}"
        case "lin" | "skw":
            return f"{{{top}}}/{{{bottom}}}"
    return f"\\frac{{{top}}}{{{bottom}}}"


def _function(name: str, argument: str) -> str:
    first = re.match(r"[A-Za-z]+", name)
    if first and first[0] in _FUNCTIONS:
        return f"\\{name} {argument}"
    return f"\\operatorname{{{name}}} {argument}" if first else f"{name} {argument}"


def _delimited(element: Any) -> str:
    opening = _property(element, "begChr")
    closing = _property(element, "endChr")
    inner = ", ".join(map(_tex, _named(element, "e")))
    return f"{'(' if opening is None else opening}{inner}{')' if closing is None else closing}"


def _limits(element: Any) -> str:
    lower, upper = _part(element, "sub"), _part(element, "sup")
    return (f"_{{{lower}}}" if lower else "") + (f"^{{{upper}}}" if upper else "")


def _part(element: Any, name: str) -> str:
    return "".join(map(_tex, _named(element, name)))


def _named(element: Any, name: str) -> list[Any]:
    return list(element.findall(f"{_NAMESPACE}{name}"))


def _property(element: Any, name: str) -> str | None:
    """Return the value of a child of the element's property element, such as `m:dPr/m:chr`."""
    for properties in element:
        if _name(properties).endswith("Pr"):
            found = properties.find(f"{_NAMESPACE}{name}")
            if found is not None:
                return str(found.get(f"{_NAMESPACE}val") or "")
    return None


def _name(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}dm"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_UNSEEN = frozenset({"pres", "parTrans", "sibTrans"})
"""Points of the model that are drawn as shapes and arrows."""


def diagram_texts(graphic: Any, part: Any) -> list[str]:
    """Return the texts of the points of a diagram, in the order of its model.

    Args:
        graphic: the `a:graphicData` element.
        part: the part of the file in which it stands.
    """
    from defusedxml.ElementTree import fromstring

    texts: list[str] = []
    for reference in graphic.iter(f"{_DIAGRAM}relIds"):
        link = part.rels.get(reference.get(_LINK))
        if link is None or link.is_external:
            continue
        for point in fromstring(link.target_part.blob).iter(f"{_DIAGRAM}pt"):
            if point.get("type") not in _UNSEEN:
                texts += map(_text, point.iter(f"{_A}p"))
    return [text for text in texts if text]


def _text(paragraph: Any) -> str:
    pieces = (
        f"${omml_tex(one)}$" if one.tag == MATH else one.text or ""
        for one in paragraph.iter()
        if one.tag in (f"{_A}t", MATH)
    )
    return " ".join("".join(pieces).split())
