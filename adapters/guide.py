"""What readers are told about the courses: which there are, their sections and sources."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from core.catalogue import Catalogue, Edition, SectionRecord
from core.errors import UnknownSection
from core.models import Course
from core.retrieval.sections import resolve_section

_FRESH = 5.0
"""Seconds for which a list of courses is good enough; autocompletion asks with every letter."""
_PATH = " › "


@dataclass(frozen=True, slots=True)
class Shelfmark:
    """A course that can be asked, and the edition that it is answered from."""

    course: Course
    edition: Edition


class Guide:
    """Reads the catalogue for people; every method raises StoreError when the database fails."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._known: dict[str, Shelfmark] = {}
        self._read_at = -_FRESH
        self._sections: dict[UUID, list[str]] = {}

    async def courses(self) -> dict[str, Shelfmark]:
        """Return the courses that have a text, by id."""
        if time.monotonic() - self._read_at > _FRESH:
            known = await self._catalogue.courses()
            self._known = {c.course_id: Shelfmark(c, e) for c, e in known if e is not None}
            self._read_at = time.monotonic()
            live = {mark.edition.generation for mark in self._known.values()}
            self._sections = {g: names for g, names in self._sections.items() if g in live}
        return self._known

    async def sections_like(
        self, course_id: str, typed: str, *, limit: int, longest: int
    ) -> list[str]:
        """Return names of sections that fit what was typed so far, best first.

        Each is a name that `section_filter` understands, of at most `longest` characters;
        with nothing typed, the course's largest sections in reading order.
        """
        names = [name for name in await self._names(course_id) if len(name) <= longest]
        if not typed.strip():
            return sorted(names, key=_depth)[:limit]
        from rapidfuzz import fuzz, process, utils

        found = process.extract(
            typed, names, scorer=fuzz.WRatio, processor=utils.default_process, limit=limit
        )
        return [name for name, score, _ in found if score > 0]

    async def has_section(self, course_id: str, name: str) -> bool:
        """Return whether `section_filter` understands a name; true while nobody can tell."""
        mark = (await self.courses()).get(course_id)
        sections = await self._catalogue.sections(mark.edition.generation) if mark else ()
        try:
            return not sections or bool(resolve_section(name, sections))
        except UnknownSection:
            return False

    async def titles(self, course_id: str) -> list[str]:
        """Return the titles of a course's documents in reading order."""
        mark = (await self.courses()).get(course_id)
        if mark is None:
            return []
        documents = await self._catalogue.documents(mark.edition.generation)
        return list(dict.fromkeys(document.title for document in documents))

    async def _names(self, course_id: str) -> Sequence[str]:
        mark = (await self.courses()).get(course_id)
        if mark is None:
            return ()
        generation = mark.edition.generation
        if generation not in self._sections:
            sections = await self._catalogue.sections(generation)
            self._sections[generation] = list(dict.fromkeys(_name(s) for s in sections))
        return self._sections[generation]


def _name(section: SectionRecord) -> str:
    return _PATH.join(section.path) or section.title


def _depth(name: str) -> int:
    return name.count(_PATH)
