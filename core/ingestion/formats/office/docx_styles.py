"""Decides what a Word paragraph is and how its runs look, by their own properties and styles."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from core.ingestion.formats.office.docx_numbering import ListNumbering, Place, W

_OFF = frozenset({"0", "false", "off"})
_HEADING = re.compile(r"heading ([1-9])$")
_CODE = re.compile(r"code|preformatted|source|listing|verbatim", re.IGNORECASE)
_CONTENTS = re.compile(r"toc \d|table of figures$|contents \d")
_BODY_TEXT = 9
_MAX_LEVEL = 6
_MAX_STYLE_DEPTH = 20
_TOGGLES = frozenset({"vanish", "strike", "dstrike"})
_OF_PARAGRAPHS = (*_TOGGLES, "vertAlign", "position")
"""What the style of a paragraph may say of its runs; its font and colours say what it is for."""
_OF_RUNS = (*_OF_PARAGRAPHS, "sz", "color", "highlight", "shd", "rFonts", "rStyle")


class Styles:
    """The styles of one document, looked up through the styles they are based on."""

    def __init__(self, styles: Any, numbering: ListNumbering) -> None:
        self._by_id: Mapping[str, Any] = {
            str(style.get(f"{W}styleId")): style for style in styles.findall(f"{W}style")
        }
        self._numbering = numbering

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
        """Return whether the paragraph is code by its style."""
        return any(map(_CODE.search, self._names(paragraph)))

    def is_contents(self, paragraph: Any) -> bool:
        """Return whether the paragraph is a line of the table of contents."""
        return any(map(_CONTENTS.match, self._names(paragraph)))

    def look(self, run: Any, paragraph: Any) -> Mapping[str, Any]:
        """Return the properties of a run that decide how it is seen; those switched off are not.

        Its own come before those of its character style, and these before its paragraph's.
        """
        found: dict[str, Any] = {}
        for properties, names in self._run_properties(run, paragraph):
            for name in names:
                if name not in found and (one := properties.find(f"{W}{name}")) is not None:
                    found[name] = one
        return {
            name: one
            for name, one in found.items()
            if name not in _TOGGLES or one.get(f"{W}val", "1") not in _OFF
        }

    def list_place(self, paragraph: Any) -> Place | None:
        """Return the numbering's id and the nesting depth from 0, or none."""
        for owner in (paragraph, *self._chain(_used(paragraph))):
            numbering = owner.find(f"{W}pPr/{W}numPr")
            if numbering is None:
                continue
            number, level = numbering.find(f"{W}numId"), numbering.find(f"{W}ilvl")
            if number is None and owner is paragraph and level is not None:
                inherited = self._style_number(paragraph)
                return (inherited, _depth(level)) if inherited else None
            place = str(number.get(f"{W}val")) if number is not None else "0"
            if place == "0":
                return None
            if level is not None:
                return place, _depth(level)
            style = str(owner.get(f"{W}styleId") or "")
            return place, self._numbering.depth_of_style(place, style)
        return None

    def _style_number(self, paragraph: Any) -> str:
        for style in self._chain(_used(paragraph)):
            number = style.find(f"{W}pPr/{W}numPr/{W}numId")
            if number is not None:
                return str(number.get(f"{W}val"))
        return ""

    def _properties(self, paragraph: Any) -> Iterator[Any]:
        """Yield the paragraph's own properties, then those of its styles."""
        for owner in (paragraph, *self._chain(_used(paragraph))):
            properties = owner.find(f"{W}pPr")
            if properties is not None:
                yield properties

    def _run_properties(self, run: Any, paragraph: Any) -> Iterator[tuple[Any, tuple[str, ...]]]:
        """Yield the properties that count, and the names of those that do."""
        own = run.find(f"{W}rPr")
        used = own.find(f"{W}rStyle") if own is not None else None
        owners = [(run, _OF_RUNS), *((style, _OF_RUNS) for style in self._chain(used))]
        owners += ((style, _OF_PARAGRAPHS) for style in self._chain(_used(paragraph)))
        for owner, names in owners:
            properties = owner.find(f"{W}rPr")
            if properties is not None:
                yield properties, names

    def _names(self, paragraph: Any) -> list[str]:
        names = (style.find(f"{W}name") for style in self._chain(_used(paragraph)))
        return [str(name.get(f"{W}val")).lower() for name in names if name is not None]

    def _chain(self, used: Any) -> Iterator[Any]:
        """Yield the style that an element names and those that it is based on."""
        for _ in range(_MAX_STYLE_DEPTH):
            style = self._by_id.get(str(used.get(f"{W}val"))) if used is not None else None
            if style is None:
                return
            yield style
            used = style.find(f"{W}basedOn")


def switched_on(properties: Any, name: str) -> bool:
    """Return whether a toggle such as `vanish` is set and not switched off."""
    toggle = properties.find(f"{W}{name}") if properties is not None else None
    return toggle is not None and toggle.get(f"{W}val", "1") not in _OFF


def _used(paragraph: Any) -> Any:
    return paragraph.find(f"{W}pPr/{W}pStyle")


def _depth(level: Any) -> int:
    return min(max(_integer(level, 0), 0), 8)


def _integer(element: Any, default: int) -> int:
    value = str(element.get(f"{W}val") or "") if element is not None else ""
    return int(value) if re.fullmatch(r"\d{1,3}", value) else default
