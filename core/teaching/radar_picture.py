"""A report as one picture: a bar a section, by how its questions ended, this week above last."""

import json
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from core.domain.i18n import current_language, text
from core.teaching.radar import Report, empty, ending_name, lists, note, rows, section_name, title
from core.teaching.radar_activity import Ending, SectionActivity

_WIDTH = 720
_MARGIN = 28
_MOST_ROWS = 9
_NAME = 24
"""Font size of names; a phone shows the picture at half of its width."""
_BAR, _LAST_BAR = 30, 12
_ROW = 104
_LONGEST_NAME = 46
_LONGEST_TITLE = 38
_LEGEND = 22
_NUMBER_ROOM = 92


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of a picture."""

    ground: str
    ink: str
    faint: str
    track: str
    endings: dict[Ending, str]


LIGHT = Theme(
    "#ffffff", "#1b1d21", "#565b63", "#eef0f3",
    {
        Ending.ANSWERED: "#2f6fb0", Ending.VERIFIED: "#1d8348", Ending.HELD: "#8e5ba6",
        Ending.NOT_SURE: "#d9a520", Ending.NOT_COVERED: "#c8473f",
    },
)  # fmt: skip
DARK = Theme(
    "#1e2024", "#f1f2f4", "#b4b9c2", "#2c2f35",
    {
        Ending.ANSWERED: "#6aa9e9", Ending.VERIFIED: "#4fc27f", Ending.HELD: "#c39be0",
        Ending.NOT_SURE: "#f0c64f", Ending.NOT_COVERED: "#f0776d",
    },
)  # fmt: skip
_ORDER = (Ending.ANSWERED, Ending.VERIFIED, Ending.HELD, Ending.NOT_SURE, Ending.NOT_COVERED)


def to_svg(report: Report, course: str, theme: Theme = LIGHT) -> str:
    """Return the picture as SVG, 720 units wide; its text needs the font DejaVu Sans.

    Args:
        course: The course's title.
    """
    parts, y = _title(report, course, theme)
    shown = report.this_week[:_MOST_ROWS]
    if not shown:
        y += 60
        parts += _lines(empty(report), y, theme.ink)
        y += 40
    else:
        legend, y = _legend(report, y + 44, theme)
        parts += legend
        last = {one.section: one for one in report.last_week}
        most = max(one.questions for one in (*shown, *report.last_week))
        for one in shown:
            parts += _row(one, last.get(one.section), y, most, theme)
            y += _ROW
    parts += _lines(note(report), y + 26, theme.faint)
    height = y + 26 + 28 * len(_wrapped(note(report)))
    ground = f'<rect width="{_WIDTH}" height="{height}" rx="18" fill="{theme.ground}"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img" font-family="DejaVu Sans, sans-serif" '
        f'aria-label="{escape(title(report, course))}">'
        f"{ground}{''.join(parts)}</svg>"
    )


def to_png(report: Report, course: str, theme: Theme = LIGHT) -> bytes:
    """Return the picture as PNG, 1,440 pixels wide.

    Takes a tenth of a second of computing: call it in a thread.
    """
    from resvg_py import svg_to_bytes

    drawing = to_svg(report, course, theme)
    return bytes(svg_to_bytes(svg_string=drawing, zoom=2, font_files=_fonts()))


def _fonts() -> list[str]:
    """Return the font that comes with the formulas: the system may have none."""
    package = find_spec("ziafont")
    if package is None or package.origin is None:
        return []
    return [str(Path(package.origin).parent / "fonts" / "DejaVuSans.ttf")]


def _title(report: Report, course: str, theme: Theme) -> tuple[list[str], int]:
    """Return the headline on one or two lines, the week never cut, and where the last stands."""
    room = _LONGEST_TITLE + _LONGEST_TITLE // 2 - len(title(report, ""))
    lines = _wrapped(title(report, _cut(course, room)), _LONGEST_TITLE)
    drawn = [_text(_MARGIN, 52 + 38 * n, line, 30, theme.ink) for n, line in enumerate(lines)]
    return drawn, 52 + 38 * (len(lines) - 1)


def _legend(report: Report, y: int, theme: Theme) -> tuple[list[str], int]:
    """Return what the colours mean, and where the rows begin."""
    there = {ending for one in (*report.this_week, *report.last_week) for ending in one.endings}
    parts, x = [], _MARGIN
    for ending in (one for one in _ORDER if one in there):
        name = ending_name(ending)
        width = 34 + round(len(name) * _LEGEND * 0.62)
        if x + width > _WIDTH - _MARGIN and x > _MARGIN:
            x, y = _MARGIN, y + 34
        parts.append(_box(x, y - 18, 22, 22, theme.endings[ending]))
        parts.append(_text(x + 30, y, name, _LEGEND, theme.ink))
        x += width + 24
    y += 38
    parts.append(_text(_MARGIN, y, text("radar-bars"), 20, theme.faint))
    return parts, y + 42


def _row(
    one: SectionActivity, last: SectionActivity | None, y: int, most: int, theme: Theme
) -> list[str]:
    """Return a section's name, this week's bar with its number, and last week's bar."""
    parts = [_text(_MARGIN, y, _cut(_name(one), _LONGEST_NAME), _NAME, theme.ink)]
    room = _WIDTH - 2 * _MARGIN - _NUMBER_ROOM
    parts.append(_box(_MARGIN, y + 12, room, _BAR, theme.track))
    parts += _bar(one, y + 12, _BAR, room / most, theme)
    parts.append(_text(_MARGIN + room + 14, y + 36, str(one.questions), 26, theme.ink))
    if last is not None and last.questions:
        parts += _bar(last, y + 46, _LAST_BAR, room / most, theme, opacity=0.55)
        parts.append(_text(_MARGIN + room + 14, y + 60, str(last.questions), 18, theme.faint))
    return parts


