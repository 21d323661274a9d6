"""Draws formulas that characters cannot show."""

import re

_LONGEST = 500
_DEEPEST = 6
_FONT_SIZE = 24
_SCALE = 2
_MARGIN = 6.0
_WIDEST, _HIGHEST = 800.0, 500.0
STUMBLES: tuple[type[Exception], ...] = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError),
    *(StopIteration, SyntaxError, TypeError, ValueError),
)
"""What the typesetter raises for LaTeX that is wrong, besides its own errors."""
_CHAIN = re.compile(r"(?:\\[A-Za-z]++\s*+(?:[^\\{}\s]\s*+)?+){13}")
"""Commands that may nest without braces; typesetting time doubles with every level."""


def render_png(latex: str) -> bytes | None:
    """Return a picture of a formula, black on white; None where none can be drawn.

    That is so for LaTeX that is wrong or unknown, and for more than 500 characters, 6 levels
    of nesting or 1,600 x 1,000 pixels. Takes hundredths of a second of computing, a second at
    worst: call it in a thread. The LaTeX is the picture's alternative text.
    """
    if len(latex) > _LONGEST or _CHAIN.search(latex) or _depth(latex) > _DEEPEST:
        return None
    drawing = _typeset(latex)
    if drawing is None:
        return None
    from resvg_py import svg_to_bytes

    return bytes(svg_to_bytes(svg_string=drawing, zoom=_SCALE, background="white"))


def _depth(latex: str) -> int:
    depth = deepest = 0
    for mark in re.findall(r"(?<!\\)[{}]|\\left\b|\\right\b|\\begin\b|\\end\b", latex):
        depth += 1 if mark in {"{", "\\left", "\\begin"} else -1
        deepest = max(depth, deepest)
    return deepest


def _typeset(latex: str) -> str | None:
    """Return the formula as SVG with a margin, of outlines in place that need no font."""
    from xml.etree import ElementTree

    from latex2mathml import exceptions
    from ziamath.config import config
    from ziamath.zmath import Latex

    config.svg2 = False  # outlines in place, instead of references to symbols
    known = [kind for kind in vars(exceptions).values() if isinstance(kind, type)]
    refusals = (*STUMBLES, *(kind for kind in known if issubclass(kind, Exception)))
    try:
        drawing = Latex(latex, size=_FONT_SIZE).svgxml()
    except refusals:
        return None
    left, top, width, height = map(float, drawing.attrib["viewBox"].split())
    if not (0 < width <= _WIDEST and 0 < height <= _HIGHEST):
        return None
    wide, high = width + 2 * _MARGIN, height + 2 * _MARGIN
    drawing.set("viewBox", f"{left - _MARGIN} {top - _MARGIN} {wide} {high}")
    drawing.set("width", str(wide))
    drawing.set("height", str(high))
    return ElementTree.tostring(drawing, encoding="unicode")
