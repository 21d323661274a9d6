"""What staff set for a place and are told about it, in the same words everywhere."""

from collections.abc import Mapping, Sequence
from typing import Any

from adapters.desk import FrontDesk
from adapters.guide import Guide
from core.channels.rules import DEFAULTS, Rules
from core.channels.store import ChannelRules, Place

NOTHING_TO_SET = "Say what to set, such as `length: short`."
_NAMES = {
    "course_id": "course",
    "excluded": "switched off",
    "follow_ups": "follow-ups without a mention",
    "askers": "who may ask",
    "answer_length": "length of answers",
    "private": "private by default",
}

_NO_COURSE = "none is chosen, and there are several"
_AS_COURSE_SAYS = "as the course says"


class ChannelSettings:
    """Reads and changes rules; raises StoreError when the database fails."""

    def __init__(
        self, desk: FrontDesk, rules: ChannelRules, guide: Guide, *, names: Mapping[str, str]
    ) -> None:
        """Put together what is needed.

        Args:
            names: What the platform calls the rules that are not the same everywhere.
        """
        self._desk = desk
        self._rules = rules
        self._guide = guide
        self._names = {**_NAMES, **names}

    async def unknown_course(self, course: str) -> str | None:
        """Return what is told to somebody who names no course; None: there is such a course."""
        courses = await self._guide.courses()
        if course in courses:
            return None
        known = ", ".join(sorted(courses)) or "none yet"
        return f"There is no such course. The courses are: {known}."

    async def change(self, place: Place, changes: dict[str, Any]) -> None:
        """Change what is given for a place, and leave the rest as it is."""
        before = await self._rules.get(place.platform, place.workspace, [place.place])
        rules = before.get(place.place, Rules()).model_copy(update=changes)
        await self._rules.set(place, rules)

    async def lines(self, platform: str, workspace: str, places: Sequence[str]) -> list[str]:
        """Return what holds in a place, a line each, given by ids from narrow to wide."""
        holds = await self._desk.rules_at(platform, workspace, places)
        lines = []
        for name, label in self._names.items():
            value = getattr(holds, name)
            default = getattr(DEFAULTS, name) == value
            told = await self._course(holds) if name == "course_id" else _shown(value)
            lines.append(f"**{label}**: {told}{' (default)' if default else ''}")
        return lines

    async def _course(self, holds: Rules) -> str:
        """Return which course answers, and why when it was not chosen."""
        answering = await self._desk.course_of(holds)
        if holds.course_id is not None:
            gone = "" if answering else ", which there is not"
            return f"{holds.course_id}{gone}"
        return f"{answering}, the only one there is" if answering else _NO_COURSE


def _shown(value: object) -> str:
    if value is None:
        return _AS_COURSE_SAYS
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
