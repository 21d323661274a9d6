"""What `glossator courses` shows of each course's sources: what they hold, and what changed."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from bot.cli.counted import counted
from bot.cli.ingest_report import headings_in_words
from bot.services import Services
from bot.source_file import RenewedSource
from core.ingestion.changes.checks import SourceCheck, SourceChecks
from core.ingestion.changes.store import CourseChange, CourseChanges
from core.ingestion.sources.opening import origin_of
from core.storage.catalogue import Edition
from core.storage.ingest_accounts import IngestAccounts

_CHANGES_SHOWN = 3
_ALWAYS = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class CourseSources:
    """The sources of a course, and what its ingestions changed."""

    documents: Counter[str] = field(default_factory=Counter)
    """How many documents the live edition has of each source."""
    ingested: dict[str, datetime] = field(default_factory=dict)
    listed: tuple[str, ...] = ()
    """As the course file names them; empty where it does not."""
    renewed: dict[str, RenewedSource] = field(default_factory=dict)
    checks: dict[str, SourceCheck] = field(default_factory=dict)
    changes: Sequence[CourseChange] = ()
    """The latest first."""

    def lines(self) -> Iterator[str]:
        """Yield a line for each source, then one for each of the latest changes."""
        for source in dict.fromkeys((*self.listed, *self.documents)):
            yield f"{source}: {', '.join(self._facts(source))}"
        for change in self.changes[:_CHANGES_SHOWN]:
            yield f"changed on {_local(change.changed_at)}: {_in_words(change)}"

    def as_json(self) -> dict[str, object]:
        """Return what `--json` shows of it."""
        return {
            "sources": [
                {
                    "source": source,
                    "documents": self.documents[source],
                    "listed": not self.listed or source in self.listed,
                    "ingested_at": self.ingested.get(source),
                    "every": _seconds(self.renewed.get(source)),
                    "watched": source in self.renewed and self.renewed[source].is_watched,
                    "problem": self._problem(source),
                }
                for source in dict.fromkeys((*self.listed, *self.documents))
            ],
            "changes": [
                {
                    "changed_at": change.changed_at,
                    "sources": change.sources,
                    "added": change.added,
                    "changed": change.changed,
                    "removed": change.removed,
                    "headings": {
                        "added": change.headings.added,
                        "changed": change.headings.changed,
                        "removed": change.headings.removed,
                    },
                }
                for change in self.changes
            ],
        }

    def _facts(self, source: str) -> Iterator[str]:
        yield counted(self.documents[source], "document")
        if moment := self.ingested.get(source):
            yield f"ingested on {_local(moment)}"
        if self.listed and source not in self.listed:
            yield "not in the course file: 'glossator ingest --replace' removes it"
        if (renewed := self.renewed.get(source)) is not None:
            if renewed.every is not None:
                yield f"again every {_period(renewed.every)}"
            if renewed.is_watched:
                yield "watched"
        if problem := self._problem(source):
            yield f"the last try failed: {problem}"

    def _problem(self, source: str) -> str | None:
        return self.checks.get(source, SourceCheck()).problem


async def sources_of(opened: Services, editions: Sequence[Edition]) -> Mapping[str, CourseSources]:
    """Return the sources of every course that is in the course file or has a text."""
    found: dict[str, CourseSources] = {}
    for course_id in {*opened.course_file.tables, *(e.course_id for e in editions)}:
        own = opened.course_file.sources(course_id)
        renewed = {origin_of(one.name): one for one in opened.course_file.renewed(course_id)}
        found[course_id] = CourseSources(listed=tuple(map(origin_of, own)), renewed=renewed)
    for edition in editions:
        for document in await opened.catalogue.documents(edition.generation):
            found[edition.course_id].documents[document.origin] += 1
    engine, origins = opened.engine, opened.origins
    for course_id, accounts in (await IngestAccounts(engine, origins).all()).items():
        found.setdefault(course_id, CourseSources()).ingested = {
            one.source: one.ingested_at for one in accounts if not one.is_refused
        }
    for (course_id, source), check in (await SourceChecks(engine, origins).all()).items():
        found.setdefault(course_id, CourseSources()).checks[source] = check
    for course_id, changes in (await CourseChanges(engine, origins).since(_ALWAYS)).items():
        found.setdefault(course_id, CourseSources()).changes = changes
    for course, _ in await opened.catalogue.courses():
        found.setdefault(course.course_id, CourseSources())
    return found


def _in_words(change: CourseChange) -> str:
    kinds = (
        (change.added, "added", change.headings.added),
        (change.changed, "changed", change.headings.changed),
        (change.removed, "removed", change.headings.removed),
    )
    said = [
        f"{counted(count, 'section')} {word}{headings_in_words(headings, count)}"
        for count, word, headings in kinds
        if count
    ]
    return ", ".join(said)


def _local(moment: datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def _period(every: timedelta) -> str:
    minutes = every // timedelta(minutes=1)
    for size, unit in ((1440, "d"), (60, "h")):
        if minutes % size == 0:
            return f"{minutes // size}{unit}"
    return f"{minutes}m"


def _seconds(renewed: RenewedSource | None) -> float | None:
    return None if renewed is None or renewed.every is None else renewed.every.total_seconds()
