"""`glossator ingest`: reads a book into a course."""

import asyncio
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from rich.cells import cell_len

from adapters.chat.markdown.printable import on_one_line
from bot.cli.context import counted, services
from bot.cli.exits import Exit, UsageError, exit_code, sentence_for
from bot.log import tell
from bot.services import Services
from core.domain import Course, course_id_like
from core.domain.errors import BotError, ConfigurationError
from core.ingestion.account import ALL, grouped
from core.ingestion.changes import Heading, SectionChanges
from core.ingestion.coverage import Failure, IngestionRefused, IngestReport, RetiredSource, Stage
from core.ingestion.refusal import NotRead
from core.storage.ingest_accounts import LeftOutGroup

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID


_WORDS = ("added", "changed", "removed", "unchanged")
"""What becomes of the files that are documents."""
_NOTES_SHOWN = 5
_GROUPS_SHOWN = 25
_WIDEST = 80
_HEADINGS_SHOWN = 3
_DOCUMENTS_SHOWN = 20
_HEAD = ("reason", "folder", "type", "files", "such as")
_COUNT = _HEAD.index("files")


def summary(report: IngestReport, seconds: float, error: str | None = None) -> dict[str, object]:
    """Return what `--json` prints; `error` says why nothing was changed."""
    return {
        "course": report.course,
        "generation": str(report.generation) if report.generation else None,
        **{word: [] if error else getattr(report, word) for word in _WORDS},
        "reread": [] if error else report.reread,
        "retired_sources": [
            {"source": one.name, "removed_documents": one.documents}
            for one in ([] if error else report.retired)
        ],
        "unlisted_sources": [
            {"source": name, "documents": count} for name, count in report.unlisted.items()
        ],
        "sections": {} if error else _sections(report.sections),
        "failed": _objects(report.failed),
        "left_out": [{"path": left.path, "reason": left.reason} for left in report.left_out],
        "text_files": {"read": report.share.read, "of": report.share.of},
        "not_read": [
            {
                "path": one.document,
                "kind": one.kind,
                "count": one.count,
                "words": one.words,
                "where": list(one.where),
            }
            for one in report.not_read
        ],
        "warnings": _objects(report.warnings),
        "documents": [
            {"path": name, "chunks": count}
            for name, count in ({} if error else report.chunk_counts).items()
        ],
        "chunks": report.chunks,
        "embedded": report.embedded,
        "seconds": round(seconds, 3),
        "error": error,
    }


def _objects(failures: Sequence[Failure]) -> list[dict[str, str]]:
    return [{"source": failure.source, "reason": failure.reason} for failure in failures]


def print_report(report: IngestReport, seconds: float, *, is_refused: bool = False) -> None:
    """Print what a run did; of one that was refused, what could not be read."""
    for failure in report.failed:
        print(on_one_line(f"failed: {failure.source}: {failure.reason}"))
    _print_notes(report)
    for line in _not_read(report):
        print(on_one_line(line))
    if not is_refused:
        for line in _documents(report):
            print(on_one_line(line))
        for source in report.retired:
            print(on_one_line(_retired(source)))
        if report.sections:
            print(on_one_line(f"sections: {changes_in_words(report.sections)}"))
    for line in _left_out(report):
        print(line)
    if not is_refused:
        print(_counts(report, seconds))


def _not_read(report: IngestReport) -> Iterator[str]:
    """Yield a line for each document that was read now and lacks elements that held words."""
    now = {*report.added, *report.changed, *report.reread}
    documents: dict[str, list[NotRead]] = {}
    for one in report.not_read:
        if one.words and one.document in now:
            documents.setdefault(one.document, []).append(one)
    for name, elements in list(documents.items())[:_DOCUMENTS_SHOWN]:
        yield f"not read: {elements_in_words(elements)} in {name}"
    if rest := list(documents.values())[_DOCUMENTS_SHOWN:]:
        others = counted(sum(one.count for own in rest for one in own), "element")
        yield f"not read: {others} in {counted(len(rest), 'document')} more; --json names all"


def elements_in_words(elements: Sequence[NotRead]) -> str:
    """Return elements by kind with the words that they held: `3 text boxes (41 words)`."""
    return ", ".join(
        _elements(one) + (f" ({counted(one.words, 'word')})" if one.words else "")
        for one in elements
    )


def _elements(one: NotRead) -> str:
    """Return the count of elements with their kind; of text, passages are counted."""
    if one.kind.endswith("text"):
        return f"{counted(one.count, 'passage')} of {one.kind}"
    return counted(one.count, one.kind)


