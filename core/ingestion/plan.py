"""What the next edition of a course is made of, while its sources are read."""

from collections import Counter
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from core.domain.errors import IngestionBusy, StoreError
from core.ingestion.account import SourceAccount
from core.ingestion.coverage import Failure, IngestReport, RetiredSource
from core.ingestion.passages import CourseDocument
from core.ingestion.sources.sources import is_gone
from core.storage.catalogue import DocumentRecord
from core.storage.database import store_errors


@dataclass
class Plan:
    """The documents that stay, and those that were read."""

    report: IngestReport
    known: dict[str, DocumentRecord]
    """Documents of the live edition, by source file."""
    others: "Others"
    parsed: dict[str, CourseDocument] = field(default_factory=dict)
    kept: dict[str, DocumentRecord] = field(init=False)
    """Documents of the live edition that stay as they are, by source file."""
    moved: dict[str, str] = field(default_factory=dict)
    """The source of documents that stay as they are, but came from another one before."""
    seen: list[str] = field(default_factory=list)
    """Source files that the sources named, in reading order."""

    def __post_init__(self) -> None:
        """Begin with all documents that there are."""
        self.kept = dict(self.known)

    @property
    def order(self) -> list[str]:
        """The next edition's documents: those that no source named first, then as read."""
        unnamed = [name for name in self.kept if name not in self.seen]
        return unnamed + [name for name in self.seen if name in self.kept or name in self.parsed]

    @property
    def chunk_counts(self) -> dict[str, int]:
        """The chunks of each of the next edition's documents."""
        fresh = {name: len(document.chunks) for name, document in self.parsed.items()}
        return {n: fresh[n] if n in fresh else self.kept[n].chunk_count for n in self.order}

    @property
    def origins(self) -> frozenset[str]:
        """The sources of which the next edition keeps documents."""
        return frozenset(self.moved.get(name, doc.origin) for name, doc in self.kept.items())

    @property
    def retired(self) -> list[str]:
        """The sources of which nothing is left."""
        return [one.name for one in self.report.retired]

    def drop_absent(self, named: Collection[str]) -> None:
        """Take out what this run's sources do not have any more, and sources that are no more.

        A source that is not there any more stays, unless this run's sources have taken up most of
        its documents: then it has moved. One name in common, such as `index.md`, says nothing.
        """
        seen, others = set(self.seen), self.others
        had = Counter(record.origin for record in self.known.values())
        taken = Counter(record.origin for name, record in self.known.items() if name in seen)
        moved = {origin for origin in others.missing if 2 * taken[origin] > had[origin]}
        retired = others.unlisted | moved
        counts = dict.fromkeys(sorted(retired), 0)
        for name, record in self.known.items():
            if name in self.kept and name not in seen and record.origin in {*named, *retired}:
                self.report.removed.append(name)
                del self.kept[name]
                if record.origin in counts:
                    counts[record.origin] += 1
        self.report.retired += [
            RetiredSource(origin, count, is_unlisted=origin in others.unlisted)
            for origin, count in counts.items()
        ]

    def emptied(self) -> dict[str, int]:
        """Return the sources of this run that have no document now, with how many they had."""
        had = Counter(record.origin for record in self.known.values())
        return {
            account.source: had[account.source]
            for account in self.report.accounts
            if had[account.source] and not account.read and not account.failed
        }

    def fail(self, account: SourceAccount, document: str, reason: str) -> None:
        """Note a document that does not go in."""
        self.report.failed.append(Failure(document, reason))
        account.fail(document, reason)


@dataclass(frozen=True, slots=True)
class Others:
    """The sources that a course has documents of, and that are not ingested now."""

    foreign: dict[str, str]
    """The documents that this run's sources may not replace, with their origin."""
    unlisted: frozenset[str]
    """Sources that the course does not name any more."""
    missing: frozenset[str]
    """Sources whose file or folder is not there any more."""


def others_of(
    known: Sequence[DocumentRecord], named: Collection[str], listed: Collection[str] | None
) -> Others:
    """Return what a course has besides the sources `named`.

    Args:
        listed: the sources that the course consists of; None: that is said nowhere.
    """
    origins = {record.origin for record in known} - set(named)
    unlisted = frozenset(one for one in origins if listed is not None and one not in listed)
    missing = frozenset(origin for origin in origins - unlisted if is_gone(origin))
    kept = origins - unlisted - missing
    foreign = {record.source_file: record.origin for record in known if record.origin in kept}
    return Others(foreign, unlisted, missing)


def ingest_lock(
    engine: AsyncEngine, data_dir: Path, course_id: str
) -> AbstractAsyncContextManager[None]:
    """Hold the right to ingest a course until the block ends or the process dies.

    With SQLite it is a lock on a file in `data_dir`, with PostgreSQL one in the server,
    on a connection of its own (with a pooler: in session mode only).

    Raises:
        IngestionBusy: at once, when another ingestion of the course holds it.
        StoreError: when the database or the file cannot be reached.
    """
    if engine.dialect.name == "sqlite":
        return _file_lock(data_dir / "locks" / f"{course_id}.lock", course_id)
    return _server_lock(engine, course_id)


@asynccontextmanager
async def _file_lock(path: Path, course_id: str) -> AsyncIterator[None]:
    from filelock import FileLock, Timeout

    lock = FileLock(path, blocking=False)
    with store_errors():
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire()
        except Timeout as error:
            raise _busy(course_id) from error
    try:
        yield
    finally:
        lock.release()


@asynccontextmanager
async def _server_lock(engine: AsyncEngine, course_id: str) -> AsyncIterator[None]:
    key = int.from_bytes(
        blake2b(f"ingest {course_id}".encode(), digest_size=8).digest(), signed=True
    )
    with store_errors():
        connection = await engine.connect()
    try:
        with store_errors():
            # Without a transaction: an open one would keep the server from cleaning up.
            await connection.execution_options(isolation_level="AUTOCOMMIT")
            if not await connection.scalar(select(func.pg_try_advisory_lock(key))):
                raise _busy(course_id)
        try:
            yield
        finally:
            await _unlock(connection, key)
    finally:
        await connection.close()


async def _unlock(connection: AsyncConnection, key: int) -> None:
    try:
        with store_errors():
            await connection.scalar(select(func.pg_advisory_unlock(key)))
    except StoreError:
        await connection.invalidate()  # the server lets go of what a lost connection held


def _busy(course_id: str) -> IngestionBusy:
    return IngestionBusy(
        user_message=f"The course {course_id} is being ingested at the moment. "
        "Please wait until that has finished."
    )
