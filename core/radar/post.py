"""A report as it is posted into a channel, and that channel."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RadarPost:
    """A report as a chat shows it."""

    text: str
    """Markdown: the picture's table and the lists."""
    picture_name: str
    """The name of its file, the same for the same course and week."""
    picture: bytes
    """PNG."""
    alternative: str
    """What the picture shows, in words."""


@dataclass(frozen=True, slots=True)
class RadarChannel:
    """A channel that gets a course's week, every week."""

    course_id: str
    platform: str
    workspace: str
    channel: str
    enterprise: str | None = None
    locale: str | None = None
