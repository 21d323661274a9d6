"""What `glossator ingest` prints: what went in, what failed, and what was left out and why."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from adapters.markdown.printable import on_one_line
from bot.cli.counted import counted
from core.ingestion.account.groups import ALL, grouped
from core.ingestion.account.left_out import NotRead
from core.ingestion.changes.sections import Heading, SectionChanges
from core.ingestion.report import Failure, IngestReport, RetiredSource
from core.storage.ingest_accounts import LeftOutGroup

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