def _documents(report: IngestReport) -> Iterator[str]:
    """Yield a line for each document that changed: what became of it, and its chunks."""
    for word, names in (("added", report.added), ("changed", report.changed)):
        for name in names[:_DOCUMENTS_SHOWN]:
            yield f"{word}: {name} ({counted(report.chunk_counts.get(name, 0), 'chunk')})"
        if len(names) > _DOCUMENTS_SHOWN:
            yield f"{word}: and {counted(len(names) - _DOCUMENTS_SHOWN, 'document')} more"
    yield from (f"removed: {name}" for name in report.removed)
    if report.reread:
        again = counted(len(report.reread), "document")
        text = len(set(report.reread) & set(report.changed))
        yield (
            f"read again: {again}, since this version reads files otherwise; "
            f"the text of {text:,} is another one now"
        )


def _retired(source: RetiredSource) -> str:
    """Return the sentence about a source that the course does not have any more."""
    documents = counted(source.documents, "document")
    were = "was" if source.documents == 1 else "were"
    why = "is no longer a source of the course" if source.is_unlisted else "has moved"
    return f"{source.name} {why}: {documents} of it {were} removed"


def changes_in_words(changes: SectionChanges) -> str:
    """Return what became of sections: counts, and the first headings of each kind."""
    kinds = {"added": changes.added, "changed": changes.changed, "removed": changes.removed}
    return ", ".join(
        f"{len(headings):,} {kind}{headings_in_words(headings, len(headings))}"
        for kind, headings in kinds.items()
        if headings
    )


def headings_in_words(headings: Sequence[Heading], total: int) -> str:
    """Return the first of `total` headings in brackets, or nothing where there is none."""
    if not headings:
        return ""
    named = "; ".join(" > ".join(heading) for heading in headings[:_HEADINGS_SHOWN])
    more = "; ..." if total > _HEADINGS_SHOWN else ""
    return f" ({named}{more})"


def _sections(changes: SectionChanges) -> dict[str, list[list[str]]]:
    return {
        "added": [list(heading) for heading in changes.added],
        "changed": [list(heading) for heading in changes.changed],
        "removed": [list(heading) for heading in changes.removed],
    }


def _print_notes(report: IngestReport) -> None:
    notes: dict[str, list[str]] = {}
    for warning in report.warnings:
        notes.setdefault(warning.source, []).append(warning.reason)
    for source, reasons in notes.items():
        for reason in reasons[:_NOTES_SHOWN]:
            print(on_one_line(f"note: {source}: {reason}"))
        if len(reasons) > _NOTES_SHOWN:
            print(on_one_line(f"note: {source}: and {len(reasons) - _NOTES_SHOWN} more"))


def _counts(report: IngestReport, seconds: float) -> str:
    counts = ", ".join(f"{len(getattr(report, word))} {word}" for word in (*_WORDS, "failed"))
    chunks = counted(report.chunks, "chunk")
    return (
        f"{report.course}: {counts}, {len(report.left_out)} left out; {chunks}, "
        f"{report.embedded} embedded, {seconds:.1f} s"
    )


def _left_out(report: IngestReport) -> Iterator[str]:
    """Yield the table of the files that are no documents; nothing where there are none."""
    groups = grouped(report.left_out, _GROUPS_SHOWN)
    if not groups:
        return
    read, total = report.share.read, report.share.of
    files = counted(len(report.left_out), "file")
    yield f"left out: {files} ({read:,} of {counted(total, 'text file')} were read)"
    rows = [_HEAD, *map(_row, groups)]
    widths = [max(cell_len(row[column]) for row in rows) for column in range(len(_HEAD))]
    for row in rows:
        cells = [_padded(cell, width) for cell, width in zip(row, widths, strict=True)]
        cells[_COUNT] = row[_COUNT].rjust(widths[_COUNT])
        yield f"  {'  '.join(cells)}".rstrip()


def _row(group: LeftOutGroup) -> tuple[str, ...]:
    return (
        _cell(group.reason),
        _cell({ALL: "several", "": "."}.get(group.folder, group.folder)),
        _cell({ALL: "several", "": "none"}.get(group.suffix, group.suffix)),
        f"{group.files:,}",
        _cell(group.example.rstrip("/").rpartition("/")[2]),
    )


