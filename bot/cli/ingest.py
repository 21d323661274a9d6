"""`glossator ingest`: reads a book into a course."""

import json
import re
import sys
import time
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from adapters.console import printable
from bot.cli.exits import Exit, UsageError, exit_code, sentence_for
from bot.cli.opening import services
from bot.log import tell
from bot.wiring import Services
from core.errors import BotError, ConfigurationError
from core.ingestion.report import IngestReport, Stage
from core.models import Course

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

_COURSE_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_NOTES_SHOWN = 5
_SECONDS_BETWEEN_LINES = 5.0


async def ingest(names: Sequence[str], course_id: str | None, *, as_json: bool) -> int:
    """Ingest sources into a course, or every course of glossator.toml, and return the exit code.

    A course of many that fails keeps none of the others waiting; the worst code counts.

    Raises:
        BotError: when the only course fails.
    """
    codes, summaries = [Exit.OK], list[dict[str, object]]()
    failures = dict[str, str]()
    async with services() as opened:
        jobs = _jobs(opened, names, course_id)
        for job_course, job_names in jobs:
            started = time.perf_counter()
            try:
                report = await _ingest_one(opened, job_course, job_names, names, as_json)
            except BotError as error:
                if len(jobs) == 1:
                    raise
                failures[job_course] = sentence_for(error)
                codes.append(exit_code(error))
                summaries.append({"course": job_course, "error": failures[job_course]})
                continue
            seconds = time.perf_counter() - started
            codes.append(Exit.BAD_INPUT if _is_hopeless(report) else Exit.OK)
            summaries.append(_summary(report, seconds))
            if not as_json:
                _print_report(report, seconds)
    if as_json:
        print(json.dumps(summaries if len(jobs) > 1 else summaries[0], indent=2))
    for name, sentence in failures.items():
        tell(printable(f"glossator: The course {name} was not ingested: {sentence}"), "ERROR")
    return max(codes)


async def _ingest_one(
    opened: Services, course_id: str, sources: Sequence[str], named: Sequence[str], as_json: bool
) -> IngestReport:
    from core.ingestion.sources import open_sources

    if not sources:
        raise ConfigurationError(f"The course {course_id} has no sources in the course file.")
    described = opened.course_file.course(course_id)
    known = described or await opened.catalogue.course(course_id)
    course = known or Course(course_id=course_id, title=_readable(course_id))
    settings = opened.settings.ingest
    with _show_progress(quiet=as_json) as progress:
        async with open_sources(
            sources,
            base_url=described.base_url if described else None,
            allowed_hosts=frozenset(settings.allowed_hosts),
            max_bytes=settings.max_megabytes * 1_000_000,
            user_agent=settings.user_agent,
        ) as readable:
            course = _with_site(course, readable.base_url)
            report = await opened.ingestion(course_id).run(
                course, readable.sources, only_these=not named, progress=progress.show
            )
    return report


def _jobs(
    opened: Services, names: Sequence[str], course_id: str | None
) -> list[tuple[str, list[str]]]:
    """Return which course is ingested from which sources."""
    described = opened.course_file.tables
    if course_id is not None and not _COURSE_ID.fullmatch(course_id):
        raise UsageError(
            f"{course_id} cannot be a course's name: lower-case letters, digits, - and _ only, "
            "at most 64."
        )
    if names:
        only = next(iter(described)) if len(described) == 1 else None
        return [(course_id or only or _course_id_of(names[0]), list(names))]
    if course_id is not None and course_id not in described:
        raise UsageError(
            f"Name the sources of {course_id}, or describe it in {opened.settings.config}."
        )
    jobs = [
        (name, opened.course_file.sources(name))
        for name in ([course_id] if course_id else described)
    ]
    if not jobs:
        raise UsageError(
            f"Name a source: a file, a folder, a glob or a URL; or describe courses in "
            f"{opened.settings.config}."
        )
    return jobs


