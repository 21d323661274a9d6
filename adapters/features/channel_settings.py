"""What staff set for a place and read about it, in the same words everywhere."""

from collections.abc import Callable, Mapping
from typing import Any

from adapters.access.course_directory import CourseDirectory
from adapters.access.location import Location
from adapters.access.whereabouts import Here
from adapters.intake.front_desk import FrontDesk
from core.errors import RequestError
from core.i18n import Message, text
from core.storage.channels.rules import DEFAULTS, OperatorRules, Rules, in_force
from core.storage.channels.store import ChannelRules, Place

_NAMES = {
    "course_id": Message("settings-name-course"),
    "excluded": Message("settings-name-excluded"),
    "follow_ups": Message("settings-name-follow-ups"),
    "askers": Message("settings-name-askers"),
    "answer_length": Message("settings-name-length"),
    "private": Message("settings-name-private"),
}


class ChannelSettings:
    """Reads and changes rules; raises StoreError when the database fails."""

    def __init__(
        self,
        desk: FrontDesk,
        rules: ChannelRules,
        directory: CourseDirectory,
        *,
        names: Mapping[str, Message],
        described: Callable[[str], Mapping[str, OperatorRules]],
    ) -> None:
        """Put together what is needed.

        Args:
            described: Returns what the operator's file says of a platform's places.
            names: What the platform calls the rules that are not the same everywhere.
        """
        self._desk = desk
        self._rules = rules
        self._directory = directory
        self._described = described
        self._names = {**_NAMES, **names}

    async def unknown_course(self, location: Location, course: str) -> str | None:
        """Return what is said to a user who names no course; None: there is such a course."""
        here = await self._desk.here(location)
        courses = await self._directory.courses(here.reader)
        if course in courses:
            return None
        if not courses:
            return text("course-unknown-none-yet")
        return text("course-unknown", known=", ".join(sorted(courses)))

    async def courses_like(self, location: Location, typed: str) -> list[tuple[str, str]]:
        """Return the id and title of the courses that fit what was typed so far."""
        here = await self._desk.here(location)
        known = sorted((await self._directory.courses(here.reader)).items())
        titles = [(course_id, mark.course.title) for course_id, mark in known]
        return [one for one in titles if typed.casefold() in " ".join(one).casefold()]

    async def change(self, place: Place, location: Location, changes: dict[str, Any]) -> None:
        """Change what is given for a place, and leave the rest as it is.

        Args:
            location: Where the command was given: the place, or one inside of it.

        Raises:
            RequestError: when the operator's file does not let one of the rules be changed;
                nothing is changed then.
        """
        before = await self._rules.get(place.platform, place.workspace, location.places)
        rules = before.get(place.place, Rules()).model_copy(update=changes)
        around = location.places[_index_of(place.place, location.places) :] or (place.place,)
        then = {**before, place.place: rules}
        held = in_force(around, then, self._described(place.platform))
        for name, value in changes.items():
            if value is not None and getattr(held, name) != value:
                raise RequestError(
                    user_message=text("settings-locked", name=self._names.get(name, name))
                )
        await self._rules.set(place, rules)

    async def lines(self, location: Location) -> list[str]:
        """Return what holds in a place, a line each."""
        here = await self._desk.here(location)
        lines = []
        for name, label in self._names.items():
            value = getattr(here.rules, name)
            default = getattr(DEFAULTS, name) == value
            told = await self._course(here) if name == "course_id" else _shown(value)
            lines.append(
                text("settings-line-default", label=label, value=told)
                if default
                else text("settings-line", label=label, value=told)
            )
        return lines

    async def _course(self, here: Here) -> str:
        """Return which course answers, and why when it was not chosen."""
        answering = await self._desk.course_of(here)
        if here.rules.course_id is not None:
            return answering or text("settings-course-gone")
        if not answering:
            return text("settings-course-none")
        return text("settings-course-only", course=answering)


def _index_of(place: str, places: tuple[str, ...]) -> int:
    """Return where a place stands among those around it; after them when it is none of them."""
    return places.index(place) if place in places else len(places)


def _shown(value: object) -> str:
    if value is None:
        return text("settings-as-course")
    if isinstance(value, bool):
        return text("settings-yes") if value else text("settings-no")
    return str(value)