def _cell(text: str) -> str:
    line = on_one_line(text)
    return line if len(line) <= _WIDEST else f"{line[: _WIDEST - 1]}…"


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - cell_len(cell))


_COURSE_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_SECONDS_BETWEEN_LINES = 5.0
_ENOUGH_DONE = 10
"""Documents or chunks whose time says something of that of the others."""
REPOSITORIES = "repositories"
"""The folder below the data folder that has the files of git sources, by course."""


async def ingest(
    names: Sequence[str],
    course_id: str | None,
    *,
    partial: bool,
    as_json: bool,
    untrusted: bool = False,
    replace: bool = False,
) -> int:
    """Ingest sources into a course, or every course of glossator.toml, and return the exit code.

    A course of many that fails keeps none of the others waiting; the worst code counts, which is
    `Exit.INCOMPLETE` where documents failed and others went in. With
    `partial`, what can be read goes in, however little it is; with `untrusted`, what these sources
    say is shown as others' words; with `replace`, the course consists of these sources alone, or of
    those that the course file lists. Without it, no other source goes unless the operator says so.

    Raises:
        BotError: when the only course fails.
    """
    codes, summaries = [Exit.OK], list[dict[str, object]]()
    failures, kept = list[str](), list[str]()
    async with services() as opened:
        jobs = _jobs(opened, names, course_id)
        of_course = "The course {} was not ingested: {}" if len(jobs) > 1 else "{1}"
        for job_course, job_names in jobs:
            started = time.perf_counter()
            try:
                report = await _ingest_one(
                    opened,
                    job_course,
                    job_names,
                    untrusted=job_names if untrusted else opened.course_file.untrusted(job_course),
                    replace=replace,
                    is_whole=not names,
                    partial=partial,
                    quiet=as_json,
                )
            except IngestionRefused as refusal:
                seconds = time.perf_counter() - started
                sentence = sentence_for(refusal)
                failures.append(of_course.format(job_course, sentence))
                codes.append(exit_code(refusal))
                summaries.append(summary(refusal.report, seconds, sentence))
                if not (as_json or refusal.says_all):
                    print_report(refusal.report, seconds, is_refused=True)
                continue
            except BotError as error:
                if len(jobs) == 1:
                    raise
                sentence = sentence_for(error)
                failures.append(of_course.format(job_course, sentence))
                codes.append(exit_code(error))
                summaries.append({"course": job_course, "error": sentence})
                continue
            seconds = time.perf_counter() - started
            if report.unlisted:
                codes.append(Exit.INCOMPLETE)
                kept.append(_stays(report))
            summaries.append(summary(report, seconds))
            if not as_json:
                print_report(report, seconds)
            if report.failed:
                codes.append(Exit.BAD_INPUT if _is_hopeless(report) else Exit.INCOMPLETE)
                failures.append(_unread(report))
    if as_json:
        print(json.dumps(summaries if len(jobs) > 1 else summaries[0], indent=2))
    for sentence in failures:
        tell(on_one_line(f"glossator: {sentence}"), "ERROR")
    for sentence in kept:
        tell(on_one_line(f"glossator: {sentence}"), "WARNING")
    return max(codes)


async def _ingest_one(
    opened: Services,
    course_id: str,
    sources: Sequence[str],
    *,
    untrusted: Collection[str],
    replace: bool,
    is_whole: bool,
    partial: bool,
    quiet: bool,
) -> IngestReport:
    from core.ingestion.formats.scans import find_recognition
    from core.ingestion.sources.sources import open_sources, origin_of

    if not sources:
        raise ConfigurationError(f"The course {course_id} has no sources in the course file.")
    sources = list(dict.fromkeys(sources))  # named twice, each file would be another's double
    described = opened.course_file.course(course_id)
    known = described or await opened.catalogue.course(course_id)
    course = known or Course(course_id=course_id, title=_readable(course_id))
    settings = opened.settings.ingest
    others = [] if replace else opened.course_file.sources(course_id)
    own, listed = frozenset(map(origin_of, sources)), frozenset(map(origin_of, others))
    named = own | listed
    unlisted = await _unlisted(opened, course_id, named) if is_whole and not replace else {}
    if unlisted and not quiet and _may_remove(course_id, unlisted):
        replace, unlisted = True, {}
    with _show_progress(quiet=quiet) as progress:
        async with open_sources(
            sources,
            base_url=described.base_url if described else None,
            allowed_hosts=frozenset(settings.allowed_hosts),
            max_bytes=settings.max_megabytes * 1_000_000,
            user_agent=settings.user_agent,
            repositories=opened.settings.data_dir / REPOSITORIES / course_id,
            max_repository_bytes=settings.max_repository_megabytes * 1_000_000,
            recognition=await find_recognition(course.language, settings.max_recognised_pages),
            is_one_of_several=len(others) > 1 and own <= listed,
        ) as readable:
            course = _with_site(course, readable.base_url)
            report = await opened.ingestion(course_id).run(
                course,
                readable.sources,
                listed=named if replace else None,
                untrusted={
                    source.name
                    for name, source in zip(sources, readable.sources, strict=True)
                    if name in untrusted
                },
                least_share=0.0 if partial else settings.least_share,
                progress=progress.show,
            )
    report.unlisted = unlisted
    if replace or (is_whole and not unlisted):
        await asyncio.to_thread(_sweep_repositories, opened, course_id, [*sources, *others])
    return report


