"""Two weeks of a course side by side, as staff see them."""

import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

from core.embeddings.base import Embedder
from core.errors import EmbeddingError
from core.models import now
from core.radar.activity import OTHER, Ending, SectionActivity, activity_of, summed
from core.radar.store import RadarStore, WeekTold
from core.radar.turns import AskedTurn, VoteReason, WeekReader
from core.radar.weeks import before, bounds, last_complete
from core.radar.wordings import Group, IsCommon, groups_of, told, without_names

logger = logging.getLogger(__name__)

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
