"""Decides what a Word paragraph is, by its style: a heading, code or an item of a list."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from core.ingestion.formats.office.docx_text import W, is_monospaced, switched_on

_HEADING = re.compile(r"heading ([1-9])$")
_CODE = re.compile(r"code|preformatted|source|listing|verbatim", re.IGNORECASE)
_BODY_TEXT = 9
_MAX_LEVEL = 6
_MAX_STYLE_DEPTH = 20


class ParagraphStyles:
    """The styles of one document, looked up through the styles they are based on."""

    def __init__(self, styles: Any) -> None:
        self._by_id: Mapping[str, Any] = {
            str(style.get(f"{W}styleId")): style for style in styles.findall(f"{W}style")
        }

    def heading_level(self, paragraph: Any) -> int:
        """Return 1 to 6 for a title or heading, otherwise 0."""
        for properties in self._properties(paragraph):
            level = properties.find(f"{W}outlineLvl")
            if level is not None:
                rank = _integer(level, _BODY_TEXT)
                return min(rank + 1, _MAX_LEVEL) if rank < _BODY_TEXT else 0
        for name in self._names(paragraph):
            if match := _HEADING.match(name):
                return min(int(match[1]), _MAX_LEVEL)
            if name in {"title", "subtitle"}:
                return 1 if name == "title" else 0
        return 0

    def is_code(self, paragraph: Any) -> bool:
        """Return whether the paragraph is code, by its style or its typewriter font."""
        return any(map(_CODE.search, self._names(paragraph))) or is_monospaced(paragraph)

    def is_hidden(self, paragraph: Any) -> bool:
        """Return whether the paragraph's style hides its text."""
        return any(switched_on(style.find(f"{W}rPr"), "vanish") for style in self._chain(paragraph))

    def list_place(self, paragraph: Any) -> tuple[str, int] | None:
        """Return the numbering's id and the nesting depth from 0, or none."""
        for properties in self._properties(paragraph):
            numbering = properties.find(f"{W}numPr")
            if numbering is not None:
                number = numbering.find(f"{W}numId")
                place = str(number.get(f"{W}val")) if number is not None else "0"
                depth = _integer(numbering.find(f"{W}ilvl"), 0)
                return None if place == "0" else (place, min(max(depth, 0), 8))
        return None

    def _properties(self, paragraph: Any) -> Iterator[Any]:
        """Yield the paragraph's own properties, then those of its styles."""
        for owner in (paragraph, *self._chain(paragraph)):
            properties = owner.find(f"{W}pPr")
            if properties is not None:
                yield properties

    def _names(self, paragraph: Any) -> list[str]:
        names = (style.find(f"{W}name") for style in self._chain(paragraph))
        return [str(name.get(f"{W}val")).lower() for name in names if name is not None]

    def _chain(self, paragraph: Any) -> Iterator[Any]:
        used = paragraph.find(f"{W}pPr/{W}pStyle")
        for _ in range(_MAX_STYLE_DEPTH):
            style = self._by_id.get(str(used.get(f"{W}val"))) if used is not None else None
            if style is None:
                return
            yield style
            used = style.find(f"{W}basedOn")


class ListNumbers:
    """Counts the items of numbered lists as Word shows them."""

    def __init__(self, numbering: Any) -> None:
        self._formats: dict[tuple[str, int], str] = {}
        self._counts: defaultdict[tuple[str, int], int] = defaultdict(int)
        if numbering is not None:
            self._read(numbering)

    def marker(self, place: tuple[str, int]) -> str:
        """Return "- " for a bullet, else the next number of this list, "3. "."""
        number, depth = place
        if self._formats.get(place, "bullet") in {"bullet", "none"}:
            return "- "
        self._counts[place] += 1
        for deeper in range(depth + 1, 9):
            self._counts.pop((number, deeper), None)
        return f"{self._counts[place]}. "

    def _read(self, numbering: Any) -> None:
        abstract = {
            str(element.get(f"{W}abstractNumId")): element
            for element in numbering.findall(f"{W}abstractNum")
        }
        for number in numbering.findall(f"{W}num"):
            link = number.find(f"{W}abstractNumId")
            definition = abstract.get(str(link.get(f"{W}val"))) if link is not None else None
            for level in definition.findall(f"{W}lvl") if definition is not None else ():
                shape = level.find(f"{W}numFmt")
                place = (str(number.get(f"{W}numId")), _own_integer(level, "ilvl"))
                self._formats[place] = str(shape.get(f"{W}val")) if shape is not None else "bullet"


def _integer(element: Any, default: int) -> int:
    return _own_integer(element, "val", default) if element is not None else default


def _own_integer(element: Any, name: str, default: int = 0) -> int:
    value = str(element.get(f"{W}{name}") or "")
    return int(value) if re.fullmatch(r"\d{1,3}", value) else default
