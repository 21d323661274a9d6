"""What the next edition of a course is made of, while its sources are read."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from core.ingestion.account.ledger import SourceAccount
from core.ingestion.chunks.passages import CourseDocument
from core.ingestion.report import Failure, IngestReport
from core.ingestion.sources import is_gone
from core.storage.catalogue import DocumentRecord


@dataclass
class Plan:
    """The documents that stay, and those that were read."""

    report: IngestReport
    kept: dict[str, DocumentRecord]
    """Documents of the live edition that stay as they are, by source file."""
    foreign: dict[str, str]
    """Of these, the ones that this run's sources may not replace, with their origin."""
    parsed: dict[str, CourseDocument] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)
    """Source files that the sources named, in reading order."""

    @property
    def order(self) -> list[str]:
        """The next edition's documents: those that no source named first, then as read."""
        unnamed = [name for name in self.kept if name not in self.seen]
        return unnamed + [name for name in self.seen if name in self.kept or name in self.parsed]

    @property
    def origins(self) -> frozenset[str]:
        """The sources of which the next edition keeps documents."""
        return frozenset(record.origin for record in self.kept.values())

    def fail(self, account: SourceAccount, document: str, reason: str) -> None:
        """Note a document that does not go in."""
        self.report.failed.append(Failure(document, reason))
        account.fail(document, reason)


def foreign_documents(known: Sequence[DocumentRecord], named: Collection[str]) -> dict[str, str]:
    """Return the documents of sources that are not named now, but are still there."""
    kept = {origin for doc in known if (origin := doc.origin) not in named and not is_gone(origin)}
    return {doc.source_file: doc.origin for doc in known if doc.origin in kept}
