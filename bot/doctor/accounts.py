"""What `glossator doctor` says of the files of a course: read, failed, left out and why."""

from collections.abc import Sequence

from bot.cli.counted import counted
from bot.cli.ingest_report import elements_in_words
from bot.doctor.findings import Finding, warning
from core.ingestion.account.left_out import NotRead, not_read_before
from core.storage.catalogue_rows import DocumentRecord
from core.storage.ingest_accounts import AccountRecord, LeftOutGroup

_REASONS_NAMED = 4


def check_account(
    course_id: str,
    accounts: Sequence[AccountRecord],
    least_share: float,
    documents: Sequence[DocumentRecord] = (),
) -> Finding:
    """Return what the last ingestion of each of the course's sources did with its files.

    Args:
        documents: those of the course, each with what was not read of it.
    """
    if not accounts:
        return warning(
            "files",
            f"{course_id}: which files were left out is not known, since an earlier version "
            "ingested it: run 'glossator ingest' for it again.",
        )
    read = sum(account.read for account in accounts)
    missed = sum(account.missed for account in accounts)
    counts = (
        f"{course_id}: {counted(read, 'file')} read, {sum(a.failed for a in accounts):,} failed, "
        f"{sum(a.left_out for a in accounts):,} left out"
    )
    reasons = _reasons([group for account in accounts for group in account.groups])
    text = f"{counts}: {reasons}" if reasons else counts
    if elements := _elements(documents):
        text += f"; of the documents themselves were not read: {elements}"
    if any(account.is_refused for account in accounts):
        return warning("files", f"{text}. Too little was read, so the earlier text stays.")
    if read < least_share * (read + missed):
        return warning(
            "files",
            f"{text}. Most of the text files are missing: convert them to "
            "a format that is read ('glossator ingest --help' names them) and ingest again, or set "
            "GLOSSATOR_INGEST__LEAST_SHARE lower.",
        )
    return Finding("files", text)


def _elements(documents: Sequence[DocumentRecord]) -> str:
    """Return the elements that held words and were not read, those with most words first."""
    kinds: dict[str, list[int]] = {}
    for document in documents:
        for one in not_read_before(document.source_file, document.left_out):
            so_far = kinds.setdefault(one.kind, [0, 0])
            so_far[0] += one.count
            so_far[1] += one.words
    ordered = sorted((-words, kind, count) for kind, (count, words) in kinds.items() if words)
    return elements_in_words(
        [NotRead("", kind, count, -words) for words, kind, count in ordered[:_REASONS_NAMED]]
    )


def _reasons(groups: Sequence[LeftOutGroup]) -> str:
    """Return the reasons with their counts, those that cost the course most text first."""
    files: dict[str, int] = {}
    missed: dict[str, int] = {}
    for group in groups:
        files[group.reason] = files.get(group.reason, 0) + group.files
        missed[group.reason] = missed.get(group.reason, 0) + group.missed
    ordered = sorted(files, key=lambda reason: (-missed[reason], -files[reason], reason))
    named = [f"{reason} ({files[reason]:,})" for reason in ordered[:_REASONS_NAMED]]
    if rest := sum(files[reason] for reason in ordered[_REASONS_NAMED:]):
        named.append(f"other reasons ({rest:,})")
    return "; ".join(named)
