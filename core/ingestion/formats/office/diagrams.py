"""Reads the words of the diagrams (SmartArt) in Word and PowerPoint files."""

from typing import Any

from core.ingestion.formats.office.math import MATH, omml_tex

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
