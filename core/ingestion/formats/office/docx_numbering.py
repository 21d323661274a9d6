"""Counts the labels of lists and headings as Word shows them: `(b)`, `§ 1`, `Chapter IV`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.ingestion.formats.list_labels import counted, is_known

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_OFF = frozenset({"0", "false", "off"})
_DEEPEST = 8
_PLACE = re.compile(r"%([1-9])")
Place = tuple[str, int]
"""The id of a numbering and the depth in it, from 0."""


@dataclass(frozen=True, slots=True)
class Label:
    """What stands before a paragraph of a list."""

    text: str
    """Empty for a bullet, and where the level has no label."""
    is_exact: bool = True
    """Whether its number is written in the letters that the document asks for."""


@dataclass(frozen=True, slots=True)
class _Level:
    shape: str
    text: str
    start: int
    restarted_by: int | None
    """The levels that let it begin again are above this one; none: all above it."""
    plain: bool
    """Whether all its numbers are decimal, whatever the levels above write."""
    style: str


class ListNumbering:
    """The lists of one document, and how far each has come.

    All lists of one definition count on together, as in Word, unless one starts anew.
    """

    def __init__(self, numbering: Any, styles: Any) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._definition: dict[str, str] = {}
        self._starts: dict[Place, int] = {}
        self._begun: set[Place] = set()
        self._counts: dict[str, dict[int, int]] = {}
        if numbering is not None:
            self._read(numbering, styles)

    def depth_of_style(self, number: str, style: str) -> int:
        """Return the depth of the level that a paragraph style is linked to, 0 by default."""
        levels = self._levels.get(number, {})
        return next((depth for depth, level in levels.items() if level.style == style), 0)

    def label(self, place: Place) -> Label:
        """Count one more paragraph at a place and return its label."""
        number, depth = place
        levels = self._levels.get(number, {})
        level = levels.get(depth)
        if level is None or level.shape == "bullet":
            return Label("")
        counts = self._counts.setdefault(self._definition[number], {})
        if place in self._starts and place not in self._begun:
            counts[depth] = self._starts[place]
        else:
            counts[depth] = counts[depth] + 1 if depth in counts else level.start
        self._begun.add(place)
        for deeper in range(depth + 1, _DEEPEST + 1):
            limit = levels[deeper].restarted_by if deeper in levels else None
            if limit is None or depth < limit:
                counts.pop(deeper, None)
        shapes = [
            "decimal" if level.plain else levels[int(place) - 1].shape
            for place in _PLACE.findall(level.text)
            if int(place) - 1 in levels
        ]
        text = _PLACE.sub(lambda at: _counted(int(at[1]) - 1, levels, counts, level), level.text)
        return Label(" ".join(text.split()), all(map(is_known, shapes)))

    def _read(self, numbering: Any, styles: Any) -> None:
        definitions = {
            str(one.get(f"{W}abstractNumId")): one for one in numbering.findall(f"{W}abstractNum")
        }
        numbers = {str(one.get(f"{W}numId")): one for one in numbering.findall(f"{W}num")}
        for number, element in numbers.items():
            key = _value(element, "abstractNumId")
            definition = definitions.get(key)
            if definition is None:
                continue
            if linked := _value(definition, "numStyleLink"):
                key = _linked_definition(linked, numbers, styles) or key
                definition = definitions.get(key, definition)
            levels = {_own(level, "ilvl"): _level(level) for level in definition.iter(f"{W}lvl")}
            for change in element.findall(f"{W}lvlOverride"):
                depth = _own(change, "ilvl")
                for level in change.findall(f"{W}lvl"):
                    levels[depth] = _level(level)
                if (start := change.find(f"{W}startOverride")) is not None:
                    self._starts[number, depth] = _own(start, "val")
            self._levels[number], self._definition[number] = levels, key


def _counted(
    depth: int, levels: Mapping[int, _Level], counts: Mapping[int, int], of: _Level
) -> str:
    level = levels.get(depth)
    if level is None:
        return ""
    return counted(counts.get(depth, level.start), "decimal" if of.plain else level.shape)


def _level(element: Any) -> _Level:
    restart = element.find(f"{W}lvlRestart")
    legal = element.find(f"{W}isLgl")
    formats = list(_shapes(element))
    return _Level(
        shape=formats[0] if formats else "decimal",
        text=_value(element, "lvlText"),
        start=_own(found, "val") if (found := element.find(f"{W}start")) is not None else 0,
        restarted_by=_own(restart, "val") if restart is not None else None,
        plain=legal is not None and legal.get(f"{W}val", "1") not in _OFF,
        style=_value(element, "pStyle"),
    )


def _shapes(level: Any) -> Iterator[str]:
    """Yield the number format; a newer one stands in alternate content, `001` is `custom`."""
    for shape in level.iter(f"{W}numFmt"):
        name = str(shape.get(f"{W}val"))
        yield "decimalZero" if name == "custom" else name


def _linked_definition(style: str, numbers: Mapping[str, Any], styles: Any) -> str:
    """Return the id of the definition that a numbering style has."""
    for one in styles.findall(f"{W}style"):
        if one.get(f"{W}styleId") == style:
            number = one.find(f"{W}pPr/{W}numPr/{W}numId")
            found = numbers.get(str(number.get(f"{W}val"))) if number is not None else None
            return _value(found, "abstractNumId") if found is not None else ""
    return ""


def _value(element: Any, name: str) -> str:
    found = element.find(f"{W}{name}")
    return str(found.get(f"{W}val") or "") if found is not None else ""


def _own(element: Any, name: str) -> int:
    value = str(element.get(f"{W}{name}") or "")
    return int(value) if re.fullmatch(r"\d{1,5}", value) else 0
