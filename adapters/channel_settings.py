"""What staff set for a place and are told about it, in the same words everywhere."""

from collections.abc import Callable, Mapping
from typing import Any

from adapters.access.location import Location
from adapters.access.whereabouts import Here
from adapters.desk import FrontDesk
from adapters.guide import Guide
from core.channels.rules import DEFAULTS, OperatorRules, Rules, in_force
from core.channels.store import ChannelRules, Place
from core.errors import RequestError

NOTHING_TO_SET = "Say what to set, such as `length: short`."
_NAMES = {
    "course_id": "course",
    "excluded": "switched off",
    "follow_ups": "follow-ups without a mention",
    "askers": "who may ask",
    "answer_length": "length of answers",
    "private": "private by default",
}

LOCKED = "The operator of this bot has set “{name}” here, and chat cannot change it so."
GONE = "one that there is not any more; choose another"
_NO_COURSE = "none is chosen, and there are several"
_AS_COURSE_SAYS = "as the course says"


class ChannelSettings:
    """Reads and changes rules; raises StoreError when the database fails."""

    def __init__(
        self,
        desk: FrontDesk,
        rules: ChannelRules,
        guide: Guide,
        *,
        names: Mapping[str, str],
        described: Callable[[str], Mapping[str, OperatorRules]],
    ) -> None:
        """Put together what is needed.

        Args:
            described: Returns what the operator's file says of a platform's places.
            names: What the platform calls the rules that are not the same everywhere.
        """
        self._desk = desk
        self._rules = rules
        self._guide = guide
        self._described = described
        self._names = {**_NAMES, **names}

    async def unknown_course(self, location: Location, course: str) -> str | None:
        """Return what is told to somebody who names no course; None: there is such a course."""
        here = await self._desk.here(location)
        courses = await self._guide.courses(here.reader)
        if course in courses:
            return None
        known = ", ".join(sorted(courses)) or "none yet"
        return f"There is no such course. The courses are: {known}."

    async def courses_like(self, location: Location, typed: str) -> list[tuple[str, str]]:
        """Return the id and title of the courses that fit what was typed so far."""
        here = await self._desk.here(location)
        known = sorted((await self._guide.courses(here.reader)).items())
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
                raise RequestError(user_message=LOCKED.format(name=self._names.get(name, name)))
        await self._rules.set(place, rules)

    async def lines(self, location: Location) -> list[str]:
        """Return what holds in a place, a line each."""
        here = await self._desk.here(location)
        lines = []
        for name, label in self._names.items():
            value = getattr(here.rules, name)
            default = getattr(DEFAULTS, name) == value
            told = await self._course(here) if name == "course_id" else _shown(value)
            lines.append(f"**{label}**: {told}{' (default)' if default else ''}")
        return lines

    async def _course(self, here: Here) -> str:
        """Return which course answers, and why when it was not chosen."""
        answering = await self._desk.course_of(here)
        if here.rules.course_id is not None:
            return answering or GONE
        return f"{answering}, the only one there is" if answering else _NO_COURSE


def _index_of(place: str, places: tuple[str, ...]) -> int:
    """Return where a place stands among those around it; behind them when it is none of them."""
    return places.index(place) if place in places else len(places)


def _shown(value: object) -> str:
    if value is None:
        return _AS_COURSE_SAYS
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
