"""Draws how the figures of a course grow with its size, as an SVG."""

from collections.abc import Mapping
from math import log10

SHOWN: Mapping[str, tuple[str, float]] = {
    "retrieval": ("retrieval, ms", 1.0),
    "answer": ("answer, ms", 1.0),
    "page": ("one new page, ms", 1e3),
    "quote": ("first quote, ms", 1e3),
    "memory": ("memory held, MB", 1.0),
    "disk": ("disk, MB", 1.0),
}
"""The figures that are drawn: how they are called, and what they are multiplied by."""
_COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#7f7f7f")
_WIDTH, _HEIGHT, _LEFT, _TOP = 640, 360, 60, 20
_ACROSS, _DOWN = 400, 290
_LOWEST, _HIGHEST = 0, 4


def draw(found: Mapping[int, Mapping[str, float]]) -> str:
    """Return the curves of CPU milliseconds and megabytes over chunks, both logarithmic."""
    sizes = sorted(found)
    parts = [_line(_LEFT, _TOP + _DOWN, _LEFT + _ACROSS, _TOP + _DOWN, "#000000")]
    for power in range(_LOWEST, _HIGHEST + 1):
        y = _down(10.0**power)
        parts += [_line(_LEFT, y, _LEFT + _ACROSS, y, "#dddddd"), _text(8, y + 4, f"{10**power:,}")]
    for size in sizes:
        parts.append(_text(_across(size, sizes) - 16, _TOP + _DOWN + 18, f"{size:,}"))
    parts.append(_text(_LEFT + _ACROSS // 2 - 24, _TOP + _DOWN + 36, "chunks"))
    for number, (name, (label, factor)) in enumerate(SHOWN.items()):
        places = [(_across(n, sizes), _down(found[n][name] * factor)) for n in sizes]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        colour = _COLOURS[number]
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        y = _TOP + 20 + 22 * number
        parts += [_line(480, y - 4, 500, y - 4, colour), _text(508, y, label)]
    frame = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    style = 'font-family="sans-serif" font-size="12"'
    body = "\n".join(parts)
    ground = f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {frame} {style}>\n{ground}\n{body}\n</svg>\n'


def _across(size: int, sizes: list[int]) -> float:
    first, last = log10(sizes[0]), log10(sizes[-1])
    return _LEFT + 20 + (_ACROSS - 40) * (log10(size) - first) / max(last - first, 1e-9)


def _down(value: float) -> float:
    place = (log10(max(value, 1.0)) - _LOWEST) / (_HIGHEST - _LOWEST)
    return _TOP + _DOWN * (1 - min(1.0, place))


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<line x1="{x1}" y1="{y1:.1f}" x2="{x2}" y2="{y2:.1f}" stroke="{colour}"/>'


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}">{text}</text>'
