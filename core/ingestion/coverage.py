"""Refuses a run that would pass for a course and is none: nothing read, or too little."""

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from uuid import UUID

from core.domain.errors import IngestionError
from core.ingestion.account import ReadShare, SourceAccount, files_below, grouped, share_read
from core.ingestion.changes import SectionChanges
from core.ingestion.refusal import LeftOut, NotRead
from core.ingestion.sites.site_settings import Site
from core.storage.ingest_accounts import LeftOutGroup

Stage = Literal["reading", "embedding", "storing"]
Progress = Callable[[Stage, int, int], None]
"""Called with the stage, how much of it is done, and how much there is."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A document, and why it was left out or what of it could not be read."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class RetiredSource:
    """A source that the course does not have any more."""

    name: str
    documents: int
    """How many documents went with it; others may have come from another source."""
    is_unlisted: bool
    """Whether the course does not name it any more; else it has moved."""


@dataclass
class IngestReport:
    """What one run did. Lists hold source files in reading order."""

    course: str
    generation: UUID | None = None
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    reread: list[str] = field(default_factory=list)
    """Those that have not changed and were read again, since their reader is another one."""
    failed: list[Failure] = field(default_factory=list)
    warnings: list[Failure] = field(default_factory=list)
    """What a document that went in had to do without: a missing include, a broken page."""
    not_read: list[NotRead] = field(default_factory=list)
    """The elements that the text of its documents does not have, unchanged ones included."""
    retired: list[RetiredSource] = field(default_factory=list)
    unlisted: Mapping[str, int] = field(default_factory=dict)
    """Sources that the course file does not list and that stay, with their documents."""
    sections: SectionChanges = field(default_factory=SectionChanges)
    """What became of the sections; empty where the course had no text before."""
    accounts: list[SourceAccount] = field(default_factory=list)
    """What became of every file, for each source in turn."""
    chunk_counts: Mapping[str, int] = field(default_factory=dict)
    """Chunks of each document that is in the course after the run, in reading order."""
    chunks: int = 0
    """Chunks in the live edition after the run."""
    embedded: int = 0
    """Chunks that the model had to embed."""

    @property
    def left_out(self) -> list[LeftOut]:
        """Every file that is no document, in the order of the sources."""
        return [left for account in self.accounts for left in account.left_out]

    @property
    def share(self) -> ReadShare:
        """How many of the text-like files were read."""
        return share_read(self.accounts)


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


_SEPARATOR = "\x1f"
_LARGE = 1_000_000
"""Bytes: what is larger is data and hardly a part of a page, and reading it takes long."""
_NEVER_INCLUDED = frozenset(
    ".png .jpg .jpeg .gif .svg .webp .ico .bmp .mp3 .mp4 .webm .mov .zip .gz .woff .woff2 .ttf "
    ".pdf .docx .pptx .pyc".split()
)
"""No page includes the text of these, so a change of them changes no page."""


def digest_of_assets(site: Site) -> str:
    """Return a digest of the files that pages may include: the same wherever the folder lies.

    Large files are told by size and time.
    """
    pages = {page.path for page in site.pages}
    facts = []
    for folder in site.include_roots:
        root = (site.folder / folder).resolve()
        if not root.is_relative_to(site.folder):
            continue
        for path in sorted(files_below(root)):
            if path.suffix.lower() in _NEVER_INCLUDED:
                continue
            if path.relative_to(site.folder).as_posix() in pages:
                continue
            try:
                status = path.stat()
                state = _state_of_large(status) if status.st_size > _LARGE else _digest(path)
            except OSError:  # a link that leads nowhere
                continue
            facts.append(_SEPARATOR.join((path.relative_to(site.folder).as_posix(), state)))
    return hashlib.sha256("\n".join(facts).encode(errors="surrogateescape")).hexdigest()


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _state_of_large(status: os.stat_result) -> str:
    return f"{status.st_size} {status.st_mtime_ns}"
