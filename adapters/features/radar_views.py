"""What staff see with `/course radar`, and what is posted every week."""

import asyncio
from collections.abc import Awaitable, Callable

from adapters.access.standing import Presence
from adapters.markdown.visible import visible
from core.access.tenants import Tenant
from core.errors import RequestError
from core.i18n import text
from core.radar.picture import Theme, to_png
from core.radar.post import RadarChannel, RadarPost
from core.radar.report import Radar, Report
from core.radar.store import RadarStore
from core.radar.told import empty, lists, note, rows, title
from core.storage.channels.store import Place

Courses = Callable[[Presence], Awaitable[str]]
"""Returns the course that answers where a user is; RequestError: there is none."""
Titles = Callable[[str], Awaitable[str]]
"""Returns what people call a course."""


class RadarViews:
    """Shows reports to staff who were admitted before, and chooses where they are posted.

    Methods raise RequestError with what their user reads, and StoreError when the database
    fails.
    """

    def __init__(
        self, radar: Radar, store: RadarStore, courses: Courses, titles: Titles, theme: Theme
    ) -> None:
        """Put together what is needed; `theme` fits the platform's usual ground."""
        self._radar = radar
        self._store = store
        self._courses = courses
        self._titles = titles
        self._theme = theme

    async def shown(self, who: Presence) -> RadarPost:
        """Return the report of the course that answers here, as its staff may see it."""
        course_id = await self._courses(who)
        report = await self._radar.report(course_id, str(_tenant(who)), with_reasons=True)
        return await self.post_of(report)

    async def post_of(self, report: Report) -> RadarPost:
        """Return a report as a chat shows it, in the current language."""
        course = visible(await self._titles(report.course_id))
        picture = await asyncio.to_thread(to_png, report, course, self._theme)
        lines = [f"**{title(report, course)}**"]
        lines += [f"- {visible(line)}" for line in rows(report)] or [empty(report)]
        for heading, listed in lists(report):
            lines += ["", f"**{heading}**", *(f"- {visible(line)}" for line in listed)]
        name = f"radar-{report.course_id}-{report.week.isoformat()}.png"
        return RadarPost("\n".join([*lines, "", note(report)]), name, picture, _picture())

    async def post_here(
        self, who: Presence, place: Place, *, enterprise: str | None, locale: str | None
    ) -> str:
        """Have the report posted into a channel every week, and return what its user reads.

        The first that is posted is of the week that goes on now.
        """
        course_id = await self._courses(who)
        channel = RadarChannel(
            course_id, place.platform, place.workspace, place.place, enterprise, locale
        )
        await self._store.choose(channel, self._radar.week_due(course_id))
        return text("radar-posting", course=visible(await self._titles(course_id)))

    async def stop(self, who: Presence) -> str:
        """Have it posted no more, and return what its user reads."""
        course_id, tenant = await self._courses(who), _tenant(who)
        was_posted = await self._store.stop(course_id, tenant.platform, tenant.workspace)
        course = visible(await self._titles(course_id))
        if was_posted:
            return text("radar-posting-stopped", course=course)
        return text("radar-posting-none", course=course)


def _picture() -> str:
    return text("radar-picture")


def _tenant(who: Presence) -> Tenant:
    tenant = who.location.tenant
    if tenant is None:  # no one is admitted there
        raise RequestError("a radar of a personal place", user_message=text("policy-no-course"))
    return tenant
