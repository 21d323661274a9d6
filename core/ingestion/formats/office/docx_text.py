"""Reads the visible text of a Word paragraph: runs, equations, note marks."""

from collections.abc import Iterator
from typing import Any

from core.ingestion.formats.markup import inline_code
from core.ingestion.formats.office.math import MATH, MATH_PARAGRAPH, omml_tex

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_OFF = frozenset({"0", "false", "off"})
_WHITE = frozenset({"FFFFFF", "FEFEFE", "FDFDFD"})
_MAX_UNSEEN_HALF_POINTS = 3
_MONOSPACED = ("courier", "consolas", "mono", "menlo")
_TRANSPARENT = frozenset(
    f"{W}{name}" for name in ("ins", "hyperlink", "smartTag", "sdt", "sdtContent", "fldSimple")
)
_MARKS = {f"{W}tab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}


def paragraph_text(paragraph: Any) -> str:
    """Return the text of a `w:p` element; deleted, hidden and camouflaged runs are left out."""
    parts: list[tuple[str, bool]] = []
    for text, is_code in _pieces(paragraph):
        if parts and parts[-1][1] == is_code:
            parts[-1] = (parts[-1][0] + text, is_code)
        else:
            parts.append((text, is_code))
    if len(parts) == 1:
        return parts[0][0].strip("\n")
    return "".join(inline_code(text) if code else text for text, code in parts).strip("\n")


def is_monospaced(paragraph: Any) -> bool:
    """Return whether all text of the paragraph is set in a typewriter font."""
    pieces = [code for text, code in _pieces(paragraph) if text.strip()]
    return bool(pieces) and all(pieces)


def only_formula(paragraph: Any) -> str:
    """Return the TeX of a paragraph that is nothing but a displayed equation, or ""."""
    display = paragraph.find(MATH_PARAGRAPH)
    if display is None or any(text.strip() for text, _ in _pieces(paragraph, with_math=False)):
        return ""
    return " \\\\ ".join(filter(None, map(omml_tex, display.findall(MATH))))


def note_references(paragraph: Any) -> list[str]:
    """Return the ids of the footnotes that the paragraph refers to, in order."""
    return [str(mark.get(f"{W}id")) for mark in paragraph.iter(f"{W}footnoteReference")]


def switched_on(properties: Any, name: str) -> bool:
    """Return whether a toggle such as `vanish` is set and not switched off."""
    toggle = properties.find(f"{W}{name}") if properties is not None else None
    return toggle is not None and toggle.get(f"{W}val", "1") not in _OFF


def _pieces(element: Any, *, with_math: bool = True) -> Iterator[tuple[str, bool]]:
    """Yield text and whether it is code, run by run."""
    for child in element:
        if child.tag == f"{W}r":
            properties = child.find(f"{W}rPr")
            if properties is None or not _is_unseen(properties):
                yield _run_text(child), _is_code(properties)
        elif child.tag in (MATH, MATH_PARAGRAPH):
            if with_math and (tex := omml_tex(child)):
                yield f"${tex}$", False
        elif child.tag in _TRANSPARENT:
            yield from _pieces(child, with_math=with_math)


def _run_text(run: Any) -> str:
    parts: list[str] = []
    for child in run:
        if child.tag == f"{W}t":
            parts.append(child.text or "")
        elif child.tag == f"{W}footnoteReference":
            parts.append(f"[{child.get(f'{W}id')}]")
        else:
            parts.append(_MARKS.get(child.tag, ""))
    return "".join(parts)


def _is_unseen(properties: Any) -> bool:
    """Return whether a run is hidden, under two points, or white on white."""
    size = _value(properties, "sz")
    if switched_on(properties, "vanish") or (
        size.isdigit() and int(size) <= _MAX_UNSEEN_HALF_POINTS
    ):
        return True
    return _value(properties, "color").upper() in _WHITE and not _is_shaded(properties)


def _is_shaded(properties: Any) -> bool:
    """Return whether the run, its paragraph, cell or table style may have a background."""
    if properties.find(f"{W}highlight") is not None:
        return True
    around = properties.iterancestors(f"{W}r", f"{W}p", f"{W}tc", f"{W}tbl")
    own = (properties, *(element.find(f"{element.tag}Pr") for element in around))
    return any(
        found is not None
        and (found.find(f"{W}shd") is not None or found.find(f"{W}tblStyle") is not None)
        for found in own
    )


def _is_code(properties: Any) -> bool:
    if properties is None:
        return False
    fonts = properties.find(f"{W}rFonts")
    font = str(fonts.get(f"{W}ascii") or "").lower() if fonts is not None else ""
    style = _value(properties, "rStyle").lower()
    return any(name in font for name in _MONOSPACED) or "code" in style or "verbatim" in style


def _value(properties: Any, name: str) -> str:
    element = properties.find(f"{W}{name}")
    return str(element.get(f"{W}val") or "") if element is not None else ""