def _course_id_of(name: str) -> str:
    """Return a course's name made from its source's."""
    stem = _stem(name)
    plain = unicodedata.normalize("NFKD", stem).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:64].strip("-") or "course"


def _stem(name: str) -> str:
    if "://" in name:
        return urlsplit(name).hostname or "course"
    parts = [part for part in Path(name).resolve().parts if not set(part) & set("*?[")]
    return Path(parts[-1]).stem or "course"


def _readable(course_id: str) -> str:
    words = re.sub(r"[-_]+", " ", course_id).strip() or course_id
    return words[:1].upper() + words[1:]


def _with_site(course: Course, base_url: str | None) -> Course:
    return course if course.base_url else course.model_copy(update={"base_url": base_url})


def _is_hopeless(report: IngestReport) -> bool:
    """Return whether documents were refused and none went in."""
    return bool(report.failed) and not (report.added or report.changed or report.unchanged)


def _summary(report: IngestReport, seconds: float) -> dict[str, object]:
    """Return what `--json` prints."""
    return {
        "course": report.course,
        "generation": str(report.generation) if report.generation else None,
        "added": report.added,
        "changed": report.changed,
        "removed": report.removed,
        "unchanged": report.unchanged,
        "failed": [{"source": f.source, "reason": f.reason} for f in report.failed],
        "chunks": report.chunks,
        "embedded": report.embedded,
        "seconds": round(seconds, 3),
    }


def _print_report(report: IngestReport, seconds: float) -> None:
    for failure in report.failed:
        print(printable(f"left out: {failure.source}: {failure.reason}"))
    notes: dict[str, list[str]] = {}
    for warning in report.warnings:
        notes.setdefault(warning.source, []).append(warning.reason)
    for source, reasons in notes.items():
        for reason in reasons[:_NOTES_SHOWN]:
            print(printable(f"note: {source}: {reason}"))
        if len(reasons) > _NOTES_SHOWN:
            print(printable(f"note: {source}: and {len(reasons) - _NOTES_SHOWN} more"))
    for word in ("changed", "removed"):
        for name in getattr(report, word):
            print(printable(f"{word}: {name}"))
    counts = ", ".join(
        f"{len(getattr(report, word))} {word}"
        for word in ("added", "changed", "removed", "unchanged", "failed")
    )
    print(
        f"{report.course}: {counts}; {report.chunks} chunks, {report.embedded} embedded, "
        f"{seconds:.1f} s"
    )


class _Lines:
    """Tells progress in plain lines on stderr, one every few seconds."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._last = time.perf_counter()
        self._started: dict[Stage, float] = {}

    def __enter__(self) -> "_Lines":
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def show(self, stage: Stage, done: int, total: int) -> None:
        moment = time.perf_counter()
        began = self._started.setdefault(stage, moment)
        if self._quiet or moment - self._last < _SECONDS_BETWEEN_LINES:
            return
        self._last = moment
        left = (moment - began) / max(done, 1) * (total - done)
        tell(f"{stage}: {done} of {total}, about {left:.0f} s left")


class _Bars:
    """Shows progress as bars on a terminal."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        self._tasks: dict[Stage, TaskID] = {}
        self._bars: Bars = Progress(
            TextColumn("{task.description:<20}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )

    def __enter__(self) -> "_Bars":
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def show(self, stage: Stage, done: int, total: int) -> None:
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(_UNITS[stage], total=total, speed="")
        task = self._tasks[stage]
        self._bars.update(task, completed=done, total=total)
        if speed := self._bars.tasks[task].speed:
            self._bars.update(task, speed=f"{speed:.0f}/s")


_UNITS: dict[Stage, str] = {
    "reading": "reading documents",
    "embedding": "embedding chunks",
    "storing": "storing chunks",
}


def _show_progress(*, quiet: bool) -> _Bars | _Lines:
    if quiet or not sys.stderr.isatty():
        return _Lines(quiet=quiet)
    return _Bars()
