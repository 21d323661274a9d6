"""`glossator radar`: what a course was asked in a week, in numbers about a few people at least."""

import asyncio
from pathlib import Path

from adapters.markdown.printable import on_one_line, printable
from bot.cli.context import choose_course, services
from bot.cli.exits import Exit, UsageError
from bot.log import tell
from core.radar.page import to_html, to_json
from core.radar.picture import DARK, LIGHT, to_png
from core.radar.report import Report
from core.radar.told import empty, lists, note, rows, title

_ENDINGS = (".html", ".png", ".json")


async def radar(course_id: str, out: Path | None, *, dark: bool) -> int:
    """Print a course's report, or write it to a file of the format that its name ends in."""
    if out is not None and out.suffix.lower() not in _ENDINGS:
        raise UsageError(f"--out ends in {', '.join(_ENDINGS[:-1])} or {_ENDINGS[-1]}.")
    if dark and (out is None or out.suffix.lower() != ".png"):
        raise UsageError("--dark is for a PNG: a page of HTML has both.")
    async with services() as opened:
        course = await choose_course(opened, course_id)
        report = await opened.radar.report(course.course_id, with_reasons=True)
    if out is None:
        _print(report, course.title)
        return Exit.OK
    await asyncio.to_thread(_write, report, course.title, out, dark)
    tell(on_one_line(f"{out} is written."))
    return Exit.OK


def _write(report: Report, course: str, out: Path, dark: bool) -> None:
    content = _content(report, course, out.suffix.lower(), dark)
    try:
        out.write_bytes(content)
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror}.") from error


def _content(report: Report, course: str, suffix: str, dark: bool) -> bytes:
    if suffix == ".png":
        return to_png(report, course, DARK if dark else LIGHT)
    return (to_html(report, course) if suffix == ".html" else f"{to_json(report)}\n").encode()


def _print(report: Report, course: str) -> None:
    print(on_one_line(title(report, course)))
    for line in rows(report) or [empty(report)]:
        print(on_one_line(f"- {line}"))
    for heading, lines in lists(report):
        print(printable(f"\n{heading}:"))
        for line in lines:
            print(on_one_line(f"- {line}"))
    print(printable(f"\n{note(report)}"))
