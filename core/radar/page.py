"""A report as a page of HTML, and as JSON."""

import json
from html import escape
from typing import Any

from core.i18n import current_language, text
from core.radar.activity import SectionActivity
from core.radar.picture import DARK, LIGHT, to_svg
from core.radar.report import Report
from core.radar.told import empty, lists, note, rows, title

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