def _name(one: SectionActivity) -> str:
    """Return a section's name: where it is too long, that of its last heading alone."""
    name = section_name(one)
    return f"… › {one.section[-1]}" if len(name) > _LONGEST_NAME and one.section[1:] else name


def _bar(
    one: SectionActivity, y: int, height: int, scale: float, theme: Theme, opacity: float = 1.0
) -> list[str]:
    parts, x = [], float(_MARGIN)
    for ending in _ORDER:
        width = one.endings.get(ending, 0) * scale
        if width:
            parts.append(_box(x, y, max(width - 2, 2), height, theme.endings[ending], opacity))
            x += width
    return parts


def _box(x: float, y: float, width: float, height: float, fill: str, opacity: float = 1.0) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="4" '
        f'fill="{fill}" fill-opacity="{opacity}"/>'
    )


def _text(x: float, y: float, words: str, size: int, fill: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{fill}">{escape(words)}</text>'


def _lines(words: str, y: int, fill: str) -> list[str]:
    return [
        _text(_MARGIN, y + 28 * number, line, 20, fill)
        for number, line in enumerate(_wrapped(words))
    ]


def _wrapped(words: str, width: int = 54) -> list[str]:
    from textwrap import wrap

    return wrap(words, width)


def _cut(words: str, longest: int) -> str:
    words = " ".join(words.split())
    return words if len(words) <= longest else f"{words[: longest - 1].rstrip()}…"


_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 720px; margin: 1rem auto; padding: 0 1rem; }
h1 { font-size: 1.375rem; line-height: 1.3; }
h2 { font-size: 1.125rem; margin-bottom: 0; }
ul { margin-top: 0.4rem; padding-left: 1.3rem; }
svg { width: 100%; height: auto; }
.dark { display: none; }
@media (prefers-color-scheme: dark) { .dark { display: block; } .light { display: none; } }
"""


def to_html(report: Report, course: str) -> str:
    """Return a page with the picture in light and dark, its table as text, and the lists."""
    name = escape(title(report, course))
    parts = []
    if report.is_empty:
        parts.append(f"<p>{escape(empty(report))}</p>")
    else:
        parts.append(f'<div class="light">{to_svg(report, course, LIGHT)}</div>')
        parts.append(f'<div class="dark" aria-hidden="true">{to_svg(report, course, DARK)}</div>')
    if report.this_week:
        parts.append(_list(text("radar-table"), rows(report)))
    parts += [_list(heading, lines) for heading, lines in lists(report)]
    parts.append(f"<p><small>{escape(note(report))}</small></p>")
    return (
        f'<!doctype html>\n<html lang="{current_language()}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{name}</title><style>{_STYLE}</style></head>\n"
        f"<body>\n<h1>{name}</h1>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def _list(heading: str, lines: list[str]) -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<h2>{escape(heading)}</h2>\n<ul>{items}</ul>"


def to_json(report: Report) -> str:
    """Return the report as JSON."""
    return json.dumps(_object(report), indent=2, ensure_ascii=False)


def _object(report: Report) -> dict[str, Any]:
    return {
        "course_id": report.course_id,
        "week": report.week.isoformat(),
        "least_askers": report.least_askers,
        "this_week": [_activity(one) for one in report.this_week],
        "last_week": [_activity(one) for one in report.last_week],
        "asked": list(report.asked),
        "not_covered": list(report.not_covered),
        "reasons": [{"section": name, "reason": reason} for name, reason in report.reasons],
        "queue": dict(report.queue),
    }


def _activity(one: SectionActivity) -> dict[str, Any]:
    return {
        "section": list(one.section) or None,
        "questions": one.questions,
        "askers_at_least": one.askers,
        "endings": {ending.value: count for ending, count in one.endings.items()},
        "voted_down": one.voted_down or None,
    }
