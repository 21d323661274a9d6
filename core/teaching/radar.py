"""Two weeks of a course side by side, as staff see them."""

import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from core.domain import now
from core.domain.errors import EmbeddingError
from core.domain.i18n import date_of, text
from core.providers.embeddings.base import Embedder
from core.teaching.radar_activity import (
    OTHER,
    Ending,
    Group,
    IsCommon,
    SectionActivity,
    activity_of,
    groups_of,
    summed,
    told,
    without_names,
)
from core.teaching.radar_store import AskedTurn, RadarStore, VoteReason, WeekReader, WeekTold

logger = logging.getLogger(__name__)


_WEEK = timedelta(days=7)


def last_complete(moment: datetime, zone: ZoneInfo) -> date:
    """Return the Monday that the latest week began with which is over at a moment.

    A week that goes on is shown nowhere: two looks at it would differ by single people.
    """
    today = moment.astimezone(zone).date()
    return today - timedelta(days=today.weekday()) - _WEEK


def before(week: date) -> date:
    """Return the Monday of the week before."""
    return week - _WEEK


def bounds(week: date, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Return the first moment of a week, and the first one after it, in UTC."""
    first, after = (datetime.combine(day, time(), zone) for day in (week, week + _WEEK))
    return first.astimezone(UTC), after.astimezone(UTC)


_MOST_REASONS = 20
Words = Callable[[str], Awaitable[IsCommon]]
"""Returns which words a course's book has."""


@dataclass(frozen=True, slots=True)
class Report:
    """What may be shown of a course's latest complete week, and of the one before."""

    course_id: str
    week: date
    """Its Monday."""
    least_askers: int
    """People that each number is about at least."""
    this_week: tuple[SectionActivity, ...]
    last_week: tuple[SectionActivity, ...]
    asked: tuple[str, ...] = ()
    """The questions asked most, by at least `least_askers` people each; no names."""
    not_covered: tuple[str, ...] = ()
    """The same of what the book does not answer."""
    reasons: tuple[tuple[str, str], ...] = ()
    """Section and reason of votes; for the staff's own view."""
    queue: tuple[tuple[str, int], ...] = ()
    """Help requests by state."""

    @property
    def is_empty(self) -> bool:
        """Whether too few people asked for anything to be shown."""
        return not self.this_week and not self.last_week


class Radar:
    """Reports what may be shown of a week; methods raise StoreError when the database fails."""

    def __init__(
        self,
        *,
        store: RadarStore,
        reader: WeekReader,
        embedder: Embedder,
        words: Words,
        zone_of: Callable[[str], ZoneInfo],
        least_of: Callable[[str], int],
    ) -> None:
        """Put together what is needed.

        Args:
            embedder: The built-in model, by which questions are grouped.
            zone_of: Returns a course's time zone.
            least_of: Returns how many people each number of a course is about at least.
        """
        self._store = store
        self._reader = reader
        self._embedder = embedder
        self._words = words
        self._zone_of = zone_of
        self._least_of = least_of

    def week_due(self, course_id: str, moment: datetime | None = None) -> date:
        """Return the Monday of a course's latest complete week."""
        return last_complete(moment or now(), self._zone_of(course_id))

    async def report(
        self,
        course_id: str,
        tenant: str | None = None,
        *,
        with_reasons: bool = False,
        moment: datetime | None = None,
    ) -> Report:
        """Return what may be shown of the latest complete week.

        Args:
            tenant: The tenant whose people asked; None: each of them is shown by itself, and
                the numbers are summed.
            with_reasons: Whether to tell why answers were found not helpful.
            moment: When it is looked at; None: now.
        """
        week = self.week_due(course_id, moment)
        zone = self._zone_of(course_id)
        since, until = bounds(before(week), zone)[0], bounds(week, zone)[1]
        tenants = [tenant] if tenant else await self._reader.tenants(course_id, since, until)
        weeks = [await self._week(course_id, one, week) for one in tenants]
        earlier = [await self._week(course_id, one, before(week)) for one in tenants]
        k, is_common = self._least_of(course_id), await self._words(course_id)
        reasons = await self._reasons(course_id, tenants, week, k, is_common)
        return Report(
            course_id=course_id,
            week=week,
            least_askers=max([one.least_askers for one in (*weeks, *earlier)], default=k),
            this_week=tuple(summed(one.activity for one in weeks)),
            last_week=tuple(summed(one.activity for one in earlier)),
            asked=await self._told([g for w in weeks for g in w.asked], k, is_common),
            not_covered=await self._told([g for w in weeks for g in w.not_covered], k, is_common),
            reasons=reasons if with_reasons else (),
            queue=_by_state([dict(one.queue) for one in weeks]),
        )

    async def _week(self, course_id: str, tenant: str, week: date) -> WeekTold:
        """Return what is reported of a week: always the same, from its first report on."""
        known = await self._store.week(course_id, tenant, week)
        if known is not None:
            return known
        turns = await self._turns(course_id, tenant, week)
        k = self._least_of(course_id)
        lacking = [one for one in turns if one.event.ending is Ending.NOT_COVERED]
        return await self._store.settle(
            course_id,
            tenant,
            week,
            WeekTold(
                k,
                tuple(activity_of((one.event for one in turns), k)),
                await self._groups(turns, k),
                await self._groups(lacking, k),
                await self._queue(course_id, tenant, week, k),
            ),
        )

    async def _queue(
        self, course_id: str, tenant: str, week: date, k: int
    ) -> tuple[tuple[str, int], ...]:
        """Return what became of the help requests of a week, where at least `k` people asked."""
        since, until = bounds(week, self._zone_of(course_id))
        asked = defaultdict[str, list[str]](list)
        for state, asker in await self._reader.help_requests(course_id, tenant, since, until):
            asked[state].append(asker)
        return tuple((state, len(who)) for state, who in asked.items() if len(set(who)) >= k)

    async def _turns(self, course_id: str, tenant: str, week: date) -> list[AskedTurn]:
        since, until = bounds(week, self._zone_of(course_id))
        return await self._reader.turns(course_id, tenant, since, until)

    async def _groups(self, turns: Sequence[AskedTurn], k: int) -> tuple[Group, ...]:
        try:
            return tuple(await groups_of([one.wording for one in turns], k, self._embedder))
        except EmbeddingError as error:
            logger.warning("the questions of a week cannot be grouped: %s", error)
            return ()

    async def _told(self, groups: Sequence[Group], k: int, is_common: IsCommon) -> tuple[str, ...]:
        ids = [request_id for group in groups for request_id in group.request_ids]
        left = await self._reader.wordings(ids)
        shown = [
            told([left[one] for one in group.request_ids if one in left], k, is_common)
            for group in groups
        ]
        return tuple(dict.fromkeys(text for text in shown if text))[:_MOST_ASKED]

    async def _reasons(
        self, course_id: str, tenants: Sequence[str], week: date, k: int, is_common: IsCommon
    ) -> tuple[tuple[str, str], ...]:
        """Return reasons by section, where at least `k` people gave one."""
        found = list[tuple[str, str]]()
        for tenant in tenants:
            turns = await self._turns(course_id, tenant, week)
            for section, reasons in _pooled(await self._reader.reasons(turns), k):
                name = " › ".join(section)
                found += [(name, without_names(one.text, is_common)) for one in reasons]
        return tuple(sorted(found))[:_MOST_REASONS]


_MOST_ASKED = 5


def _pooled(
    reasons: Sequence[VoteReason], k: int
) -> list[tuple[tuple[str, ...], list[VoteReason]]]:
    """Return reasons of at least `k` people each, by section; what is left is one."""
    sections = dict.fromkeys(one.section for one in reasons)
    large, rest = [], list[VoteReason]()
    for section in sections:
        own = [one for one in reasons if one.section == section]
        if section != OTHER and len({one.voter for one in own}) >= k:
            large.append((section, own))
        else:
            rest += own
    return [*large, (OTHER, rest)] if len({one.voter for one in rest}) >= k else large


def _by_state(queues: Sequence[dict[str, int]]) -> tuple[tuple[str, int], ...]:
    states = dict.fromkeys(state for queue in queues for state in queue)
    return tuple((state, sum(queue.get(state, 0) for queue in queues)) for state in states)


def title(report: Report, course: str) -> str:
    """Return the headline of a report.

    Args:
        course: The course's title.
    """
    return text("radar-title", course=course, week=date_of(datetime.combine(report.week, time())))


def section_name(one: SectionActivity) -> str:
    """Return what a section is called."""
    return text("radar-other-sections") if one.section == OTHER else " › ".join(one.section)


def ending_name(ending: Ending) -> str:
    """Return what an ending of questions is called."""
    match ending:
        case Ending.ANSWERED:
            return text("radar-answered")
        case Ending.VERIFIED:
            return text("radar-verified")
        case Ending.NOT_SURE:
            return text("radar-not-sure")
        case Ending.NOT_COVERED:
            return text("radar-not-covered")
        case Ending.HELD:
            return text("radar-held")


def queue_name(state: str) -> str:
    """Return what a state of help requests is called."""
    match state:
        case "open":
            return text("radar-queue-open")
        case "taken":
            return text("radar-queue-taken")
        case "answered":
            return text("radar-queue-answered")
        case _:
            return text("radar-queue-dismissed")


def row(one: SectionActivity, last: SectionActivity | None) -> str:
    """Return what the picture shows of a section, in words.

    Args:
        last: The same section in the week before; None: nothing is shown of it.
    """
    endings = ", ".join(f"{count} {ending_name(ending)}" for ending, count in one.endings.items())
    said = text("radar-row", name=section_name(one), count=one.questions, endings=endings)
    if one.voted_down:
        said = f"{said} {text('radar-row-voted-down', count=one.voted_down)}"
    if last is not None and last.questions:
        said = f"{said} {text('radar-row-last', count=last.questions)}"
    return said


def rows(report: Report) -> list[str]:
    """Return the picture's table as text, a line a section."""
    last = {one.section: one for one in report.last_week}
    return [row(one, last.get(one.section)) for one in report.this_week]


def lists(report: Report) -> Iterator[tuple[str, list[str]]]:
    """Yield each list below the table that is not empty, with its heading."""
    k = report.least_askers
    if report.asked:
        yield text("radar-asked", count=k), list(report.asked)
    if report.not_covered:
        yield text("radar-lacking", count=k), list(report.not_covered)
    if report.reasons:
        other = text("radar-other-sections")
        shown = [text("radar-reason", name=name or other, reason=r) for name, r in report.reasons]
        yield text("radar-reasons", count=k), shown
    if report.queue:
        yield text("radar-queue"), [f"{queue_name(s)}: {count}" for s, count in report.queue]


def empty(report: Report) -> str:
    """Return what is said where nothing may be shown."""
    return text("radar-empty", count=report.least_askers)


def note(report: Report) -> str:
    """Return how small numbers are treated."""
    return text("radar-note", count=report.least_askers)
