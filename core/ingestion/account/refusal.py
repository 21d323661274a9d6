"""Refuses a run that would pass for a course and is none: nothing read, or too little."""

from collections.abc import Mapping

from core.errors import IngestionError
from core.ingestion.account.groups import grouped
from core.ingestion.report import IngestReport
from core.storage.ingest_accounts import LeftOutGroup

_REASONS_NAMED = 3


class IngestionRefused(IngestionError):
    """Too little of the sources can be read; nothing was changed. `report` says what is what."""

    def __init__(self, sentence: str, report: IngestReport) -> None:
        super().__init__(sentence, user_message=sentence)
        self.report = report

    @property
    def says_all(self) -> bool:
        """Whether the sentence names every file that could not be read."""
        report = self.report
        named = report.failed or report.left_out
        is_all = not (report.failed and report.left_out) and not any(
            left.is_missed for left in report.left_out
        )
        few = len(named) <= _REASONS_NAMED
        return few and is_all and not report.warnings and not report.share.read


def refuse_emptied(emptied: Mapping[str, int], report: IngestReport) -> None:
    """Return unless a source that had documents has none any more.

    Raises:
        IngestionRefused: naming the first such source, with what to do.
    """
    for source, documents in emptied.items():
        sentence = (
            f"{source} has no document any more, and had {documents:,}, so nothing was changed. "
            "'glossator ingest --partial' removes them; 'glossator ingest --replace' removes a "
            "source that the course file does not list."
        )
        raise IngestionRefused(sentence, report)


def refuse_little(
    report: IngestReport, *, is_empty: bool, has_text: bool, least_share: float
) -> None:
    """Return if enough was read.

    Args:
        is_empty: whether the course would have no text at all; also refused is a run that read
            none of what was named, whatever the share.
        has_text: whether it has one now.
        least_share: of the text-like files, from 0 to 1.

    Raises:
        IngestionRefused: with what to do.
    """
    if is_empty or (report.failed and not report.share.read):
        raise IngestionRefused(_nothing(report, has_text), report)
    if report.share.is_below(least_share):
        raise IngestionRefused(_little(report, least_share), report)


def _nothing(report: IngestReport, has_text: bool) -> str:
    reasons = [f"{f.source}: {f.reason.rstrip('.')}" for f in report.failed[:_REASONS_NAMED]]
    if not reasons:
        groups = grouped([left for left in report.left_out if left.is_missed], _REASONS_NAMED)
        reasons = [f"{g.files:,} {_kind(g)} ({g.reason})" for g in groups]
    if not reasons:
        reasons = [f"{left.path}: {left.reason}" for left in report.left_out[:_REASONS_NAMED]]
    if not reasons:
        reasons = [f"no file to read in {', '.join(one.source for one in report.accounts)}"]
    sentence = f"There is nothing to ingest: {'; '.join(reasons)}."
    if not has_text:
        return sentence
    stays = f"The earlier text stays; 'glossator courses remove {report.course}' deletes it."
    return f"{sentence} {stays}"


def _kind(group: LeftOutGroup) -> str:
    return group.suffix or ("file" if group.files == 1 else "files")


def _little(report: IngestReport, least_share: float) -> str:
    share = report.share
    return (
        f"Only {share.read:,} of {share.of:,} text files of {report.course} can be read, less "
        f"than {least_share:.0%}, so nothing was changed. 'glossator ingest --partial' takes "
        "what can be read; GLOSSATOR_INGEST__LEAST_SHARE says how much must be."
    )
