"""Buttons that ask on: within one of the nearest sections, or one of several questions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from adapters.buttons import UUID_PATTERN
from adapters.markdown.splitting import shortened, utf16_length
from adapters.markdown.visible import visible
from core.i18n import text
from core.markdown.writing import one_line
from core.models import AgentResponse
from core.text.links import prose_without_links

NAME = re.compile(rf"gl:(?P<kind>[wo]):(?P<request>{UUID_PATTERN}):(?P<number>[0-9])")
"""What the custom ids of these buttons look like."""


WITHIN, CHOICE = "w", "o"
"""What a button asks: the same question within a section, or a question of several."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """The sections that come nearest to a question which was refused, or what it may mean."""

    request_id: UUID
    sections: tuple[str, ...]
    """Their headings, best first; or the questions."""
    kind: str = WITHIN

    def buttons(self, longest: int) -> Iterator[tuple[str, str]]:
        """Yield the name of each button and what is written on it, at most so many units."""
        for number, section in enumerate(self.sections):
            label = visible(one_line(prose_without_links(section))).strip()
            if label:
                shown = shortened(label, longest - 2, count=utf16_length)
                yield f"gl:{self.kind}:{self.request_id}:{number}", shown

    @property
    def title(self) -> str:
        """What stands above the buttons; empty: the message itself says it."""
        return text("card-ask-within") if self.kind == WITHIN else ""


def nearest_to(response: AgentResponse) -> Nearest | None:
    """Return the sections or questions that go with a response; None: there are none."""
    if response.choices:
        return Nearest(response.query_id, response.choices, CHOICE)
    sections = response.nearest_sections
    return Nearest(response.query_id, sections) if sections else None


def pressed_section(name: str) -> tuple[str, UUID, int] | None:
    """Return kind, answer and number of such a button, by its name; None: it is none."""
    match = NAME.fullmatch(name)
    if match is None:
        return None
    return match["kind"], UUID(match["request"]), int(match["number"])