async def _unlisted(opened: Services, course_id: str, named: Collection[str]) -> dict[str, int]:
    """Return the sources that a course has besides those named, with their documents."""
    live = await opened.catalogue.live(course_id)
    documents = await opened.catalogue.documents(live.generation) if live else ()
    return dict(Counter(one.origin for one in documents if one.origin not in named))


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _may_remove(course_id: str, unlisted: Mapping[str, int]) -> bool:
    """Return whether the operator, asked at the terminal, lets these sources go."""
    if not _is_terminal():
        return False
    import typer

    print(f"The course file does not list all that {course_id} has:", file=sys.stderr)
    for source, documents in unlisted.items():
        tell(on_one_line(f"  {source} ({counted(documents, 'document')})"))
    return typer.confirm("Remove this from the course?", err=True)


def _stays(report: IngestReport) -> str:
    """Return the sentence about sources that the course file does not list, and that stay."""
    sources = "; ".join(
        f"{source} ({counted(documents, 'document')})"
        for source, documents in report.unlisted.items()
    )
    return (
        f"The course file does not list all that {report.course} has, and nothing of it was "
        f"removed: {sources}. List it there, or remove it: "
        f"'glossator ingest --course {report.course} --replace'."
    )


def _sweep_repositories(opened: Services, course_id: str, sources: Sequence[str]) -> None:
    """Delete the files of git repositories that the course does not have any more."""
    folder = opened.settings.data_dir / REPOSITORIES / course_id
    if not folder.is_dir():
        return
    from core.ingestion.sources.git import parse_git_address, sweep
    from core.ingestion.sources.sources import is_git

    sweep(folder, [parse_git_address(name) for name in sources if is_git(name)])


def _jobs(
    opened: Services, names: Sequence[str], course_id: str | None
) -> list[tuple[str, list[str]]]:
    """Return which course is ingested from which sources."""
    described = opened.course_file.tables
    if course_id is not None and not _COURSE_ID.fullmatch(course_id):
        near = course_id_like(course_id)
        raise UsageError(
            f"{course_id} cannot be a course's name: lower-case letters, digits, - and _ only, "
            f"at most 64{f', such as {near}' if near else ''}."
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
    return course_id_like(_stem(name)) or "course"


def _stem(name: str) -> str:
    from core.ingestion.sources.sources import check_address, is_git

    check_address(name)
    if is_git(name):
        from core.ingestion.sources.git import parse_git_address

        return parse_git_address(name).title
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
    """Return whether no document went in."""
    return not (report.added or report.changed or report.unchanged)


def _unread(report: IngestReport) -> str:
    """Return the sentence about documents that failed, next to the others or alone."""
    failed = f"{counted(len(report.failed), 'document')} of {report.course} could not be read"
    return f"{failed}." if _is_hopeless(report) else f"{failed}; the others went in."


class _Lines:
    """Prints progress in plain lines on stderr, one every few seconds."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._last = time.perf_counter()
        self._started: dict[Stage, tuple[float, int]] = {}

    def __enter__(self) -> "_Lines":
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def show(self, stage: Stage, done: int, total: int) -> None:
        moment = time.perf_counter()
        began, before = self._started.setdefault(stage, (moment, done))
        if self._quiet or moment - self._last < _SECONDS_BETWEEN_LINES:
            return
        self._last = moment
        line = f"{_UNITS[stage]}: {done} of {total}"
        if (timed := done - before) >= _ENOUGH_DONE:
            left = (moment - began) / timed * (total - done)
            line += f", about {left:.0f} s left"
        tell(line)


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
