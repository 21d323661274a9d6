"""What readers learn about the courses: which there are, their sections and sources.

Every method that tells of a course is given its reader, and tells of no other course: a course
that may not be read is the same as one that there is not.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from core.domain import Course
from core.storage.access import Reader, Tenant, is_home, owns, readable
from core.storage.access_store import AccessStore
from core.storage.catalogue import Catalogue, SectionRecord
from core.storage.catalogue import Edition as Edition

_FRESH = 2.0
"""Seconds for which a list of courses is good enough; autocompletion asks with every letter."""
_FEWEST_ALIKE = 60.0
"""Of a hundred: how much of what was typed a course's name has to be like."""
PATH = " › "


@dataclass(frozen=True, slots=True)
class ListedCourse:
    """A course that can be asked, and the edition that it is answered from."""

    course: Course
    edition: Edition


class CourseDirectory:
    """Reads the catalogue for people; every method raises StoreError when the database fails."""

    def __init__(self, catalogue: Catalogue, access: AccessStore, *, handbook: str) -> None:
        """Prepare to read.

        Args:
            handbook: The id of the course about the bot itself.
        """
        self._catalogue = catalogue
        self._access = access
        self._handbook = handbook
        self._known: dict[str, ListedCourse] = {}
        self._read_at = -_FRESH
        self._sections: dict[UUID, list[str]] = {}

    async def courses(self, reader: Reader) -> dict[str, ListedCourse]:
        """Return the courses with a text that the reader may read, by id."""
        known = await self._all()
        courses = readable(reader, (m.course for m in known.values()), await self._access.permits())
        return {course.course_id: known[course.course_id] for course in courses}

    async def mark(self, reader: Reader, course_id: str | None) -> ListedCourse | None:
        """Return a course with its edition; None: there is none that the reader may read."""
        return (await self.courses(reader)).get(course_id or "")

    async def own(self, reader: Reader) -> dict[str, ListedCourse]:
        """Return the same as `courses` without the handbook."""
        known = await self.courses(reader)
        return {course_id: mark for course_id, mark in known.items() if course_id != self._handbook}

    async def courses_like(
        self, reader: Reader, typed: str, *, limit: int
    ) -> Sequence[tuple[str, str]]:
        """Return id and title of the courses that fit a few typed words, best first."""
        from rapidfuzz import fuzz, process, utils

        own = await self.own(reader)
        titles = {course_id: mark.course.title for course_id, mark in own.items()}
        named = {course_id: f"{title} {course_id}" for course_id, title in titles.items()}
        found = process.extract(
            typed,
            named,
            scorer=fuzz.WRatio,
            processor=utils.default_process,
            limit=limit,
            score_cutoff=_FEWEST_ALIKE,
        )
        return [(course_id, titles[course_id]) for _, _, course_id in found]

    async def only(self, reader: Reader) -> str | None:
        """Return the course that is meant where none was chosen; None: it is not clear.

        It is the only one; where the operator's own tenants have none yet, the handbook.
        """
        own = await self.own(reader)
        if own:
            return next(iter(own)) if len(own) == 1 else None
        at_home = await self.is_at_home(reader)
        return self._handbook if at_home and await self.mark(reader, self._handbook) else None

    async def is_at_home(self, reader: Reader) -> bool:
        """Return whether a reader is in one of the operator's own tenants."""
        return is_home(reader, await self._access.permits())

    async def tenants_with_courses(self, platform: str) -> Sequence[Tenant]:
        """Return the tenants of a platform that may read anything, the operator's own first."""
        permits = await self._access.permits()
        owners = {mark.course.tenant for mark in (await self._all()).values()}
        others = {tenant for _, tenant in permits.grants}
        others |= {Tenant.named(owner) for owner in owners if owner is not None}
        found = [*sorted(permits.homes), *sorted(others - permits.homes)]
        return [tenant for tenant in found if tenant.platform == platform]

    async def is_owned_by(self, course_id: str, tenants: Iterable[Tenant]) -> bool:
        """Return whether a course is one of these tenants' own."""
        mark = (await self._all()).get(course_id)
        permits = await self._access.permits()
        return mark is not None and any(owns(one, mark.course, permits) for one in tenants)

    async def organised_with(self, tenant: Tenant) -> Sequence[Tenant]:
        """Return the other workspaces of the organisation that a workspace belongs to."""
        known = (await self._access.permits()).organisations
        its = known.get(tenant)
        return [one for one, other in known.items() if other == its and one != tenant]

    async def sections_like(
        self, reader: Reader, course_id: str, typed: str, *, limit: int, longest: int
    ) -> list[str]:
        """Return names of sections that fit what was typed so far, best first.

        Each is a name that `section_filter` understands, of at most `longest` characters;
        with nothing typed, the course's largest sections in reading order.
        """
        names = [name for name in await self._names(reader, course_id) if len(name) <= longest]
        if not typed.strip():
            return sorted(names, key=_depth)[:limit]
        from rapidfuzz import fuzz, process, utils

        found = process.extract(
            typed, names, scorer=fuzz.WRatio, processor=utils.default_process, limit=limit
        )
        return [name for name, score, _ in found if score > 0]

    async def titles(self, reader: Reader, course_id: str) -> list[str]:
        """Return the titles of a course's documents in reading order."""
        mark = await self.mark(reader, course_id)
        if mark is None:
            return []
        documents = await self._catalogue.documents(mark.edition.generation)
        return list(dict.fromkeys(document.title for document in documents))

    async def _names(self, reader: Reader, course_id: str) -> Sequence[str]:
        mark = await self.mark(reader, course_id)
        if mark is None:
            return ()
        generation = mark.edition.generation
        if generation not in self._sections:
            sections = await self._catalogue.sections(generation)
            self._sections[generation] = list(dict.fromkeys(_name(s) for s in sections))
        return self._sections[generation]

    async def _all(self) -> dict[str, ListedCourse]:
        """Return all courses that have a text, including those with limited readers."""
        if time.monotonic() - self._read_at > _FRESH:
            known = await self._catalogue.courses()
            self._known = {c.course_id: ListedCourse(c, e) for c, e in known if e is not None}
            self._read_at = time.monotonic()
            live = {mark.edition.generation for mark in self._known.values()}
            self._sections = {g: names for g, names in self._sections.items() if g in live}
        return self._known


def _name(section: SectionRecord) -> str:
    return PATH.join(section.path) or section.title


def _depth(name: str) -> int:
    return name.count(PATH)
