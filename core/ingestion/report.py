"""What one ingestion did, and how it tells of its progress."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

from core.ingestion.account.ledger import ReadShare, SourceAccount, share_read
from core.ingestion.account.left_out import LeftOut, NotRead
from core.ingestion.changes.sections import SectionChanges

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
