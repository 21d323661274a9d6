"""A report in words: its headline, its table as text, and its lists."""

from collections.abc import Iterator
from datetime import datetime, time

from core.i18n import text
from core.i18n.dates import date_of
from core.radar.activity import OTHER, Ending, SectionActivity
from core.radar.report import Report


def title(report: Report, course: str) -> str:
    """Return the headline of a report.

    Args:
        course: The course's title.
    """
    return text("radar-title", course=course, week=date_of(datetime.combine(report.week, time())))


def section_name(one: SectionActivity) -> str:
    """Return what a section is called."""
    return text("radar-other-sections") if one.section == OTHER else " › ".join(one.section)


def ending_name(ending: Ending) -> str:
    """Return what an ending of questions is called."""
    match ending:
        case Ending.ANSWERED:
            return text("radar-answered")
        case Ending.VERIFIED:
            return text("radar-verified")
        case Ending.NOT_SURE:
            return text("radar-not-sure")
        case Ending.NOT_COVERED:
            return text("radar-not-covered")
        case Ending.HELD:
            return text("radar-held")


def queue_name(state: str) -> str:
    """Return what a state of help requests is called."""
    match state:
        case "open":
            return text("radar-queue-open")
        case "taken":
            return text("radar-queue-taken")
        case "answered":
            return text("radar-queue-answered")
        case _:
            return text("radar-queue-dismissed")


def row(one: SectionActivity, last: SectionActivity | None) -> str:
    """Return what the picture shows of a section, in words.

    Args:
        last: The same section in the week before; None: nothing is shown of it.
    """
    endings = ", ".join(f"{count} {ending_name(ending)}" for ending, count in one.endings.items())
    said = text("radar-row", name=section_name(one), count=one.questions, endings=endings)
    if one.voted_down:
        said = f"{said} {text('radar-row-voted-down', count=one.voted_down)}"
    if last is not None and last.questions:
        said = f"{said} {text('radar-row-last', count=last.questions)}"
    return said


def rows(report: Report) -> list[str]:
    """Return the picture's table as text, a line a section."""
    last = {one.section: one for one in report.last_week}
    return [row(one, last.get(one.section)) for one in report.this_week]


def lists(report: Report) -> Iterator[tuple[str, list[str]]]:
    """Yield each list below the table that is not empty, with its heading."""
    k = report.least_askers
    if report.asked:
        yield text("radar-asked", count=k), list(report.asked)
    if report.not_covered:
        yield text("radar-lacking", count=k), list(report.not_covered)
    if report.reasons:
        other = text("radar-other-sections")
        shown = [text("radar-reason", name=name or other, reason=r) for name, r in report.reasons]
        yield text("radar-reasons", count=k), shown
    if report.queue:
        yield text("radar-queue"), [f"{queue_name(s)}: {count}" for s, count in report.queue]


def empty(report: Report) -> str:
    """Return what is said where nothing may be shown."""
    return text("radar-empty", count=report.least_askers)


def note(report: Report) -> str:
    """Return how small numbers are treated."""
    return text("radar-note", count=report.least_askers)
