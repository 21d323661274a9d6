"""A file with all that is stored about a user, as they get it on every platform."""

import asyncio
import gzip
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from adapters.actions.about import in_words
from adapters.actions.use import File, Notice, Use
from adapters.chat.access import Location, Readers, location_in
from adapters.chat.buttons import Button
from adapters.chat.course_directory import CourseDirectory
from adapters.chat.front_desk import FrontDesk
from adapters.chat.markdown.layout import visible
from adapters.chat.places import Presence
from core.domain.errors import RequestError
from core.domain.i18n import text
from core.storage.access import Reader, Tenant
from core.storage.channels import Place
from core.storage.privacy import Json, PersonalData, PersonalExport, StoredAmounts
from core.teaching.radar import Radar, Report, empty, lists, note, rows, title
from core.teaching.radar_picture import Theme, to_png
from core.teaching.radar_store import RadarChannel, RadarPost, RadarStore

_NAME = "glossator-data.json"
_MOST_BYTES = 8_000_000
"""What every platform takes as one file."""


class DataExport:
    """Makes the file; one at a time, as each may be as large as a user's past is long."""

    def __init__(
        self, export: PersonalExport, directory: CourseDirectory, readers: Readers
    ) -> None:
        self._export = export
        self._directory = directory
        self._readers = readers
        self._alone = asyncio.Lock()

    async def file(self, user_ids: Sequence[str], location: Location) -> File:
        """Return what is stored about a user, by their pseudonyms; compressed when it is long.

        What a user asked is theirs. What they were answered from a course that is closed by
        now, wherever they asked, or removed, is the course's, and left out with its name and
        the section that was asked for.

        Raises:
            StoreError: when the database fails.
            MembershipUnknown: as `Readers.of` does.
            RequestError: when it is too much for a file.
        """
        async with self._alone:
            stored = await self._export.of(user_ids)
            readable = await self._directory.courses(await self._reader(stored, location))
            closed = frozenset(_course_ids(stored)) - frozenset(readable)
            return await asyncio.to_thread(_written, _without(stored, closed))

    async def _reader(self, stored: Json, location: Location) -> Reader:
        """Return who reads wherever a user asked, or is now."""
        asked = {location_in(row) for row in stored["stored"]["inbox"]}
        readers = [await self._readers.of(one) for one in {location, *asked}]
        return Reader(
            location.platform,
            frozenset().union(*(reader.tenants for reader in readers)),
            frozenset().union(*(reader.bound for reader in readers)),
        )


def _course_ids(stored: Any) -> Iterator[str]:
    """Yield the id of each course that stored values name."""
    if isinstance(stored, list):
        for one in stored:
            yield from _course_ids(one)
    if not isinstance(stored, dict):
        return
    if stored.get("course_id"):
        yield stored["course_id"]
    yield from (choice[0] for choice in stored.get("choices", ()))
    for value in stored.values():
        yield from _course_ids(value)


def _without(stored: Any, closed: frozenset[str]) -> Any:
    """Return stored values without the names and the words of closed courses."""
    if not closed:
        return stored
    if isinstance(stored, list):
        return [_without(one, closed) for one in stored]
    if not isinstance(stored, dict):
        return stored
    is_closed = stored.get("course_id") in closed
    if is_closed and "response_text" in stored:
        return text("privacy-export-withheld")
    shown = {name: _without(value, closed) for name, value in stored.items()}
    answer = stored.get("agent_response") or stored  # a turn's course stands in its answer
    if answer.get("course_id") in closed:
        shown.pop("section_filter", None)
    if is_closed:
        shown["course_id"] = text("privacy-export-withheld")
    if "answer_text" in stored and not closed.isdisjoint(_course_ids(stored.get("citations"))):
        shown["answer_text"], shown["citations"] = text("privacy-export-withheld"), []
    if "choices" in stored:
        shown["choices"] = [choice for choice in stored["choices"] if choice[0] not in closed]
    return shown


def _written(stored: Json) -> File:
    data = json.dumps(stored, ensure_ascii=False, indent=1).encode()
    if len(data) <= _MOST_BYTES:
        return File(_NAME, data)
    packed = gzip.compress(data)
    if len(packed) > _MOST_BYTES:
        raise RequestError("an export is too large", user_message=text("privacy-export-too-much"))
    return File(f"{_NAME}.gz", packed)


class OwnData:
    """Shows, gives and deletes what is stored about who asks for it; raises StoreError."""

    def __init__(self, desk: FrontDesk, personal: PersonalData, export: DataExport) -> None:
        self._desk = desk
        self._personal = personal
        self._export = export

    async def shown(self, use: Use) -> Notice:
        """Return how much is stored, with buttons that give it or delete it."""
        stored = await self.amounts(use)
        buttons = (Button.EXPORT, *([Button.FORGET_ME] if stored.anything else []))
        return Notice(in_words(stored, use.location.platform.capitalize()), buttons)

    async def amounts(self, use: Use) -> StoredAmounts:
        """Return how much is stored."""
        return await self._personal.stored(await self.pseudonyms(use))

    async def export(self, use: Use) -> Notice:
        """Return all that is stored, as a file."""
        file = await self._export.file(await self.pseudonyms(use), use.location)
        sentence = text("privacy-export-sent")
        return Notice(sentence, file=replace(file, caption=sentence, is_all=True))

    async def forget(self, use: Use) -> Notice:
        """Delete it, wherever its user was met."""
        await self._personal.forget(await self.pseudonyms(use))
        return Notice(text("privacy-deleted"), in_place=True)

    async def pseudonyms(self, use: Use) -> list[str]:
        """Return the pseudonyms a person may have: one a workspace.

        Workspaces that the bot has left, or that other processes connect, are among them as long
        as an event of theirs is kept.
        """
        platform, user = use.location.platform, use.location.user
        known = await self._personal.workspaces(platform)
        places = {*known, *await use.workspaces()}
        return [self._desk.pseudonym(platform, place, user) for place in sorted(places)]


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
