"""The courses between which a user is let choose, and the names of that menu."""

import re
from dataclasses import dataclass
from uuid import UUID

from adapters.buttons import UUID_PATTERN
from adapters.markdown.visible import visible
from core.inbox.base import Arrival

NAME = re.compile(rf"gl:course:(?P<request>{UUID_PATTERN})")
"""What the custom ids of all menus look like."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A menu of courses for a question that waits."""

    request_id: UUID
    courses: tuple[tuple[str, str], ...]
    """Id and title of each."""
    is_found: bool = False
    """Whether these are what was found for a word, among more."""

    @property
    def name(self) -> str:
        """The menu's name, which finds its way back after a restart."""
        return f"gl:course:{self.request_id}"


def choice_of(arrival: Arrival) -> Choice | None:
    """Return the menu that goes with the refusal of an arrival; None: there is none."""
    if arrival.pending is None:
        return None
    courses = tuple(
        (str(course_id), visible(str(title))) for course_id, title in arrival.address["choices"]
    )
    return Choice(arrival.pending.request_id, courses)


def request_in(name: str) -> UUID | None:
    """Return the question that a menu belongs to, by its name; None: it is no such menu."""
    match = NAME.fullmatch(name)
    return UUID(match["request"]) if match is not None else None
