"""Draws the figures of a run over its questions."""

from collections.abc import Iterator, Sequence
from html import escape
from importlib.util import find_spec
from pathlib import Path

from tests.soak.samples import Sample
from tests.soak.slopes import FIGURES, Figure, slope, warm

_WIDTH, _HEIGHT = 380, 130
_COLUMNS = 2
_LEFT, _TOP, _RIGHT, _BOTTOM = 62, 30, 14, 26
_MOST_POINTS = 600


def png(samples: Sequence[Sample]) -> bytes:
    """Return the picture; the grey part of each curve is the warm-up."""
    from resvg_py import svg_to_bytes

    # The system may have no font at all; this one came with the formulas.
    package = find_spec("ziafont")
    assert package is not None
    assert package.origin is not None
    font = Path(package.origin).parent / "fonts" / "DejaVuSans.ttf"
    drawing, fonts = svg(samples), [str(font)]
    return bytes(svg_to_bytes(svg_string=drawing, zoom=2.0, background="white", font_files=fonts))


def svg(samples: Sequence[Sample]) -> str:
    """Return the picture as SVG."""
    rows = -(-len(FIGURES) // _COLUMNS)
    panels = "".join(
        f'<g transform="translate({n % _COLUMNS * _WIDTH} {n // _COLUMNS * _HEIGHT})">'
        f"{''.join(_panel(samples, figure))}</g>"
        for n, figure in enumerate(FIGURES)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH * _COLUMNS}" '
        f'height="{_HEIGHT * rows}" font-family="DejaVu Sans" font-size="11">{panels}</svg>'
    )


def _panel(samples: Sequence[Sample], figure: Figure) -> Iterator[str]:
    counted = warm(samples)
    most = max((s.questions for s in samples), default=0) or 1
    top = max((figure.of(s) for s in samples), default=0) * 1.1 or 1
    growth = f"{slope(counted, figure):+.2f} {figure.unit} per 10,000 questions"
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    yield _text(_LEFT, 18, figure.name, "start", "bold")
    yield _text(right, 18, growth, "end")
    yield (
        f'<path d="M{_LEFT} {_TOP}V{bottom}H{right}" fill="none" stroke="#888" stroke-width="1"/>'
    )
    yield _text(_LEFT - 6, _TOP + 8, f"{top:,.3g} {figure.unit}".strip(), "end")
    yield _text(_LEFT - 6, bottom, "0", "end")
    yield _text(right, bottom + 16, f"{most:,} questions", "end")
    for part, colour in ((samples, "#bbb"), (counted, "#2b4a3f")):
        for life in sorted({s.life for s in part}):
            points = _points([s for s in part if s.life == life], figure, most, top)
            yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>'


def _points(life: Sequence[Sample], figure: Figure, most: int, top: float) -> str:
    across, down = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    shown = life[:: max(1, len(life) // _MOST_POINTS)]
    return " ".join(
        f"{_LEFT + s.questions / most * across:.1f},{_TOP + (1 - figure.of(s) / top) * down:.1f}"
        for s in shown
    )


def _text(x: float, y: float, text: str, anchor: str, weight: str = "normal") -> str:
    return (
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-weight="{weight}">{escape(text)}</text>'
    )
