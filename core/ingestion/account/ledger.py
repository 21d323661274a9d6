"""The account of a run: what became of every file of each of its sources."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from core.ingestion.account.groups import grouped
from core.ingestion.account.left_out import LeftOut
from core.ingestion.formats.registry import is_text_like
from core.models import now
from core.storage.ingest_accounts import AccountRecord

_GROUPS_KEPT = 60


@dataclass(slots=True)
class SourceAccount:
    """What became of the files of one source."""

    source: str
    left_out: list[LeftOut]
    read: list[str] = field(default_factory=list)
    """Documents that go in, or are in already and unchanged."""
    failed: list[LeftOut] = field(default_factory=list)
    """Documents that could not be read, or not be taken in."""

    def fail(self, document: str, reason: str) -> None:
        """Note a document that could not be read."""
        is_missed = "://" in document or is_text_like(document)
        self.failed.append(LeftOut(document, reason, is_missed))

    @property
    def missed(self) -> int:
        """How many text-like files the course lacks."""
        return sum(left.is_missed for left in (*self.failed, *self.left_out))


@dataclass(frozen=True, slots=True)
class ReadShare:
    """How many of the text-like files were read."""

    read: int
    of: int

    def is_below(self, least: float) -> bool:
        """Return whether it is less than `least`, from 0 to 1; 0 is never more."""
        return self.read < least * self.of


def share_read(accounts: Iterable[SourceAccount]) -> ReadShare:
    """Return the share over all sources; every document that was read counts as text-like."""
    pairs = [(len(account.read), account.missed) for account in accounts]
    read = sum(read for read, _ in pairs)
    return ReadShare(read, read + sum(missed for _, missed in pairs))


def record_of(account: SourceAccount, *, is_refused: bool) -> AccountRecord:
    """Return what is kept of an account: counts, and files in groups."""
    return AccountRecord(
        account.source,
        now(),
        is_refused,
        len(account.read),
        len(account.failed),
        len(account.left_out),
        account.missed,
        tuple(grouped((*account.failed, *account.left_out), _GROUPS_KEPT)),
    )
