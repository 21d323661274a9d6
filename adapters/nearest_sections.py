"""The buttons of a refusal that ask its question within one of the nearest sections."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from adapters.buttons import UUID_PATTERN
from adapters.markdown.splitting import shortened, utf16_length
from adapters.markdown.visible import visible
from core.markdown.writing import one_line
from core.models import AgentResponse
from core.text.links import prose_without_links

NAME = re.compile(rf"gl:w:(?P<request>{UUID_PATTERN}):(?P<number>[0-9])")
"""What the custom ids of these buttons look like."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """The sections that come nearest to a question which was refused."""

    request_id: UUID
    sections: tuple[str, ...]
    """Their headings, best first."""

    def buttons(self, longest: int) -> Iterator[tuple[str, str]]:
        """Yield the name of each button and what is written on it, at most so many units."""
        for number, section in enumerate(self.sections):
            label = visible(one_line(prose_without_links(section))).strip()
            if label:
                shown = shortened(label, longest - 2, count=utf16_length)
                yield f"gl:w:{self.request_id}:{number}", shown


def nearest_to(response: AgentResponse) -> Nearest | None:
    """Return the sections that go with a refusal; None: there are none."""
    sections = response.nearest_sections
    return Nearest(response.query_id, sections) if sections else None


def pressed_section(name: str) -> tuple[UUID, int] | None:
    """Return the question and the number of a section, by a button's name; None: it is none."""
    match = NAME.fullmatch(name)
    return (UUID(match["request"]), int(match["number"])) if match is not None else None
